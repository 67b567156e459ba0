#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "core/results/histogram_bins.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/reduce/range_reducer.hpp"

namespace warpfold::cpu {

/// One thread's counts of any elements it is given, by bins.
class BinCounter : public RangeSink {
 public:
  virtual HistogramCounts counts() const = 0;
};

/// Makes a counter for each thread.
using MakeBinCounter = std::function<std::unique_ptr<BinCounter>()>;

/// Returns what makes counters of elements in `format`, to which `decoding` is applied, all with
/// one table of `bin_keys`, which are as a HistogramEngine's.
MakeBinCounter bin_counters(const Kernels& kernels, ElementFormat format,
                            std::span<const std::uint64_t> bin_keys, const Decoding& decoding);

}  // namespace warpfold::cpu
