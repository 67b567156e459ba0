#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/options/dataset_options.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/read.hpp"

namespace warpfold::cli {

/// A parsed call of Python's `read`, in the words of a command, which the program does not have.
class ReadRequest {
 public:
  /// Adds its options to a command, but for those of runs.
  explicit ReadRequest(CLI::App& command);
  ReadRequest(const ReadRequest&) = delete;
  ReadRequest& operator=(const ReadRequest&) = delete;

  /// Takes the files and datasets that are named. Collective; throws the same Error on every rank,
  /// a usage Error for options that make no sense.
  void complete(const mpi::Communicator& communicator, const std::vector<std::string>& words);

  DatasetArguments arguments;
  ReadOptions options;
};

}  // namespace warpfold::cli
