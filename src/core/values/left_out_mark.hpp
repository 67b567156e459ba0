#pragma once

#include <bit>
#include <limits>

#include "core/values/byte_order.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// In place of a float that is left out: a NaN that is not the canonical one.
template <class T>
inline constexpr Word<T> left_out_bits =
    static_cast<Word<T>>(std::bit_cast<Word<T>>(std::numeric_limits<T>::quiet_NaN()) + 1);
template <class T>
inline const T left_out_mark = std::bit_cast<T>(left_out_bits<T>);

template <class T>
WARPFOLD_HD bool is_left_out_mark(T value) {
  return std::bit_cast<Word<T>>(value) == left_out_bits<T>;
}

}  // namespace warpfold
