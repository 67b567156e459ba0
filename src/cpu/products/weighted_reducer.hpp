#pragma once

#include <memory>

#include "core/values/factors.hpp"
#include "cpu/reduce/axis_reducer.hpp"

namespace warpfold::cpu {

/// Makes a reducer of the products of elements and their factors, in the arrays of AxisParts that
/// `needs` asks for: the sum, and of weights `absolute` and `squares`.
std::unique_ptr<AxisReducer> make_weighted_reducer(const Kernels& kernels, ElementFormat format,
                                                   const Decoding& decoding, ReduceNeeds needs,
                                                   const Factors& factors);

}  // namespace warpfold::cpu
