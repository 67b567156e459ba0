#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/options/dataset_options.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/compact.hpp"

namespace warpfold::cli {

/// A parsed `warpfold compact` command.
class CompactRequest {
 public:
  /// Adds its options to a command, but for those of runs and reports.
  explicit CompactRequest(CLI::App& command);
  CompactRequest(const CompactRequest&) = delete;
  CompactRequest& operator=(const CompactRequest&) = delete;

  /// Takes the files and datasets that are named, checks that the options go together, and chooses
  /// what they leave open; `words` are the command line's. Collective; throws the same Error on
  /// every rank, a usage Error for options that make no sense.
  void complete(const mpi::Communicator& communicator, const std::vector<std::string>& words);

  DatasetArguments arguments;
  CompactOptions options;
};

}  // namespace warpfold::cli
