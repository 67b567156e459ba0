#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/options/dataset_options.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/scan.hpp"

namespace warpfold::cli {

/// A parsed `warpfold scan` command.
class ScanRequest {
 public:
  /// Adds its options to a command, but for those of runs and reports.
  explicit ScanRequest(CLI::App& command);
  ScanRequest(const ScanRequest&) = delete;
  ScanRequest& operator=(const ScanRequest&) = delete;

  /// Takes the files and datasets that are named, checks that the options go together, and chooses
  /// what they leave open; `words` are the command line's. Collective; throws the same Error on
  /// every rank, a usage Error for options that make no sense.
  void complete(const mpi::Communicator& communicator, const std::vector<std::string>& words);

  DatasetArguments arguments;
  ScanOptions options;

 private:
  void add_scan_options(CLI::App& command);

  CLI::App& command_;
};

}  // namespace warpfold::cli
