#include "pipeline/reduce/slab_pipeline.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "cpu/engines/backend.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/run/bottleneck.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/run/work_queue.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// Chunks that are smaller are read together.
constexpr std::uint64_t least_piece_bytes = std::uint64_t{64} << 10;

/// Returns what a GPU is to decompress, if anything.
CompressedChunks compressed_chunks(RegionSource& source, const SlabTiling& tiling,
                                   ElementRange mine, const Run& run) {
  if (!tiling.in_chunks || !run.place.gpu) return {};
  return source.compressed(chunks_of(tiling.slabs, mine).count, tiling.slabs.max_places(),
                           static_cast<std::uint64_t>(run.place.threads));
}

/// Returns how many chunks of a slab a core takes at a time: one, as several are a box for certain
/// only if they are a slab.
std::uint64_t chunks_of_piece(const SlabTiling& tiling, const RegionSource& source) {
  const std::uint64_t chunk_bytes =
      source.grid()->chunk_elements() * size_of(source.info().format.type);
  return chunk_bytes >= least_piece_bytes ? 1 : tiling.slabs.max_places();
}

/// Returns what makes an engine of cores that takes one element.
std::function<std::unique_ptr<StreamEngine>()> maker_for_one(const EngineMaker& make,
                                                             const DatasetView& view) {
  const StagingPlan one{
      .format = view.info().format, .decoding = view.decoding, .slab_elements = 1};
  return [=] { return make(*cpu::make_backend(1), one); };
}

/// Makes the engines: the GPU's later, where cores work beside it.
void make_engines(SlabSetup& setup, const DatasetView& view, const EngineMaker& make,
                  const SlabPlan& plan, Run& run) {
  const SlabTiling& tiling = setup.tiling;
  RegionSource& source = *setup.source;
  if (tiling.in_chunks && view.decoding.mask.selects_all())
    setup.make_for_one = maker_for_one(make, view);
  StagingPlan slabs{.format = view.info().format,
                    .decoding = view.decoding,
                    .slab_elements = std::max<std::uint64_t>(1, tiling.max_elements),
                    .staging_bytes = tiling.in_chunks
                                         ? source.bytes_of_chunks(tiling.slabs.max_places())
                                         : source.bytes_of_range(tiling.max_elements),
                    .staging = source.staging(),
                    .slots = slots_for(plan, setup.threads),
                    .stages = &run.monitor.stages(),
                    .compressed = compressed_chunks(source, tiling, setup.mine, run)};
  if (slabs.compressed.chunks == 0 || !run.shares(view.info())) {
    setup.engine = make(run.backend.get(), slabs);
    return;
  }
  const std::uint64_t cores_meanwhile =
      chunks_of_cores_meanwhile(slabs.compressed.form, static_cast<std::uint64_t>(setup.threads));
  setup.gpu = std::make_unique<GpuShare>([=, &run] { return make(run.backend.get(), slabs); },
                                         slabs.slab_elements,
                                         ceil_div(cores_meanwhile, tiling.slabs.max_places()));
  setup.piece_chunks = chunks_of_piece(tiling, source);
  StagingPlan pieces = slabs;
  pieces.slab_elements =
      std::min(slabs.slab_elements, setup.piece_chunks * source.grid()->chunk_elements());
  pieces.staging_bytes = source.bytes_of_chunks(setup.piece_chunks);
  pieces.slots = setup.threads;
  pieces.compressed = {};
  setup.engine = make(run.cores(), pieces);
}

SlabSetup try_setup(DatasetView& view, const EngineMaker& make, const SlabPlan& plan,
                    const SlabTiling& tiling, Run& run) {
  const ElementRange mine =
      share_of(tiling.slabs.items(), run.communicator.size(), run.communicator.rank());
  SlabSetup setup{tiling, mine, threads_for(plan, mine.count), {}, {}, {}, {}, {}, {}};
  setup.binding =
      std::make_unique<cpu::ThreadBinding>(run.place.near_gpu, std::max(1, setup.threads));
  run_on_all(run.communicator, [&] {
    const ChunkRun chunks = tiling.in_chunks ? chunks_of(tiling.slabs, mine) : ChunkRun{};
    setup.source = std::make_unique<RegionSource>(view.dataset, chunks, run.monitor.stages());
    make_engines(setup, view, make, plan, run);
  });
  setup.threads = std::min(setup.threads, setup.engine->slots());
  return setup;
}

void read_through_library(io::Dataset& dataset, const Run& run) {
  io::DatasetInfo info = dataset.info();
  if (run.options.read_path != ReadPath::automatic)
    throw Error("can't read dataset '" + info.name + "' of " + info.file + " chunk by chunk",
                "one chunk is more than the device memory allowed holds",
                "Raise `device_memory_bytes`, or leave out `read_path`.");
  info.path = ReadPath::library;
  run_on_all(run.communicator, [&] { dataset = io::Dataset(info); });
}

/// Gives cores pieces of slabs.
class SlabPieces {
 public:
  explicit SlabPieces(const SlabSetup& setup) : setup_(setup) {}

  /// Returns the next piece; none once there are none.
  std::optional<ElementRange> next(WorkQueue::Worker& worker) {
    if (worker.is_to_stop()) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (left_.count == 0) {
      const std::optional<std::uint64_t> slab = worker.next();
      if (!slab) return std::nullopt;
      left_ = setup_.tiling.slabs.range(*slab);
    }
    const ElementRange piece{left_.first, std::min(left_.count, setup_.piece_chunks)};
    left_ = {piece.end(), left_.count - piece.count};
    return piece;
  }

 private:
  const SlabSetup& setup_;
  std::mutex mutex_;
  ElementRange left_{};  ///< chunks of a slab, by position
};

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
  std::copy_n(info.fill.begin(), size_of(info.format.type), engine->buffer(0).begin());
  const StagedChunk element;
  StagedChunks staged = staged_run(element, {0, 1});
  staged.indices.first = never_written.first_index;
  engine->submit(0, staged, staged.indices);
  engine->flush();
  take(*engine, never_written.elements);
}

/// The work of one thread of those that share a rank's slabs.
class SlabWork {
 public:
  SlabWork(const SlabSetup& setup, SlabPieces& pieces, std::size_t element_bytes,
           StageTimer& reducing, WorkQueue::Worker& worker)
      : setup_(setup),
        pieces_(pieces),
        element_bytes_(element_bytes),
        reducing_(reducing),
        worker_(worker),
        reader_(*setup.source,
                setup.engine->decompresses() ? io::Compressed::left : io::Compressed::undone) {}

  /// Passes slabs until there are no more. Returns its stages' times.
  std::vector<StageTiming> run() {
    setup_.gpu ? share() : pass_all();
    std::vector<StageTiming> stages = reader_.timings();
    if (gpu_reader_) add_up(stages, gpu_reader_->timings());
    stages.push_back(reducing_.timing());
    return stages;
  }

  /// Returns what its slabs had instead of chunks.
  const NeverWritten& never_written() const { return never_written_; }

 private:
  /// Passes slabs in slots that no other thread uses.
  void pass_all() {
    StreamEngine& engine = *setup_.engine;
    int slot = worker_.number();
    while (const auto slab = worker_.next()) {
      pass(setup_.tiling.slabs.range(*slab), engine, slot, reader_);
      slot = slot + setup_.threads < engine.slots() ? slot + setup_.threads : worker_.number();
    }
  }

  /// Passes slabs to the GPU whenever it is to have one, and otherwise pieces to a core.
  void share() {
    if (worker_.number() == 0) setup_.gpu->start();
    while (true) {
      const std::optional<int> slot = setup_.gpu->take_slot(worker_.left());
      if (slot && pass_to_gpu(*slot)) continue;
      const std::optional<ElementRange> piece = pieces_.next(worker_);
      if (!piece) return;
      pass(*piece, *setup_.engine, worker_.number(), reader_);
    }
  }

  /// Tells whether there was a slab for it.
  bool pass_to_gpu(int slot) {
    const std::optional<std::uint64_t> slab = worker_.next();
    if (slab) {
      if (!gpu_reader_) gpu_reader_.emplace(*setup_.source, io::Compressed::left);
      pass(setup_.tiling.slabs.range(*slab), *setup_.gpu->engine(), slot, *gpu_reader_);
    }
    setup_.gpu->return_slot(slot);
    return slab.has_value();
  }

  /// Reads chunks or elements of a slab into the slot's memory and hands them to the engine.
  void pass(ElementRange part, StreamEngine& engine, int slot, RegionReader& reader) {
    if (!setup_.tiling.in_chunks)
      return submit(reader.read(part, 0, engine.buffer(slot)), engine, slot);
    const ChunkGrid& grid = *setup_.source->grid();
    const ChunkRun run{part.first, part.count};
    const ChunkTarget target = box_target(grid, run);
    const BoxIndices indices = box_indices(grid, run);
    if (setup_.make_for_one && setup_.source->never_written(run))
      return reduce(target.elements, engine, [&] {
        never_written_.merge({target.elements, indices.first});
      });
    return submit(reader.read(run, target, indices, engine.buffer(slot)), engine, slot);
  }

  void submit(const StagedChunks& staged, StreamEngine& engine, int slot) {
    reduce(staged.target.elements, engine, [&] { engine.submit(slot, staged, staged.indices); });
  }

  /// Reduces elements by `body`, in the time of cores where the engine is theirs.
  template <class Body>
  void reduce(std::uint64_t elements, const StreamEngine& engine, Body&& body) {
    const std::uint64_t bytes = elements * element_bytes_;
    if (&engine == setup_.engine.get())
      reducing_.time(bytes, body);
    else
      body();
    worker_.advance(bytes);
  }

  const SlabSetup& setup_;
  SlabPieces& pieces_;
  std::size_t element_bytes_;
  StageTimer& reducing_;
  WorkQueue::Worker& worker_;
  RegionReader reader_;
  NeverWritten never_written_;
  std::optional<RegionReader> gpu_reader_;  ///< of a thread that also brings slabs to the GPU
};

}  // namespace

SlabSetup set_up_slabs(DatasetView& view, const EngineMaker& make, Run& run) {
  SlabPlan plan = plan_slabs(view.info(), run);
  std::uint64_t slab_elements = mpi::minimum({plan.slab_elements}, run.communicator).front();
  while (true) {
    const SlabTiling tiling(view.info(), slab_elements);
    {
      SlabSetup setup = try_setup(view, make, plan, tiling, run);
      const std::uint64_t held = setup.gpu ? tiling.max_elements : setup.engine->slab_elements();
      slab_elements = mpi::minimum({held}, run.communicator).front();
      if (tiling.max_elements <= slab_elements) return setup;
    }
    if (tiling.in_chunks && tiling.slabs.max_places() == 1) {
      read_through_library(view.dataset, run);
      plan = plan_slabs(view.info(), run);
    }
  }
}

std::vector<StageTiming> pass_slabs(const SlabSetup& setup, const ResultTaker& take,
                                    const io::DatasetInfo& info, Run& run) {
  const std::size_t element_bytes = size_of(info.format.type);
  StageRegistry* registry = registry_of_callers(*setup.engine, run.monitor.stages());
  const auto start = SteadyClock::now();
  SlabPieces pieces(setup);
  NeverWritten never_written;
  std::mutex ending;
  int working = setup.threads;
  const auto pass = [&](WorkQueue::Worker& worker) {
    StageTimer reducing(registry, setup.gpu ? stage::reduce_on_cores : stage::reduce);
    SlabWork work(setup, pieces, element_bytes, reducing, worker);
    auto stages = work.run();
    const std::lock_guard lock(ending);
    never_written.merge(work.never_written());
    if (--working == 0) setup.engine->flush();
    return stages;
  };
  std::vector<StageTiming> stages =
      WorkQueue(setup.mine)
          .run(setup.threads, pass, info.elements * element_bytes, run.monitor, run.communicator);
  run_on_all(run.communicator, [&] {
    take(*setup.engine, 1);
    if (setup.gpu && setup.gpu->engine() != nullptr) take(*setup.gpu->engine(), 1);
    if (never_written.elements > 0) take_never_written(never_written, setup, take);
  });
  put_engine_stages(stages, stage::reduce, setup.engine->timings());
  if (setup.gpu && setup.gpu->engine() != nullptr) append(stages, setup.gpu->engine()->timings());
  return over_threads(stages, seconds_since(start));
}

}  // namespace warpfold::pipeline
