#pragma once

#include <vector>

#include "warpfold/core/accumulator.hpp"
#include "warpfold/core/double_pair.hpp"
#include "warpfold/core/int128.hpp"

/// Each of the warp's functions on 32 values, one a lane; for the types the tests know.
namespace warpfold::cuda::test {

/// What to combine: the sum, or for an Extremum the better one.
template <class T>
std::vector<T> reduced(const std::vector<T>& lanes);
template <class T>
std::vector<T> inclusively_scanned(const std::vector<T>& lanes);

template <class T>
std::vector<T> shuffled(const std::vector<T>& lanes, int source);
template <class T>
std::vector<T> shuffled_up(const std::vector<T>& lanes, int delta);
template <class T>
std::vector<T> shuffled_down(const std::vector<T>& lanes, int delta);

}  // namespace warpfold::cuda::test
