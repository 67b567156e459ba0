#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/common_options.hpp"
#include "cli/run/session.hpp"
#include "warpfold/axis_reduce.hpp"

namespace warpfold::cli {

/// The part of `reduce` that reduces along axes.
class AxisReduction {
 public:
  /// Lets `application` take --axis and what goes with it.
  explicit AxisReduction(CLI::App& application);

  bool wanted() const { return !options_.axes.empty(); }

  /// Throws a usage Error for options that need --axis where that is not given.
  void require_unused() const;

  /// What `reduce` was told besides.
  struct Request {
    std::string file;
    std::string dataset;
    std::optional<std::vector<Statistic>> statistics;  ///< as asked for
    SummaryOptions summary;
    ViewOptions view;
  };

  /// Reduces and reports. Collective. Throws Error.
  void run(const Session& session, const Request& request, const CommonOptions& common);

 private:
  AxisReduceOptions options_;
};

}  // namespace warpfold::cli
