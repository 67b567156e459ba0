#include "pipeline/reduce/slab_pipeline.hpp"

#include <algorithm>

#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/run/work_queue.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// Returns what a GPU is to inflate, if anything.
DeflatedChunks deflated_chunks(RegionSource& source, const SlabTiling& tiling, ElementRange mine,
                               const Run& run) {
  if (!tiling.in_chunks || !run.place.gpu) return {};
  return source.deflated(chunks_of(tiling.slabs, mine).count, tiling.slabs.max_places(),
                         static_cast<std::uint64_t>(run.place.threads));
}

SlabSetup try_setup(DatasetView& view, const EngineMaker& make, const SlabPlan& plan,
                    const SlabTiling& tiling, Run& run) {
  const ElementRange mine =
      share_of(tiling.slabs.items(), run.communicator.size(), run.communicator.rank());
  SlabSetup setup{tiling, mine, threads_for(plan, mine.count), {}, {}, {}};
  setup.binding =
      std::make_unique<cpu::ThreadBinding>(run.place.near_gpu, std::max(1, setup.threads));
  run_on_all(run.communicator, [&] {
    StageRegistry& stages = run.monitor.stages();
    const ChunkRun chunks = tiling.in_chunks ? chunks_of(tiling.slabs, mine) : ChunkRun{};
    setup.source = std::make_unique<RegionSource>(view.dataset, chunks, stages);
    const StagingPlan engine{view.info().format,
                             view.decoding,
                             std::max<std::uint64_t>(1, tiling.max_elements),
                             tiling.in_chunks
                                 ? setup.source->bytes_of_chunks(tiling.slabs.max_places())
                                 : setup.source->bytes_of_range(tiling.max_elements),
                             setup.source->staging(),
                             slots_for(plan, setup.threads),
                             &stages,
                             deflated_chunks(*setup.source, tiling, mine, run)};
    setup.engine = make(run.backend.get(), engine);
  });
  setup.threads = std::min(setup.threads, setup.engine->slots());
  return setup;
}

void read_through_library(io::Dataset& dataset, const Run& run) {
  const io::DatasetInfo info = dataset.info();
  if (run.options.read_path != ReadPath::automatic)
    throw Error("can't read dataset '" + info.name + "' of " + info.file + " chunk by chunk",
                "one chunk is more than the device memory allowed holds",
                "Raise `device_memory_bytes`, or leave out `read_path`.");
  dataset = open_everywhere(info.file, info.name, run.communicator, ReadPath::library);
  dataset.select(io::selection_of(info));
}

/// Reads a slab into the slot's memory and hands it to the engine. Returns its bytes.
std::uint64_t pass_slab(const SlabSetup& setup, std::uint64_t slab, int slot, RegionReader& reader,
                        std::size_t element_bytes, StageTimer& reducing) {
  const std::span<std::byte> memory = setup.engine->buffer(slot);
  const auto submit = [&](const StagedChunks& staged, const BoxIndices& indices) {
    const std::uint64_t bytes = staged.target.elements * element_bytes;
    reducing.time(bytes, [&] { setup.engine->submit(slot, staged, indices); });
    return bytes;
  };
  const SlabTiling& tiling = setup.tiling;
  if (tiling.in_chunks) {
    const ChunkGrid& grid = *setup.source->grid();
    const ChunkRun run = chunks_of(tiling.slabs, {slab, 1});
    return submit(reader.read(run, box_target(grid, run), memory), box_indices(grid, run));
  }
  const ElementRange range = tiling.slabs.range(slab);
  return submit(reader.read(range, 0, memory), {.first = range.first});
}

/// Passes slab after slab, in slots that no other worker uses.
std::vector<StageTiming> pass_slabs(const SlabSetup& setup, std::size_t element_bytes,
                                    StageRegistry* registry, WorkQueue::Worker& worker) {
  RegionReader reader(*setup.source,
                      setup.engine->inflates() ? io::Deflated::left : io::Deflated::undone);
  StageTimer reducing(registry, stage::reduce);
  int slot = worker.number();
  while (const auto slab = worker.next()) {
    worker.advance(pass_slab(setup, *slab, slot, reader, element_bytes, reducing));
    slot = slot + setup.threads < setup.engine->slots() ? slot + setup.threads : worker.number();
  }
  std::vector<StageTiming> stages = reader.timings();
  stages.push_back(reducing.timing());
  return stages;
}

}  // namespace

SlabSetup set_up_slabs(DatasetView& view, const EngineMaker& make, Run& run) {
  SlabPlan plan = plan_slabs(view.info(), run);
  std::uint64_t slab_elements = mpi::minimum({plan.slab_elements}, run.communicator).front();
  while (true) {
    const SlabTiling tiling(view.info(), slab_elements);
    {
      SlabSetup setup = try_setup(view, make, plan, tiling, run);
      slab_elements = mpi::minimum({setup.engine->slab_elements()}, run.communicator).front();
      if (tiling.max_elements <= slab_elements) return setup;
    }
    if (tiling.in_chunks && tiling.slabs.max_places() == 1) {
      read_through_library(view.dataset, run);
      plan = plan_slabs(view.info(), run);
    }
  }
}

std::vector<StageTiming> pass_slabs(const SlabSetup& setup, const std::function<void()>& finish,
                                    const io::DatasetInfo& info, Run& run) {
  const std::size_t element_bytes = size_of(info.format.type);
  StageRegistry* registry = registry_of_callers(*setup.engine, run.monitor.stages());
  const auto start = SteadyClock::now();
  const auto pass = [&](WorkQueue::Worker& worker) {
    return pass_slabs(setup, element_bytes, registry, worker);
  };
  std::vector<StageTiming> stages =
      WorkQueue(setup.mine)
          .run(setup.threads, pass, info.elements * element_bytes, run.monitor, run.communicator);
  run_on_all(run.communicator, finish);
  put_engine_stages(stages, stage::reduce, setup.engine->timings());
  return over_threads(stages, seconds_since(start));
}

}  // namespace warpfold::pipeline
