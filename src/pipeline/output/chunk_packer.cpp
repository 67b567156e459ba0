#include "pipeline/output/chunk_packer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/layout/partition.hpp"
#include "cpu/machine/host_memory.hpp"
#include "cpu/machine/machine.hpp"
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

/// Chunks take no more of the memory that a host's ranks may use, or of what any host has, as long
/// as one thread's fit.
constexpr std::uint64_t memory_divisor = 8;
constexpr std::uint64_t least_chunk_memory = std::uint64_t{512} << 20;

/// A thread holds a chunk's elements, shuffled, compressed, and two that wait.
constexpr std::uint64_t chunks_in_memory_per_thread = 5;
constexpr std::size_t slots_per_thread = 2;

constexpr std::chrono::milliseconds patience{5};
constexpr std::uint64_t rounds_between_agreements = 8;

/// Small chunks travel several at a time, in messages of about this size, but so that every rank
/// sends some.
constexpr std::uint64_t message_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t least_messages = 8;

/// This label stands in place of the number of chunks where the sender has failed.
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
  const auto threads = static_cast<std::uint64_t>(job.threads);
  const std::uint64_t share_of_core =
      cpu::usable_memory() / memory_divisor / static_cast<std::uint64_t>(cpu::host_cores());
  const std::uint64_t memory = std::max(least_chunk_memory, threads * share_of_core);
  return static_cast<int>(std::clamp<std::uint64_t>(memory / thread_bytes, 1, threads));
}

/// A chunk share is one rank's chunks: batches number rank, rank + ranks, rank + 2 * ranks, ... of
/// chunks that follow each other.
struct ChunkShare {
  std::uint64_t chunks = 0;  ///< chunks of all ranks
  std::uint64_t ranks = 1;
  std::uint64_t rank = 0;
  std::uint64_t batch = 1;  ///< chunks, but for the last one

  std::uint64_t rounds() const { return ceil_div(ceil_div(chunks, batch), ranks); }

  std::uint64_t count() const {
    std::uint64_t count = 0;
    if (const std::uint64_t whole = rounds(); whole > 0)
      count = (whole - 1) * batch + batch_size(whole - 1, rank);
    return count;
  }

  /// Returns the number of a rank's first chunk of a round.
  std::uint64_t first(std::uint64_t round, std::uint64_t of_rank) const {
    return (round * ranks + of_rank) * batch;
  }

  /// Returns how many chunks a rank has in a round.
  std::uint64_t batch_size(std::uint64_t round, std::uint64_t of_rank) const {
    const std::uint64_t begin = std::min(first(round, of_rank), chunks);
    return std::min(batch, chunks - begin);
  }

  std::uint64_t number(std::uint64_t place) const {
    return first(place / batch, rank) + place % batch;
  }
};

ChunkShare chunk_share_of(std::uint64_t chunks, std::uint64_t chunk_bytes,
                          const mpi::Communicator& communicator) {
  const auto ranks = static_cast<std::uint64_t>(communicator.size());
  const std::uint64_t for_all = chunks / (ranks * least_messages);
  return {chunks, ranks, static_cast<std::uint64_t>(communicator.rank()),
          std::max<std::uint64_t>(1, std::min(message_bytes / chunk_bytes, for_all))};
}

/// A batch holds encoded chunks as they travel: each after its header.
class ChunkBatch {
 public:
  void clear() {
    bytes_.clear();
    chunks_ = 0;
  }

  void add(const io::EncodedChunk& chunk) {
    const Head head{chunk.skipped_filters, chunk.bytes.size()};
    const auto header = std::as_bytes(std::span(head));
    bytes_.insert(bytes_.end(), header.begin(), header.end());
    bytes_.insert(bytes_.end(), chunk.bytes.begin(), chunk.bytes.end());
    ++chunks_;
  }

  void send(const mpi::Communicator& communicator) const {
    mpi::send(chunks_, bytes_, communicator, 0);
  }

  /// Returns false where the sender has failed.
  bool receive(const mpi::Communicator& communicator, int from) {
    chunks_ = mpi::receive(bytes_, communicator, from);
    return chunks_ != failed_label;
  }

  /// Calls body(i, chunk) for each.
  template <class Body>
  void for_each(Body&& body) const {
    std::span<const std::byte> rest = bytes_;
    for (std::uint64_t i = 0; i < chunks_; ++i) {
      Head head{};
      std::memcpy(head.data(), rest.data(), sizeof head);
      body(i, io::EncodedChunk{rest.subspan(sizeof head, head[1]),
                               static_cast<std::uint32_t>(head[0])});
      rest = rest.subspan(sizeof head + head[1]);
    }
  }

 private:
  using Head = std::array<std::uint64_t, 2>;  ///< skipped filters, bytes

  std::vector<std::byte> bytes_;
  std::uint64_t chunks_ = 0;
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

/// Brings chunks from all ranks to the root, a round of one batch a rank after the other. Every
/// rank keeps to the rounds, also after a failure, until all know of it.
class ChunkCollection {
 public:
  ChunkCollection(const PackJob& job, ProgressMonitor& monitor,
                  const mpi::Communicator& communicator)
      : job_(job),
        monitor_(monitor),
        communicator_(communicator),
        grid_(grid_of(job)),
        chunk_bytes_(grid_.chunk_elements() * job.element_bytes),
        share_(chunk_share_of(grid_.chunks(), chunk_bytes_, communicator)),
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
      for (std::uint64_t round = 0; round < share_.rounds(); ++round) {
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
  /// Writes this rank's chunks of the round, or sends them to the root.
  void pass_own(std::uint64_t round, std::exception_ptr& failure) {
    const std::uint64_t n = share_.batch_size(round, share_.rank);
    const std::uint64_t first = share_.first(round, share_.rank);
    batch_.clear();
    try {
      for (std::uint64_t i = 0; i < n && !failure; ++i) {
        const io::EncodedChunk chunk = makers_->take(monitor_);
        if (communicator_.is_root())
          write(first + i, chunk);
        else
          batch_.add(chunk);
        makers_->release();
      }
    } catch (...) {
      failure = std::current_exception();
    }
    if (!communicator_.is_root() && n > 0) {
      if (failure)
        mpi::send(failed_label, {}, communicator_, 0);
      else
        batch_.send(communicator_);
    }
    monitor_.advance((round + 1) * share_.ranks * share_.batch * chunk_bytes_);
  }

  void receive_others(std::uint64_t round, std::exception_ptr& failure) {
    for (int rank = 1; rank < communicator_.size(); ++rank) {
      const auto other = static_cast<std::uint64_t>(rank);
      if (share_.batch_size(round, other) == 0) return;
      if (!batch_.receive(communicator_, rank) || failure) continue;
      try {
        batch_.for_each([&](std::uint64_t i, const io::EncodedChunk& chunk) {
          write(share_.first(round, other) + i, chunk);
        });
      } catch (...) {
        failure = std::current_exception();
      }
    }
  }

  void write(std::uint64_t number, const io::EncodedChunk& chunk) {
    writing_.time(chunk.bytes.size(), [&] {
      const std::uint64_t place = job_.staged.allocate_chunk(number, io::ChunkSize(chunk));
      job_.staged.chunk_writer().write(place, chunk.bytes);
    });
  }

  const PackJob& job_;
  ProgressMonitor& monitor_;
  const mpi::Communicator& communicator_;
  ChunkGrid grid_;
  std::uint64_t chunk_bytes_;
  ChunkShare share_;
  std::optional<ChunkMakers> makers_;
  ChunkBatch batch_;
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
