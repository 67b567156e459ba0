#include "pipeline/generate.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "core/generator.hpp"
#include "pipeline/collective.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/rounds.hpp"
#include "pipeline/run_watch.hpp"
#include "pipeline/stage_clock.hpp"
#include "pipeline/staged_dataset.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/partition.hpp"
#include "warpfold/core/version.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t granule = 4096;

std::uint64_t elements_of(const std::vector<std::uint64_t>& shape, ElementType type) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 62;
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : shape) {
    if (extent != 0 && elements > most_bytes / size_of(type) / extent)
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
  output.storage = options.storage;
  output.force = options.force;
  output.text_attributes = {{"warpfold_command", options.history},
                            {"warpfold_version", std::string(version())}};
  return output;
}

/// Where a slab of generated elements goes.
using Sink = std::function<void(ElementRange range, std::span<const std::byte> bytes)>;

/// Makes elements and writes them, slab by slab; its calls are collective.
class Generation {
 public:
  Generation(const GeneratorSpec& spec, const RunOptions& run,
             const mpi::Communicator& communicator)
      : spec_(spec), run_(run), communicator_(communicator), size_(size_of(spec.format.type)) {}

  /// Every rank makes and writes its part.
  void write_contiguous(io::ContiguousWriter& writer) {
    const auto ranks = static_cast<std::uint64_t>(communicator_.size());
    const auto rank = static_cast<std::uint64_t>(communicator_.rank());
    fill(partition(spec_.elements, granule, ranks, rank),
         partition(spec_.elements, granule, ranks, 0).count,
         [&](ElementRange range, std::span<const std::byte> bytes) {
           writer.write(range.first * size_, bytes);
         });
    run_on_all(communicator_, [&] { writing_.time(0, [&] { writer.sync(); }); });
  }

  /// The root alone: the serial HDF5 library writes chunks from one process.
  void write_chunked(const std::string& path, const std::string& dataset) {
    std::optional<io::ChunkedWriter> chunks;
    run_on_root(communicator_, [&] { chunks.emplace(path, dataset); });
    fill({0, communicator_.is_root() ? spec_.elements : 0}, spec_.elements,
         [&](ElementRange range, std::span<const std::byte> bytes) {
           chunks->write(range.first, bytes);
         });
    run_on_root(communicator_, [&] { chunks->close(); });
  }

  std::vector<StageTiming> timings() const { return {making_.timing(), writing_.timing()}; }

 private:
  void fill(ElementRange mine, std::uint64_t most_elements, const Sink& sink) {
    const std::uint64_t slab = std::max<std::uint64_t>(1, run_.slab_bytes / size_);
    const std::unique_ptr<Generator> generator = make_generator(spec_);
    std::vector<std::byte> buffer(std::min(slab, mine.count) * size_);
    std::uint64_t next = mine.first;
    in_rounds(communicator_, ceil_div(most_elements, slab), [&] {
      leave_if_interrupted(run_);
      if (next == mine.end()) return false;
      const ElementRange range{next, std::min(slab, mine.end() - next)};
      const std::span<std::byte> bytes(buffer.data(), range.count * size_);
      making_.time(bytes.size(), [&] { generator->fill(range, bytes); });
      writing_.time(bytes.size(), [&] { sink(range, bytes); });
      next = range.end();
      report_progress(run_, (next - mine.first) * size_, mine.count * size_);
      return true;
    });
  }

  const GeneratorSpec& spec_;
  const RunOptions& run_;
  const mpi::Communicator& communicator_;
  std::size_t size_;
  StageClock making_{"generate"};
  StageClock writing_{"write"};
};

}  // namespace

GenerateResult generate(MPI_Comm parent, const std::string& file, const std::string& dataset,
                        const GenerateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const mpi::Communicator communicator(parent);
  GeneratorSpec spec{options.kind, options.format, 0, options.seed, options.value};
  run_on_all(communicator, [&] {
    check_slab_bytes(options.run.slab_bytes);
    spec.elements = elements_of(options.shape, options.format.type);
    make_generator(spec);
  });
  StagedDataset staged(output_of(file, dataset, options), communicator);
  Generation generation(spec, options.run, communicator);
  if (io::ContiguousWriter* writer = staged.writer())
    generation.write_contiguous(*writer);
  else if (!options.storage.chunk_shape.empty())
    generation.write_chunked(staged.temporary_path(), dataset);
  staged.commit();

  GenerateResult result;
  result.elements = spec.elements;
  result.bytes = spec.elements * size_of(options.format.type);
  result.known_sum = known_sum(spec);
  result.report.ranks = communicator.size();
  result.report.hosts = mpi::count_hosts(communicator);
  result.report.stages = busiest(generation.timings(), communicator);
  result.report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace warpfold::pipeline
