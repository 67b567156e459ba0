#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "warpfold/run_options.hpp"

namespace warpfold::cli {

/// When a run shows its progress; `automatic`: where standard error is a terminal.
enum class ProgressWhen : std::uint8_t { automatic, always, never };

/// The options that every command has.
struct CommonOptions {
  RunOptions run;
  std::string json;     ///< empty: none; "-": standard output
  std::string csv;      ///< as `json`
  std::string metrics;  ///< as `json`
  bool quiet = false;
  bool timings = false;
  ProgressWhen progress = ProgressWhen::automatic;
};

/// Lets `application` fill `options`, which must outlive its parsing.
void add_common_options(CLI::App& application, CommonOptions& options);

/// add_common_options() of a command that passes over data.
void add_data_options(CLI::App& application, CommonOptions& options);

}  // namespace warpfold::cli
