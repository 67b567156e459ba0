#include "cli/options/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/report/text.hpp"
#include "core/base/nearest_word.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

/// CLI11 takes words in brackets for lists, and "{}" for an empty one. Words that begin so go past
/// it behind a mark, so that patterns and names mean what they say. It would also let an option
/// without a value have the option behind it.
constexpr char mark = '\x01';

/// Returns the words of a command line as CLI11 is to be given them.
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

/// Returns the word of the command line that marked() had.
std::string unmarked(std::string word) {
  if (word.starts_with(mark)) word.erase(0, 1);
  return word;
}

/// Lets all options of a command take their values without marks, and refuse other options.
void take_unmarked(CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    option->transform([option](const std::string& word) {
      if (word.starts_with("--") && !option->get_positional())
        throw CLI::ArgumentMismatch::AtLeast(option->get_name(), 1, 0);
      return unmarked(word);
    });
}

std::vector<std::string> option_names(const CLI::App& application) {
  std::vector<std::string> names;
  for (const CLI::Option* option : application.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

Error unknown_option(const CLI::App& application, const std::string& word,
                     const std::string& help) {
  const std::string name = word.substr(0, word.find('='));
  return usage_error("unknown option " + name, "",
                     did_you_mean(nearest_word(name, option_names(application))) + help);
}

/// Returns CLI11's own words, save where they count what was "required" of an option.
std::string complaint_of(const CLI::ParseError& failure) {
  const std::string words = failure.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&failure) == nullptr) return words;
  return words.substr(0, words.find(':')) + " takes one value";
}

/// Returns what most likely happened where an option has no value.
std::string advice_on(const std::string& complaint) {
  if (!complaint.starts_with("--where ")) return "";
  return "Quote conditions, as the shell takes > and < for itself: --where '>0'. ";
}

Error unknown_command(const CLI::App& program, const std::string& word) {
  const std::vector<std::string> names = command_names(program);
  return usage_error(
      "unknown command '" + word + "'", "",
      did_you_mean(nearest_word(word, names)) + "Choose from " + joined(names, ", ") + ".");
}

/// Makes what is wrong with a command line that CLI11 could not parse a usage Error.
Error option_error(const CLI::App& program, const CLI::ParseError& failure) {
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  const CLI::App& application = chosen.empty() ? program : *chosen.front();
  const std::string help =
      fmt::format("See 'warpfold {}--help'.", chosen.empty() ? "" : application.get_name() + " ");
  std::vector<std::string> unexpected = application.remaining();
  std::ranges::transform(unexpected, unexpected.begin(), unmarked);
  const auto option = std::find_if(unexpected.begin(), unexpected.end(), [](const auto& word) {
    return word.size() > 1 && word.front() == '-';
  });
  if (option != unexpected.end()) return unknown_option(application, *option, help);
  if (unexpected.empty()) {
    const std::string complaint = complaint_of(failure);
    return usage_error(complaint, "", advice_on(complaint) + help);
  }
  if (chosen.empty()) return unknown_command(program, unexpected.front());
  return usage_error("unexpected argument '" + unexpected.front() + "'", "", help);
}

}  // namespace

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
