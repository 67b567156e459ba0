#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/manual/command_table.hpp"

namespace warpfold::cli {

/// Writes the help of a command: an option a line, what to try last.
std::string help_text(const CommandTable& command);

/// Has CLI11 answer --help by help_text().
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* application, std::string,
                        CLI::AppFormatMode) const override {
    return help_text(command_table(*application));
  }
};

/// Writes the manual page of `program`, or of one of its commands, for section 1, in the macros of
/// man(7). `date` is the version's: "2026-11-25".
std::string man_page(const CommandTable& program, const CommandTable& command,
                     const std::string& version, const std::string& date);

/// Returns what may stand for the last of the words after a program's name: lines of a word, or of
/// a word, a tab and what it means. The last line is a colon and a sum: 2 where a value of the same
/// list may follow a word, 4 where no file may stand here. Programs made with cobra answer so, too.
std::string completions(const CommandTable& program, std::vector<std::string> words);

}  // namespace warpfold::cli
