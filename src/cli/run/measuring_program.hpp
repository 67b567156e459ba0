#pragma once

#include <cstdint>
#include <string>

#include "cli/options/common_settings.hpp"
#include "cli/options/measuring_settings.hpp"
#include "warpfold/core/error.hpp"

/// `bench` and `ladder` are run by the program warpfold-bench, which lies beside warpfold.
namespace warpfold::cli {

struct Session;

enum class Measurement : std::uint8_t {
  reduce,
  scan,
  histogram,
  select,
  axes,
  labels,
  combine,
  collectives,
  ingest,
  ladder_reduce,
  ladder_scan,
  ladder_atomics
};

struct MeasuringRequest {
  std::string command;  ///< "bench"
  std::string what;     ///< "reduce"
  Measurement measurement = Measurement::reduce;
  MeasuringSettings settings;
  CommonOptions common;
};

/// Measures, and publishes the report. Collective. Throws Error.
using Measurer = void (*)(const Session&, const MeasuringRequest&);

/// Replaces this process by warpfold-bench, with the same arguments, where they name `bench` or
/// `ladder`. Returns where they name neither, and where warpfold-bench does not start. MPI must not
/// have been started.
void become_measuring_program(int argc, char** argv);

/// Makes the Error for a `command` that warpfold-bench should have run.
Error missing_measuring_program(const std::string& command);

}  // namespace warpfold::cli
