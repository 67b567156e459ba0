#pragma once

#include <cstdint>
#include <cstring>

#include "core/results/accumulator.hpp"

namespace warpfold {

inline bool same(const Accumulator& a, const Accumulator& b) {
  static_assert(sizeof(Accumulator) % sizeof(std::uint64_t) == 0, "has no padding");
  return std::memcmp(&a, &b, sizeof(Accumulator)) == 0;
}

}  // namespace warpfold
