#include "cuda/exact_scan/exact_launch.cuh"
#include "cuda/exact_scan/integer_summer.cuh"
#include "cuda/exact_scan/integer_writer.cuh"

namespace warpfold::cuda::kernels {

struct IntegerArithmetic {
  static constexpr bool has_code(int architecture) { return compiles_without_fp64(architecture); }
  template <class In, class Out>
  using Summer = integers::SegmentSummer<In, Out>;
  template <class In, class Out>
  using Writer = integers::SegmentWriter<In, Out>;
};

ResidentExactScan integer_scan_residency(ElementType input, ElementType output) {
  return ExactScanBy<IntegerArithmetic>::residency(input, output);
}

void integer_scan(const BlockView& block, bool exclusive, const ExactCarry& carry, void* workspace,
                  std::uint32_t epoch, const ResidentExactScan& resident, cudaStream_t stream) {
  ExactScanBy<IntegerArithmetic>::start(block, exclusive, carry, workspace, epoch, resident,
                                        stream);
}

}  // namespace warpfold::cuda::kernels
