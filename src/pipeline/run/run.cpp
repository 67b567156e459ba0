#include "pipeline/run/run.hpp"

#include "pipeline/run/collective.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

BackendPlacement checked_place(const RunOptions& options, const mpi::Communicator& communicator) {
  run_on_all(communicator, [&] { check_slab_bytes(options.slab_bytes); });
  return choose_place(options, communicator);
}

}  // namespace

void check_slab_bytes(std::uint64_t slab_bytes) {
  constexpr std::uint64_t smallest_slab_bytes = std::uint64_t{4} << 10;
  constexpr std::uint64_t largest_slab_bytes = std::uint64_t{1} << 30;
  if (slab_bytes != 0 && (slab_bytes < smallest_slab_bytes || slab_bytes > largest_slab_bytes))
    throw usage_error("bad `slab_bytes` " + std::to_string(slab_bytes), "a slab has 4K to 1G bytes",
                      "Try `slab_bytes` 16M.");
}

Run::Run(MPI_Comm parent, const RunOptions& run_options)
    : options(run_options),
      monitor(options),
      communicator(parent),
      place(checked_place(options, communicator)),
      backend([this] { return make_backend(place); }) {}

RunReport report_of(Run& run, const std::vector<StageTiming>& stages,
                    std::chrono::steady_clock::time_point start) {
  RunReport report = describe_run(run.backend.get(), run.place, run.communicator);
  report.stages = busiest(stages, run.communicator);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace warpfold::pipeline
