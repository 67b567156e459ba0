#include "core/base/nearest_word.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/text.hpp"

namespace warpfold {
namespace {

/// Returns Levenshtein's distance.
std::size_t edits_between(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& words,
                         std::size_t most_edits) {
  std::string nearest;
  std::size_t fewest = most_edits + 1;
  for (const std::string& candidate : words) {
    const bool differs_by_case = lowered(word) == lowered(candidate);
    const std::size_t edits = differs_by_case ? 0 : edits_between(word, candidate);
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = candidate;
  }
  return nearest;
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& words) {
  return nearest_word(word, words, std::max<std::size_t>(2, word.size() / 3));
}

std::string did_you_mean(const std::string& word) {
  return word.empty() ? "" : "Did you mean " + word + "? ";
}

}  // namespace warpfold
