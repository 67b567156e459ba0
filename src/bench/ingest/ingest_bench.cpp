#include "bench/ingest/ingest_bench.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "bench/gpu/device_facts.hpp"
#include "bench/harness/selection.hpp"
#include "bench/ingest/ingest_candidates.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/datasets/plan.hpp"
#include "pipeline/run/backend_choice.hpp"
#include "pipeline/run/collective.hpp"

namespace warpfold::bench {
namespace {

const std::vector<std::string> all_kernels = {"H5Dread", "warpfold", "raw", "inflate", "cp"};

/// Runs that are measured show no progress.
IngestSettings without_progress(IngestSettings settings) {
  settings.run.progress = nullptr;
  return settings;
}

void add_rows(std::vector<IngestCandidate> candidates, const IngestRun& run, Result& result) {
  hold_ingest_benchmark(candidates, run.settings.iterations, run.settings.run, run.communicator);
  std::vector<Row> rows;
  for (IngestCandidate& candidate : candidates) rows.push_back(std::move(candidate.row));
  compare_with_ceiling(rows);
  for (Row& row : rows) {
    if (row.check == Check::wrong) ++result.wrong;
    result.rows.push_back(std::move(row));
  }
}

}  // namespace

Result bench_ingest(MPI_Comm parent, const IngestSettings& asked) {
  const mpi::Communicator communicator(parent);
  const IngestSettings settings = without_progress(asked);
  std::vector<std::string> kernels;
  pipeline::run_on_all(communicator, [&] {
    kernels = chosen_names("kernel", settings.kernels, all_kernels, all_kernels);
  });
  const io::Dataset dataset = pipeline::open_everywhere(settings.file, settings.dataset,
                                                        communicator, settings.run.read_path);
  const pipeline::ChosenBackend chosen = pipeline::choose_backend(settings.run, communicator);
  Result result;
  result.run = pipeline::describe_run(chosen, communicator);
  const bool on_gpu = chosen.backend->name() == "cuda";
  pipeline::run_on_all(communicator, [&] {
    if (on_gpu) result.device = current_device_facts();
  });
  const pipeline::Plan plan = pipeline::plan_reduce(parent, dataset.info(), settings.run);
  IngestRun run{settings,       communicator,
                dataset.info(), plan.slab_elements * size_of(dataset.info().format.type),
                plan.threads,   on_gpu};
  add_rows(reduce_candidates(run, kernels), run, result);
  if (!settings.output.empty()) {
    run.threads = chosen.place.threads;
    const ScanOutputs outputs(run);
    add_rows(scan_candidates(run, outputs, kernels), run, result);
  }
  return result;
}

}  // namespace warpfold::bench
