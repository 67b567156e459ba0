#include "pipeline/scan/compact_pass.hpp"

#include <chrono>
#include <exception>
#include <optional>

#include "pipeline/run/collective.hpp"
#include "pipeline/run/worker_threads.hpp"
#include "pipeline/scan/block_flow.hpp"

namespace warpfold::pipeline {
namespace {

/// How long an interrupt may stay unnoticed.
constexpr std::chrono::microseconds watch_patience{20'000};

std::vector<PieceCounts> piece_counts(const CompactJob& job, const std::vector<BlockPass>& passes) {
  std::vector<PieceCounts> pieces;
  for (std::size_t block = 0; block < passes.size(); ++block)
    pieces.push_back({passes[block].loads ? job.source.pieces(job.blocks[block]) : 0,
                      passes[block].pieces_to_store});
  return pieces;
}

/// The threads of a pass, and what hands them their pieces.
class PassThreads {
 public:
  PassThreads(const CompactJob& job, const std::vector<BlockPass>& passes,
              const CompactSteps& steps)
      : job_(job),
        steps_(steps),
        flow_(piece_counts(job, passes), job.engine.blocks(), job.source.max_loading(job.threads)),
        workers_(job.threads,
                 [this](int worker, const std::stop_token& stop) { run(worker, stop); }) {}

  /// Keeps block after block as they are loaded; calls attend() meanwhile, which may throw. Throws
  /// what a thread threw.
  void keep_all(const std::function<void()>& poll) {
    for (std::uint64_t block = 0; block < job_.blocks.size(); ++block) {
      while (!flow_.wait_until_loaded(block, watch_patience)) {
        if (flow_.stopped()) workers_.wait_for(watch_patience);
        poll();
      }
      steps_.keep(block);
      flow_.scanned();
    }
  }

  WorkerThreads& workers() { return workers_; }

 private:
  void run(int worker, const std::stop_token& stop) {
    flow_.carry_out(stop, [&](const PieceTask& task) { carry_out(worker, task); });
  }

  void carry_out(int worker, const PieceTask& task) {
    const std::uint64_t block = task.superstep;
    if (task.stores)
      steps_.store(worker, block, task.piece);
    else
      job_.source.load(worker, {engine_block(job_, block), job_.blocks[block]}, task.piece,
                       job_.engine);
  }

  const CompactJob& job_;
  const CompactSteps& steps_;
  BlockFlow flow_;
  WorkerThreads workers_;
};

}  // namespace

int engine_block(const CompactJob& job, std::uint64_t block) {
  return static_cast<int>(block % static_cast<std::uint64_t>(job.engine.blocks()));
}

void pass_blocks(const CompactJob& job, const std::vector<BlockPass>& passes,
                 const CompactSteps& steps, std::uint64_t share, ProgressMonitor& monitor,
                 const mpi::Communicator& communicator) {
  std::optional<PassThreads> threads;
  run_on_all(communicator, [&] { threads.emplace(job, passes, steps); });
  std::exception_ptr failure;
  try {
    threads->keep_all([&] {
      monitor.poll();
      monitor.advance_share(steps.done(), share);
    });
  } catch (...) {
    failure = std::current_exception();
  }
  wait_all_ranks(threads->workers(), communicator, monitor, [&] {
    if (failure) std::rethrow_exception(failure);
    return steps.done();
  });
}

}  // namespace warpfold::pipeline
