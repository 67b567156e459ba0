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

/// What to combine: the sum, for an Extremum the better one, for an Affine the map that applies one
/// after the other, which does not commute.
template <class T>
std::vector<T> reduced(const std::vector<T>& lanes);
template <class T>
std::vector<T> reduced_up(const std::vector<T>& lanes);
template <class T>
std::vector<T> reduced_xor(const std::vector<T>& lanes);
template <class T>
std::vector<T> reduced_around(const std::vector<T>& lanes);
template <class T>
std::vector<T> reduced_in_shared_memory(const std::vector<T>& lanes);
template <class T>
std::vector<T> inclusively_scanned(const std::vector<T>& lanes);
template <class T>
std::vector<T> inclusively_scanned_xor(const std::vector<T>& lanes);
template <class T>
std::vector<T> inclusively_scanned_by_halves(const std::vector<T>& lanes);
template <class T>
std::vector<T> suffix_scanned(const std::vector<T>& lanes);

template <class T>
std::vector<T> shuffled(const std::vector<T>& lanes, int source);
template <class T>
std::vector<T> shuffled_up(const std::vector<T>& lanes, int delta);
template <class T>
std::vector<T> shuffled_down(const std::vector<T>& lanes, int delta);
template <class T>
std::vector<T> shuffled_xor(const std::vector<T>& lanes, int bits);

// What each lane sees of the others. A lane says yes with a value that is not zero.

std::vector<std::uint32_t> ballots(const std::vector<std::uint32_t>& lanes);
std::vector<std::uint32_t> anys(const std::vector<std::uint32_t>& lanes);
std::vector<std::uint32_t> alls(const std::vector<std::uint32_t>& lanes);

/// For u32, i32, u64, f32 and f64.
template <class T>
std::vector<std::uint32_t> matches_any(const std::vector<T>& lanes);
template <class T>
std::vector<std::uint32_t> matches_all(const std::vector<T>& lanes);

/// In a branch that the lanes which say yes take; zero in the others.
std::vector<std::uint32_t> active_where(const std::vector<std::uint32_t>& lanes);

/// The value of the next lane of those in `mask`, passed through shared memory; the own value in
/// the others.
std::vector<std::uint32_t> passed_down(const std::vector<std::uint32_t>& lanes, std::uint32_t mask);

std::vector<std::uint32_t> ranks_among(const std::vector<std::uint32_t>& masks);

/// Increments of one counter that starts at `start`, by those of a whole block's threads that say
/// yes: what each got, and at the end what the counter shows. Others have what they came with.
std::vector<std::uint64_t> increments(const std::vector<std::uint64_t>& threads,
                                      std::uint64_t start);

}  // namespace warpfold::cuda::test
