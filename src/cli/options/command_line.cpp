#include "cli/options/command_line.hpp"

#include <algorithm>
#include <utility>

#include "cli/options/literal_words.hpp"
#include "cli/options/option_errors.hpp"

namespace warpfold::cli {

void parse_words(CLI::App& grammar, const std::vector<std::string>& words) {
  for (CLI::App* command : grammar.get_subcommands([](CLI::App*) { return true; }))
    take_unmarked(*command);
  std::vector<std::string> reversed = marked(words);
  std::ranges::reverse(reversed);
  try {
    grammar.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    throw;
  } catch (const CLI::ParseError& failure) {
    throw option_error(grammar, failure);
  }
}

}  // namespace warpfold::cli
