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
  static constexpr bool has_code(int architecture) { return compiles_with_fp64(architecture); }
  template <class In, class Out>
  using Summer = SegmentSummer<In, Out>;
  template <class In, class Out>
  using Writer = SegmentWriter<In, Out>;
};

namespace {

/// Returns the arithmetic that WARPFOLD_EXACT_SCAN asks for, empty if it doesn't.
std::string_view chosen_arithmetic() {
  const char* const value = std::getenv("WARPFOLD_EXACT_SCAN");
  return value == nullptr ? std::string_view() : value;
}

Error wrong_arithmetic(std::string_view chosen, const char* why, const char* advice) {
  return usage_error("cannot use WARPFOLD_EXACT_SCAN='" + std::string(chosen) + "'", why, advice);
}

ResidentExactScan residency_by(bool integers, ElementType input, ElementType output) {
  const auto residency =
      integers ? integer_scan_residency : ExactScanBy<DoubleArithmetic>::residency;
  ResidentExactScan resident = residency(input, output);
  resident.by_integers = integers;
  return resident;
}

}  // namespace

ResidentExactScan exact_scan_residency(ElementType input, ElementType output) {
  const std::string_view chosen = chosen_arithmetic();
  if (!chosen.empty() && chosen != "integers" && chosen != "doubles")
    throw wrong_arithmetic(chosen, "unknown arithmetic", "Choose integers or doubles.");
  const bool integers = chosen.empty() ? !has_many_fp64_units() : chosen == "integers";
  const ResidentExactScan preferred = residency_by(integers, input, output);
  if (preferred.blocks != 0) return preferred;
  if (!chosen.empty())
    throw wrong_arithmetic(chosen, "this build has no code with it for this GPU",
                           "Unset it, or build with -DWARPFOLD_TESTS=ON.");
  return residency_by(!integers, input, output);
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
