#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "warpfold/core/error.hpp"

namespace warpfold::cli {

/// Finds the one of `words` that `word` was most likely meant to be; empty if none is close.
std::string nearest_word(std::string_view word, const std::vector<std::string>& words);

/// Makes what is wrong with a command line that CLI11 could not parse a usage Error.
Error option_error(const CLI::App& program, const CLI::ParseError& failure);

}  // namespace warpfold::cli
