#pragma once

#include "core/values/decoding.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {

/// Returns the filter that selects of T's values, T a type that kernels take, those that a filter
/// of them selects.
template <class T>
KeyFilter<NativeKey<T>> key_filter_of(const ValueFilter& filter);

}  // namespace warpfold::cpu
