#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "core/numeric/fixed_point.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// The exact sum of a field: the finite terms in full, others counted. Products of doubles take
/// more digits than all else.
struct FieldSum {
  std::int64_t nan_count = 0;
  std::int64_t positive_infinities = 0;
  std::int64_t negative_infinities = 0;
  std::variant<ExactSum, ExactSumOfSquares> finite;  ///< normalized
};

/// Makes words of sums, and sums of words; `like` has sums of the same kinds. Words add one by one,
/// of up to 2^30 ranks, and what they give is normalized.
std::vector<std::int64_t> words_of(const std::vector<FieldSum>& sums);
std::vector<FieldSum> sums_of(const std::vector<std::int64_t>& words,
                              const std::vector<FieldSum>& like);

/// Returns the sum of a field of `type`: of floats a double, rounded once, with NaN and infinities
/// as IEEE 754 has them; of integers the exact integer. Throws Error where that takes more than 128
/// bits, as only products can.
Value value_of(const FieldSum& sum, ElementType type);

}  // namespace warpfold
