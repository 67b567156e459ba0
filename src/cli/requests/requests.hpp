#pragma once

#include <mpi.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/dataset_options.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/compact.hpp"
#include "warpfold/histogram.hpp"
#include "warpfold/read.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"

namespace warpfold::cli {

/// A parsed command on datasets. The constructor of each adds its options to a command, but for
/// those of runs and reports. compute() is the library's function.
template <class Options, class ResultOfOne>
class DatasetRequest {
 public:
  using Result = ResultOfOne;  ///< result of one dataset

  explicit DatasetRequest(CLI::App& command) : command_(command) {}
  DatasetRequest(const DatasetRequest&) = delete;
  DatasetRequest& operator=(const DatasetRequest&) = delete;
  virtual ~DatasetRequest() = default;

  /// Takes the files and datasets that are named, checks that the options go together, and chooses
  /// what they leave open; `words` are the command line's. Collective; throws the same Error on
  /// every rank, a usage Error for options that make no sense.
  virtual void complete(const mpi::Communicator& communicator,
                        const std::vector<std::string>& words) = 0;

  DatasetArguments arguments;
  Options options;

 protected:
  CLI::App& command_;
};

/// A parsed `warpfold compact` command.
class CompactRequest : public DatasetRequest<CompactOptions, CompactResult> {
 public:
  explicit CompactRequest(CLI::App& command);
  void complete(const mpi::Communicator& ranks, const std::vector<std::string>& words) override;
  static auto compute(const auto&... of) { return compact(of...); }
};

/// A parsed `warpfold histogram` command.
class HistogramRequest : public DatasetRequest<HistogramOptions, HistogramResult> {
 public:
  explicit HistogramRequest(CLI::App& command);
  void complete(const mpi::Communicator& ranks, const std::vector<std::string>& words) override;
  static auto compute(const auto&... of) { return histogram(of...); }

 private:
  void take_bins(const std::string& text);
  void take_range(const std::string& text);
};

/// A parsed call of Python's `read`, in the words of a command, which the program does not have.
class ReadRequest : public DatasetRequest<ReadOptions, ReadResult> {
 public:
  explicit ReadRequest(CLI::App& command);
  void complete(const mpi::Communicator& ranks, const std::vector<std::string>& words) override;
  static auto compute(const auto&... of) { return read(of...); }
};

/// A parsed `warpfold scan` command.
class ScanRequest : public DatasetRequest<ScanOptions, ScanResult> {
 public:
  explicit ScanRequest(CLI::App& command);
  void complete(const mpi::Communicator& ranks, const std::vector<std::string>& words) override;
  static auto compute(const auto&... of) { return scan(of...); }
};

/// A parsed `warpfold reduce` command.
class ReduceRequest : public DatasetRequest<ReduceOptions, ReduceResult> {
 public:
  explicit ReduceRequest(CLI::App& command);
  void complete(const mpi::Communicator& ranks, const std::vector<std::string>& words) override;
  static auto compute(const auto&... of) { return reduce(of...); }

  std::vector<std::string> quantile_names;  ///< as they were requested

  bool along_axes() const { return !options.axes.empty(); }
  bool by_labels() const { return !along_axes() && !options.by.empty(); }

  /// Tell whether reports have the numbers of labels, or of outputs along axes, in place of a file.
  bool reports_labels() const { return by_labels() && options.output.path.empty(); }
  bool prints_outputs() const { return along_axes() && options.output.path.empty(); }

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
};

std::string_view name_of(QuantileMethod method);

}  // namespace warpfold::cli
