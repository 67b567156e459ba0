#include "pipeline/quantiles/line_quantiles.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "core/engine/backend.hpp"
#include "cpu/machine/machine.hpp"
#include "mpi/message.hpp"
#include "pipeline/quantiles/quantile_job.hpp"
#include "pipeline/regions/box_tiling.hpp"
#include "pipeline/regions/staging.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/pass.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// Returns how many elements an output has at most.
std::uint64_t longest_line(const AxisShape& array) {
  if (!array.groups) return array.rows();
  std::vector<std::uint64_t> indices(array.groups->count);
  for (const GroupRun& run : array.groups->runs) indices[run.group] += run.indices.count;
  const std::uint64_t along = array.shape[static_cast<std::size_t>(array.groups->dimension)];
  return array.rows() / along * *std::ranges::max_element(indices);
}

/// Returns the bytes of tables: on a GPU each output takes some for each quantile.
TableBytes table_bytes(const DatasetView& view, const LineQuantiles& wanted, bool on_gpu) {
  constexpr std::uint64_t search_bytes = 48;
  return {cpu::value_table_bytes(view.info().format, view.decoding).all(),
          on_gpu ? search_bytes * wanted.writers.size() : 0};
}

/// Returns the needs of tiles whose tables stay within `memory`. Two are in a GPU's memory at once,
/// if there is room for those of whole chunks: one is filled while outputs of the other are found.
/// Throws where the elements of one output don't fit.
WorkNeeds needs_of_lines(const io::DatasetInfo& info, const AxisShape& array,
                         const TableBytes& bytes, std::uint64_t memory, bool on_gpu) {
  const std::uint64_t longest_bytes = longest_line(array) * bytes.element;
  if (longest_bytes > memory)
    throw Error("the elements of an output take " + std::to_string(longest_bytes) + " bytes",
                "quantiles along axes are found in " + std::to_string(memory) +
                    " bytes of each rank's memory",
                "Raise `quantile_memory_bytes`, reduce fewer at a time with `every`, or omit "
                "`axis` to reduce all elements.");
  const bool two = on_gpu && granule_outputs(array, granule_of(info)) <=
                                 memory / 2 / (longest_bytes + bytes.output);
  const std::uint64_t tile = two ? memory / 2 : memory;
  return {.items = Items::tiles_in_memory,
          .array = array,
          .max_outputs = std::max<std::uint64_t>(1, tile / (longest_bytes + bytes.output))};
}

/// Returns whether all ranks have a GPU. Collective.
bool all_have_gpus(const Run& run) {
  return mpi::minimum({run.place.gpu ? std::uint64_t{1} : 0}, run.communicator).front() == 1;
}

std::uint64_t most_elements_of_tile(const WorkPlan& plan) {
  std::uint64_t most = 0;
  for (std::uint64_t tile = plan.mine.first; tile < plan.mine.end(); ++tile)
    most = std::max(most, product(plan.tiling.tile_shape(tile)));
  return most;
}

/// Returns for how many tables `memory` has room.
std::uint64_t most_tables(std::uint64_t tile_elements, std::uint64_t outputs,
                          const TableBytes& bytes, std::uint64_t memory) {
  return memory /
         std::max<std::uint64_t>(1, tile_elements * bytes.element + outputs * bytes.output);
}

/// Returns the engine that this rank's GPU offers for its tiles, or null where cores are to find
/// their quantiles.
std::unique_ptr<QuantileEngine> make_engine(QuantileJob& job, Run& run) {
  if (!run.place.gpu || job.items.tiles() == 0) return nullptr;
  return run.make_engine([&](Backend& backend) {
    return backend.make_quantile_engine(
        staging_plan(job.plan, job.source, job.view.decoding, run),
        {job.wanted.spec, job.tile_elements, job.tiling.max_outputs(),
         static_cast<int>(job.items.tables())});
  });
}

}  // namespace

QuantileJob::QuantileJob(const WorkPlan& work, DatasetView& dataset, const AxisShape& array,
                         const LineQuantiles& quantiles, const TableBytes& bytes, Run& run)
    : plan(work),
      tiling(work.tiling),
      view(dataset),
      wanted(quantiles),
      source(dataset.dataset, run.monitor.stages()),
      output_shape(array.output_shape()),
      tile_elements(most_elements_of_tile(work)),
      items(tiling, work.mine,
            most_tables(tile_elements, tiling.max_outputs(), bytes, quantiles.memory_bytes),
            work.threads),
      progress(items) {}

std::vector<StageTiming> find_quantiles_of_lines(DatasetView& view, const AxisShape& array,
                                                 const LineQuantiles& wanted, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  const io::DatasetInfo& info = view.info();
  const bool on_gpu = all_have_gpus(run);
  const TableBytes bytes = table_bytes(view, wanted, on_gpu);
  const WorkPlan plan =
      plan_work(info, needs_of_lines(info, array, bytes, wanted.memory_bytes, on_gpu), run);
  // Threads and the memory that they touch first stay near the GPU.
  const cpu::ThreadBinding binding(run.place.near_gpu, plan.sizes.threads);
  std::unique_ptr<QuantileJob> job;
  run_on_all(communicator, [&] {
    job = std::make_unique<QuantileJob>(plan, view, array, wanted, bytes, run);
    job->engine = make_engine(*job, run);
    if (job->engine) return;
    if (job->items.tiles() > 0) run.cores();
    job->tables.emplace(job->items.tables() * job->tile_elements,
                        cpu::value_table_bytes(info.format, view.decoding));
  });
  const auto make = [&](PassThread& thread) {
    return job->engine ? make_engine_consumer(*job, thread) : make_core_consumer(*job, thread);
  };
  const auto merge = [&](std::vector<StageTiming>& stages) {
    if (job->engine) put_engine_stages(stages, stage::reduce, job->engine->timings());
  };
  const int threads = job->engine ? std::min(plan.threads, job->engine->threads()) : plan.threads;
  return run_pass({{0, job->items.items()}, threads, info.elements * size_of(info.format.type)},
                  run.monitor, communicator, make, merge);
}

}  // namespace warpfold::pipeline
