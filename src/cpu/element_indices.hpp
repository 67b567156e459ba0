#pragma once

#include <cstddef>
#include <cstdint>

#include "core/staged_chunks.hpp"

namespace warpfold::cpu {

/// The flat indices of elements that lie one behind another, which rise: of all elements of a box
/// from a place on, or of those at some places of it.
class ElementIndices {
 public:
  ElementIndices(const BoxIndices& indices, std::uint64_t first_place)
      : ElementIndices(indices, first_place, nullptr) {}

  std::uint64_t first() const { return first_; }

  std::uint64_t operator()(std::uint64_t element) const {
    return (*indices_)(first_place_ + (places_ == nullptr ? element : places_[element]));
  }

  /// Without the first `elements`.
  ElementIndices from(std::uint64_t elements) const {
    if (places_ == nullptr) return {*indices_, first_place_ + elements};
    return {*indices_, first_place_, places_ + elements};
  }

  /// Of elements picked out of all elements, by their places among them.
  ElementIndices at(const std::uint16_t* places) const { return {*indices_, first_place_, places}; }

 private:
  ElementIndices(const BoxIndices& indices, std::uint64_t first_place, const std::uint16_t* places)
      : indices_(&indices), first_place_(first_place), places_(places), first_((*this)(0)) {}

  const BoxIndices* indices_;
  std::uint64_t first_place_;
  const std::uint16_t* places_;
  std::uint64_t first_;
};

}  // namespace warpfold::cpu
