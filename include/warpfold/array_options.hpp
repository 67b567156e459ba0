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

/// Arithmetic of scans that sum floating-point elements.
enum class FloatSums : std::uint8_t {
  /// Exact prefixes, each rounded once: the same bits for any number of ranks, on any machine.
  reproducible,
  /// Additions in the output type's arithmetic: the same bits from run to run only for the same
  /// partitions on one GPU model. Input and output type are the same, f32 or f64. Takes 0.8 to 0.9
  /// of the time, and less for elements that spread over many binary orders or cancel. Arrays in
  /// host memory get the exact prefixes.
  fast
};

/// Options of scans of arrays in memory.
struct ArrayScanOptions {
  ScanOperation operation = ScanOperation::sum;  ///< sum, minimum or maximum
  bool exclusive = false;                        ///< each prefix without its own element
  std::optional<ElementType> output_type;        ///< default_scan_output() where not given
  /// `error`: if the output type can't hold a prefix of integers, an Error names the first such
  /// index, and the output is unspecified. The check costs nothing if the number of elements rules
  /// overflow out. Otherwise the last rank's GPU, too, reads its input twice, and all ranks wait
  /// for their prefixes unless the sums of positive and of negative elements rule it out.
  OverflowPolicy overflow = OverflowPolicy::error;
  FloatSums float_sums = FloatSums::reproducible;  ///< for sums of floats on GPUs
};

}  // namespace warpfold
