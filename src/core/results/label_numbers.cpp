#include "core/results/label_numbers.hpp"

#include <algorithm>
#include <bit>

namespace warpfold {
namespace {

constexpr std::uint32_t free_slot = ~std::uint32_t{0};
constexpr std::size_t least_slots = 64;

}  // namespace

/// Returns the slot that a label has, or that it would get.
std::uint64_t LabelNumbers::slot_of(std::uint64_t label) const {
  // Multiplying by 2^64 / the golden ratio spreads labels over the upper bits.
  const std::uint64_t spread = label * 0x9e3779b97f4a7c15;
  std::uint64_t slot = spread >> (64 - std::countr_zero(slots_.size()));
  while (slots_[slot] != free_slot && labels_[slots_[slot]] != label)
    slot = (slot + 1) % slots_.size();
  return slot;
}

std::uint32_t LabelNumbers::find(std::uint64_t label) {
  if (2 * labels_.size() >= slots_.size()) grow();
  std::uint32_t& number = slots_[slot_of(label)];
  if (number == free_slot) {
    number = static_cast<std::uint32_t>(labels_.size());
    labels_.push_back(label);
  }
  return number;
}

void LabelNumbers::grow() {
  slots_.assign(std::max(least_slots, 2 * slots_.size()), free_slot);
  for (std::uint32_t number = 0; number < labels_.size(); ++number)
    slots_[slot_of(labels_[number])] = number;
}

}  // namespace warpfold
