#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/results/histogram_bins.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// Values of one type from one to another, by their dense_key().
struct KeyRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  bool operator==(const KeyRange&) const = default;
};

/// Finds values by their order: how many values are before them once all are sorted, NaN left out.
/// Each pass over the values counts them by bins, which divide the ranges of values in which those
/// looked for lie, until these are single ones. All ranges together have about 2^22 bins at most,
/// as many each; of less than 2^24 elements, which are passed sooner than so many bins, 2^17.
/// So values of 8 and 16 bits take one pass, those of 32 bits two, and those of 64 bits three (of
/// few elements four); more where many ranges have to share the bins.
class OrderSearch {
 public:
  /// Takes the number of elements at most, on which the number of bins depends.
  OrderSearch(ElementType type, std::uint64_t elements);

  /// Returns the ranges that the next pass divides, rising; none once all values are found.
  const std::vector<KeyRange>& open() const { return open_; }

  /// Goes on with another search's ranges.
  void set_open(std::vector<KeyRange> ranges) { open_ = std::move(ranges); }

  /// Returns a HistogramEngine's keys for the next pass.
  std::vector<std::uint64_t> bin_keys() const;

  /// Takes what a pass counted by bin_keys(), for the same `orders` each time: rising, and less
  /// than the number of values.
  void narrow(const HistogramCounts& counts, std::span<const std::uint64_t> orders);

  /// Returns the value of the i-th order, of zeros the positive one. Once all are found.
  Value value(std::size_t i) const;

 private:
  std::vector<std::uint64_t> bin_starts() const;

  ElementType type_;
  int bits_of_pass_;
  std::vector<KeyRange> open_;
  std::vector<KeyRange> ranges_;  ///< one per order
};

}  // namespace warpfold
