#include "pipeline/generate.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>

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

/// Makes the elements of this rank's range slab by slab. Collective.
void generate_range(const GeneratorSpec& spec, ElementRange mine, std::uint64_t most_elements,
                    const RunOptions& run, const mpi::Communicator& communicator,
                    StageClock& generating, StageClock& writing, const Sink& sink) {
  const std::size_t size = size_of(spec.format.type);
  const std::uint64_t slab = std::max<std::uint64_t>(1, run.slab_bytes / size);
  const std::unique_ptr<Generator> generator = make_generator(spec);
  std::vector<std::byte> buffer(std::min(slab, mine.count) * size);
  std::uint64_t next = mine.first;
  in_rounds(communicator, ceil_div(most_elements, slab), [&] {
    leave_if_interrupted(run);
    if (next == mine.end()) return false;
    const ElementRange range{next, std::min(slab, mine.end() - next)};
    const std::span<std::byte> bytes(buffer.data(), range.count * size);
    generating.time(bytes.size(), [&] { generator->fill(range, bytes); });
    writing.time(bytes.size(), [&] { sink(range, bytes); });
    next = range.end();
    report_progress(run, (next - mine.first) * size, mine.count * size);
    return true;
  });
}

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
  StageClock generating("generate");
  StageClock writing("write");
  const std::size_t size = size_of(options.format.type);
  const auto ranks = static_cast<std::uint64_t>(communicator.size());
  if (io::ContiguousWriter* writer = staged.writer()) {
    const auto rank = static_cast<std::uint64_t>(communicator.rank());
    generate_range(spec, partition(spec.elements, granule, ranks, rank),
                   partition(spec.elements, granule, ranks, 0).count, options.run, communicator,
                   generating, writing, [&](ElementRange range, std::span<const std::byte> bytes) {
                     writer->write(range.first * size, bytes);
                   });
    run_on_all(communicator, [&] { writing.time(0, [&] { writer->sync(); }); });
  } else if (!options.storage.chunk_shape.empty()) {
    // The serial HDF5 library writes chunks from one process alone.
    std::optional<io::ChunkedWriter> chunks;
    run_on_root(communicator, [&] { chunks.emplace(staged.temporary_path(), dataset); });
    const ElementRange mine{0, communicator.is_root() ? spec.elements : 0};
    generate_range(spec, mine, spec.elements, options.run, communicator, generating, writing,
                   [&](ElementRange range, std::span<const std::byte> bytes) {
                     chunks->write(range.first, bytes);
                   });
    run_on_root(communicator, [&] { chunks->close(); });
  }
  staged.commit();

  GenerateResult result;
  result.elements = spec.elements;
  result.bytes = spec.elements * size;
  result.known_sum = known_sum(spec);
  result.report.ranks = communicator.size();
  result.report.hosts = mpi::count_hosts(communicator);
  result.report.stages = busiest({generating.timing(), writing.timing()}, communicator);
  result.report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace warpfold::pipeline
