#pragma once

#include <cstdint>
#include <string>

#include "warpfold/run_options.hpp"

namespace warpfold::cli {

/// A run shows its progress at these times; `automatic`: where standard error is a terminal.
enum class ProgressWhen : std::uint8_t { automatic, always, never };

/// Common options are those that every command has.
struct CommonOptions {
  RunOptions run;
  std::string json;     ///< empty: none; "-": standard output
  std::string csv;      ///< as `json`
  std::string metrics;  ///< as `json`
  bool quiet = false;
  bool timings = false;
  ProgressWhen progress = ProgressWhen::automatic;
};

}  // namespace warpfold::cli
