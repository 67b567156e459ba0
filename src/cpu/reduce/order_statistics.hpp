#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {

/// Finds keys of a line by their order: how many are before them once all are sorted. A key is
/// closed in on by counting those below pivots, in vectors.
template <class Key>
class OrderStatistics {
 public:
  explicit OrderStatistics(const Kernels& kernels) : kernels_(kernels_of<Key>(kernels)) {}

  /// Takes `n` keys, at least one, which stay where they are until the next call. Sorts them where
  /// so many are to be looked for that this is sooner.
  void take(Key* keys, std::size_t n, std::size_t searches) {
    keys_ = keys;
    n_ = n;
    sorted_ = searches > most_searches;
    if (sorted_)
      std::sort(keys, keys + n);
    else
      ends_ = kernels_.extrema(keys, n);
  }

  /// Returns the key of an order less than their number.
  Key at(std::size_t order) {
    if (sorted_) return keys_[order];
    Range range{keys_, n_, ends_.minimum, ends_.maximum, 0, n_};
    while (range.first < range.last) {
      const auto pivot = static_cast<Key>(range.first + (range.last - range.first) / 2 + 1);
      const std::size_t below = range.elsewhere + kernels_.count_below(range.keys, range.n, pivot);
      if (order < below) {
        range.last = static_cast<Key>(pivot - 1);
        range.until = below;
      } else {
        range.first = pivot;
        range.before = below;
      }
      const std::size_t left = range.until - range.before;
      if (left == 1) return kernels_.least_from(range.keys, range.n, range.first);
      if (range.n > short_line && left <= range.n / 4) drop_others(range);
    }
    return range.first;
  }

  /// Returns the key behind the one of an order, which at() gave, and which is not the last.
  Key behind(std::size_t order, Key key) {
    if (sorted_) return keys_[order + 1];
    if (key == std::numeric_limits<Key>::max()) return key;
    const auto next = static_cast<Key>(key + 1);
    return kernels_.count_below(keys_, n_, next) > order + 1 ? key
                                                             : kernels_.least_from(keys_, n_, next);
  }

 private:
  static constexpr std::size_t most_searches = 48;

  /// Keys that stay in a core's first cache are counted sooner than others are dropped.
  static constexpr std::size_t short_line = std::size_t{1} << 12;

  /// The keys from `first` to `last`, the one looked for among them.
  struct Range {
    const Key* keys;
    std::size_t n;
    Key first;
    Key last;
    std::size_t before;         ///< keys less than first
    std::size_t until;          ///< keys up to last
    std::size_t elsewhere = 0;  ///< earlier elements that `keys` don't have any more
  };

  void drop_others(Range& range) {
    const std::size_t left = range.until - range.before;
    if (kept_.size() <= left) kept_.resize(left + 1);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < range.n; ++i) {
      const Key key = range.keys[i];
      kept_[kept] = key;
      kept += range.first <= key && key <= range.last ? 1 : 0;
    }
    range.keys = kept_.data();
    range.n = left;
    range.elsewhere = range.before;
  }

  const IntegerKernels<Key>& kernels_;
  Key* keys_ = nullptr;
  std::size_t n_ = 0;
  bool sorted_ = false;
  MinMax<Key> ends_{};
  std::vector<Key> kept_;  ///< room for one more
};

}  // namespace warpfold::cpu
