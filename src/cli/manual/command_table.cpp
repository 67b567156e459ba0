#include "cli/manual/command_table.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace warpfold::cli {
namespace {

constexpr std::string_view list_end = ",...";

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool is_word(const std::string& part) {
  return part.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos;
}

bool is_file(const std::string& part) {
  return part.find("FILE") != std::string::npos || part.find("OUT") != std::string::npos;
}

TableEntry entry_of(const CLI::Option& option) {
  TableEntry entry;
  const std::string type = option.get_type_name();
  entry.help = option.get_description();
  entry.required = option.get_required();
  entry.repeated = option.get_items_expected_max() > 1 ||
                   option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  if (option.get_positional()) {
    entry.names = {option.get_name(true, false)};
    entry.values = value_words(type.empty() ? entry.names.front() : type);
    entry.value = entry.names.front();
    return entry;
  }
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  if (option.get_items_expected_max() == 0) return entry;
  entry.values = value_words(type);
  entry.value = option.get_option_text().empty() ? type : option.get_option_text();
  return entry;
}

std::vector<TableEntry> arguments_of(const CLI::App& application) {
  std::vector<TableEntry> arguments;
  for (const CLI::Option* option : application.get_options())
    if (option->get_positional()) arguments.push_back(entry_of(*option));
  return arguments;
}

std::vector<TableGroup> groups_of(const CLI::App& application) {
  std::vector<TableGroup> groups;
  for (const CLI::Option* option : application.get_options()) {
    if (option->get_positional()) continue;
    const std::string& title = option->get_group();
    auto group = std::ranges::find(groups, title, &TableGroup::title);
    if (group == groups.end()) group = groups.insert(group, {title, {}});
    group->options.push_back(entry_of(*option));
  }
  return groups;
}

}  // namespace

ValueWords value_words(const std::string& type) {
  ValueWords values;
  values.list = type.ends_with(list_end);
  const std::string alternatives =
      values.list ? type.substr(0, type.size() - list_end.size()) : type;
  for (const std::string& part : split(alternatives, '|')) {
    if (is_word(part)) values.words.push_back(part);
    values.file = values.file || is_file(part);
  }
  return values;
}

std::string TableEntry::summary() const {
  return help.substr(0, std::min(help.find("; "), help.find(". ")));
}

CommandTable command_table(const CLI::App& application) {
  CommandTable table;
  const CLI::App* program = application.get_parent();
  table.name = (program == nullptr ? "" : program->get_name() + " ") + application.get_name();
  table.description = application.get_description();
  table.arguments = arguments_of(application);
  table.groups = groups_of(application);
  table.examples = split(application.get_footer(), '\n');
  for (const CLI::App* command : application.get_subcommands({}))
    table.commands.push_back(command_table(*command));
  return table;
}

std::string usage_text(const CommandTable& command) {
  std::string text = command.name + " [OPTIONS]";
  for (const TableEntry& argument : command.arguments) {
    const std::string name = argument.names.front() + (argument.repeated ? "..." : "");
    text += argument.required ? " " + name : " [" + name + "]";
  }
  return text + (command.commands.empty() ? "" : " COMMAND ...");
}

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (lines.empty() || lines.back().size() + 1 + word.size() > width)
      lines.push_back(word);
    else
      lines.back() += " " + word;
  }
  return lines;
}

}  // namespace warpfold::cli
