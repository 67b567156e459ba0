#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/dataset_options.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::cli {

/// A parsed `warpfold reduce` command.
class ReduceRequest {
 public:
  /// Adds its options to a command, but for those of runs and reports.
  explicit ReduceRequest(CLI::App& command);
  ReduceRequest(const ReduceRequest&) = delete;
  ReduceRequest& operator=(const ReduceRequest&) = delete;

  /// Takes the files and datasets that are named, checks that the options go together, and chooses
  /// what they leave open; `words` are the command line's. Collective; throws the same Error on
  /// every rank, a usage Error for options that make no sense.
  void complete(const mpi::Communicator& communicator, const std::vector<std::string>& words);

  DatasetArguments arguments;
  ReduceOptions options;
  std::vector<std::string> quantile_names;  ///< as they were requested

  bool along_axes() const { return !options.axes.empty(); }
  bool by_labels() const { return !along_axes() && !options.by.empty(); }

  /// Tell whether reports have the numbers of labels, or of outputs along axes, in place of a file.
  bool reports_labels() const { return by_labels() && options.output.path.empty(); }
  bool prints_outputs() const { return along_axes() && options.output.path.empty(); }

  /// Returns what the outputs of a result were requested as.
  std::vector<std::string> output_names(const ReduceResult& result) const;

  /// Returns the names of what was requested, in the order of results: statistics, then quantiles.
  std::vector<std::string> result_names() const;

  /// Tell whether `ddof` and `overflow` have a part in what was requested.
  bool takes_ddof() const;
  bool takes_overflow() const;

 private:
  void add_statistics_options();
  void add_factor_options();
  void add_axes_options();
  void take_operations(const std::string& text);
  void take_every(const std::string& text);
  void choose_statistics();
  void check_quantile_options() const;
  void check_output_options() const;
  void check_effects() const;

  CLI::App& command_;
};

std::string_view name_of(QuantileMethod method);

}  // namespace warpfold::cli
