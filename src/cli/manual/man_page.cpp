#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "cli/manual/manual.hpp"

namespace warpfold::cli {
namespace {

constexpr std::size_t line_width = 64;

/// Writes text so that roff shows each of its letters.
std::string roff_escaped(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '\\')
      escaped += "\\e";
    else if (letter == '-')
      escaped += "\\-";
    else if (letter == '\'')
      escaped += "\\(aq";
    else if (letter == '.' && escaped.empty())
      escaped += "\\&.";
    else
      escaped += letter;
  }
  return escaped;
}

/// Puts each clause after ". " or "; " on lines of its own, as writers of pages do.
std::string paragraph(std::string text) {
  std::string lines;
  for (std::size_t end = 0; !text.empty(); text.erase(0, end)) {
    end = text.find(". ");
    end = end == std::string::npos ? text.size() : end + 2;
    for (const std::string& each : wrapped(text.substr(0, end), line_width))
      lines += roff_escaped(each) + "\n";
  }
  return lines;
}

std::string sentence(const std::string& text) { return text.ends_with('.') ? text : text + "."; }

std::string bold(std::string_view text) { return "\\fB" + roff_escaped(text) + "\\fR"; }

std::string italic(std::string_view text) { return "\\fI" + roff_escaped(text) + "\\fR"; }

std::string page_of(const CommandTable& command) {
  std::string page = command.name;
  std::ranges::replace(page, ' ', '-');
  return page;
}

std::string values_paragraph(const TableEntry& entry) {
  if (entry.values.words.empty() || value_words(entry.value).words == entry.values.words) return "";
  std::string words;
  for (const std::string& word : entry.values.words) words += (words.empty() ? "" : ", ") + word;
  return paragraph("Words: " + words + ".");
}

std::string entry_text(const TableEntry& entry, bool is_argument) {
  std::string tag;
  if (is_argument) {
    tag = italic(entry.names.front() + (entry.repeated ? "..." : ""));
  } else {
    for (const std::string& name : entry.names) tag += (tag.empty() ? "" : ", ") + bold(name);
    if (!entry.is_flag()) tag += " " + italic(entry.value);
  }
  return ".TP\n" + tag + "\n" + paragraph(sentence(entry.help)) + values_paragraph(entry);
}

std::string synopsis(const CommandTable& command) {
  std::string text = ".SH SYNOPSIS\n" + bold(command.name) + "\n";
  const std::string rest = usage_text(command).substr(command.name.size() + 1);
  return text + roff_escaped(rest) + "\n";
}

std::string commands_text(const CommandTable& program) {
  if (program.commands.empty()) return "";
  std::string text = ".SH COMMANDS\n";
  for (const CommandTable& command : program.commands)
    text += fmt::format(".TP\n{}\n{}", bold(command.last_name()),
                        paragraph(sentence(command.description)));
  return text;
}

std::string options_section(const CommandTable& command) {
  std::string text = ".SH OPTIONS\n";
  for (const auto& [title, options] : command.groups) {
    if (title != "Options") text += ".SS " + roff_escaped(title) + "\n";
    for (const TableEntry& option : options) text += entry_text(option, false);
  }
  return text;
}

std::string examples_text(const CommandTable& command) {
  std::string text = ".SH EXAMPLES\n.nf\n";
  for (const std::string& example : command.examples) text += roff_escaped(example) + "\n";
  return text + ".fi\n";
}

std::string see_also(const CommandTable& program, const CommandTable& command) {
  std::string text = ".SH SEE ALSO\n";
  std::string before;
  const auto add = [&](const CommandTable& other) {
    if (other.name == command.name) return;
    text += before + fmt::format(".BR {} (1)", roff_escaped(page_of(other)));
    before = ",\n";
  };
  add(program);
  for (const CommandTable& each : program.commands) add(each);
  return text + "\n";
}

constexpr std::string_view exit_status = R"(.SH EXIT STATUS
0 done, 1 failed, 2 wrong usage.
SIGINT, SIGTERM and SIGHUP end a run cleanly; the process then ends by the
signal.
)";

}  // namespace

std::string man_page(const CommandTable& program, const CommandTable& command,
                     const std::string& version, const std::string& date) {
  std::string title = page_of(command);
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string description = command.description;
  description.front() = static_cast<char>(std::tolower(description.front()));
  std::string text =
      fmt::format(".TH {} 1 {} \"warpfold {}\"\n", roff_escaped(title), date, version) +
      fmt::format(".SH NAME\n{} \\- {}\n", roff_escaped(page_of(command)),
                  roff_escaped(description)) +
      synopsis(command) + ".SH DESCRIPTION\n" + paragraph(sentence(command.description));
  for (const TableEntry& argument : command.arguments) text += entry_text(argument, true);
  return text + commands_text(command) + options_section(command) + std::string(exit_status) +
         examples_text(command) + see_also(program, command);
}

}  // namespace warpfold::cli
