#include <cstdlib>
#include <string>
#include <string_view>

#include "cuda/exact_scan/exact_launch.cuh"
#include "cuda/exact_scan/exact_scan.hpp"
#include "cuda/exact_scan/summer.cuh"
#include "cuda/exact_scan/writer.cuh"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda::kernels {

struct DoubleArithmetic {
  static constexpr int least_architecture = 700;
  template <class In, class Out>
  using Summer = SegmentSummer<In, Out>;
  template <class In, class Out>
  using Writer = SegmentWriter<In, Out>;
};

namespace {

/// Whether the current device has so little FP64 that integers are faster, or WARPFOLD_EXACT_SCAN
/// asks for them.
bool prefers_integers() {
  const char* const value = std::getenv("WARPFOLD_EXACT_SCAN");
  if (value == nullptr) return !has_many_fp64_units();
  const std::string_view chosen = value;
  if (chosen != "integers" && chosen != "doubles")
    throw usage_error("cannot use WARPFOLD_EXACT_SCAN='" + std::string(chosen) + "'",
                      "unknown arithmetic", "Choose integers or doubles.");
  return chosen == "integers";
}

}  // namespace

ResidentExactScan exact_scan_residency(ElementType input, ElementType output) {
  ResidentExactScan resident;
  if (prefers_integers()) resident = integer_scan_residency(input, output);
  resident.by_integers = resident.blocks != 0;
  return resident.by_integers ? resident : ExactScanBy<DoubleArithmetic>::residency(input, output);
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
