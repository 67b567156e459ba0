#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/benchmarks.hpp"
#include "bench/harness/selection.hpp"
#include "bench/harness/timing_loop.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::bench {

/// Resources of a measurement on every rank's GPU, and its results so far. The rank's GPU is
/// current from construction on. All calls are collective unless they say otherwise.
class Rig {
 public:
  /// `settings` must outlive the rig. Throws Error where a rank has no GPU of its own.
  Rig(MPI_Comm communicator, const Settings& settings);

  const mpi::Communicator& communicator() const { return communicator_; }
  int rank() const { return communicator_.rank(); }

  cudaStream_t stream() const { return stream_->get(); }

  /// Returns the cores, for answers to check against.
  Backend& host() { return *host_; }

  /// Device memory that arrays may take: the least of the ranks'.
  std::uint64_t memory_bytes() const { return memory_bytes_; }

  /// Runs `body`, which must not communicate, on every rank; throws what it throws on any.
  void on_every_rank(const std::function<void()>& body) const;

  /// Prepares the candidates of one size on each rank, times them everywhere at once and adds their
  /// rows. Those whose rows tell device time are timed by events around what run() puts into the
  /// stream, and after() is called once all of a round is done.
  void measure(const std::function<std::vector<Candidate>()>& prepare);

  /// Times what all ranks do together, candidates of one size, and adds their rows.
  void measure_together(std::vector<Candidate> candidates);

  /// Adds a row that was not run.
  void add_note(const std::string& group, std::uint64_t bytes, const std::string& note);

  /// Returns a candidate that copies `row.bytes` between the same windows of two arrays. Not
  /// collective.
  Candidate copy(Row row, const cuda::DeviceBuffer& to, const cuda::DeviceBuffer& from,
                 const Windows& windows = {}) const;

  /// Fills results before a candidate writes them, so that none passes for another's. Not
  /// collective.
  void poison(void* results, std::uint64_t bytes) const;

  Result take_result() { return std::move(result_); }

 private:
  mpi::Communicator communicator_;
  const RunOptions& options_;
  Rounds rounds_;
  pipeline::ChosenBackend gpu_;
  std::unique_ptr<Backend> host_;
  std::unique_ptr<cuda::Stream> stream_;
  std::uint64_t memory_bytes_ = 0;
  Result result_;
};

}  // namespace warpfold::bench
