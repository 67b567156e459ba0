#pragma once

#include <CLI/CLI.hpp>

#include "warpfold/view_options.hpp"

namespace warpfold::cli {

/// Adds --select, --where, --fill-value and --cf to a command.
void add_view_options(CLI::App& application, ViewOptions& options);

}  // namespace warpfold::cli
