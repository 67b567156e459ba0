#include "core/results/label_totals.hpp"

#include <algorithm>
#include <string>

#include "warpfold/core/error.hpp"

namespace warpfold {

void LabelTotals::merge(std::span<const std::uint64_t> labels, const AxisParts& parts) {
  std::vector<std::uint32_t> outputs;
  for (const std::uint64_t label : labels) {
    outputs.push_back(numbers_(label));
    if (numbers_.size() > max_labels)
      throw Error("there are more than " + std::to_string(max_labels) + " labels",
                  "totals of each are kept in memory",
                  "Select a part of the dataset, or name a dataset of fewer labels.");
  }
  totals_.grow(numbers_.size());
  totals_.merge(parts, OutputMap(outputs));
}

std::vector<std::uint64_t> LabelTotals::packed() const {
  std::vector<std::uint64_t> words{numbers_.size()};
  words.insert(words.end(), labels().begin(), labels().end());
  const std::vector<std::uint64_t> totals = totals_.packed();
  words.insert(words.end(), totals.begin(), totals.end());
  return words;
}

void LabelTotals::merge(std::span<const std::uint64_t> packed) {
  const std::uint64_t count = packed.front();
  const std::span<const std::uint64_t> labels = packed.subspan(1, count);
  merge(labels, totals_.unpacked(packed.subspan(1 + count), count));
}

LabelTotals LabelTotals::sorted() const {
  std::vector<std::uint64_t> rising(labels().begin(), labels().end());
  std::ranges::sort(rising);
  LabelTotals result(values_, needs_);
  result.merge(rising, AxisParts(needs_, rising.size()));
  result.merge(labels(), totals_.parts());
  return result;
}

}  // namespace warpfold
