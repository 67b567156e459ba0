#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/gpu/benchmark.hpp"
#include "bench/harness/bench.hpp"
#include "bench/harness/rank_benchmark.hpp"
#include "cuda/runtime/stream.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/run/backend_choice.hpp"

namespace warpfold::bench {

/// What measuring on every rank's GPU takes, and what came of it so far. The rank's GPU is current
/// from construction on. All calls are collective.
class Rig {
 public:
  /// `options` must outlive the rig. Throws Error where a rank has no GPU of its own.
  Rig(MPI_Comm communicator, const RunOptions& options, int iterations);

  const mpi::Communicator& communicator() const { return communicator_; }
  int rank() const { return communicator_.rank(); }

  cudaStream_t stream() const { return stream_->get(); }

  /// The cores, for answers to check against.
  Backend& host() { return *host_; }

  /// Device memory that arrays may take: the least of the ranks'.
  std::uint64_t memory_bytes() const { return memory_bytes_; }

  /// Runs `body`, which must not communicate, on every rank; throws what it throws on any.
  void on_every_rank(const std::function<void()>& body) const;

  /// Prepares the candidates on each rank, holds the benchmark everywhere at once and adds its
  /// rows.
  void measure(const std::function<std::vector<Candidate>()>& prepare);

  /// As measure(), of what all ranks do together; `candidates` were prepared on every rank.
  void measure_together(std::vector<RankCandidate> candidates);

  /// Adds a row that was not run.
  void add_note(const std::string& group, std::uint64_t bytes, const std::string& note);

  Result take_result();

 private:
  /// Adds rows of one size, the same on every rank.
  void add(std::vector<Row> rows);

  mpi::Communicator communicator_;
  const RunOptions& options_;
  Protocol protocol_;
  pipeline::ChosenBackend gpu_;
  std::unique_ptr<Backend> host_;
  std::unique_ptr<cuda::Stream> stream_;
  std::uint64_t memory_bytes_ = 0;
  Result result_;
};

}  // namespace warpfold::bench
