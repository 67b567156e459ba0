#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/manual/completions.hpp"
#include "core/base/text.hpp"

namespace warpfold::cli {
namespace {

/// Writes text as an explanation within single quotes.
std::string zsh_escaped(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '\'') {
      escaped += "'\\''";
      continue;
    }
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string action_of(const TableEntry& entry) {
  const std::string words = joined(entry.values.words, " ");
  if (words.empty()) return entry.values.file ? "_files" : " ";
  if (entry.values.file) return " _warpfold_files_or " + words;
  if (entry.values.list) return " _values -s , word " + words;
  return fmt::format("({})", words);
}

std::string option_lines(const TableEntry& option) {
  const std::string explanation = fmt::format("[{}]", zsh_escaped(option.summary()));
  const std::string others =
      option.names.size() > 1 ? fmt::format("({})", joined(option.names, " ")) : "";
  const std::string value =
      option.is_flag() ? "" : fmt::format(":{}:{}", zsh_escaped(option.value), action_of(option));
  std::string lines;
  for (const std::string& name : option.names) {
    const std::string joint = option.is_flag() ? "" : name.starts_with("--") ? "=" : "+";
    lines += fmt::format("        '{}{}{}{}{}' \\\n", option.repeated ? "*" : others, name, joint,
                         explanation, value);
  }
  return lines;
}

std::string argument_line(const TableEntry& argument, std::size_t place) {
  const std::string where = argument.repeated ? "*" : fmt::format("{}", place);
  const std::string action = argument.repeated ? "_files" : action_of(argument);
  return fmt::format("        '{}:{}:{}' \\\n", where, zsh_escaped(argument.names.front()), action);
}

std::string command_case(const CommandTable& command) {
  std::string text = fmt::format("    {})\n      _arguments -s \\\n", command.last_name());
  for (const TableGroup& group : command.groups)
    for (const TableEntry& option : group.options) text += option_lines(option);
  for (std::size_t i = 0; i < command.arguments.size(); ++i)
    text += argument_line(command.arguments[i], i + 1);
  text.resize(text.size() - std::string_view(" \\\n").size());
  return text + "\n      ;;\n";
}

std::string first_words(const CommandTable& program) {
  std::string text = "  local -a commands=(\n";
  for (const CommandTable& command : program.commands)
    text += fmt::format("    '{}:{}'\n", command.last_name(), zsh_escaped(command.description));
  text += "  )\n  local -a options=(\n";
  for (const TableGroup& group : program.groups)
    for (const TableEntry& option : group.options)
      for (const std::string& name : option.names)
        text += fmt::format("    '{}:{}'\n", name, zsh_escaped(option.summary()));
  return text + "  )\n";
}

constexpr std::string_view head = R"(#compdef warpfold
# Completes warpfold in zsh. The build writes this from the table of options.

_warpfold_files_or() {
  _files
  compadd -- "$@"
}

_warpfold() {
)";

constexpr std::string_view choose_command = R"(  if ((CURRENT == 2)); then
    _describe -t commands command commands
    _describe -o -t options option options
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
)";

}  // namespace

std::string zsh_completion(const CommandTable& program) {
  std::string text = std::string(head) + first_words(program) + std::string(choose_command);
  for (const CommandTable& command : program.commands) text += command_case(command);
  return text + "  esac\n}\n\n_warpfold \"$@\"\n";
}

}  // namespace warpfold::cli
