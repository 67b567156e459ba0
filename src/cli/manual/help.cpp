#include <fmt/format.h>

#include <algorithm>

#include "cli/manual/manual.hpp"
#include "core/base/text.hpp"

namespace warpfold::cli {
namespace {

constexpr std::size_t width = 80;
constexpr std::size_t option_column = 28;
constexpr std::size_t command_column = 13;

/// Puts `right` beside `left`, or below, wrapped, where they don't fit in a line.
std::string line(const std::string& left, const std::string& right,
                 std::size_t column = option_column) {
  const std::size_t padded = std::max(column, left.size() + 2);
  if (padded + right.size() <= width) return fmt::format("{:{}}{}\n", left, padded, right);
  std::string text = left + "\n";
  for (const std::string& part : wrapped(right, width - column))
    text += fmt::format("{:{}}{}\n", "", column, part);
  return text;
}

std::string left_of(const TableEntry& entry, bool is_argument) {
  const std::string names = "  " + joined(entry.names, ",");
  if (is_argument) return names + (entry.repeated ? "..." : "");
  return names + (entry.is_flag() ? "" : " " + entry.value);
}

std::string options_lines(const CommandTable& command) {
  std::string text;
  for (const auto& [title, options] : command.groups) {
    text += title + ":\n";
    for (const TableEntry& option : options) text += line(left_of(option, false), option.summary());
  }
  return text;
}

}  // namespace

std::string help_text(const CommandTable& command) {
  std::string text = fmt::format("{}\n\nUsage: {}\n", command.description, usage_text(command));
  for (const TableEntry& argument : command.arguments)
    text += line(left_of(argument, true), argument.summary());
  if (!command.commands.empty()) text += "Commands:\n";
  for (const CommandTable& each : command.commands)
    text += line("  " + each.last_name(), each.description, command_column);
  text += options_lines(command);
  std::string page = command.name;
  std::ranges::replace(page, ' ', '-');
  const std::string of_commands = command.commands.empty() ? "" : "'warpfold COMMAND --help' and ";
  text += fmt::format("More: {}'man {}'\nExamples:\n", of_commands, page);
  for (const std::string& example : command.examples) text += "  " + example + "\n";
  return text;
}

}  // namespace warpfold::cli
