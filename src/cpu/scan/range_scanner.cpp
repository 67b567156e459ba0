#include "cpu/scan/range_scanner.hpp"

#include "cpu/scan/extremum_scanner.hpp"
#include "cpu/scan/float_sum_scanner.hpp"
#include "cpu/scan/integer_sum_scanner.hpp"

namespace warpfold::cpu {

std::unique_ptr<RangeScanner> make_range_scanner(const Kernels& kernels, const ScanSpec& spec) {
  return visit_element_type(spec.input.type, [&](auto element) -> std::unique_ptr<RangeScanner> {
    using Stored = decltype(element);
    if (spec.operation != ScanOperation::sum)
      return std::make_unique<ExtremumScanner<Stored>>(kernels, spec);
    if constexpr (is_floating_element<Stored>)
      return std::make_unique<FloatSumScanner<Stored>>(kernels, spec);
    else
      return std::make_unique<IntegerSumScanner<Stored>>(kernels, spec);
  });
}

}  // namespace warpfold::cpu
