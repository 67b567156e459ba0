#include "cli/options/literal_words.hpp"

namespace warpfold::cli {
namespace {

constexpr char mark = '\x01';

}  // namespace

std::vector<std::string> marked(const std::vector<std::string>& words) {
  std::vector<std::string> marked;
  bool options = true;
  for (const std::string& word : words) {
    options = options && word != "--";
    const bool literal = word.starts_with('[') || word.starts_with('{') || word.starts_with(mark);
    marked.push_back(literal ? mark + word : word);
    const bool has_no_value = word.starts_with("--") && word.find('=') == word.size() - 1;
    if (!options || !has_no_value) continue;
    marked.back().pop_back();
    marked.emplace_back();
  }
  return marked;
}

std::string unmarked(std::string word) {
  if (word.starts_with(mark)) word.erase(0, 1);
  return word;
}

void take_unmarked(CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    option->transform([option](const std::string& word) {
      if (word.starts_with("--") && !option->get_positional())
        throw CLI::ArgumentMismatch::AtLeast(option->get_name(), 1, 0);
      return unmarked(word);
    });
}

}  // namespace warpfold::cli
