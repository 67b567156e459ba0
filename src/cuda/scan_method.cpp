#include "cuda/scan_method.hpp"

#include "cuda/extremum_scan.hpp"
#include "cuda/float_sum_scan.hpp"
#include "cuda/integer_sum_scan.hpp"

namespace warpfold::cuda {

std::unique_ptr<ScanMethod> make_scan_method(const ScanSpec& spec) {
  if (spec.operation != ScanOperation::sum) return std::make_unique<ExtremumScan>(spec);
  if (is_floating(spec.input.type)) return std::make_unique<FloatSumScan>(spec);
  return std::make_unique<IntegerSumScan>(spec);
}

}  // namespace warpfold::cuda
