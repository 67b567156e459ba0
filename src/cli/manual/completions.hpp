#pragma once

#include <string>

#include "cli/manual/command_table.hpp"

/// Completions for shells: scripts that complete a program's commands and options, files where a
/// file may stand, and words where these are known.
namespace warpfold::cli {

/// Writes the script that bash sources.
std::string bash_completion(const CommandTable& program);

/// Writes the function _warpfold that zsh loads.
std::string zsh_completion(const CommandTable& program);

/// Writes the script that fish sources.
std::string fish_completion(const CommandTable& program);

}  // namespace warpfold::cli
