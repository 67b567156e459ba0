#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "mpi/communicator.hpp"
#include "warpfold/axis.hpp"
#include "warpfold/core/storage_options.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/output_options.hpp"
#include "warpfold/view_options.hpp"

/// The options of datasets say which are read, what of them counts, and what is written. Each
/// function lets a command fill what it is given, which must outlive the parsing.
namespace warpfold::cli {

struct DatasetArguments {
  std::string file;
  DatasetChoice datasets;
  std::optional<Axis> concat;  ///< the dimension of --concat, with which FILE DATASET... are files

  /// Whether they stand for other than the one dataset that has their name, as take_files() finds:
  /// their report is one of several datasets then.
  bool several = false;

  const std::string& dataset() const { return datasets.names.front(); }
};

/// Adds FILE DATASET..., --all and --concat.
void add_dataset_arguments(CLI::App& command, DatasetArguments& arguments);

/// Has the view, with --concat, take the files that all names but the last stand for, and looks
/// whether several datasets are requested. Collective; throws the same Error on every rank, a usage
/// Error where no dataset is named, or some are and all are requested, too.
void take_files(DatasetArguments& arguments, ViewOptions& view,
                const mpi::Communicator& communicator);

/// Adds --select, --where, --fill-value, --raw and --mask.
void add_view_options(CLI::App& command, ViewOptions& options);

/// Adds -o, --append and --force. `more` explains the dataset further.
void add_output_options(CLI::App& command, OutputOptions& output, const std::string& more = {});

/// Throws a usage Error where no output is named; `why` says why one is needed, or nothing.
void require_output(const OutputOptions& output, const std::string& why = {});

/// Adds --chunks, --deflate, --zstd, --shuffle and --fletcher32.
void add_storage_options(CLI::App& command, StorageOptions& storage);

}  // namespace warpfold::cli
