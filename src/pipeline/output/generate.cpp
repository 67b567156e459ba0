#include "pipeline/output/generate.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>

#include "core/layout/partition.hpp"
#include "pipeline/output/chunk_packer.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/pass.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t granule = 4096;
constexpr std::uint64_t chosen_slab_bytes = std::uint64_t{16} << 20;

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

/// Makes slabs of a rank's elements and writes them.
class SlabMaker final : public Consumer {
 public:
  SlabMaker(const GeneratorSpec& spec, ElementRange mine, std::uint64_t slab_elements,
            io::ContiguousWriter& writer, PassThread& thread)
      : mine_(mine),
        slab_elements_(slab_elements),
        element_bytes_(size_of(spec.format.type)),
        generator_(make_generator(spec)),
        writer_(writer),
        thread_(thread),
        making_(thread.stages, stage::generate),
        writing_(thread.stages, stage::write) {}

  void take(const PassItem& item) override {
    const ElementRange part = block_range(mine_.count, slab_elements_, item.number);
    const ElementRange slab{mine_.first + part.first, part.count};
    buffer_.resize(slab.count * element_bytes_);
    making_.time(buffer_.size(), [&] { generator_->fill(slab, buffer_); });
    writing_.time(buffer_.size(), [&] { writer_.write(slab.first * element_bytes_, buffer_); });
    thread_.done += buffer_.size();
  }

  std::vector<StageTiming> timings() const override {
    return {making_.timing(), writing_.timing()};
  }

 private:
  ElementRange mine_;
  std::uint64_t slab_elements_;
  std::size_t element_bytes_;
  std::unique_ptr<Generator> generator_;
  io::ContiguousWriter& writer_;
  PassThread& thread_;
  StageTimer making_;
  StageTimer writing_;
  std::vector<std::byte> buffer_;
};

/// Writes all elements by `threads` threads of each rank. Collective.
std::vector<StageTiming> write_elements(const GeneratorSpec& spec, const RunOptions& run,
                                        const io::OutputSpec& output, StagedDataset& staged,
                                        int threads, ProgressMonitor& monitor,
                                        const mpi::Communicator& communicator) {
  const std::size_t element_bytes = size_of(spec.format.type);
  if (io::ContiguousWriter* writer = staged.writer()) {
    const ElementRange mine =
        partition(spec.elements, granule, static_cast<std::uint64_t>(communicator.size()),
                  static_cast<std::uint64_t>(communicator.rank()));
    const std::uint64_t slab_bytes = run.slab_bytes > 0 ? run.slab_bytes : chosen_slab_bytes;
    const std::uint64_t slab_elements = std::max<std::uint64_t>(1, slab_bytes / element_bytes);
    return run_pass(
        {{0, ceil_div(mine.count, slab_elements)}, threads, spec.elements * element_bytes}, monitor,
        communicator, [&](PassThread& thread) {
          return std::make_unique<SlabMaker>(spec, mine, slab_elements, *writer, thread);
        });
  }
  if (output.storage.chunk_shape.empty()) return {};
  const auto make_source = [&spec]() -> StretchSource {
    return [generator = std::shared_ptr<Generator>(make_generator(spec))](
               std::uint64_t, ElementRange range, std::span<std::byte> out) {
      generator->fill(range, out);
    };
  };
  return pack_chunks(
      {staged, output.shape, output.storage, element_bytes, make_source, stage::generate, threads},
      monitor, communicator);
}

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
  std::vector<StageTiming> stages =
      write_elements(spec, options.run, output, staged, threads, monitor, communicator);
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
