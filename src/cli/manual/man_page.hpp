#pragma once

#include <string>

#include "cli/manual/command_table.hpp"

namespace warpfold::cli {

/// Writes the manual page of `program`, or of one of its commands, for section 1, in the macros of
/// man(7). `date` is the version's: "2026-11-25".
std::string man_page(const CommandTable& program, const CommandTable& command,
                     const std::string& version, const std::string& date);

}  // namespace warpfold::cli
