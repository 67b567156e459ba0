#pragma once

#include <cstdint>

#include "core/layout/staged_chunks.hpp"

namespace warpfold::cpu {

/// The flat indices of elements that lie one behind another, which rise: of elements of a box from
/// a place on, or of those at some places of it.
class ElementIndices {
 public:
  /// Takes the box's elements `step` places apart.
  ElementIndices(const BoxIndices& indices, std::uint64_t first_place, std::uint64_t step = 1)
      : ElementIndices(indices, first_place, step, nullptr) {}

  std::uint64_t first() const { return first_; }

  /// Return where they are places of, and the first one's.
  const BoxIndices& box() const { return *indices_; }
  std::uint64_t first_place() const { return first_place_; }

  std::uint64_t operator()(std::uint64_t element) const {
    return (*indices_)(first_place_ + (places_ == nullptr ? element * step_ : places_[element]));
  }

  /// Returns the indices without the first `elements`.
  ElementIndices from(std::uint64_t elements) const {
    if (places_ == nullptr) return {*indices_, first_place_ + elements * step_, step_};
    return {*indices_, first_place_, step_, places_ + elements};
  }

  /// Returns the indices of elements picked out of all elements, by their places among them.
  ElementIndices at(const std::uint16_t* places) const {
    return {*indices_, first_place_, step_, places};
  }

 private:
  ElementIndices(const BoxIndices& indices, std::uint64_t first_place, std::uint64_t step,
                 const std::uint16_t* places)
      : indices_(&indices),
        first_place_(first_place),
        step_(step),
        places_(places),
        first_((*this)(0)) {}

  const BoxIndices* indices_;
  std::uint64_t first_place_;
  std::uint64_t step_;
  const std::uint16_t* places_;
  std::uint64_t first_;
};

}  // namespace warpfold::cpu
