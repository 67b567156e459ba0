#pragma once

#include <cstdint>
#include <vector>

#include "core/results/accumulator.hpp"
#include "warpfold/core/int128.hpp"

/// Each of the warp's functions on 32 values, one a lane; for the types the tests know.
namespace warpfold::cuda::test {

/// x -> factor * x + offset, modulo 2^32.
struct Affine {
  std::uint32_t factor;
  std::uint32_t offset;
};

/// Combines lanes: by the sum; an Extremum by the better one; an Affine by the map that applies one
/// after the other, which does not commute.
template <class T>
std::vector<T> reduced(const std::vector<T>& lanes);
template <class T>
std::vector<T> reduced_xor(const std::vector<T>& lanes);
template <class T>
std::vector<T> inclusively_scanned(const std::vector<T>& lanes);

template <class T>
std::vector<T> shuffled(const std::vector<T>& lanes, int source);
template <class T>
std::vector<T> shuffled_up(const std::vector<T>& lanes, int delta);
template <class T>
std::vector<T> shuffled_down(const std::vector<T>& lanes, int delta);
template <class T>
std::vector<T> shuffled_xor(const std::vector<T>& lanes, int bits);

// Values that each lane sees of the others. A lane says yes with a value that is not zero.

std::vector<std::uint32_t> ballots(const std::vector<std::uint32_t>& lanes);
std::vector<std::uint32_t> anys(const std::vector<std::uint32_t>& lanes);
std::vector<std::uint32_t> alls(const std::vector<std::uint32_t>& lanes);

/// For u32, i32, u64, f32 and f64.
template <class T>
std::vector<std::uint32_t> matches_any(const std::vector<T>& lanes);

/// The value of the next lane of those in `mask`, passed through shared memory; the own value in
/// the others.
std::vector<std::uint32_t> passed_down(const std::vector<std::uint32_t>& lanes, std::uint32_t mask);

std::vector<std::uint32_t> ranks_among(const std::vector<std::uint32_t>& masks);

}  // namespace warpfold::cuda::test
