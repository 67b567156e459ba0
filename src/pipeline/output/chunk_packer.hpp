#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/engine/stage_timer.hpp"
#include "core/layout/chunk_grid.hpp"
#include "io/chunks/chunk_encoder.hpp"
#include "mpi/communicator.hpp"
#include "mpi/root_exchange.hpp"
#include "pipeline/regions/chunk_elements.hpp"
#include "pipeline/run/block_flow.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/worker_threads.hpp"
#include "warpfold/core/storage_options.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

class StagedDataset;

/// Fills `out` with the elements of a flat range, which chunks of a stretch have.
using StretchSource =
    std::function<void(std::uint64_t stretch, ElementRange range, std::span<std::byte> out)>;

/// Returns the chunks of an output of `shape`, whose storage has a chunk_shape.
ChunkGrid grid_of(std::span<const std::uint64_t> shape, const StorageOptions& storage);

/// A pack job is one of the staged datasets, which are chunked, and where its elements come from.
struct PackJob {
  StagedDataset& staged;
  std::vector<std::uint64_t> shape;
  StorageOptions storage;  ///< with a chunk_shape
  std::size_t element_bytes = 1;
  std::function<StretchSource()> make_source;  ///< called by every thread for its own
  std::string source_stage;                    ///< for reports; empty: a part of compressing
  int threads = 1;                             ///< threads of this rank
  std::size_t dataset = 0;                     ///< number among the staged ones
  std::uint64_t turn_chunks = 0;               ///< chunks of a rank in a stretch; 0: a batch

  ChunkGrid grid() const { return grid_of(shape, storage); }
};

/// The stretches into which the chunks of a pack job are divided. In each stretch, in order, each
/// rank, in order, has a run of chunks by number; all runs follow one another.
struct Stretches {
  std::uint64_t count = 0;
  std::function<ChunkRun(std::uint64_t stretch, int rank)> run;
  std::uint64_t in_memory = 2;     ///< stretches of which a rank has chunks in memory
  std::uint64_t batch_chunks = 1;  ///< chunks that a thread makes, or writes, together
  std::uint64_t supplied = 0;      ///< stretches whose elements are there from the start
};

/// Packs the chunks of one rank: its threads make and compress them and, once the root has given
/// them places in the file, write them there. The root does so in the order of their numbers, so
/// that files are the same for any number of ranks and threads. One thread calls all members but
/// where others may.
class ChunkPacker {
 public:
  /// Starts the threads. Borrows the job and the communicator. Throws Error.
  ChunkPacker(const PackJob& job, const Stretches& stretches, StageRegistry& stages,
              const mpi::Communicator& communicator);

  /// Says that the elements of the first `stretches` stretches are there. Any thread may call it.
  void supply(std::uint64_t stretches) { flow_.supply(stretches); }

  /// Tells whether a stretch is made, now or after at most so long: its elements are needed no
  /// more. Any thread may call it.
  bool made(std::uint64_t stretch, std::chrono::microseconds patience) {
    return flow_.wait_until_loaded(stretch, patience);
  }

  /// Lets the exchange of sizes and places go on, without waiting. `failed`: this rank makes no
  /// more chunks. All ranks call it until over().
  void advance(bool failed);

  /// Tells whether an exchange is under way: advance() is to be called again soon.
  bool exchanging() const { return exchange_.under_way(); }

  std::uint64_t stretch() const { return stretch_; }

  /// Tells whether there is nothing more to exchange: all chunks have places, or a rank has failed.
  bool over() const { return has_failed_ || stretch_ == stretches_.count; }

  /// Tells whether any rank has failed, as far as this one knows.
  bool has_failed() const { return has_failed_ || failure_ != nullptr; }

  /// Returns this rank's own failure, if any.
  const std::exception_ptr& failure() const { return failure_; }

  /// Returns the bytes of elements of this rank that are written so far, and of all of them.
  std::uint64_t done() const { return done_; }
  std::uint64_t share() const { return share_; }

  /// Waits, once over(), until the threads of all ranks are done. `failure` is the caller's, if
  /// any. Collective; throws the same Error on every rank.
  void finish(const std::exception_ptr& failure, ProgressMonitor& monitor);

  /// Returns the threads' timings once finished.
  std::vector<StageTiming> timings() const;

 private:
  /// Encoded chunks, one after another.
  struct Batch {
    ChunkRun chunks;
    std::vector<std::byte> bytes;
    std::vector<io::ChunkSize> sizes;
    std::vector<std::uint64_t> places;  ///< in the file
  };
  class Maker;

  ChunkRun run_of(std::uint64_t stretch) const {
    return stretches_.run(stretch, communicator_.rank());
  }
  std::uint64_t chunk_bytes() const { return grid_.chunk_elements() * job_.element_bytes; }
  Batch& batch_at(std::uint64_t stretch, std::uint64_t batch) {
    return batches_[stretch % batches_.size()][batch];
  }
  template <class Body>
  void for_each_batch(std::uint64_t stretch, Body&& body);
  void work(int worker, const std::stop_token& stop);
  void write(const Batch& batch, StageTimer& timer);
  void begin_exchange(bool failed);
  void give_places(std::vector<mpi::RootExchange::Numbers>& of_ranks);
  void take_places();

  const PackJob& job_;
  Stretches stretches_;
  const mpi::Communicator& communicator_;
  ChunkGrid grid_;
  int threads_;
  StageTimers making_;
  StageTimers encoding_;
  StageTimers writing_;
  std::vector<std::vector<Batch>> batches_;  ///< batches of stretches, which take turns
  BlockFlow flow_;                           ///< a stretch is a block: made, given places, written
  mpi::RootExchange exchange_;
  std::uint64_t stretch_ = 0;
  bool has_failed_ = false;
  std::exception_ptr failure_;
  std::uint64_t share_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
  std::optional<WorkerThreads> workers_;
};

/// Packs chunks whose elements are there, in stretches in which each rank has its turn. Collective;
/// returns this rank's timings. Throws the same Error on every rank.
std::vector<StageTiming> pack_chunks(const PackJob& job, ProgressMonitor& monitor,
                                     const mpi::Communicator& communicator);

/// Returns how many bytes a rank's chunks may take in memory: a part of what the host's processes
/// may use, in proportion to the rank's threads.
std::uint64_t chunk_memory(int threads);

}  // namespace warpfold::pipeline
