#include "core/numeric/field_sum.hpp"

#include <algorithm>

#include "core/numeric/special_values.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

double rounded(const FieldSum& sum) {
  if (sum.nan_count > 0 || (sum.positive_infinities > 0 && sum.negative_infinities > 0))
    return quiet_nan;
  if (sum.positive_infinities > 0) return infinity;
  if (sum.negative_infinities > 0) return -infinity;
  return std::visit([](const auto& finite) { return finite.rounded(); }, sum.finite);
}

int128 integer(const ExactSum& sum) {
  const int128 value = integer_of(sum);
  ExactSum again{};
  again.add(value);
  again.normalize();
  if (!std::ranges::equal(again.limb, sum.limb))
    throw Error("a sum of integer products exceeds 128 bits", "",
                "Sum smaller numbers, or floating-point ones.");
  return value;
}

}  // namespace

std::vector<std::int64_t> words_of(const std::vector<FieldSum>& sums) {
  std::vector<std::int64_t> words;
  for (const FieldSum& sum : sums) {
    words.insert(words.end(), {sum.nan_count, sum.positive_infinities, sum.negative_infinities});
    std::visit(
        [&](const auto& finite) {
          words.insert(words.end(), std::begin(finite.limb), std::end(finite.limb));
        },
        sum.finite);
  }
  return words;
}

std::vector<FieldSum> sums_of(const std::vector<std::int64_t>& words,
                              const std::vector<FieldSum>& like) {
  std::vector<FieldSum> sums = like;
  auto word = words.begin();
  for (FieldSum& sum : sums) {
    sum.nan_count = *word++;
    sum.positive_infinities = *word++;
    sum.negative_infinities = *word++;
    std::visit(
        [&](auto& finite) {
          for (std::int64_t& limb : finite.limb) limb = *word++;
          finite.normalize();
        },
        sum.finite);
  }
  return sums;
}

Value value_of(const FieldSum& sum, ElementType type) {
  if (is_integer(type)) return integer(std::get<ExactSum>(sum.finite));
  return rounded(sum);
}

}  // namespace warpfold
