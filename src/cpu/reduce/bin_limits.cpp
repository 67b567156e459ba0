#include "cpu/reduce/bin_limits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warpfold::cpu {
namespace {

/// What ordered_key() makes of a value, undone.
template <class T>
Limit<T> limit_of(std::uint64_t key) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<double>((key & sign) != 0 ? key ^ sign : ~key);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<Limit<T>>(static_cast<std::int64_t>(key ^ sign));
  else
    return static_cast<Limit<T>>(key);
}

/// Cells for each limit: few enough for a core's cache, where limits are, and so many that evenly
/// spaced limits have each a cell of their own.
constexpr std::size_t cells_a_limit = 4;

}  // namespace

template <class T>
BinLimits<T>::BinLimits(std::span<const std::uint64_t> keys) {
  for (const std::uint64_t key : keys) limits_.push_back(limit_of<T>(key));
  lay_out_cells();
  count_limits();
  table_.limits = limits_.data();
  table_.passed = passed_.data();
  table_.count = static_cast<std::uint32_t>(limits_.size());
}

template <class T>
void BinLimits<T>::lay_out_cells() {
  const auto finite = [](Limit<T> limit) { return std::isfinite(static_cast<double>(limit)); };
  const auto first = std::find_if(limits_.begin(), limits_.end(), finite);
  const auto last = std::find_if(limits_.rbegin(), limits_.rend(), finite);
  if (first == limits_.end()) return;
  const double cells = static_cast<double>(limits_.size() * cells_a_limit);
  table_.origin = static_cast<double>(*first);
  const double scale = cells / (static_cast<double>(*last) - table_.origin);
  if (!(scale > 0) || !std::isfinite(scale)) return;
  table_.scale = scale;
  table_.last_cell = cells;
}

template <class T>
void BinLimits<T>::count_limits() {
  passed_.resize(static_cast<std::size_t>(table_.last_cell) + 2);
  for (const Limit<T> limit : limits_) {
    // As the kernels do it; but NaN is the limit behind infinity, which nothing reaches.
    const double place = (static_cast<double>(limit) - table_.origin) * table_.scale;
    const double cell = place < table_.last_cell ? std::max(place, 0.0) : table_.last_cell;
    ++passed_[static_cast<std::size_t>(cell) + 1];
  }
  table_.max_in_cell = *std::max_element(passed_.begin(), passed_.end());
  for (std::size_t cell = 1; cell < passed_.size(); ++cell) passed_[cell] += passed_[cell - 1];
}

template class BinLimits<std::int8_t>;
template class BinLimits<std::int16_t>;
template class BinLimits<std::int32_t>;
template class BinLimits<std::int64_t>;
template class BinLimits<std::uint8_t>;
template class BinLimits<std::uint16_t>;
template class BinLimits<std::uint32_t>;
template class BinLimits<std::uint64_t>;
template class BinLimits<float>;
template class BinLimits<double>;

}  // namespace warpfold::cpu
