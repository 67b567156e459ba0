#include "pipeline/scan/scan_pipeline.hpp"

#include <chrono>
#include <deque>
#include <exception>
#include <optional>
#include <thread>

#include "mpi/superstep_scan.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/run/worker_threads.hpp"
#include "pipeline/scan/block_flow.hpp"
#include "pipeline/scan/scan_results.hpp"

namespace warpfold::pipeline {
namespace {

using std::chrono::microseconds;

/// How long an exchange between ranks may lie still while this one waits for its threads.
constexpr microseconds exchange_patience{50};

/// How long an interrupt may stay unnoticed.
constexpr microseconds watch_patience{20'000};

/// What threads do to blocks, as the thread that scans them sees it.
class BlockThreads {
 public:
  BlockThreads(const ScanJob& job, ProgressMonitor& monitor)
      : monitor_(monitor),
        flow_(piece_counts(job), job.engine.blocks(), job.source.max_loading(job.threads)),
        work_(job, flow_, monitor.stages()),
        threads_(job.threads,
                 [this](int worker, const std::stop_token& stop) { work_.run(worker, stop); }) {}

  /// Whether the superstep's block is loaded, now or after at most so long. Throws what a thread
  /// threw.
  bool loaded(std::uint64_t superstep, microseconds patience) {
    if (flow_.wait_until_loaded(superstep, patience)) return true;
    if (flow_.stopped()) threads_.wait_for(patience);
    return false;
  }

  void scanned() { flow_.scanned(); }

  /// Tells how far writing has come. Throws where the run is interrupted.
  void poll() {
    monitor_.poll();
    monitor_.advance_share(work_.bytes_written(), work_.bytes_to_write());
  }

  WorkerThreads& threads() { return threads_; }
  const BlockWork& work() const { return work_; }

 private:
  ProgressMonitor& monitor_;
  BlockFlow flow_;
  BlockWork work_;
  WorkerThreads threads_;
};

/// The supersteps of one rank: total, exscan, scan. The next block's total may come while ranks
/// still exchange this one's.
class Supersteps {
 public:
  Supersteps(const ScanJob& job, BlockThreads& threads, StageRegistry& stages,
             const mpi::Communicator& communicator)
      : job_(job),
        threads_(threads),
        exchange_(communicator),
        scan_timer_(registry_of_callers(job.engine, stages), stage::scan) {}

  /// Returns on all ranks at the same superstep: the last, or the first that a rank came to with a
  /// failure.
  void run() {
    const std::uint64_t all = job_.blocks.supersteps();
    while (scanned_ < all && !missing_) {
      attempt([&] { threads_.poll(); });
      if (exchange_.under_way() && exchange_.done()) {
        end_exchange();
      } else if (!exchange_.under_way() && (failure_ || !totals_.empty())) {
        begin_exchange();
      } else if (failure_) {
        std::this_thread::sleep_for(exchange_patience);
      } else {
        attempt([&] { await_next_total(); });
      }
    }
  }

  /// Of this rank, or nothing.
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

  void await_next_total() {
    const microseconds patience = exchange_.under_way() ? exchange_patience : watch_patience;
    if (reduced_ == job_.blocks.supersteps()) {
      std::this_thread::sleep_for(patience);
    } else if (threads_.loaded(reduced_, patience)) {
      totals_.push_back(total(reduced_));
      ++reduced_;
    }
  }

  Accumulator total(std::uint64_t superstep) {
    const ElementRange range = job_.blocks.range(superstep);
    if (range.count == 0) return Accumulator::empty();
    return scan_timer_.time(range.count * size_of(job_.spec.input.type), [&] {
      Accumulator total = job_.engine.total(block(superstep), range.count);
      total.shift_indices(range.first);
      return total;
    });
  }

  void begin_exchange() {
    exchange_start_ = SteadyClock::now();
    if (failure_) {
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
    const ElementRange range = job_.blocks.range(superstep);
    if (range.count > 0) {
      const auto unfit = scan_timer_.time(
          0, [&] { return job_.engine.scan(block(superstep), range.first, range.count, before); });
      if (unfit) {
        overflow_ = *unfit;
        throw_overflow(overflow_, job_.spec);
      }
    }
    threads_.scanned();
  }

  int block(std::uint64_t superstep) const {
    return static_cast<int>(superstep % static_cast<std::uint64_t>(job_.engine.blocks()));
  }

  const ScanJob& job_;
  BlockThreads& threads_;
  mpi::SuperstepScan exchange_;
  std::deque<Accumulator> totals_;  ///< of blocks that are reduced and not yet exchanged
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
  monitor.start_pass(job.blocks.elements * size_of(job.spec.output));
  std::optional<BlockThreads> threads;
  run_on_all(communicator, [&] { threads.emplace(job, monitor); });
  Supersteps supersteps(job, *threads, monitor.stages(), communicator);
  supersteps.run();
  throw_overflow_on_all_ranks(supersteps.overflow(), job.spec, communicator);
  wait_all_ranks(threads->threads(), communicator, monitor, [&] {
    if (supersteps.failure()) std::rethrow_exception(supersteps.failure());
    return threads->work().bytes_written();
  });
  const StageTiming sync =
      sync_on_all_ranks([&] { job.writer.sync(); }, monitor.stages(), communicator);

  ScanOutcome outcome;
  outcome.last_bits = mpi::broadcast(threads->work().last_bits(), communicator,
                                     static_cast<int>(job.blocks.rank_of_last()));
  std::vector<StageTiming> stages = job.source.timings();
  append(stages, {supersteps.scan_timing(), supersteps.exchange_timing()});
  put_engine_stages(stages, stage::scan, job.engine.timings());
  append(stages, threads->work().timings());
  stages.push_back(sync);
  outcome.stages = over_threads(stages, seconds_since(start));
  return outcome;
}

}  // namespace warpfold::pipeline
