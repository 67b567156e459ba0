#include "pipeline/scan/scan_pipeline.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

#include "core/layout/partition.hpp"
#include "core/results/accumulator.hpp"
#include "core/values/ordered_key.hpp"
#include "mpi/superstep_scan.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

using std::chrono::microseconds;

/// Longest time in which an exchange makes no progress while this rank waits for its threads.
constexpr microseconds exchange_patience{50};

/// Longest time for which finished chunks of a block wait until an exchange begins.
constexpr microseconds packing_patience{1000};

/// Writes the pieces of scanned blocks, or has their chunks packed; threads may do so at once.
class PrefixWriter {
 public:
  PrefixWriter(const ScanJob& job, const std::vector<PieceCounts>& pieces, StageRegistry& stages,
               const mpi::Communicator& communicator)
      : job_(job), write_timers_(stages, stage::write, job.chunks ? 0 : job.blocks.plan.threads) {
    for (const ElementRange& block : job.blocks.blocks)
      bytes_to_write_ += block.count * size_of(job.spec.output);
    if (job.chunks) chunks_.emplace(*job.chunks, pieces, stages, communicator);
  }

  /// Returns what packs chunks; null where the output is contiguous.
  ChunkPacker* packer() { return chunks_ ? &chunks_->packer() : nullptr; }

  /// Ends all waits of store(): nothing is stored from here on.
  void close() {
    if (chunks_) chunks_->close();
  }

  void store(int worker, std::uint64_t block, std::uint64_t piece) {
    try {
      store_piece(worker, block, piece);
    } catch (...) {
      close();
      throw;
    }
  }

  std::uint64_t bytes_written() const {
    return chunks_ ? chunks_->packer().done() : bytes_written_.load();
  }
  std::uint64_t bytes_to_write() const {
    return chunks_ ? chunks_->packer().share() : bytes_to_write_;
  }

  /// value_bits() of the last element of the dataset, once all is written, on the rank that has it.
  std::uint64_t last_bits() const { return last_bits_; }

  /// Returns the times by thread, once the threads are done.
  std::vector<StageTiming> timings() const {
    return chunks_ ? chunks_->packer().timings() : write_timers_.timings();
  }

 private:
  void store_piece(int worker, std::uint64_t block, std::uint64_t piece) {
    const std::size_t size = size_of(job_.spec.output);
    const ElementRange range = job_.blocks.blocks[block];
    const ElementRange part =
        block_range(range.count, job_.blocks.plan.sizes.piece_elements, piece);
    const std::uint64_t first = range.first + part.first;
    const std::uint64_t bytes = part.count * size;
    const std::span<const std::byte> memory =
        job_.engine.output(worker, job_.blocks.place(block), part.first, part.count);
    if (chunks_)
      chunks_->store(block, first, memory);
    else
      write_timers_[worker].time(bytes, [&] { job_.writer->write(first * size, memory); });
    if (first + part.count == job_.elements)
      last_bits_ = bits_of(memory.last(size), job_.spec.output);
    bytes_written_ += bytes;
  }

  const ScanJob& job_;
  StageTimers write_timers_;
  std::uint64_t bytes_to_write_ = 0;
  std::atomic<std::uint64_t> bytes_written_ = 0;
  std::uint64_t last_bits_ = 0;
  std::optional<ChunkedPrefixes> chunks_;
};

std::vector<PieceCounts> pieces_of(const ScanJob& job) {
  std::vector<PieceCounts> pieces = pieces_to_load(job.blocks);
  for (std::size_t block = 0; block < pieces.size(); ++block)
    pieces[block].to_store =
        ceil_div(job.blocks.blocks[block].count, job.blocks.plan.sizes.piece_elements);
  return pieces;
}

/// The supersteps of one rank: total, exscan, scan. The next block's total may come while ranks
/// still exchange this one's.
class Supersteps {
 public:
  /// Calls poll() at least so often that no interrupt stays unnoticed; it may throw. `packer` may
  /// be null.
  Supersteps(const ScanJob& job, BlockPipeline& blocks, ChunkPacker* packer,
             std::function<void()> poll, StageRegistry& stages, mpi::SuperstepScan& exchange)
      : job_(job),
        blocks_(blocks),
        packer_(packer),
        poll_(std::move(poll)),
        exchange_(exchange),
        scan_timer_(registry_of_callers(job.engine, stages), stage::scan) {}

  /// Returns on all ranks at the same superstep: the last, or the first that a rank came to with a
  /// failure.
  void run() {
    while (scanned_ < job_.blocks.blocks.size() && !missing_) {
      attempt(poll_);
      if (packer_ != nullptr) packer_->advance(failure_ != nullptr);
      if (exchange_.under_way() && exchange_.done()) {
        end_exchange();
      } else if (!exchange_.under_way() && (gives_up() || !totals_.empty())) {
        begin_exchange();
      } else if (gives_up()) {
        std::this_thread::sleep_for(exchange_patience);
      } else {
        attempt([&] { await_next_total(); });
      }
    }
    if (packer_ != nullptr) end_packing();
  }

  /// Returns this rank's failure, or nothing.
  const std::exception_ptr& failure() const { return failure_; }

  /// The flat index of the first prefix here that the output type can't hold, or no_index.
  std::uint64_t overflow() const { return overflow_; }

  StageTiming scan_timing() const { return scan_timer_.timing(); }
  StageTiming exchange_timing() const {
    return {stage::exscan, 1, exchange_seconds_, 0, scanned_ * sizeof(Accumulator)};
  }

 private:
  template <class Body>
  void attempt(Body&& body) {
    if (failure_) return;
    try {
      body();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  /// Tells whether this rank can't go on, for a failure of its own or of another rank.
  bool gives_up() const { return failure_ || (packer_ != nullptr && packer_->has_failed()); }

  /// Lets all chunks that there are have their places. Ranks come here after the same superstep.
  void end_packing() {
    while (!packer_->over()) {
      attempt([&] {
        poll_();
        blocks_.check();
      });
      packer_->advance(failure_ || missing_);
      if (packer_->exchanging())
        std::this_thread::sleep_for(exchange_patience);
      else if (!packer_->over())
        packer_->made(packer_->stretch(), packing_patience);
    }
    attempt([&] {
      if (packer_->failure()) std::rethrow_exception(packer_->failure());
    });
  }

  /// Returns how long this rank may wait for its threads.
  microseconds patience() const {
    if (exchange_.under_way() || (packer_ != nullptr && packer_->exchanging()))
      return exchange_patience;
    return packer_ != nullptr ? packing_patience : BlockPipeline::watch_patience;
  }

  void await_next_total() {
    const microseconds patience = this->patience();
    if (reduced_ == job_.blocks.blocks.size()) {
      std::this_thread::sleep_for(patience);
    } else if (blocks_.loaded(reduced_, patience)) {
      totals_.push_back(total(reduced_));
      ++reduced_;
    }
  }

  Accumulator total(std::uint64_t superstep) {
    const ElementRange range = job_.blocks.blocks[superstep];
    if (range.count == 0) return Accumulator::empty();
    return scan_timer_.time(range.count * size_of(job_.spec.input.type), [&] {
      Accumulator total = job_.engine.total(job_.blocks.place(superstep), range.first, range.count);
      total.shift_indices(range.first);
      return total;
    });
  }

  void begin_exchange() {
    exchange_start_ = SteadyClock::now();
    if (gives_up()) {
      exchange_.start(std::nullopt);
    } else {
      exchange_.start(totals_.front());
      totals_.pop_front();
    }
  }

  void end_exchange() {
    exchange_seconds_ += seconds_since(exchange_start_);
    missing_ = exchange_.any_missing();
    if (missing_) return;
    attempt([&] { scan(scanned_, exchange_.before()); });
    ++scanned_;
  }

  /// A block that can't be scanned is not handed on: nothing is written of it.
  void scan(std::uint64_t superstep, const Accumulator& before) {
    const ElementRange range = job_.blocks.blocks[superstep];
    if (range.count > 0) {
      const auto unfit = scan_timer_.time(0, [&] {
        return job_.engine.scan(job_.blocks.place(superstep), range.first, range.count, before);
      });
      if (unfit) {
        overflow_ = *unfit;
        throw_overflow(overflow_, job_.spec);
      }
    }
    blocks_.computed();
  }

  const ScanJob& job_;
  BlockPipeline& blocks_;
  ChunkPacker* packer_;
  std::function<void()> poll_;
  mpi::SuperstepScan& exchange_;
  std::deque<Accumulator> totals_;  ///< totals of blocks that are reduced and not yet exchanged
  std::uint64_t reduced_ = 0;       ///< supersteps
  std::uint64_t scanned_ = 0;
  bool missing_ = false;
  std::uint64_t overflow_ = no_index;
  std::exception_ptr failure_;
  StageTimer scan_timer_;
  SteadyClock::time_point exchange_start_;
  double exchange_seconds_ = 0;
};

}  // namespace

ScanOutcome scan_blocks(const ScanJob& job, ProgressMonitor& monitor,
                        const mpi::Communicator& communicator) {
  const auto start = SteadyClock::now();
  monitor.start_pass(job.elements * size_of(job.spec.output));
  mpi::SuperstepScan exchange(communicator);
  std::optional<PrefixWriter> prefixes;
  std::optional<BlockPipeline> blocks;
  run_on_all(communicator, [&] {
    const std::vector<PieceCounts> pieces = pieces_of(job);
    prefixes.emplace(job, pieces, monitor.stages(), communicator);
    blocks.emplace(job.blocks, pieces, [&](int worker, auto block, auto piece) {
      prefixes->store(worker, block, piece);
    });
  });
  const auto poll = [&] {
    monitor.poll();
    monitor.advance_share(prefixes->bytes_written(), prefixes->bytes_to_write());
  };
  Supersteps supersteps(job, *blocks, prefixes->packer(), poll, monitor.stages(), exchange);
  supersteps.run();
  prefixes->close();
  throw_overflow_on_all_ranks(supersteps.overflow(), job.spec, communicator);
  if (ChunkPacker* packer = prefixes->packer()) packer->finish(supersteps.failure(), monitor);
  blocks->finish(
      supersteps.failure(), [&] { return prefixes->bytes_written(); }, monitor, communicator);

  ScanOutcome outcome;
  const auto ranks = static_cast<std::uint64_t>(communicator.size());
  const auto rank_of_last = static_cast<int>((job.blocks.plan.tiling.items() - 1) % ranks);
  outcome.last_bits = mpi::broadcast(prefixes->last_bits(), communicator, rank_of_last);
  std::vector<StageTiming> stages = job.blocks.source->timings();
  append(stages, {supersteps.scan_timing(), supersteps.exchange_timing()});
  put_engine_stages(stages, stage::scan, job.engine.timings());
  append(stages, prefixes->timings());
  outcome.stages = over_threads(stages, seconds_since(start));
  return outcome;
}

void throw_overflow(std::uint64_t index, const ScanSpec& spec) {
  throw Error("the scan overflows at index " + std::to_string(index),
              "the prefix there exceeds " + std::string(name_of(spec.output)),
              "Use a wider `output_type`, or `overflow` wrap.");
}

void throw_overflow_on_all_ranks(std::uint64_t mine, const ScanSpec& spec,
                                 const mpi::Communicator& communicator) {
  const std::uint64_t first = mpi::minimum({mine}, communicator).front();
  if (first != no_index) throw_overflow(first, spec);
}

std::uint64_t bits_of(std::span<const std::byte> element, ElementType type) {
  return visit_element_type(type, [&](auto value) {
    std::memcpy(&value, element.data(), sizeof(value));
    return value_bits(value);
  });
}

}  // namespace warpfold::pipeline
