#pragma once

#include <cstdint>
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

/// A counter for each slot, all with one table of `bin_keys`.
class BinCounterFactory {
 public:
  virtual ~BinCounterFactory() = default;
  virtual std::unique_ptr<BinCounter> make() const = 0;
};

/// Makes a factory for elements in `format`, to which `decoding` is applied; `bin_keys` as a
/// HistogramEngine's are.
std::unique_ptr<BinCounterFactory> make_bin_counter_factory(const Kernels& kernels,
                                                            ElementFormat format,
                                                            std::span<const std::uint64_t> bin_keys,
                                                            const Decoding& decoding);

}  // namespace warpfold::cpu
