#pragma once

#include <CLI/CLI.hpp>

#include "warpfold/core/storage_options.hpp"

namespace warpfold::cli {

/// Adds --chunks, --deflate, --shuffle and --fletcher32, which fill `storage` when parsed.
void add_storage_options(CLI::App& command, StorageOptions& storage);

/// Throws a usage Error for filters without chunks.
void check_storage_options(const StorageOptions& storage);

}  // namespace warpfold::cli
