#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/results/accumulator.hpp"
#include "core/values/ordered_key.hpp"
#include "cpu/chunks/element_indices.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {

/// An Accumulator that blocks are added to. A block makes at most block_elements additions to any
/// sum, or a handful; FixedPoint takes 2^30 of them before it must be normalized.
class BlockAccumulator {
 public:
  /// To be called before a block is added.
  Accumulator& for_next_block() {
    if (++blocks_ == normalize_every) {
      blocks_ = 0;
      contents_.normalize();
    }
    return contents_;
  }

  Accumulator take() {
    contents_.normalize();
    blocks_ = 0;
    return std::exchange(contents_, Accumulator::empty());
  }

 private:
  static constexpr std::uint64_t normalize_every = std::uint64_t{1} << 14;
  static_assert(normalize_every * 2 * block_elements <= std::uint64_t{1} << 30);

  Accumulator contents_ = Accumulator::empty();
  std::uint64_t blocks_ = 0;
};

/// Merges a block's least element (`complement` 0) or greatest one (all ones), whose index is
/// looked for only if it counts.
template <class T>
void merge_extremum(Extremum& best, const T* x, std::size_t n, const ElementIndices& indices,
                    T value, std::uint64_t complement,
                    std::size_t (*find)(const T*, std::size_t, T)) {
  const std::uint64_t key = ordered_key(value) ^ complement;
  if (key > best.key || !Extremum{key, indices.first(), 0}.better_than(best)) return;
  const std::size_t place = find(x, n, value);
  if (place < n) best.merge({key, indices(place), value_bits(x[place])});
}

}  // namespace warpfold::cpu
