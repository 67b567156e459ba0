#pragma once

#include <CLI/CLI.hpp>

#include "warpfold/core/error.hpp"

namespace warpfold::cli {

/// Makes what is wrong with a command line that CLI11 could not parse a usage Error.
Error option_error(const CLI::App& program, const CLI::ParseError& failure);

}  // namespace warpfold::cli
