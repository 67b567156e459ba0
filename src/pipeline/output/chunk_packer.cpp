#include "pipeline/output/chunk_packer.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>

#include "core/layout/partition.hpp"
#include "io/output/output.hpp"
#include "mpi/agreement.hpp"
#include "mpi/message.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/regions/chunk_window.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/run/worker_threads.hpp"

namespace warpfold::pipeline {
namespace {

/// Chunks take no more memory, as long as one thread's fit.
constexpr std::uint64_t max_chunk_memory = std::uint64_t{512} << 20;

/// A thread holds a chunk's elements, shuffled, compressed, and two that wait.
constexpr std::uint64_t chunks_in_memory_per_thread = 5;
constexpr std::size_t slots_per_thread = 2;

constexpr std::chrono::milliseconds patience{5};
constexpr std::uint64_t rounds_between_agreements = 8;

/// This label stands in place of the skipped filters where the sender has failed.
constexpr std::uint64_t failed_label = std::numeric_limits<std::uint64_t>::max();

ChunkGrid grid_of(const PackJob& job) {
  std::vector<std::uint64_t> chunk_shape = job.storage.chunk_shape;
  for (std::size_t d = 0; d < chunk_shape.size(); ++d)
    chunk_shape[d] = std::clamp<std::uint64_t>(job.shape[d], 1, chunk_shape[d]);
  return chunk_grid(job.shape, chunk_shape);
}

int threads_within_memory(const PackJob& job, const ChunkGrid& grid) {
  const std::uint64_t thread_bytes =
      chunks_in_memory_per_thread * grid.chunk_elements() * job.element_bytes;
  const std::uint64_t maximum = std::max<std::uint64_t>(1, max_chunk_memory / thread_bytes);
  return static_cast<int>(std::min(maximum, static_cast<std::uint64_t>(job.threads)));
}

/// A chunk share is one rank's chunks: rank, rank + ranks, rank + 2 * ranks, ...
struct ChunkShare {
  std::uint64_t chunks = 0;  ///< of all ranks
  std::uint64_t ranks = 1;
  std::uint64_t rank = 0;

  std::uint64_t count() const { return rank < chunks ? ceil_div(chunks - rank, ranks) : 0; }
  std::uint64_t number(std::uint64_t place) const { return rank + place * ranks; }
};

/// Chunk makers are the threads that make this rank's chunks.
class ChunkMakers {
 public:
  ChunkMakers(const PackJob& job, const ChunkGrid& grid, const ChunkShare& share, int threads,
              StageRegistry& stages)
      : job_(job),
        grid_(grid),
        share_(share),
        stages_(stages),
        window_(share.count(), slots_per_thread * static_cast<std::size_t>(threads)),
        timings_(static_cast<std::size_t>(threads)),
        workers_(threads, [this](int worker, const std::stop_token& stop) { make(worker, stop); }) {
  }

  /// Returns the rank's next chunk, until release(). Throws what a thread threw.
  io::EncodedChunk take(ProgressMonitor& monitor) {
    for (;;) {
      monitor.poll();
      if (const auto chunk = window_.take(patience)) return *chunk;
      workers_.wait_for(std::chrono::microseconds(0));
    }
  }

  void release() { window_.release(); }

  /// Returns the timings of all threads, once all chunks are taken.
  std::vector<StageTiming> timings() {
    while (!workers_.wait_for(patience)) continue;
    std::vector<StageTiming> all;
    for (const auto& each : timings_) all.insert(all.end(), each.begin(), each.end());
    return all;
  }

 private:
  void make(int worker, const std::stop_token& stop) {
    StageTimer filling(stages_, job_.source_stage);
    StageTimer encoding(stages_, stage::compress);
    const ElementSource source = job_.make_source();
    io::ChunkEncoder encoder(job_.storage, job_.element_bytes);
    std::vector<std::byte> chunk(grid_.chunk_elements() * job_.element_bytes);
    while (const auto place = window_.claim(stop)) {
      filling.time(chunk.size(), [&] {
        fill_chunk(grid_, share_.number(*place), job_.element_bytes, source, chunk);
      });
      window_.put(*place, encoding.time(chunk.size(), [&] { return encoder.encode(chunk); }));
    }
    timings_[static_cast<std::size_t>(worker)] = {filling.timing(), encoding.timing()};
  }

  const PackJob& job_;
  const ChunkGrid& grid_;
  ChunkShare share_;
  StageRegistry& stages_;
  ChunkWindow window_;
  std::vector<std::vector<StageTiming>> timings_;
  WorkerThreads workers_;
};

/// Brings chunks from all ranks to the root, a round of one chunk a rank after the other. Every
/// rank keeps to the rounds, also after a failure, until all know of it.
class ChunkCollection {
 public:
  ChunkCollection(const PackJob& job, ProgressMonitor& monitor,
                  const mpi::Communicator& communicator)
      : job_(job),
        monitor_(monitor),
        communicator_(communicator),
        grid_(grid_of(job)),
        share_{grid_.chunks(), static_cast<std::uint64_t>(communicator.size()),
               static_cast<std::uint64_t>(communicator.rank())},
        chunk_bytes_(grid_.chunk_elements() * job.element_bytes),
        writing_(monitor.stages(), stage::write) {
    run_on_all(communicator, [&] {
      makers_.emplace(job_, grid_, share_, threads_within_memory(job_, grid_), monitor.stages());
    });
    monitor.start_pass(share_.chunks * chunk_bytes_);
  }

  void collect() {
    std::exception_ptr failure;
    {
      mpi::FailureWatch monitor(communicator_);
      const std::uint64_t rounds = ceil_div(share_.chunks, share_.ranks);
      for (std::uint64_t round = 0; round < rounds; ++round) {
        pass_own(round, failure);
        if (communicator_.is_root()) receive_others(round, failure);
        if ((round + 1) % rounds_between_agreements == 0 && monitor.round(failure != nullptr))
          break;
      }
    }
    mpi::throw_on_all_ranks(failure, communicator_);
    monitor_.finish_pass();
  }

  std::vector<StageTiming> timings(double seconds) {
    std::vector<StageTiming> all = makers_->timings();
    if (communicator_.is_root()) all.push_back(writing_.timing());
    return over_threads(all, seconds);
  }

 private:
  /// Writes this rank's chunk of the round, or sends it to the root.
  void pass_own(std::uint64_t round, std::exception_ptr& failure) {
    if (round >= share_.count()) return;
    std::optional<io::EncodedChunk> chunk;
    try {
      if (!failure) chunk = makers_->take(monitor_);
      if (chunk && communicator_.is_root()) write(share_.number(round), *chunk);
    } catch (...) {
      failure = std::current_exception();
    }
    if (!communicator_.is_root()) {
      if (chunk)
        mpi::send(chunk->skipped_filters, chunk->bytes, communicator_, 0);
      else
        mpi::send(failed_label, {}, communicator_, 0);
    }
    if (chunk) makers_->release();
    monitor_.advance((round + 1) * share_.ranks * chunk_bytes_);
  }

  void receive_others(std::uint64_t round, std::exception_ptr& failure) {
    for (int rank = 1; rank < communicator_.size(); ++rank) {
      const std::uint64_t number = round * share_.ranks + static_cast<std::uint64_t>(rank);
      if (number >= share_.chunks) return;
      const std::uint64_t label = mpi::receive(received_, communicator_, rank);
      if (failure || label == failed_label) continue;
      try {
        write(number, {received_, static_cast<std::uint32_t>(label)});
      } catch (...) {
        failure = std::current_exception();
      }
    }
  }

  void write(std::uint64_t number, const io::EncodedChunk& chunk) {
    writing_.time(chunk.bytes.size(), [&] { job_.staged.write_chunk(number, chunk); });
  }

  const PackJob& job_;
  ProgressMonitor& monitor_;
  const mpi::Communicator& communicator_;
  ChunkGrid grid_;
  ChunkShare share_;
  std::uint64_t chunk_bytes_;
  std::optional<ChunkMakers> makers_;
  std::vector<std::byte> received_;
  StageTimer writing_;
};

}  // namespace

std::vector<StageTiming> pack_chunks(const PackJob& job, ProgressMonitor& monitor,
                                     const mpi::Communicator& communicator) {
  const auto start = SteadyClock::now();
  ChunkCollection collection(job, monitor, communicator);
  collection.collect();
  return collection.timings(seconds_since(start));
}

}  // namespace warpfold::pipeline
