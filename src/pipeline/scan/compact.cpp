#include "warpfold/compact.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "core/layout/partition.hpp"
#include "cpu/machine/host_memory.hpp"
#include "io/output/output_target.hpp"
#include "mpi/combine.hpp"
#include "pipeline/datasets/chosen_datasets.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/scan/block_pipeline.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

using pipeline::DatasetView;

constexpr ElementType index_type = ElementType::u64;

/// The datasets of the output, still without a shape.
io::OutputSpec output_of(const DatasetView& view, const CompactOptions& options,
                         pipeline::Run& run) {
  io::OutputSpec output = pipeline::describe_output(options.output, view.info(),
                                                    pipeline::packing_attributes(view), run);
  output.inputs.insert(view.auxiliary_files.begin(), view.auxiliary_files.end());
  pipeline::merge_dimensions(output, "_kept");
  output.format = {view.value_type(), native_byte_order};
  if (options.indices)
    output.others.push_back(
        {output.dataset + "_indices", {}, {index_type, native_byte_order}, {}, false});
  return output;
}

[[noreturn]] void throw_changed(const io::DatasetInfo& info) {
  throw Error("dataset '" + info.name + "' of " + info.file + " changed while it was read",
              "its elements were not the same when they were read again",
              "Run again once nothing writes to the file.");
}

struct KeptElements {
  std::uint64_t count = 0;
  bool saved = false;                        ///< below, so that its block is not read again
  std::unique_ptr<std::byte[]> values;       ///< as written
  std::unique_ptr<std::uint64_t[]> indices;  ///< null where they are not written
};

/// Kept elements of all processes of a host take so much of its memory at most.
constexpr std::uint64_t kept_memory_divisor = 8;

/// Both passes over a rank's blocks: one counts what they keep, and saves it as long as memory has
/// room; one writes it at its place.
class Compaction {
 public:
  Compaction(DatasetView& view, bool indices, pipeline::Run& run)
      : view_(view),
        indices_(indices),
        run_(run),
        job_(
            view, pipeline::needs_of_compaction(indices ? index_type : view.value_type()),
            [&](Backend& backend, const BlockEnginePlan& plan) {
              auto made = backend.make_compact_engine(plan, indices);
              engine_ = made.get();
              return made;
            },
            run),
        keep_timer_(pipeline::registry_of_callers(*engine_, run.monitor.stages()), stage::compact),
        write_timers_(run.monitor.stages(), stage::write, job_.plan.threads),
        room_(cpu::memory_of_threads(kept_memory_divisor, run.place.threads)),
        kept_(job_.blocks.size()) {}

  /// Collective; returns how many elements this rank keeps.
  std::uint64_t count() {
    std::uint64_t mine = 0;
    const auto keep = [&](std::uint64_t block) {
      mine += kept_[block].count = keep_block(block);
      make_room(kept_[block]);
    };
    std::vector<pipeline::PieceCounts> pieces = pipeline::pieces_to_load(job_);
    std::uint64_t elements = 0;
    for (std::size_t block = 0; block < pieces.size(); ++block) {
      elements += job_.blocks[block].count;
      if (!resident()) pieces[block].to_store = stored_pieces(job_.blocks[block].count);
    }
    run_.monitor.start_pass(view_.info().elements * stored_bytes());
    pass(pieces, keep,
         [&](int worker, std::uint64_t block, std::uint64_t piece) { save(worker, block, piece); },
         {elements * stored_bytes(), passed_});
    return mine;
  }

  /// Writes what the blocks keep from place `first` of the outputs on, which have `kept_of_all`
  /// elements. Collective.
  void write(std::uint64_t first, std::uint64_t kept_of_all, pipeline::ArrayOutput& output) {
    std::vector<pipeline::PieceCounts> pieces = pipeline::pieces_to_load(job_);
    firsts_.clear();
    std::uint64_t here = 0;
    for (std::size_t block = 0; block < pieces.size(); ++block) {
      firsts_.push_back(first + here);
      here += kept_[block].count;
      if (is_held(block)) pieces[block].to_load = 0;
      pieces[block].to_store = stored_pieces(kept_[block].count);
    }
    const auto keep = [&](std::uint64_t block) {
      if (!is_held(block) && keep_block(block) != kept_[block].count) throw_changed(view_.info());
    };
    const Writers writers{output.writer(), indices_ ? output.writer(1) : nullptr};
    run_.monitor.start_pass(kept_of_all * written_bytes());
    pass(pieces, keep,
         [&](int worker, std::uint64_t block, std::uint64_t piece) {
           store(worker, block, piece, writers);
         },
         {here * written_bytes(), written_});
  }

  std::vector<StageTiming> timings() const {
    std::vector<StageTiming> stages = job_.source->timings();
    stages.push_back(keep_timer_.timing());
    pipeline::put_engine_stages(stages, stage::compact, engine_->timings());
    pipeline::append(stages, write_timers_.timings());
    return pipeline::over_threads(stages, pipeline::seconds_since(start_));
  }

 private:
  /// Bytes of a pass: of this rank, and those of them that are done.
  struct PassBytes {
    std::uint64_t share;
    const std::atomic<std::uint64_t>& done;
  };

  /// Writers of values and, where these are written, of indices; null otherwise.
  using Writers = std::array<io::ContiguousWriter*, 2>;

  /// Return the bytes of one element: as it is read, its value's and all as they are written.
  std::uint64_t stored_bytes() const { return size_of(view_.info().format.type); }
  std::uint64_t value_bytes() const { return size_of(view_.value_type()); }
  std::uint64_t written_bytes() const {
    return value_bytes() + (indices_ ? size_of(index_type) : 0);
  }

  /// Tells whether the engine still holds all blocks after the first pass.
  bool resident() const {
    return job_.blocks.size() <= static_cast<std::size_t>(engine_->blocks());
  }

  /// Tells whether the second pass has what a block keeps without reading it.
  bool is_held(std::uint64_t block) const {
    return kept_[block].count == 0 || kept_[block].saved || resident();
  }

  std::uint64_t stored_pieces(std::uint64_t elements) const {
    return ceil_div(elements, job_.plan.sizes.piece_elements);
  }

  std::uint64_t keep_block(std::uint64_t block) {
    const ElementRange range = job_.blocks[block];
    const std::uint64_t bytes = range.count * stored_bytes();
    const std::uint64_t kept = keep_timer_.time(
        bytes, [&] { return engine_->keep(job_.place(block), range.first, range.count); });
    passed_ += bytes;
    return kept;
  }

  ElementRange kept_part(std::uint64_t block, std::uint64_t piece) const {
    return block_range(kept_[block].count, job_.plan.sizes.piece_elements, piece);
  }

  void make_room(KeptElements& kept) {
    const std::uint64_t bytes = kept.count * written_bytes();
    if (resident() || bytes > room_) return;
    room_ -= bytes;
    kept.values = std::make_unique_for_overwrite<std::byte[]>(kept.count * value_bytes());
    if (indices_) kept.indices = std::make_unique_for_overwrite<std::uint64_t[]>(kept.count);
    kept.saved = true;
  }

  void save(int worker, std::uint64_t block, std::uint64_t piece) {
    const KeptElements& kept = kept_[block];
    if (!kept.saved || piece >= stored_pieces(kept.count)) return;
    const ElementRange part = kept_part(block, piece);
    const int here = job_.place(block);
    std::ranges::copy(engine_->values(worker, here, part.first, part.count),
                      &kept.values[part.first * value_bytes()]);
    if (indices_)
      std::ranges::copy(engine_->indices(worker, here, part.first, part.count),
                        &kept.indices[part.first]);
  }

  void store(int worker, std::uint64_t block, std::uint64_t piece, const Writers& writers) {
    const KeptElements& kept = kept_[block];
    const ElementRange part = kept_part(block, piece);
    const std::uint64_t place = firsts_[block] + part.first;
    const int here = job_.place(block);
    const auto write = [&](std::size_t dataset, std::span<const std::byte> bytes) {
      write_timers_[worker].time(bytes.size(), [&] {
        writers[dataset]->write(place * (bytes.size() / part.count), bytes);
      });
      written_ += bytes.size();
    };
    write(0, kept.saved ? std::span<const std::byte>(&kept.values[part.first * value_bytes()],
                                                     part.count * value_bytes())
                        : engine_->values(worker, here, part.first, part.count));
    if (indices_)
      write(1, std::as_bytes(kept.saved ? std::span<const std::uint64_t>(&kept.indices[part.first],
                                                                         part.count)
                                        : engine_->indices(worker, here, part.first, part.count)));
  }

  /// Loads blocks, keeps of them and stores by all threads. Collective.
  void pass(const std::vector<pipeline::PieceCounts>& pieces,
            const std::function<void(std::uint64_t block)>& keep,
            pipeline::BlockPipeline::Store store, const PassBytes& bytes) {
    std::optional<pipeline::BlockPipeline> blocks;
    pipeline::run_on_all(run_.communicator,
                         [&] { blocks.emplace(job_, pieces, std::move(store)); });
    std::exception_ptr failure;
    try {
      for (std::uint64_t block = 0; block < pieces.size(); ++block) {
        while (!blocks->loaded(block, pipeline::BlockPipeline::watch_patience)) {
          run_.monitor.poll();
          run_.monitor.advance_share(bytes.done, bytes.share);
        }
        keep(block);
        blocks->computed();
      }
    } catch (...) {
      failure = std::current_exception();
    }
    blocks->finish(
        failure, [&] { return bytes.done.load(); }, run_.monitor, run_.communicator);
  }

  DatasetView& view_;
  bool indices_;
  pipeline::Run& run_;
  CompactEngine* engine_ = nullptr;
  pipeline::SteadyClock::time_point start_ = pipeline::SteadyClock::now();
  pipeline::BlockJob job_;
  StageTimer keep_timer_;
  StageTimers write_timers_;
  std::uint64_t room_;                      ///< bytes left for kept elements
  std::vector<KeptElements> kept_;          ///< one per block
  std::vector<std::uint64_t> firsts_;       ///< place of each block in the output
  std::atomic<std::uint64_t> passed_ = 0;   ///< bytes, by the first pass
  std::atomic<std::uint64_t> written_ = 0;  ///< bytes
};

/// Compacts a dataset into an output file. Collective.
CompactResult compact_into(DatasetView& view, const CompactOptions& options, pipeline::Run& run,
                           pipeline::OutputFile& file,
                           std::chrono::steady_clock::time_point start) {
  io::OutputSpec output = output_of(view, options, run);
  pipeline::run_on_all(run.communicator,
                       [&] { pipeline::set_shape(output, {0}, options.storage); });
  pipeline::run_on_root(run.communicator, [&] { io::require_writable_target(output); });
  std::optional<Compaction> compaction;
  std::uint64_t first = 0;
  std::uint64_t mine = 0;
  CompactResult result;
  pipeline::while_unchanged(view, run.communicator, [&] {
    if (view.info().elements == 0) return;
    compaction.emplace(view, options.indices, run);
    mine = compaction->count();
    first = mpi::exclusive_sum(mine, run.communicator);
    result.kept = mpi::broadcast(first + mine, run.communicator, run.communicator.size() - 1);
  });
  pipeline::run_on_all(run.communicator,
                       [&] { pipeline::set_shape(output, {result.kept}, options.storage); });
  pipeline::ArrayOutput staged =
      run.reserving.time(0, [&] { return pipeline::ArrayOutput(output, file, run, mine); });
  pipeline::while_unchanged(view, run.communicator, [&] {
    if (result.kept > 0) compaction->write(first, result.kept, staged);
  });
  pipeline::run_on_all(run.communicator, [&] { run.backend.get(); });
  auto stages = compaction ? compaction->timings() : std::vector<StageTiming>{};
  compaction.reset();
  pipeline::add_up(stages, staged.finish());

  pipeline::describe_view(view, result);
  result.output_dataset = output.dataset;
  if (options.indices) result.indices_dataset = output.others.front().dataset;
  result.count = view.info().elements;
  result.report = pipeline::report_of(run, stages, start);
  return result;
}

}  // namespace

CompactResult compact(MPI_Comm parent, const std::string& file, const std::string& name,
                      const CompactOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  pipeline::Run run(parent, options.run);
  pipeline::OutputFile output(run.communicator);
  DatasetView view = pipeline::open_view(file, name, options.view, run);
  CompactResult result = compact_into(view, options, run, output, start);
  output.commit(result.report, run.monitor.stages());
  result.report.seconds = pipeline::seconds_since(start);
  return result;
}

std::vector<DatasetOutcome<CompactResult>> compact(MPI_Comm parent, const std::string& file,
                                                   const DatasetChoice& datasets,
                                                   const CompactOptions& options) {
  pipeline::Run run(parent, options.run);
  pipeline::OutputFile output(run.communicator);
  auto outcomes = pipeline::for_each_output<CompactResult>(
      file, datasets, options.view, options.output, run, std::identity(), [&](DatasetView& view) {
        return compact_into(view, options, run, output, std::chrono::steady_clock::now());
      });
  output.commit(outcomes, run.monitor.stages());
  return outcomes;
}

}  // namespace warpfold
