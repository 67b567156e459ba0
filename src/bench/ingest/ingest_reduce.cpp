#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "bench/gpu/gpu_inflate.hpp"
#include "bench/harness/across_ranks.hpp"
#include "bench/harness/selection.hpp"
#include "bench/ingest/ingest_candidates.hpp"
#include "bench/ingest/raw_file.hpp"
#include "bench/ingest/stored_ranges.hpp"
#include "core/layout/chunk_grid.hpp"
#include "cpu/machine/thread_pool.hpp"
#include "io/chunks/chunk_decoder.hpp"
#include "io/chunks/chunk_source.hpp"
#include "pipeline/meaning/interpretation.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::bench {
namespace {

bool same_bits(const Value& a, const Value& b) {
  const double* x = std::get_if<double>(&a);
  const double* y = std::get_if<double>(&b);
  if (x == nullptr || y == nullptr) return a == b;
  return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
}

/// The first value reported of each statistic, on which all runs have to agree.
class AgreedSummary {
 public:
  bool agrees(const Summary& summary) {
    bool all_same = true;
    for (const auto& [statistic, value] : summary) {
      const auto [known, is_new] = values_.emplace(statistic, value);
      all_same = all_same && same_bits(known->second, value);
    }
    return all_same;
  }

 private:
  std::map<Statistic, Value> values_;
};

std::uint64_t stored_bytes(const io::DatasetInfo& info) {
  return info.layout == io::Layout::chunked ? info.stored_bytes
                                            : info.elements * size_of(info.format.type);
}

std::string_view name_of(ReadPath path) {
  constexpr std::string_view names[] = {"automatic", "direct", "chunk", "library"};
  return names[static_cast<std::size_t>(path)];
}

Row row_of(const IngestRun& run, std::string operation, std::string kernel) {
  const ElementType type = run.info.format.type;
  const std::uint64_t bytes = stored_bytes(run.info);
  return {.group = "reduce " + std::string(warpfold::name_of(type)) + ", " +
                   std::string(name_of(run.info.path)) + " path",
          .operation = std::move(operation),
          .kernel = std::move(kernel),
          .clock = Clock::host,
          .elements = run.info.elements,
          .bytes = bytes,
          .useful_bytes = bytes,
          .element_bytes = run.info.filters.empty() ? 0 : run.info.elements * size_of(type)};
}

Candidate reduction(const IngestRun& run, Row row, const ReduceOptions& options,
                    const std::shared_ptr<AgreedSummary>& agreed) {
  const auto result = std::make_shared<ReduceResult>();
  return {.row = std::move(row),
          .run =
              [&run, options, result](std::uint64_t) {
                *result = reduce(run.communicator.get(), run.settings.file, run.settings.dataset,
                                 options);
              },
          .after =
              [&run, result, agreed](Row& judged) {
                const bool right = agreed->agrees(result->summary);
                judged.check = std::max(judged.check, check_of_ranks(right, run.communicator));
              }};
}

/// Returns options for all statistics of elements as they are stored.
ReduceOptions as_stored(const RunOptions& how) {
  ReduceOptions options;
  options.statistics.assign(std::begin(all_statistics), std::end(all_statistics));
  options.view.raw = true;
  options.run = how;
  return options;
}

ReduceOptions sum_alone(ReduceOptions options) {
  options.statistics = {Statistic::sum};
  return options;
}

struct NamedView {
  std::string kernel;
  ReduceOptions options;
};

/// Returns the views that there is something to apply of.
std::vector<NamedView> views_of(const IngestRun& run) {
  std::vector<NamedView> views;
  const auto add = [&](const char* kernel) -> ReduceOptions& {
    views.push_back({kernel, as_stored(run.settings.run)});
    return views.back().options;
  };
  bool has_attributes = false;
  pipeline::run_on_all(run.communicator, [&] {
    has_attributes = !pipeline::interpret(run.info, {}).decoding.trivial();
  });
  if (has_attributes) add("attributes").view.raw = false;
  if (!run.settings.where.empty()) add("where").view.where = run.settings.where;
  if (!run.settings.mask.empty()) add("mask").view.mask = run.settings.mask;
  if (!run.settings.weights.empty()) {
    ReduceOptions& options = add("weights");
    options.weights = run.settings.weights;
    options.statistics = {Statistic::count, Statistic::sum_of_weights, Statistic::sum,
                          Statistic::mean};
  }
  return views;
}

/// Nothing where the dataset has no bytes of its own in the file.
std::optional<Candidate> raw_read(const IngestRun& run) {
  Row row = row_of(run, "read", "raw");
  row.ceiling = true;
  row.title = threads_text(run.threads) + (run.on_gpu ? ", copy to the GPU" : "");
  std::shared_ptr<RawRead> raw;
  pipeline::run_on_all(run.communicator, [&] {
    auto pieces =
        stored_pieces(run.info, run.communicator.size(), run.communicator.rank(), run.piece_bytes);
    if (!pieces) return;
    std::vector<std::unique_ptr<Transfer>> transfers;
    const auto make_transfer = run.on_gpu ? make_gpu_transfer : make_host_transfer;
    for (int i = 0; i < run.threads; ++i) transfers.push_back(make_transfer(run.piece_bytes));
    raw = std::make_shared<RawRead>(run.info.stored_file, std::move(*pieces), std::move(transfers));
  });
  if (!raw) return std::nullopt;
  return Candidate{std::move(row), [raw](std::uint64_t) { raw->run(); }};
}

/// More than caches hold of the uncompressed bytes, undone in a fraction of a second.
constexpr std::uint64_t wanted_bytes = 64 << 20;

/// Some of the chunks that are written, spread over all of them.
std::vector<io::StoredChunk> spread_sample(std::vector<io::StoredChunk> chunks,
                                           std::uint64_t wanted) {
  std::erase_if(chunks, [](const io::StoredChunk& chunk) { return chunk.bytes == 0; });
  const std::uint64_t step = std::max<std::uint64_t>(1, chunks.size() / wanted);
  std::vector<io::StoredChunk> sample;
  for (std::uint64_t i = 0; i < chunks.size() && sample.size() < wanted; i += step)
    sample.push_back(chunks[i]);
  return sample;
}

/// Undoes filters of a sample of a dataset's own chunks from memory into memory, again and again:
/// what a pool of threads that only does that can't go beyond.
class InflateProbe {
 public:
  /// Reads the sample, from rank `rank`'s part of the chunks. Throws Error.
  InflateProbe(const io::DatasetInfo& info, int ranks, int rank, int threads)
      : chunk_bytes_(io::grid_of(info).chunk_elements() * size_of(info.format.type)),
        threads_(threads) {
    const std::uint64_t wanted = std::max<std::uint64_t>(1, wanted_bytes / chunk_bytes_);
    const InputFile file(info.stored_file);
    for (const io::StoredChunk& chunk : spread_sample(chunks_of_rank(info, ranks, rank), wanted)) {
      stored_.push_back({std::vector<std::byte>(chunk.bytes), chunk.skipped_filters});
      file.read(chunk.address, stored_.back().bytes);
    }
    for (int i = 0; i < threads; ++i)
      workers_.push_back({io::ChunkDecoder(info.filters, size_of(info.format.type), chunk_bytes_),
                          std::vector<std::byte>(static_cast<std::size_t>(chunk_bytes_))});
  }

  /// Returns what of the sample is compressed, as long as the probe is there. Throws Error.
  std::vector<std::span<const std::byte>> compressed() {
    std::vector<std::span<const std::byte>> streams;
    for (const Chunk& chunk : stored_) {
      const auto left = workers_.front().decoder.without_checksums(
          chunk.bytes, chunk.skipped_filters, "cannot verify a chunk");
      if (left.compressed) streams.push_back(left.bytes);
    }
    return streams;
  }

  std::uint64_t chunk_bytes() const { return chunk_bytes_; }

  /// Returns the bytes of the sample without filters; 0 where no chunk is written.
  std::uint64_t sample_bytes() const { return stored_.size() * chunk_bytes_; }

  /// The first thread alone undoes the sample once. Throws Error.
  void run_on_one_core() {
    for (std::size_t chunk = 0; chunk < stored_.size(); ++chunk) decode(chunk, workers_.front());
  }

  /// Every thread undoes the sample once, all at the same time. Throws Error.
  void run_on_all_threads() {
    threads_.parallel_for(workers_.size() * stored_.size(), [&](std::size_t task, int worker) {
      decode(task % stored_.size(), workers_[static_cast<std::size_t>(worker)]);
    });
  }

 private:
  struct Chunk {
    std::vector<std::byte> bytes;
    std::uint32_t skipped_filters;
  };

  struct Worker {
    io::ChunkDecoder decoder;
    std::vector<std::byte> out;
  };

  void decode(std::size_t chunk, Worker& worker) const {
    worker.decoder.decode(stored_[chunk].bytes, stored_[chunk].skipped_filters, worker.out,
                          "cannot undo the filters of a chunk");
  }

  std::uint64_t chunk_bytes_;
  std::vector<Chunk> stored_;
  std::vector<Worker> workers_;
  cpu::ThreadPool threads_;
};

/// Adds what a rank's part of the dataset takes by what a sample takes of each thread.
void add_inflating(const IngestRun& run, std::vector<Candidate>& candidates) {
  std::shared_ptr<InflateProbe> probe;
  pipeline::run_on_all(run.communicator, [&] {
    probe = std::make_shared<InflateProbe>(run.info, run.communicator.size(),
                                           run.communicator.rank(), run.threads);
  });
  const auto elements = static_cast<double>(run.info.elements) / run.communicator.size();
  const double bytes = elements * static_cast<double>(size_of(run.info.format.type));
  const double sample_bytes = static_cast<double>(probe->sample_bytes()) * run.threads;
  const double scale = sample_bytes == 0 ? 0.0 : bytes / sample_bytes;
  const auto add = [&](const std::string& operation, bool ceiling, auto run_sample) {
    Row row = row_of(run, operation, "inflate");
    row.ceiling = ceiling;
    candidates.push_back({.row = std::move(row),
                          .run = [probe, run_sample](std::uint64_t) { ((*probe).*run_sample)(); },
                          .scale = scale});
  };
  add(std::to_string(run.threads) + " x one core", true, &InflateProbe::run_on_one_core);
  add(threads_text(run.threads), false, &InflateProbe::run_on_all_threads);
  const std::optional<CompressedForm> form = io::left_form(run.info);
  if (run.settings.run.backend != BackendChoice::cuda || !form ||
      form->compression != Compression::zlib)
    return;
  GpuInflate gpu{};
  pipeline::run_on_all(run.communicator, [&] {
    const std::uint64_t chunks = static_cast<std::uint64_t>(bytes) / probe->chunk_bytes();
    gpu = make_gpu_inflate(probe->compressed(), probe->chunk_bytes(), chunks);
  });
  const auto made = static_cast<double>(gpu.bytes);
  candidates.push_back({.row = row_of(run, "GPU", "inflate"),
                        .run = [probe, gpu](std::uint64_t) { gpu.run(); },
                        .scale = made == 0 ? 0.0 : bytes / made});
}

}  // namespace

std::vector<Candidate> reduce_candidates(const IngestRun& run,
                                         const std::vector<std::string>& kernels) {
  const auto agreed = std::make_shared<AgreedSummary>();
  std::vector<Candidate> candidates;
  const auto add = [&](const char* operation, const std::string& kernel,
                       const ReduceOptions& options) {
    if (contains(kernels, kernel))
      candidates.push_back(reduction(run, row_of(run, operation, kernel), options, agreed));
  };
  const RunOptions& here = run.settings.run;
  RunOptions by_library = here;
  by_library.read_path = ReadPath::library;
  add("statistics", "H5Dread", as_stored(by_library));
  add("statistics", "warpfold", as_stored(here));
  add("sum", "warpfold", sum_alone(as_stored(here)));
  if (here.backend == BackendChoice::cuda) {
    RunOptions shared = here;
    shared.backend = BackendChoice::automatic;
    add("statistics", "shared", as_stored(shared));
    add("sum", "shared", sum_alone(as_stored(shared)));
  }
  for (const auto& [kernel, options] : views_of(run)) {
    if (!contains(kernels, kernel)) continue;
    const auto agreed_of_view = std::make_shared<AgreedSummary>();
    candidates.push_back(
        reduction(run, row_of(run, "statistics", kernel), options, agreed_of_view));
    candidates.push_back(
        reduction(run, row_of(run, "sum", kernel), sum_alone(options), agreed_of_view));
  }
  if (contains(kernels, "raw") && run.info.path != ReadPath::library)
    if (auto raw = raw_read(run)) candidates.push_back(std::move(*raw));
  if (contains(kernels, "inflate") && run.info.path == ReadPath::chunk)
    add_inflating(run, candidates);
  return candidates;
}

}  // namespace warpfold::bench
