#pragma once

#include <CLI/CLI.hpp>
#include <string>

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

}  // namespace warpfold::cli
