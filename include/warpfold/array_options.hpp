#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_operation.hpp"
#include "warpfold/core/statistic.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// Options of reductions of arrays in memory.
struct ArrayReduceOptions {
  std::vector<Statistic> statistics = {Statistic::sum};  ///< the summary has them in this order
  SummaryOptions summary;                                ///< the effects of NaN and overflow
};

/// Floating-point elements are summed in one of these ways.
enum class FloatSums : std::uint8_t {
  /// Gives the exact prefixes, each rounded once: the same bits for any ranks and on any machine.
  reproducible,
  /// Adds in the output type's own arithmetic: gives the same bits from run to run for the same
  /// partitions on one GPU model. Input and output type are the same, f32 or f64. Takes 0.8 to 0.9
  /// of the time, less where elements spread over many binary orders or cancel. Arrays in host
  /// memory get the exact prefixes.
  fast
};

/// Options of scans of arrays in memory.
struct ArrayScanOptions {
  ScanOperation operation = ScanOperation::sum;  ///< sum, minimum or maximum
  bool exclusive = false;                        ///< each prefix without its own element
  std::optional<ElementType> output_type;        ///< default_scan_output() where not given
  /// `error`: a prefix of integers that its output type can't hold is an Error that names the first
  /// such index; the output is then unspecified. Costs nothing where the number of elements
  /// excludes it; else the last rank's GPU reads its input twice as well, and all wait for their
  /// prefixes where the sums of their positive and negative elements don't exclude it.
  OverflowPolicy overflow = OverflowPolicy::error;
  FloatSums float_sums = FloatSums::reproducible;  ///< for sums of floats on GPUs
};

}  // namespace warpfold
