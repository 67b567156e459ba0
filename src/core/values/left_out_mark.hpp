#pragma once

#include <bit>
#include <limits>

#include "core/values/byte_order.hpp"

namespace warpfold {

/// In place of a float that is left out: a NaN that is not the canonical one.
template <class T>
inline const T left_out_mark = std::bit_cast<T>(
    static_cast<Word<T>>(std::bit_cast<Word<T>>(std::numeric_limits<T>::quiet_NaN()) + 1));

template <class T>
bool is_left_out_mark(T value) {
  return std::bit_cast<Word<T>>(value) == std::bit_cast<Word<T>>(left_out_mark<T>);
}

}  // namespace warpfold
