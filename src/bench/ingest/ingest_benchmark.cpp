#include <string>
#include <utility>

#include "bench/gpu/gpu_resources.hpp"
#include "bench/harness/selection.hpp"
#include "bench/ingest/ingest_candidates.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/plan/plan.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::bench {
namespace {

const std::vector<std::string> all_kernels = {"H5Dread", "warpfold",   "shared", "raw",  "inflate",
                                              "cp",      "attributes", "where",  "mask", "weights"};

/// Runs that are measured show no progress.
Settings without_progress(Settings settings) {
  settings.run.progress = nullptr;
  return settings;
}

/// Returns the settings with the backend that all ranks have, so that no candidate chooses another
/// for so little data; where ranks differ, each goes on choosing.
Settings with_backend(Settings settings, const std::string& backend) {
  if (backend == "cuda") settings.run.backend = BackendChoice::cuda;
  if (backend == "cpu") settings.run.backend = BackendChoice::cpu;
  return settings;
}

/// Measures the candidates, of which the first round fills caches and the like.
std::vector<Row> measured(std::vector<Candidate> candidates, const IngestRun& run) {
  constexpr int few = 5;
  std::vector<Row> rows = measure(std::move(candidates),
                                  {.warm_up = 1, .measured = run.settings.iterations.value_or(few)},
                                  timed_on_all_ranks(run.settings.run, run.communicator));
  set_rates(rows);
  compare_with_ceiling(rows);
  compare_with_plain(rows, "warpfold", view_kernels);
  return rows;
}

}  // namespace

Result bench_ingest(MPI_Comm parent, const Settings& asked) {
  const mpi::Communicator communicator(parent);
  Settings settings = without_progress(asked);
  std::vector<std::string> kernels;
  pipeline::run_on_all(communicator, [&] {
    kernels = chosen_names("kernel", settings.kernels, all_kernels, all_kernels);
  });
  const io::Dataset dataset = pipeline::open_everywhere(settings.file, settings.dataset,
                                                        communicator, settings.run.read_path);
  const pipeline::ChosenBackend chosen = pipeline::choose_backend(settings.run, communicator);
  Result result;
  result.run = pipeline::describe_run(chosen, communicator);
  settings = with_backend(std::move(settings), result.run.backend);
  const bool on_gpu = chosen.backend->name() == "cuda";
  pipeline::run_on_all(communicator, [&] {
    if (on_gpu) result.device = current_device_facts();
  });
  const pipeline::PlanReport plan =
      pipeline::plan_command(parent, dataset.info(), dataset.info().format.type, {}, settings.run);
  IngestRun run{settings,       communicator,
                dataset.info(), plan.unit_elements * size_of(dataset.info().format.type),
                plan.threads,   on_gpu};
  result.add(measured(reduce_candidates(run, kernels), run));
  if (!settings.output.empty()) {
    run.threads = chosen.place.threads;
    const ScanOutputs outputs(run);
    result.add(measured(scan_candidates(run, outputs, kernels), run));
  }
  return result;
}

}  // namespace warpfold::bench
