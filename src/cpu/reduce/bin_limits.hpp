#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpu/kernels/bin_table.hpp"

namespace warpfold::cpu {

/// The limits between regions of T's values, and the cells by which they are found.
template <class T>
class BinLimits {
 public:
  /// Of the values whose ordered_key() is in `keys`, which rise, one or more.
  explicit BinLimits(std::span<const std::uint64_t> keys);

  /// Valid as long as this object.
  const BinTable<Limit<T>>& table() const { return table_; }

 private:
  void lay_out_cells();
  void count_limits();

  std::vector<Limit<T>> limits_;
  std::vector<std::uint32_t> passed_;
  BinTable<Limit<T>> table_ = {};
};

}  // namespace warpfold::cpu
