#include "pipeline/output/chunk_packer.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "core/layout/partition.hpp"
#include "cpu/machine/host_memory.hpp"
#include "io/output/output.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {
namespace {

using mpi::RootExchange;

/// Chunks take no more of the memory that a host's ranks may use, or of what any host has, as long
/// as one thread's fit.
constexpr std::uint64_t memory_divisor = 8;
constexpr std::uint64_t least_chunk_memory = std::uint64_t{512} << 20;

/// A thread holds a chunk's elements, shuffled, compressed, and two that wait.
constexpr std::uint64_t chunks_in_memory_per_thread = 5;
constexpr std::uint64_t batches_per_thread = 2;

/// Longest time in which a thread notices no interrupt, and in which an exchange makes no progress.
constexpr std::chrono::milliseconds patience{5};
constexpr std::chrono::microseconds address_patience{50};

/// Small chunks are made several at a time, of about so many bytes, but so that every rank makes
/// some.
constexpr std::uint64_t batch_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t least_batches = 8;

int threads_within_memory(const PackJob& job) {
  const std::uint64_t thread_bytes =
      chunks_in_memory_per_thread * job.grid().chunk_elements() * job.element_bytes;
  const auto threads = static_cast<std::uint64_t>(job.threads);
  return static_cast<int>(
      std::clamp<std::uint64_t>(chunk_memory(job.threads) / thread_bytes, 1, threads));
}

/// Returns stretches in which each rank has one batch, or the chunks of a turn.
Stretches stretches_of(const PackJob& job, int threads, int ranks) {
  const ChunkGrid grid = job.grid();
  const std::uint64_t chunks = grid.chunks();
  const auto parts = static_cast<std::uint64_t>(ranks);
  const std::uint64_t for_all = chunks / (parts * least_batches);
  const std::uint64_t fitting = batch_bytes / (grid.chunk_elements() * job.element_bytes);
  Stretches stretches;
  stretches.batch_chunks = std::max<std::uint64_t>(1, std::min(fitting, for_all));
  const std::uint64_t turn = job.turn_chunks > 0 ? job.turn_chunks : stretches.batch_chunks;
  stretches.count = ceil_div(chunks, parts * turn);
  stretches.run = [=](std::uint64_t stretch, int rank) {
    const std::uint64_t first =
        std::min((stretch * parts + static_cast<std::uint64_t>(rank)) * turn, chunks);
    return ChunkRun{first, std::min(turn, chunks - first)};
  };
  stretches.in_memory = batches_per_thread * static_cast<std::uint64_t>(threads);
  stretches.supplied = stretches.count;
  return stretches;
}

/// Returns the number of batches that a rank has in each stretch, all made and written.
std::vector<PieceCounts> batches_in(const Stretches& stretches, int rank) {
  std::vector<PieceCounts> batches;
  for (std::uint64_t stretch = 0; stretch < stretches.count; ++stretch) {
    const std::uint64_t count =
        ceil_div(stretches.run(stretch, rank).count, stretches.batch_chunks);
    batches.push_back({count, count});
  }
  return batches;
}

/// Numbers of an exchange: whether the rank has failed, then two for each of its chunks, which are
/// its size and, in the answer, its place.
constexpr std::size_t numbers_for(std::uint64_t chunks) { return 1 + 2 * chunks; }

}  // namespace

ChunkGrid grid_of(std::span<const std::uint64_t> shape, const StorageOptions& storage) {
  std::vector<std::uint64_t> chunk_shape = storage.chunk_shape;
  for (std::size_t d = 0; d < chunk_shape.size(); ++d)
    chunk_shape[d] = std::clamp<std::uint64_t>(shape[d], 1, chunk_shape[d]);
  return chunk_grid(shape, chunk_shape);
}

/// Makes the chunks that one thread takes.
class ChunkPacker::Maker {
 public:
  Maker(const PackJob& job, const ChunkGrid& grid, StageTimer& making, StageTimer& encoding)
      : grid_(grid),
        element_bytes_(job.element_bytes),
        source_(job.make_source()),
        encoder_(job.storage, job.element_bytes),
        chunk_(grid.chunk_elements() * job.element_bytes),
        making_(making),
        encoding_(encoding) {}

  void make(std::uint64_t stretch, Batch& batch) {
    const ElementSource source = [&](ElementRange range, std::span<std::byte> out) {
      source_(stretch, range, out);
    };
    batch.bytes.clear();
    batch.sizes.clear();
    for (std::uint64_t number = batch.chunks.first; number < batch.chunks.end(); ++number) {
      making_.time(&making_ == &encoding_ ? 0 : chunk_.size(),
                   [&] { fill_chunk(grid_, number, element_bytes_, source, chunk_); });
      encoding_.time(chunk_.size(), [&] {
        const io::EncodedChunk encoded = encoder_.encode(chunk_);
        batch.bytes.insert(batch.bytes.end(), encoded.bytes.begin(), encoded.bytes.end());
        batch.sizes.emplace_back(encoded);
      });
    }
  }

 private:
  const ChunkGrid& grid_;
  std::size_t element_bytes_;
  StretchSource source_;
  io::ChunkEncoder encoder_;
  std::vector<std::byte> chunk_;
  StageTimer& making_;
  StageTimer& encoding_;
};

ChunkPacker::ChunkPacker(const PackJob& job, const Stretches& stretches, StageRegistry& stages,
                         const mpi::Communicator& communicator)
    : job_(job),
      stretches_(stretches),
      communicator_(communicator),
      grid_(job.grid()),
      threads_(threads_within_memory(job)),
      making_(stages, job.source_stage, job.source_stage.empty() ? 0 : threads_),
      encoding_(stages, stage::compress, threads_),
      writing_(stages, stage::write, threads_),
      flow_(batches_in(stretches, communicator.rank()), static_cast<int>(stretches.in_memory),
            threads_, stretches.supplied),
      exchange_(communicator) {
  std::uint64_t batches = 0;
  for (std::uint64_t stretch = 0; stretch < stretches.count; ++stretch) {
    const std::uint64_t chunks = run_of(stretch).count;
    batches = std::max(batches, ceil_div(chunks, stretches.batch_chunks));
    share_ += chunks * chunk_bytes();
  }
  batches_.assign(std::min(stretches.in_memory, stretches.count), std::vector<Batch>(batches));
  workers_.emplace(threads_,
                   [this](int worker, const std::stop_token& stop) { work(worker, stop); });
}

void ChunkPacker::work(int worker, const std::stop_token& stop) {
  StageTimer& encoding = encoding_[worker];
  Maker maker(job_, grid_, job_.source_stage.empty() ? encoding : making_[worker], encoding);
  flow_.process_pieces(stop, [&](const PieceTask& task) {
    Batch& batch = batch_at(task.block, task.piece);
    if (task.stores) {
      write(batch, writing_[worker]);
      done_ += batch.chunks.count * chunk_bytes();
    } else {
      const ChunkRun run = run_of(task.block);
      const std::uint64_t first = task.piece * stretches_.batch_chunks;
      batch.chunks = {run.first + first, std::min(stretches_.batch_chunks, run.count - first)};
      maker.make(task.block, batch);
    }
  });
}

/// Chunks that follow one another in the file, as those of a batch mostly do, are one write.
void ChunkPacker::write(const Batch& batch, StageTimer& timer) {
  const std::span<const std::byte> bytes(batch.bytes);
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t place = 0;
  const auto flush = [&] {
    if (end == begin) return;
    timer.time(end - begin,
               [&] { job_.staged.chunk_writer().write(place, bytes.subspan(begin, end - begin)); });
  };
  for (std::size_t i = 0; i < batch.sizes.size(); ++i) {
    if (batch.places[i] != place + (end - begin)) {
      flush();
      begin = end;
      place = batch.places[i];
    }
    end += batch.sizes[i].bytes;
  }
  flush();
}

void ChunkPacker::advance(bool failed) {
  if (over()) return;
  if (!failure_ && flow_.stopped())
    failure_ = capture_exception([&] { workers_->wait_for(std::chrono::microseconds(0)); });
  failed |= failure_ != nullptr;
  if (!exchange_.under_way()) {
    if (!failed && !made(stretch_, std::chrono::microseconds(0))) return;
    begin_exchange(failed);
  }
  if (exchange_.done([this](auto& of_ranks) { give_places(of_ranks); })) take_places();
}

void ChunkPacker::begin_exchange(bool failed) {
  std::vector<std::size_t> counts;
  if (communicator_.is_root())
    for (int rank = 0; rank < communicator_.size(); ++rank)
      counts.push_back(numbers_for(stretches_.run(stretch_, rank).count));
  const std::uint64_t chunks = run_of(stretch_).count;
  RootExchange::Numbers mine{failed ? 1U : 0U};
  mine.reserve(numbers_for(chunks));
  for_each_batch(stretch_, [&](const Batch& batch) {
    if (failed) return;
    for (const io::ChunkSize& size : batch.sizes)
      mine.insert(mine.end(), {size.bytes, size.skipped_filters});
  });
  mine.resize(numbers_for(chunks));
  exchange_.start(std::move(mine), counts);
}

void ChunkPacker::give_places(std::vector<RootExchange::Numbers>& of_ranks) {
  bool failed = std::ranges::any_of(of_ranks, [](const auto& each) { return each[0] != 0; });
  if (!failed) {
    const std::exception_ptr failure = capture_exception([&] {
      std::uint64_t number = run_of(stretch_).first;
      for (RootExchange::Numbers& numbers : of_ranks)
        for (std::size_t i = 1; i < numbers.size(); i += 2)
          numbers[i] =
              job_.staged.allocate_chunk(number++, {numbers[i], numbers[i + 1]}, job_.dataset);
    });
    if (!failure_) failure_ = failure;
    failed = failure != nullptr;
  }
  for (RootExchange::Numbers& numbers : of_ranks) numbers[0] = failed ? 1 : 0;
}

void ChunkPacker::take_places() {
  const RootExchange::Numbers& places = exchange_.answer();
  if (places[0] != 0) {
    has_failed_ = true;
    return;
  }
  std::size_t next = 1;
  for_each_batch(stretch_, [&](Batch& batch) {
    batch.places.clear();
    for (std::uint64_t i = 0; i < batch.chunks.count; ++i, next += 2)
      batch.places.push_back(places[next]);
  });
  flow_.computed();
  ++stretch_;
}

template <class Body>
void ChunkPacker::for_each_batch(std::uint64_t stretch, Body&& body) {
  const std::uint64_t batches = ceil_div(run_of(stretch).count, stretches_.batch_chunks);
  for (std::uint64_t batch = 0; batch < batches; ++batch) body(batch_at(stretch, batch));
}

void ChunkPacker::finish(const std::exception_ptr& failure, ProgressMonitor& monitor) {
  wait_all_ranks(*workers_, communicator_, monitor, [&] {
    for (const std::exception_ptr& each : {failure, failure_})
      if (each) std::rethrow_exception(each);
    return done();
  });
}

std::vector<StageTiming> ChunkPacker::timings() const {
  std::vector<StageTiming> timings = making_.timings();
  append(timings, encoding_.timings());
  append(timings, writing_.timings());
  return timings;
}

std::vector<StageTiming> pack_chunks(const PackJob& job, ProgressMonitor& monitor,
                                     const mpi::Communicator& communicator) {
  const auto start = SteadyClock::now();
  std::optional<ChunkPacker> packer;
  run_on_all(communicator, [&] {
    const ChunkGrid grid = job.grid();
    monitor.start_pass(grid.chunks() * grid.chunk_elements() * job.element_bytes);
    packer.emplace(job, stretches_of(job, threads_within_memory(job), communicator.size()),
                   monitor.stages(), communicator);
  });
  std::exception_ptr failure;
  while (!packer->over()) {
    if (!failure) failure = capture_exception([&] { monitor.poll(); });
    packer->advance(failure != nullptr);
    monitor.advance_share(packer->done(), packer->share());
    if (packer->exchanging())
      std::this_thread::sleep_for(address_patience);
    else if (!packer->over())
      packer->made(packer->stretch(), patience);
  }
  packer->finish(failure, monitor);
  return over_threads(packer->timings(), seconds_since(start));
}

std::uint64_t chunk_memory(int threads) {
  return std::max(least_chunk_memory, cpu::memory_of_threads(memory_divisor, threads));
}

}  // namespace warpfold::pipeline
