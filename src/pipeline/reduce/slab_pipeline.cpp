#include "pipeline/reduce/slab_pipeline.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "core/layout/partition.hpp"
#include "cpu/engines/backend.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/regions/staging.hpp"
#include "pipeline/run/bottleneck.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/pass.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// Chunks that are smaller are read together.
constexpr std::uint64_t least_piece_bytes = std::uint64_t{64} << 10;

/// Returns how many chunks of a slab a core takes at a time: one, as several are a box for certain
/// only if they are a slab.
std::uint64_t chunks_of_piece(const WorkTiling& slabs, const RegionSource& source) {
  const std::uint64_t chunk_bytes =
      source.grid()->chunk_elements() * size_of(source.info().format.type);
  return chunk_bytes >= least_piece_bytes ? 1 : slabs.max_places();
}

/// Returns what makes an engine of cores that takes one element.
std::function<std::unique_ptr<StreamEngine>()> maker_for_one(const EngineMaker& make,
                                                             const DatasetView& view) {
  const StagingPlan one{
      .format = view.info().format, .decoding = view.decoding, .slab_elements = 1};
  return [=] { return make(*cpu::make_backend(1), one); };
}

/// Makes the engines: the GPU's later, where cores work beside it. They get `each` element, or one
/// for all that were never written.
void make_engines(SlabSetup& setup, const DatasetView& view, const EngineMaker& make, bool each,
                  Run& run) {
  const WorkTiling& tiling = setup.plan.tiling;
  RegionSource& source = *setup.source;
  if (tiling.in_chunks() && view.decoding.mask.selects_all() && !each)
    setup.make_for_one = maker_for_one(make, view);
  const StagingPlan slabs = staging_plan(setup.plan, source, view.decoding, run);
  if (slabs.compressed.chunks == 0 || !run.shares(view.info())) {
    setup.engine = make(run.backend.get(), slabs);
    return;
  }
  const std::uint64_t cores_meanwhile = chunks_of_cores_meanwhile(
      slabs.compressed.form, static_cast<std::uint64_t>(setup.plan.threads));
  setup.gpu = std::make_unique<GpuShare>([=, &run] { return make(run.backend.get(), slabs); },
                                         slabs.slab_elements,
                                         ceil_div(cores_meanwhile, tiling.max_places()));
  setup.piece_chunks = chunks_of_piece(tiling, source);
  StagingPlan pieces = slabs;
  pieces.slab_elements =
      std::min(slabs.slab_elements, setup.piece_chunks * source.grid()->chunk_elements());
  pieces.staging_bytes = source.bytes_of_chunks(setup.piece_chunks);
  pieces.slots_per_thread = 1;
  pieces.compressed = {};
  setup.engine = make(run.cores(), pieces);
}

SlabSetup try_setup(DatasetView& view, const EngineMaker& make, const WorkPlan& plan, bool each,
                    Run& run) {
  SlabSetup setup{plan, {}, {}, {}, {}, {}, each, {}};
  setup.binding =
      std::make_unique<cpu::ThreadBinding>(run.place.near_gpu, std::max(1, plan.threads));
  run_on_all(run.communicator, [&] {
    setup.source =
        std::make_unique<RegionSource>(view.dataset, run.monitor.stages(), plan.chunks());
  });
  // Slots are to hold what one rank takes of another one's.
  if (plan.tiling.in_chunks()) setup.source->agree_on_sizes(run.communicator);
  run_on_all(run.communicator, [&] { make_engines(setup, view, make, each, run); });
  setup.plan.threads = std::min(plan.threads, setup.engine->threads());
  return setup;
}

void read_through_library(io::Dataset& dataset, const Run& run) {
  io::DatasetInfo info = dataset.info();
  if (run.options.read_path != ReadPath::automatic)
    throw Error("cannot read dataset '" + info.name + "' of " + info.file + " chunk by chunk",
                "one chunk exceeds the device memory limit",
                "Raise `device_memory_bytes`, or omit `read_path`.");
  info.path = ReadPath::library;
  run_on_all(run.communicator, [&] { dataset = io::Dataset(info); });
}

/// Counts elements that were never written: they have one value.
struct NeverWritten {
  std::uint64_t elements = 0;
  std::uint64_t first_index = no_index;  ///< flat

  void merge(const NeverWritten& other) {
    elements += other.elements;
    first_index = std::min(first_index, other.first_index);
  }
};

/// Has an engine of its own reduce one of these elements.
void take_never_written(const NeverWritten& never_written, const SlabSetup& setup,
                        const ResultTaker& take) {
  const std::unique_ptr<StreamEngine> engine = setup.make_for_one();
  const io::DatasetInfo& info = setup.source->info();
  const Ticket ticket = engine->take(0);
  std::copy_n(info.fill.begin(), size_of(info.format.type), ticket.memory.begin());
  const StagedChunk element;
  engine->submit(ticket, staged_run(element, {0, 1}, never_written.first_index));
  engine->flush();
  take(*engine, never_written.elements);
}

/// State shared by a rank's threads.
struct SlabJob {
  const SlabSetup& setup;
  std::size_t element_bytes;
  StageRegistry* registry;  ///< registry of the reduction's stages
  int working;              ///< threads
  std::mutex mutex = {};
  NeverWritten never_written = {};
};

/// Takes slabs; beside a GPU pieces of slabs, and brings it others.
class SlabConsumer final : public Consumer {
 public:
  SlabConsumer(SlabJob& job, PassThread& thread)
      : job_(job),
        setup_(job.setup),
        thread_(thread),
        reader_(*setup_.source,
                setup_.engine->decompresses() ? io::Compressed::left : io::Compressed::undone),
        reducing_(job.registry, setup_.gpu ? stage::reduce_on_cores : stage::reduce) {}

  void take(const PassItem& item) override {
    const ElementRange slab = setup_.plan.tiling.range(item.number);
    if (item.rest.count > 0) setup_.source->include(setup_.plan.tiling.range(item.rest));
    if (item.for_gpu) {
      if (!gpu_reader_) gpu_reader_.emplace(*setup_.source, io::Compressed::left);
      return pass(slab, *setup_.gpu->engine(), *gpu_reader_);
    }
    if (setup_.gpu) {
      const ElementRange part = block_range(slab.count, setup_.piece_chunks, item.piece);
      if (part.count == 0) return;
      return pass({slab.first + part.first, part.count}, *setup_.engine, reader_);
    }
    pass(slab, *setup_.engine, reader_);
  }

  void finish() override {
    const std::lock_guard lock(job_.mutex);
    job_.never_written.merge(never_written_);
    if (--job_.working == 0) setup_.engine->flush();
  }

  std::vector<StageTiming> timings() const override {
    std::vector<StageTiming> stages = reader_.timings();
    if (gpu_reader_) add_up(stages, gpu_reader_->timings());
    stages.push_back(reducing_.timing());
    return stages;
  }

 private:
  /// Reads a slab's chunks or elements into memory of the engine and hands them to it.
  void pass(ElementRange part, StreamEngine& engine, RegionReader& reader) {
    const ChunkRun run{part.first, part.count};
    if (setup_.make_for_one && setup_.source->never_written(run)) {
      const ChunkGrid& grid = *setup_.source->grid();
      const std::uint64_t elements = box_target(grid, run).elements;
      return reduce(elements, engine, [&] {
        never_written_.merge({elements, box_indices(grid, run).first});
      });
    }
    const Ticket ticket = engine.take(thread_.number);
    const StagedChunks staged = reader.read_part(part, ticket.memory);
    reduce(staged.target.elements, engine, [&] { engine.submit(ticket, staged); });
  }

  /// Reduces elements by `body`, in the time of cores where the engine is theirs.
  template <class Body>
  void reduce(std::uint64_t elements, const StreamEngine& engine, Body&& body) {
    const std::uint64_t bytes = elements * job_.element_bytes;
    if (&engine == setup_.engine.get())
      reducing_.time(bytes, body);
    else
      body();
    thread_.done += bytes;
  }

  SlabJob& job_;
  const SlabSetup& setup_;
  PassThread& thread_;
  RegionReader reader_;
  StageTimer reducing_;
  NeverWritten never_written_;
  std::optional<RegionReader> gpu_reader_;  ///< for a thread that also feeds the GPU
};

}  // namespace

SlabSetup set_up_slabs(DatasetView& view, const EngineMaker& make, Run& run,
                       const std::optional<ElementRange>& mine) {
  WorkPlan plan = plan_work(view.info(), {}, run);
  while (true) {
    if (mine) plan.take_items_with(*mine);
    std::optional<WorkPlan> smaller;
    {
      SlabSetup setup = try_setup(view, make, plan, mine.has_value(), run);
      smaller = narrowed(plan, view.info(),
                         setup.gpu ? plan.tiling.max_elements() : setup.engine->slab_elements(),
                         run.communicator);
      if (!smaller) return setup;
    }
    const bool has_single_chunks = plan.tiling.in_chunks() && plan.tiling.max_places() == 1;
    if (has_single_chunks) read_through_library(view.dataset, run);
    plan = has_single_chunks ? plan_work(view.info(), {}, run) : *smaller;
  }
}

std::vector<StageTiming> pass_slabs(const SlabSetup& setup, const ResultTaker& take,
                                    const io::DatasetInfo& info, Run& run) {
  SlabJob job{setup, size_of(info.format.type),
              registry_of_callers(*setup.engine, run.monitor.stages()), setup.plan.threads};
  PassItems items{setup.plan.mine, setup.plan.threads, info.elements * job.element_bytes};
  if (!setup.has_mine) items.host = run.share_items(setup.plan.tiling.items(), items.threads);
  if (setup.gpu) {
    items.gpu = setup.gpu.get();
    items.pieces = ceil_div(setup.plan.tiling.max_places(), setup.piece_chunks);
  }
  const auto make = [&](PassThread& thread) { return std::make_unique<SlabConsumer>(job, thread); };
  return run_pass(items, run.monitor, run.communicator, make,
                  [&](std::vector<StageTiming>& stages) {
                    StreamEngine* gpu = setup.gpu ? setup.gpu->engine() : nullptr;
                    run_on_all(run.communicator, [&] {
                      take(*setup.engine, 1);
                      if (gpu != nullptr) take(*gpu, 1);
                      if (job.never_written.elements > 0)
                        take_never_written(job.never_written, setup, take);
                    });
                    put_engine_stages(stages, stage::reduce, setup.engine->timings());
                    if (gpu != nullptr) append(stages, gpu->timings());
                  });
}

}  // namespace warpfold::pipeline
