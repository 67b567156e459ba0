#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "warpfold/core/storage_options.hpp"
#include "warpfold/output_options.hpp"

namespace warpfold::cli {

/// Adds -o and --force to a command, which fill `output` when parsed. `more` explains the dataset
/// further; a `group` heads them in the help.
void add_output_options(CLI::App& command, OutputOptions& output, const std::string& more = {},
                        const std::string& group = {});

/// Throws a usage Error where no output is named; `why` says why one is needed, or nothing.
void require_output(const OutputOptions& output, const std::string& why = {});

/// Adds --chunks, --deflate, --shuffle and --fletcher32, which fill `storage` when parsed.
void add_storage_options(CLI::App& command, StorageOptions& storage);

/// Throws a usage Error for filters without chunks.
void check_storage_options(const StorageOptions& storage);

}  // namespace warpfold::cli
