#include "bench/program/measure.hpp"

#include <mpi.h>

#include <optional>

#include "bench/benchmarks.hpp"
#include "bench/program/bench_report.hpp"
#include "cli/run/watched_run.hpp"
#include "mpi/environment.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench {
namespace {

using cli::Measurement;

Result result_of(Measurement measurement, MPI_Comm communicator, const Settings& settings) {
  switch (measurement) {
    case Measurement::reduce:
      return bench_reduce(communicator, settings);
    case Measurement::scan:
      return bench_scan(communicator, settings);
    case Measurement::histogram:
      return bench_histogram(communicator, settings);
    case Measurement::select:
      return bench_select(communicator, settings);
    case Measurement::axes:
      return bench_axes(communicator, settings);
    case Measurement::labels:
      return bench_labels(communicator, settings);
    case Measurement::combine:
      return bench_combine(communicator, settings);
    case Measurement::collectives:
      return bench_collectives(communicator, settings);
    case Measurement::ingest:
      return bench_ingest(communicator, settings);
    case Measurement::ladder_reduce:
      return ladder_reduce(communicator, settings);
    case Measurement::ladder_scan:
      return ladder_scan(communicator, settings);
    case Measurement::ladder_atomics:
      return ladder_atomics(communicator, settings);
  }
  throw Error("unknown measurement", "", "");
}

}  // namespace

void measure(const cli::Session& session, const cli::MeasuringRequest& request) {
  // A single process starts MPI only to measure it.
  std::optional<mpi::Environment> environment;
  if (request.measurement == Measurement::combine && !mpi::is_running()) environment.emplace();
  Settings settings = request.settings;
  const auto compute = [&](const RunOptions& run) {
    settings.run = run;
    return result_of(request.measurement, session.communicator, settings);
  };
  const auto report = [&](const Result& result) {
    return bench_report(request.command, request.what, result);
  };
  const Result result = cli::run_and_report(
      {request.command, settings.file, settings.dataset}, session, request.common,
      {settings.file, {{settings.dataset}}, settings.output}, compute, report);
  refuse_wrong_results(result);
}

}  // namespace warpfold::bench
