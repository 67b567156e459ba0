#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/report/json_writer.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::cli {

/// Adds --select, --where, --fill-value and --cf to a command.
void add_view_options(CLI::App& application, ViewOptions& options);

/// Adds what was asked for to a report, and the type of unpacked values.
void describe_view(Json& document, const ViewOptions& options, ElementType stored,
                   ElementType values);

}  // namespace warpfold::cli
