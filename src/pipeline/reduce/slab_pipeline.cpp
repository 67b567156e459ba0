#include "pipeline/reduce/slab_pipeline.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/regions/slab_plan.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/run/worker_threads.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

SlabSetup try_setup(DatasetView& view, const EngineMaker& make, const BackendPlacement& place,
                    StartingBackend& backend, const SlabPlan& plan, const SlabCut& cut,
                    StageRegistry& stages, const mpi::Communicator& communicator) {
  SlabSetup setup{cut, cut.share(communicator.size(), communicator.rank()), 0, {}, {}, {}};
  setup.threads = threads_for(plan, setup.mine.count);
  setup.binding = std::make_unique<cpu::ThreadBinding>(place.near_gpu, std::max(1, setup.threads));
  run_on_all(communicator, [&] {
    setup.source = make_slab_source(view.dataset, cut, setup.mine, stages);
    ReducePlan engine;
    engine.format = view.info().format;
    engine.decoding = view.decoding;
    engine.slab_elements = std::max<std::uint64_t>(1, cut.max_elements());
    engine.staging_bytes = setup.source->staging_bytes();
    engine.chunked = cut.in_chunks();
    engine.slots = slots_for(plan, setup.threads);
    engine.stages = &stages;
    setup.engine = make(backend.get(), engine);
  });
  setup.threads = std::min(setup.threads, setup.engine->slots());
  return setup;
}

void read_through_library(io::Dataset& dataset, const RunOptions& options,
                          const mpi::Communicator& communicator) {
  const io::DatasetInfo info = dataset.info();
  if (options.read_path != ReadPath::automatic)
    throw Error("can't read dataset '" + info.name + "' of " + info.file + " chunk by chunk",
                "one chunk is more than the device memory allowed holds",
                "Raise --device-memory, or leave out --read-path.");
  dataset = open_everywhere(info.file, info.name, communicator, ReadPath::library);
  dataset.select(io::selection_of(info));
}

/// The work of the threads that share a rank's slabs, and what they say of it.
class SlabWork {
 public:
  SlabWork(const SlabSetup& setup, std::size_t element_bytes, StageRegistry& stages)
      : setup_(setup),
        element_bytes_(element_bytes),
        reduce_registry_(registry_of_callers(*setup.engine, stages)),
        next_(setup.mine.first) {}

  /// Passes slab after slab, in slots that no other worker uses.
  void run(int worker, const std::stop_token& stop) {
    SlabEngine& engine = *setup_.engine;
    const std::unique_ptr<SlabReader> reader = setup_.source->make_reader();
    StageTimer reducing(reduce_registry_, stage::reduce);
    int slot = worker;
    for (std::uint64_t slab = next_++; slab < setup_.mine.end(); slab = next_++) {
      if (stop.stop_requested()) return;
      engine.wait(slot);
      const StagedSlab staged = reader->read(slab, engine.buffer(slot));
      reducing.time(bytes_of(staged), [&] { submit(slot, staged); });
      ++slabs_done_;
      slot = slot + setup_.threads < engine.slots() ? slot + setup_.threads : worker;
    }
    keep(reader->timings(), reducing.timing());
  }

  std::uint64_t slabs_done() const { return slabs_done_; }

  /// Of all workers and the engine, once they are done.
  std::vector<StageTiming> timings() const {
    std::vector<StageTiming> stages = reading_;
    append(stages, engine_stages(setup_.engine->timings(), submitting_));
    return stages;
  }

 private:
  std::uint64_t bytes_of(const StagedSlab& staged) const {
    const auto* raw = std::get_if<RawSlab>(&staged);
    const std::uint64_t elements =
        raw != nullptr ? raw->range.count : std::get<ChunkSlab>(staged).chunks.target.elements;
    return elements * element_bytes_;
  }

  void submit(int slot, const StagedSlab& staged) {
    SlabEngine& engine = *setup_.engine;
    if (const auto* raw = std::get_if<RawSlab>(&staged)) {
      engine.submit(slot, raw->skipped_bytes, raw->range.first, raw->range.count);
    } else {
      const auto& box = std::get<ChunkSlab>(staged);
      engine.submit(slot, box.chunks, box.indices);
    }
  }

  void keep(const std::vector<StageTiming>& reading, StageTiming submitting) {
    const std::lock_guard lock(mutex_);
    append(reading_, reading);
    submitting_.push_back(std::move(submitting));
  }

  const SlabSetup& setup_;
  std::size_t element_bytes_;
  StageRegistry* reduce_registry_;
  std::atomic<std::uint64_t> next_;
  std::atomic<std::uint64_t> slabs_done_ = 0;
  std::mutex mutex_;
  std::vector<StageTiming> reading_;
  std::vector<StageTiming> submitting_;
};

/// Slabs as bytes of elements, all slabs being alike.
class SlabProgress {
 public:
  SlabProgress(const SlabSetup& setup, const io::DatasetInfo& info)
      : slabs_(static_cast<double>(std::max<std::uint64_t>(1, setup.mine.count))),
        bytes_(static_cast<double>(info.elements * size_of(info.format.type)) * slabs_ /
               static_cast<double>(std::max<std::uint64_t>(1, setup.cut.slabs()))) {}

  std::uint64_t bytes(std::uint64_t slabs_done) const {
    return static_cast<std::uint64_t>(bytes_ * static_cast<double>(slabs_done) / slabs_);
  }

 private:
  double slabs_;
  double bytes_;
};

}  // namespace

SlabSetup set_up_slabs(DatasetView& view, const EngineMaker& make, const BackendPlacement& place,
                       StartingBackend& backend, const RunOptions& options,
                       ProgressMonitor& monitor, const mpi::Communicator& communicator) {
  const ThreadResources means{place.threads, place.gpu.has_value()};
  SlabPlan plan = plan_slabs(view.info(), options, means, communicator.size());
  std::uint64_t slab_elements = mpi::minimum({plan.slab_elements}, communicator).front();
  while (true) {
    const SlabCut cut(view.info(), slab_elements);
    {
      SlabSetup setup =
          try_setup(view, make, place, backend, plan, cut, monitor.stages(), communicator);
      slab_elements = mpi::minimum({setup.engine->slab_elements()}, communicator).front();
      if (cut.max_elements() <= slab_elements) return setup;
    }
    if (cut.max_chunks() == 1) {
      read_through_library(view.dataset, options, communicator);
      plan = plan_slabs(view.info(), options, means, communicator.size());
    }
  }
}

std::vector<StageTiming> pass_slabs(const SlabSetup& setup, const std::function<void()>& finish,
                                    const io::DatasetInfo& info, ProgressMonitor& monitor,
                                    const mpi::Communicator& communicator) {
  SlabWork work(setup, size_of(info.format.type), monitor.stages());
  const SlabProgress progress(setup, info);
  monitor.start_pass(info.elements * size_of(info.format.type));
  const auto start = SteadyClock::now();
  std::optional<WorkerThreads> workers;
  run_on_all(communicator, [&] {
    workers.emplace(setup.threads, [&](int worker, const auto& stop) { work.run(worker, stop); });
  });
  wait_all_ranks(*workers, communicator, monitor,
                 [&] { return progress.bytes(work.slabs_done()); });
  run_on_all(communicator, finish);
  return over_threads(work.timings(), seconds_since(start));
}

}  // namespace warpfold::pipeline
