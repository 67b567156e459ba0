#include "cuda/arrays/fast_float_sum_scan.hpp"

#include <limits>

#include "warpfold/core/error.hpp"
#include "warpfold/core/rounding.hpp"

namespace warpfold::cuda {
namespace {

template <class T>
T rounded_sum(const Accumulator& before) {
  const bool positive = before.positive_infinities != 0;
  const bool negative = before.negative_infinities != 0;
  if (before.nan_count != 0 || (positive && negative)) return std::numeric_limits<T>::quiet_NaN();
  if (positive) return std::numeric_limits<T>::infinity();
  if (negative) return -std::numeric_limits<T>::infinity();
  return static_cast<T>(before.sum.rounded(0, rounding_towards<T>));
}

}  // namespace

FastFloatSumScan::FastFloatSumScan(const ScanSpec& spec)
    : spec_(spec), array_scan_(spec.input.type, spec.output, ScanOperation::sum) {
  if (spec.input.order != native_byte_order)
    throw Error("a sum in the elements' own arithmetic takes them in native byte order", "",
                "swap their bytes first, or ask for the reproducible sum");
}

Accumulator FastFloatSumScan::total(const kernels::BlockView& block, std::byte*,
                                    cudaStream_t stream) {
  ReduceNeeds needs;
  needs.sum = true;
  reduce_.start(block.input, block.elements, spec_.input, needs, 0, stream);
  return reduce_.result();
}

std::optional<std::uint64_t> FastFloatSumScan::scan(const kernels::BlockView& block, std::byte*,
                                                    const Accumulator& before,
                                                    cudaStream_t stream) {
  const auto start = [&](const void* carry) {
    array_scan_.start(block.input, block.output, block.elements, spec_.exclusive, carry, stream);
  };
  if (spec_.output == ElementType::f64) {
    const double carry = rounded_sum<double>(before);
    start(&carry);
  } else {
    const auto carry = rounded_sum<float>(before);
    start(&carry);
  }
  return std::nullopt;
}

}  // namespace warpfold::cuda
