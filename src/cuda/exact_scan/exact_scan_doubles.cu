#include <cstdlib>
#include <string_view>

#include "cuda/exact_scan/exact_launch.cuh"
#include "cuda/exact_scan/exact_scan.hpp"
#include "cuda/exact_scan/summer.cuh"
#include "cuda/exact_scan/writer.cuh"

namespace warpfold::cuda::kernels {

struct DoubleArithmetic {
  static constexpr int least_architecture = 700;
  template <class In, class Out>
  using Summer = SegmentSummer<In, Out>;
  template <class In, class Out>
  using Writer = SegmentWriter<In, Out>;
};

namespace {

/// Whether the current device has so little FP64 that integers are faster; WARPFOLD_EXACT_SCAN
/// chooses `integers` or `doubles` on any device after V100.
bool takes_integers() {
  constexpr int least_ratio = 16;
  const int major = device_attribute(cudaDevAttrComputeCapabilityMajor);
  const int minor = device_attribute(cudaDevAttrComputeCapabilityMinor);
  if (100 * major + 10 * minor < least_integer_architecture) return false;
  const char* const chosen = std::getenv("WARPFOLD_EXACT_SCAN");
  if (chosen != nullptr) return std::string_view(chosen) == "integers";
  return device_attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio) >= least_ratio;
}

}  // namespace

ResidentExactScan exact_scan_residency(ElementType input, ElementType output) {
  if (!takes_integers()) return ExactScanBy<DoubleArithmetic>::residency(input, output);
  ResidentExactScan resident = integer_scan_residency(input, output);
  resident.by_integers = true;
  return resident;
}

std::uint64_t exact_scan_workspace_bytes(std::uint32_t resident_blocks) {
  Scratch scratch;
  Workspace(scratch, resident_blocks);
  return scratch.bytes();
}

std::uint32_t exact_scan_epochs(ElementType input, ElementType output, std::uint64_t elements,
                                const ResidentExactScan& resident) {
  return ExactScanBy<DoubleArithmetic>::epochs(input, output, elements, resident);
}

void exact_scan(const BlockView& block, bool exclusive, const ExactCarry& carry, void* workspace,
                std::uint32_t epoch, const ResidentExactScan& resident, cudaStream_t stream) {
  const auto start = resident.by_integers ? integer_scan : ExactScanBy<DoubleArithmetic>::start;
  start(block, exclusive, carry, workspace, epoch, resident, stream);
}

}  // namespace warpfold::cuda::kernels
