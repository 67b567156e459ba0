#include "pipeline/output/generate.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>

#include "core/layout/partition.hpp"
#include "core/values/generator.hpp"
#include "pipeline/output/chunk_packer.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/regions/slab_plan.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/run/work_queue.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t granule = 4096;

std::uint64_t elements_of(const std::vector<std::uint64_t>& shape, ElementType type) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 62;
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : shape) {
    if (extent != 0 && elements > max_bytes / size_of(type) / extent)
      throw usage_error("the shape is too large", "no file holds that many elements",
                        "Make `shape` smaller.");
    elements *= extent;
  }
  return elements;
}

io::OutputSpec output_of(const GenerateOptions& options) {
  io::OutputSpec output = describe_output(options.output);
  output.shape = options.shape;
  output.format = options.format;
  output.storage = with_chunk_shape(options.storage, options.shape, size_of(options.format.type));
  return output;
}

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
    const std::uint64_t slab_elements = std::max<std::uint64_t>(1, slab_bytes_of(run_) / size_);
    const auto write = [&](WorkQueue::Worker& worker) {
      return write_slabs(mine, slab_elements, writer, worker);
    };
    std::vector<StageTiming> stages =
        WorkQueue({0, ceil_div(mine.count, slab_elements)})
            .run(threads_, write, spec_.elements * size_, monitor_, communicator_);
    return over_threads(stages, seconds_since(start));
  }

  std::vector<StageTiming> write_chunked(StagedDataset& staged, const io::OutputSpec& output) {
    const auto make_source = [this]() -> ElementSource {
      return [generator = std::shared_ptr<Generator>(make_generator(spec_))](
                 ElementRange range, std::span<std::byte> out) { generator->fill(range, out); };
    };
    return pack_chunks(
        {staged, output.shape, output.storage, size_, make_source, stage::generate, threads_},
        monitor_, communicator_);
  }

 private:
  std::vector<StageTiming> write_slabs(ElementRange mine, std::uint64_t slab_elements,
                                       io::ContiguousWriter& writer,
                                       WorkQueue::Worker& worker) const {
    StageTimer making(monitor_.stages(), stage::generate);
    StageTimer writing(monitor_.stages(), stage::write);
    const std::unique_ptr<Generator> generator = make_generator(spec_);
    std::vector<std::byte> buffer;
    while (const auto number = worker.next()) {
      const ElementRange part = block_range(mine.count, slab_elements, *number);
      const ElementRange slab{mine.first + part.first, part.count};
      buffer.resize(slab.count * size_);
      making.time(buffer.size(), [&] { generator->fill(slab, buffer); });
      writing.time(buffer.size(), [&] { writer.write(slab.first * size_, buffer); });
      worker.advance(buffer.size());
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

GenerateResult generate(MPI_Comm parent, const GenerateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  ProgressMonitor monitor(options.run);
  const mpi::Communicator communicator(parent);
  GeneratorSpec spec{options.kind, options.format, 0, options.seed, options.value};
  run_on_all(communicator, [&] {
    check_slab_bytes(options.run.slab_bytes);
    spec.elements = elements_of(options.shape, options.format.type);
    make_generator(spec);
  });
  const io::OutputSpec output = output_of(options);
  const int threads = choose_host_threads(options.run, communicator);
  StageTimer reserving(monitor.stages(), stage::reserve);
  OutputFile file(communicator);
  StagedDataset staged = reserving.time(0, [&] { return StagedDataset(output, file); });
  Generation generation(spec, options.run, monitor, threads, communicator);
  std::vector<StageTiming> stages;
  if (io::ContiguousWriter* writer = staged.writer())
    stages = generation.write_contiguous(*writer);
  else if (!output.storage.chunk_shape.empty())
    stages = generation.write_chunked(staged, output);
  staged.finish();

  GenerateResult result;
  result.elements = spec.elements;
  result.bytes = spec.elements * size_of(options.format.type);
  result.known_sum = known_sum(spec);
  result.report.ranks = communicator.size();
  result.report.hosts = mpi::count_hosts(communicator);
  put_start_stages(stages, {reserving.timing()});
  result.report.stages = busiest(stages, communicator);
  file.commit(result.report, monitor.stages());
  result.report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace warpfold::pipeline
