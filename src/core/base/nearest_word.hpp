#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold {

/// Finds the one of `words` that `word` was most likely meant to be: one that differs by case, or
/// by at most `most_edits` edits; empty if none is close.
std::string nearest_word(std::string_view word, const std::vector<std::string>& words,
                         std::size_t most_edits);

/// Finds it with at most 2 edits, or as many as a third of the word has letters.
std::string nearest_word(std::string_view word, const std::vector<std::string>& words);

/// Writes "Did you mean WORD? "; empty for an empty word.
std::string did_you_mean(const std::string& word);

}  // namespace warpfold
