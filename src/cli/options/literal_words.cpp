#include "cli/options/literal_words.hpp"

namespace warpfold::cli {
namespace {

constexpr char mark = '\x01';

}  // namespace

std::string marked(std::string word) {
  const bool literal = word.starts_with('[') || word.starts_with('{') || word.starts_with(mark);
  return literal ? mark + word : word;
}

std::string unmarked(std::string word) {
  if (word.starts_with(mark)) word.erase(0, 1);
  return word;
}

void take_unmarked(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) option->transform(unmarked);
}

}  // namespace warpfold::cli
