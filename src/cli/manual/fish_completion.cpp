#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/manual/completions.hpp"
#include "core/base/text.hpp"

namespace warpfold::cli {
namespace {

constexpr std::string_view fish_functions = R"(
function __warpfold_has_no_command
    test (count (commandline -opc)) -eq 1
end

function __warpfold_command_is
    set -l words (commandline -opc)
    test (count $words) -gt 1; and test $words[2] = $argv[1]
end

complete -c warpfold -f
)";

std::string literal(std::string_view text) {
  std::string literal = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') literal += '\\';
    literal += letter;
  }
  return literal + "'";
}

std::string names_text(const TableEntry& option) {
  std::string text;
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return text;
}

std::string values_text(const TableEntry& entry) {
  const std::string words = joined(entry.values.words, " ");
  std::string text = entry.values.file ? " -r -F" : " -x";
  if (words.empty()) return text;
  if (!entry.values.list) return text + " -a " + literal(words);
  return text +
         fmt::format(" -a \"(__fish_complete_list , 'string split \\\" \\\" \\\"{}\\\"')\"", words);
}

std::string option_line(const std::string& condition, const TableEntry& option) {
  return fmt::format("complete -c warpfold -n {}{}{} -d {}\n", literal(condition),
                     names_text(option), option.is_flag() ? "" : values_text(option),
                     literal(option.summary()));
}

std::string options_text(const std::string& condition, const CommandTable& command) {
  std::string text;
  for (const TableGroup& group : command.groups)
    for (const TableEntry& option : group.options) text += option_line(condition, option);
  return text;
}

std::string arguments_text(const std::string& condition, const CommandTable& command) {
  std::string text;
  for (const TableEntry& argument : command.arguments) {
    const std::string words = joined(argument.values.words, " ");
    if (!words.empty())
      text += fmt::format("complete -c warpfold -n {} -a {}\n", literal(condition), literal(words));
    if (argument.values.file)
      text += fmt::format("complete -c warpfold -n {} -F\n", literal(condition));
  }
  return text;
}

}  // namespace

std::string fish_completion(const CommandTable& program) {
  std::string text =
      "# Completes warpfold in fish. The build writes this from the table of options.\n" +
      std::string(fish_functions);
  const std::string none = "__warpfold_has_no_command";
  text += options_text(none, program);
  for (const CommandTable& command : program.commands)
    text += fmt::format("complete -c warpfold -n {} -a {} -d {}\n", none, command.last_name(),
                        literal(command.description));
  for (const CommandTable& command : program.commands) {
    const std::string condition = "__warpfold_command_is " + command.last_name();
    text += "\n" + options_text(condition, command) + arguments_text(condition, command);
  }
  return text;
}

}  // namespace warpfold::cli
