#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/layout/staged_chunks.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {

/// A period beyond all indices.
inline constexpr std::uint64_t all_indices = ~std::uint64_t{0};

/// Calls body(index of the first, how many before, how many) for each run of consecutive indices
/// among those of `n` elements from a place on; with `period`, of indices modulo that.
template <class Body>
void for_each_index_run(const BoxIndices& indices, std::uint64_t first_place, std::size_t n,
                        std::uint64_t period, Body&& body) {
  const int inner = indices.dimensions - 1;
  for (std::size_t done = 0; done < n;) {
    const std::uint64_t place = first_place + done;
    const std::uint64_t index = indices(place) % period;
    std::uint64_t run = std::min<std::uint64_t>(n - done, period - index);
    if (inner >= 0)
      run = std::min(run, indices.stride[inner] == 1
                              ? indices.extent[inner] - place % indices.extent[inner]
                              : 1);
    body(index, done, static_cast<std::size_t>(run));
    done += static_cast<std::size_t>(run);
  }
}

/// Calls put(word, bits to be set in it) so that `n` bits of `from`, from bit `first` on, get to
/// bit `to` and those behind it.
template <class Put>
void put_bits(const std::uint64_t* from, std::uint64_t first, std::size_t n, std::uint64_t to,
              Put&& put) {
  for (std::size_t done = 0; done < n;) {
    const std::uint64_t source = first + done;
    const std::uint64_t target = to + done;
    const std::uint64_t shift = source % word_bits;
    const std::size_t bits = std::min<std::size_t>(word_bits - target % word_bits, n - done);
    std::uint64_t word = from[source / word_bits] >> shift;
    if (shift + bits > word_bits) word |= from[source / word_bits + 1] << (word_bits - shift);
    if (bits < word_bits) word &= (std::uint64_t{1} << bits) - 1;
    put(target / word_bits, word << target % word_bits);
    done += bits;
  }
}

}  // namespace warpfold::cpu
