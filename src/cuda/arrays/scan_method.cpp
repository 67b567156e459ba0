#include "cuda/arrays/scan_method.hpp"

#include "cuda/arrays/extremum_scan.hpp"
#include "cuda/arrays/fast_float_sum_scan.hpp"
#include "cuda/arrays/float_sum_scan.hpp"
#include "cuda/arrays/integer_sum_scan.hpp"

namespace warpfold::cuda {

std::unique_ptr<ScanMethod> make_scan_method(const ScanSpec& spec, bool reproducible) {
  if (spec.operation != ScanOperation::sum) return std::make_unique<ExtremumScan>(spec);
  if (is_integer(spec.input.type)) return std::make_unique<IntegerSumScan>(spec);
  if (reproducible) return std::make_unique<FloatSumScan>(spec);
  return std::make_unique<FastFloatSumScan>(spec);
}

}  // namespace warpfold::cuda
