#include "pipeline/output/generate.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>

#include "core/values/generator.hpp"
#include "pipeline/output/chunk_packer.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/regions/slab_plan.hpp"
#include "pipeline/run/backend_choice.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/run/worker_threads.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/partition.hpp"
#include "warpfold/core/version.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t granule = 4096;

std::uint64_t elements_of(const std::vector<std::uint64_t>& shape, ElementType type) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 62;
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : shape) {
    if (extent != 0 && elements > max_bytes / size_of(type) / extent)
      throw usage_error("the shape is too large", "no file holds that many elements",
                        "Make --shape smaller.");
    elements *= extent;
  }
  return elements;
}

io::OutputSpec output_of(const std::string& file, const std::string& dataset,
                         const GenerateOptions& options) {
  io::OutputSpec output;
  output.path = file;
  output.dataset = dataset;
  output.shape = options.shape;
  output.format = options.format;
  output.storage = with_chunk_shape(options.storage, options.shape, size_of(options.format.type));
  output.force = options.force;
  output.text_attributes = {{"warpfold_command", options.history},
                            {"warpfold_version", std::string(version())}};
  return output;
}

/// Slabs of a rank's partition, each taken by one thread.
class SlabQueue {
 public:
  SlabQueue(ElementRange partition, std::uint64_t slab_elements)
      : partition_(partition), slab_elements_(slab_elements) {}

  std::optional<ElementRange> next() {
    const std::uint64_t skipped = slab_elements_ * taken_++;
    if (skipped >= partition_.count) return std::nullopt;
    return ElementRange{partition_.first + skipped,
                        std::min(slab_elements_, partition_.count - skipped)};
  }

 private:
  ElementRange partition_;
  std::uint64_t slab_elements_;
  std::atomic<std::uint64_t> taken_ = 0;
};

/// Makes elements and writes them, by all threads of all ranks; its calls are collective.
class Generation {
 public:
  Generation(const GeneratorSpec& spec, const RunOptions& run, ProgressMonitor& monitor,
             int threads, const mpi::Communicator& communicator)
      : spec_(spec),
        run_(run),
        monitor_(monitor),
        communicator_(communicator),
        threads_(threads),
        size_(size_of(spec.format.type)) {}

  std::vector<StageTiming> write_contiguous(io::ContiguousWriter& writer) {
    const auto start = SteadyClock::now();
    const ElementRange mine =
        partition(spec_.elements, granule, static_cast<std::uint64_t>(communicator_.size()),
                  static_cast<std::uint64_t>(communicator_.rank()));
    SlabQueue slabs(mine, std::max<std::uint64_t>(1, slab_bytes_of(run_) / size_));
    std::vector<std::vector<StageTiming>> timings(static_cast<std::size_t>(threads_));
    std::atomic<std::uint64_t> done = 0;
    monitor_.start_pass(spec_.elements * size_);
    {
      WorkerThreads workers(threads_, [&](int worker, const std::stop_token& stop) {
        timings[static_cast<std::size_t>(worker)] = write_slabs(slabs, writer, done, stop);
      });
      wait_all_ranks(workers, communicator_, monitor_, [&] { return done.load(); });
    }
    StageTimer syncing(monitor_.stages(), stage::sync);
    run_on_all(communicator_, [&] { syncing.time(0, [&] { writer.sync(); }); });
    std::vector<StageTiming> all{syncing.timing()};
    for (const auto& each : timings) all.insert(all.begin(), each.begin(), each.end());
    return over_threads(all, seconds_since(start));
  }

  std::vector<StageTiming> write_chunked(const std::string& path, const io::OutputSpec& output) {
    const auto make_source = [this]() -> ElementSource {
      return [generator = std::shared_ptr<Generator>(make_generator(spec_))](
                 ElementRange range, std::span<std::byte> out) { generator->fill(range, out); };
    };
    return pack_chunks({path, output.path, output.dataset, output.shape, output.storage, size_,
                        make_source, stage::generate, threads_},
                       monitor_, communicator_);
  }

 private:
  std::vector<StageTiming> write_slabs(SlabQueue& slabs, io::ContiguousWriter& writer,
                                       std::atomic<std::uint64_t>& done,
                                       const std::stop_token& stop) const {
    StageTimer making(monitor_.stages(), stage::generate);
    StageTimer writing(monitor_.stages(), stage::write);
    const std::unique_ptr<Generator> generator = make_generator(spec_);
    std::vector<std::byte> buffer;
    while (!stop.stop_requested()) {
      const auto slab = slabs.next();
      if (!slab) break;
      buffer.resize(slab->count * size_);
      making.time(buffer.size(), [&] { generator->fill(*slab, buffer); });
      writing.time(buffer.size(), [&] { writer.write(slab->first * size_, buffer); });
      done += buffer.size();
    }
    return {making.timing(), writing.timing()};
  }

  const GeneratorSpec& spec_;
  const RunOptions& run_;
  ProgressMonitor& monitor_;
  const mpi::Communicator& communicator_;
  int threads_;
  std::size_t size_;
};

int choose_host_threads(RunOptions run, const mpi::Communicator& communicator) {
  run.backend = BackendChoice::cpu;
  return choose_place(run, communicator).threads;
}

}  // namespace

GenerateResult generate(MPI_Comm parent, const std::string& file, const std::string& dataset,
                        const GenerateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  ProgressMonitor monitor(options.run);
  const mpi::Communicator communicator(parent);
  GeneratorSpec spec{options.kind, options.format, 0, options.seed, options.value};
  run_on_all(communicator, [&] {
    check_slab_bytes(options.run.slab_bytes);
    spec.elements = elements_of(options.shape, options.format.type);
    make_generator(spec);
  });
  const io::OutputSpec output = output_of(file, dataset, options);
  const int threads = choose_host_threads(options.run, communicator);
  StagedDataset staged(output, communicator);
  Generation generation(spec, options.run, monitor, threads, communicator);
  std::vector<StageTiming> stages;
  if (io::ContiguousWriter* writer = staged.writer())
    stages = generation.write_contiguous(*writer);
  else if (!output.storage.chunk_shape.empty())
    stages = generation.write_chunked(staged.temporary_path(), output);
  staged.commit();

  GenerateResult result;
  result.elements = spec.elements;
  result.bytes = spec.elements * size_of(options.format.type);
  result.known_sum = known_sum(spec);
  result.report.ranks = communicator.size();
  result.report.hosts = mpi::count_hosts(communicator);
  result.report.stages = busiest(stages, communicator);
  result.report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace warpfold::pipeline
