#include "pipeline/reduce/slab_pipeline.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "core/layout/partition.hpp"
#include "cpu/engines/backend.hpp"
#include "cpu/machine/machine.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "pipeline/regions/staging.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "pipeline/run/bottleneck.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/gpu_share.hpp"
#include "pipeline/run/pass.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// Counts elements that were never written: they have one value.
struct NeverWritten {
  std::uint64_t elements = 0;
  std::uint64_t first_index = no_index;  ///< flat

  void merge(const NeverWritten& other) {
    elements += other.elements;
    first_index = std::min(first_index, other.first_index);
  }
};

/// A rank's pass over slabs as planned: its engines, and the state shared by its threads.
struct SlabJob {
  SlabJob(const WorkPlan& planned, const io::DatasetInfo& info, const Run& run)
      : plan(planned),
        binding(run.place.near_gpu, std::max(1, plan.threads)),
        element_bytes(size_of(info.format.type)),
        held_elements(plan.tiling.max_elements()) {}

  const WorkPlan& plan;
  cpu::ThreadBinding binding;  ///< near the GPU: this thread's, and of those that it starts
  std::size_t element_bytes;
  std::unique_ptr<RegionSource> source;
  MadeOnce<StreamEngine> engine;      ///< made in the pass
  StageRegistry* registry = nullptr;  ///< registry of the reduction's stages, once it is made
  std::uint64_t held_elements;        ///< the most of a slab that it takes, once it is made
  std::unique_ptr<GpuShare> gpu;      ///< that has slabs beside the engine of cores, if one has
  std::uint64_t piece_chunks = 0;     ///< that a core takes at a time beside a GPU

  /// Makes an engine for one element; null where slabs that were never written are reduced as
  /// others are, since a mask selects some of their elements.
  std::function<std::unique_ptr<StreamEngine>()> make_for_one;

  std::mutex mutex;
  int finished = 0;  ///< threads
  NeverWritten never_written;
};

/// Ends the pass of all ranks where an engine holds less than its slabs.
constexpr const char* holds_less = "an engine holds less than a slab";

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

/// Has the first thread that needs it make the engine, in the pass, so that a rank whose GPU starts
/// late delays no other. Where cores work beside a GPU, theirs comes first. Engines get `each`
/// element, or one for all that were never written.
void plan_engines(SlabJob& job, const DatasetView& view, const EngineMaker& make, bool each,
                  Run& run) {
  const WorkTiling& tiling = job.plan.tiling;
  RegionSource& source = *job.source;
  if (tiling.in_chunks() && view.decoding.mask.selects_all() && !each)
    job.make_for_one = maker_for_one(make, view);
  const StagingPlan slabs = staging_plan(job.plan, source, view.decoding, run);
  std::function<std::unique_ptr<StreamEngine>()> make_engine = [=, &run] {
    return run.make_engine([&](Backend& backend) { return make(backend, slabs); });
  };
  if (slabs.compressed.chunks > 0 && run.shares(view.info())) {
    const std::uint64_t cores_meanwhile = chunks_of_cores_meanwhile(
        slabs.compressed.form, static_cast<std::uint64_t>(job.plan.threads));
    job.gpu = std::make_unique<GpuShare>(make_engine, slabs.slab_elements,
                                         ceil_div(cores_meanwhile, tiling.max_places()));
    job.piece_chunks = chunks_of_piece(tiling, source);
    StagingPlan pieces = slabs;
    pieces.slab_elements =
        std::min(slabs.slab_elements, job.piece_chunks * source.grid()->chunk_elements());
    pieces.staging_bytes = source.bytes_of_chunks(job.piece_chunks);
    pieces.slots_per_thread = 1;
    pieces.compressed = {};
    make_engine = [=, &cores = run.cores()] { return make(cores, pieces); };
  }
  job.engine = {std::launch::deferred, [=, &job, &run] {
                  std::unique_ptr<StreamEngine> engine = make_engine();
                  job.registry = registry_of_callers(*engine, run.monitor.stages());
                  if (!job.gpu) job.held_elements = engine->slab_elements();
                  return engine;
                }};
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

/// Has an engine of its own reduce one of these elements.
void take_never_written(const SlabJob& job, const ResultTaker& take) {
  const std::unique_ptr<StreamEngine> engine = job.make_for_one();
  const io::DatasetInfo& info = job.source->info();
  const Ticket ticket = engine->take(0);
  std::copy_n(info.fill.begin(), size_of(info.format.type), ticket.memory.begin());
  const StagedChunk element;
  engine->submit(ticket, staged_run(element, {0, 1}, job.never_written.first_index));
  engine->flush();
  take(*engine, job.never_written.elements);
}

/// Takes slabs; beside a GPU pieces of slabs, and brings it others.
class SlabConsumer final : public Consumer {
 public:
  SlabConsumer(SlabJob& job, PassThread& thread)
      : job_(job),
        engine_(*job.engine),
        thread_(thread),
        reader_(*job.source,
                engine_.decompresses() ? io::Compressed::left : io::Compressed::undone),
        reducing_(job.registry, job.gpu ? stage::reduce_on_cores : stage::reduce) {}

  void take(const PassItem& item) override {
    const ElementRange slab = job_.plan.tiling.range(item.number);
    if (item.rest.count > 0) job_.source->include(job_.plan.tiling.range(item.rest));
    if (item.for_gpu) {
      if (!gpu_reader_) gpu_reader_.emplace(*job_.source, io::Compressed::left);
      return pass(slab, *job_.gpu->engine(), *gpu_reader_);
    }
    if (job_.gpu) {
      const ElementRange part = block_range(slab.count, job_.piece_chunks, item.piece);
      if (part.count == 0) return;
      return pass({slab.first + part.first, part.count}, engine_, reader_);
    }
    pass(slab, engine_, reader_);
  }

  void finish() override {
    const std::lock_guard lock(job_.mutex);
    job_.never_written.merge(never_written_);
    if (++job_.finished == std::min(job_.plan.threads, engine_.threads())) engine_.flush();
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
    if (job_.make_for_one && job_.source->never_written(run)) {
      const ChunkGrid& grid = *job_.source->grid();
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
    if (&engine == &engine_)
      reducing_.time(bytes, body);
    else
      body();
    thread_.done += bytes;
  }

  SlabJob& job_;
  StreamEngine& engine_;
  PassThread& thread_;
  RegionReader reader_;
  StageTimer reducing_;
  NeverWritten never_written_;
  std::optional<RegionReader> gpu_reader_;  ///< for a thread that also feeds the GPU
};

/// Passes slabs as planned. Collective; throws the same Error on every rank.
std::vector<StageTiming> pass_once(SlabJob& job, const ResultTaker& take, std::uint64_t elements,
                                   HostItems* host, Run& run) {
  PassItems items{.items = job.plan.mine,
                  .threads = job.plan.threads,
                  .bytes = elements * job.element_bytes,
                  .gpu = job.gpu.get(),
                  .host = host};
  if (job.gpu) items.pieces = ceil_div(job.plan.tiling.max_places(), job.piece_chunks);
  const auto make = [&](PassThread& thread) -> std::unique_ptr<Consumer> {
    const int threads = job.engine->threads();
    if (job.held_elements < job.plan.tiling.max_elements()) throw Error(holds_less, "", "");
    if (thread.number >= threads) return nullptr;
    return std::make_unique<SlabConsumer>(job, thread);
  };
  return run_pass(items, run.monitor, run.communicator, make,
                  [&](std::vector<StageTiming>& stages) {
                    StreamEngine* gpu = job.gpu ? job.gpu->engine() : nullptr;
                    run_on_all(run.communicator, [&] {
                      take(*job.engine, 1);
                      if (gpu != nullptr) take(*gpu, 1);
                      if (job.never_written.elements > 0) take_never_written(job, take);
                    });
                    put_engine_stages(stages, stage::reduce, job.engine->timings());
                    if (gpu != nullptr) append(stages, gpu->timings());
                  });
}

}  // namespace

std::vector<StageTiming> pass_slabs(DatasetView& view, const EngineMaker& make,
                                    const ResultTaker& take, Run& run,
                                    const std::optional<ElementRange>& mine) {
  WorkPlan plan = plan_work(view.info(), {}, run);
  while (true) {
    if (mine) plan.take_items_with(*mine);
    std::optional<WorkPlan> smaller;
    {
      SlabJob job(plan, view.info(), run);
      run_on_all(run.communicator, [&] {
        job.source =
            std::make_unique<RegionSource>(view.dataset, run.monitor.stages(), plan.chunks());
      });
      // Slots are to hold what one rank takes of another one's.
      if (plan.tiling.in_chunks()) job.source->agree_on_sizes(run.communicator);
      run_on_all(run.communicator, [&] { plan_engines(job, view, make, mine.has_value(), run); });
      HostItems* host = mine ? nullptr : run.share_items(plan.tiling.items(), plan.threads);
      try {
        return pass_once(job, take, view.info().elements, host, run);
      } catch (const Error& error) {
        // All ranks have the same error.
        if (error.problem() != holds_less) throw;
        smaller = narrowed(plan, view.info(), job.held_elements, run.communicator);
      }
    }
    const bool has_single_chunks = plan.tiling.in_chunks() && plan.tiling.max_places() == 1;
    if (has_single_chunks) read_through_library(view.dataset, run);
    plan = has_single_chunks ? plan_work(view.info(), {}, run) : *smaller;
  }
}

}  // namespace warpfold::pipeline
