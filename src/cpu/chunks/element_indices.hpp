#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/layout/staged_chunks.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {

/// The flat indices of elements that lie one behind another, which rise: of elements of a box from
/// a place on, or of those at some places of it.
class ElementIndices {
 public:
  /// Takes the box's elements `step` places apart.
  ElementIndices(const BoxIndices& indices, std::uint64_t first_place, std::uint64_t step = 1)
      : ElementIndices(indices, first_place, step, nullptr, 0) {}

  std::uint64_t first() const { return (*this)(0); }

  /// Return where they are places of, and the first one's.
  const BoxIndices& box() const { return *indices_; }
  std::uint64_t first_place() const { return first_place_; }

  std::uint64_t operator()(std::uint64_t element) const {
    return (*indices_)(first_place_ +
                       (counts_ == nullptr ? element * step_ : place_of(element + skipped_)));
  }

  /// Returns the indices without the first `elements`.
  ElementIndices from(std::uint64_t elements) const {
    if (counts_ == nullptr) return {*indices_, first_place_ + elements * step_, step_};
    return {*indices_, first_place_, step_, counts_, skipped_ + elements};
  }

  /// Returns the indices of those elements whose bits are set.
  ElementIndices at(const std::uint64_t* counts) const {
    return {*indices_, first_place_, step_, counts, 0};
  }

 private:
  ElementIndices(const BoxIndices& indices, std::uint64_t first_place, std::uint64_t step,
                 const std::uint64_t* counts, std::uint64_t skipped)
      : indices_(&indices),
        first_place_(first_place),
        step_(step),
        counts_(counts),
        skipped_(skipped) {}

  /// Returns the place of the set bit that so many are before.
  std::uint64_t place_of(std::uint64_t before) const {
    const std::uint64_t* word = counts_;
    for (; before >= static_cast<std::uint64_t>(std::popcount(*word)); ++word)
      before -= static_cast<std::uint64_t>(std::popcount(*word));
    std::uint64_t bits = *word;
    for (; before > 0; --before) bits &= bits - 1;
    return static_cast<std::uint64_t>(word - counts_) * word_bits +
           static_cast<std::uint64_t>(std::countr_zero(bits));
  }

  const BoxIndices* indices_;
  std::uint64_t first_place_;
  std::uint64_t step_;           ///< step of all
  const std::uint64_t* counts_;  ///< bits; null: all
  std::uint64_t skipped_;        ///< number of set bits skipped
};

}  // namespace warpfold::cpu
