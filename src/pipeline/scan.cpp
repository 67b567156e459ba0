#include "warpfold/scan.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

#include "core/scan_arithmetic.hpp"
#include "pipeline/backend_choice.hpp"
#include "pipeline/collective.hpp"
#include "pipeline/dataset_info_exchange.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/scan_pipeline.hpp"
#include "pipeline/stage_clock.hpp"
#include "pipeline/staged_dataset.hpp"
#include "warpfold/core/partition.hpp"
#include "warpfold/core/version.hpp"

namespace warpfold {
namespace {

constexpr std::uint64_t tile = scan_order::tile_elements;

ScanSpec spec_of(const io::DatasetInfo& info, const ScanOptions& options) {
  ScanSpec spec;
  spec.input = info.format;
  spec.operation = options.operation;
  spec.exclusive = options.exclusive;
  spec.output =
      options.output_type.value_or(default_scan_output(info.format.type, options.operation));
  spec.overflow = options.overflow;
  validate(spec);
  return spec;
}

io::OutputSpec output_of(const io::DatasetInfo& info, const ScanSpec& spec,
                         const ScanOptions& options) {
  io::OutputSpec output;
  output.path = options.output;
  output.dataset = options.output_dataset.empty() ? info.name : options.output_dataset;
  output.shape = info.shape;
  output.format = {spec.output, native_byte_order};
  output.force = options.force;
  output.attributes_from = {info.file, info.name};
  output.text_attributes = {{"warpfold_command", options.history},
                            {"warpfold_version", std::string(version())},
                            {"warpfold_input", info.file + ":" + info.name}};
  return output;
}

std::uint64_t slab_elements_of(const ScanSpec& spec, std::uint64_t slab_bytes) {
  const std::size_t widest = std::max(size_of(spec.input.type), size_of(spec.output));
  return std::max<std::uint64_t>(1, slab_bytes / widest / tile) * tile;
}

Value value_of_bits(std::uint64_t bits, ElementType type) {
  if (is_floating(type)) return std::bit_cast<double>(bits);
  if (is_signed_integer(type)) return static_cast<int128>(static_cast<std::int64_t>(bits));
  return static_cast<int128>(bits);
}

/// One block a rank where the partition fits in the backends' memory.
std::uint64_t agree_on_block(ScanEngine& engine, const ScanPlan& plan,
                             const mpi::Communicator& communicator) {
  const std::uint64_t wanted = round_up(plan.partition_elements, tile);
  return mpi::minimum({std::min(engine.block_elements(), wanted)}, communicator).front();
}

/// Scans a dataset that has elements into its staged output. Collective.
pipeline::ScanOutcome run_scan(io::Dataset& dataset, const ScanSpec& spec, Backend& backend,
                               io::ContiguousWriter& writer, const RunOptions& run,
                               const mpi::Communicator& communicator) {
  const ScanPlan plan{
      spec, slab_elements_of(spec, run.slab_bytes),
      ceil_div(dataset.info().elements, static_cast<std::uint64_t>(communicator.size()))};
  std::unique_ptr<ScanEngine> engine;
  pipeline::run_on_all(communicator, [&] { engine = backend.make_scan_engine(plan); });
  const std::uint64_t block_elements = agree_on_block(*engine, plan, communicator);
  return pipeline::scan_blocks({dataset, *engine, writer, spec, plan.slab_elements, block_elements},
                               run, communicator);
}

}  // namespace

ScanResult scan(MPI_Comm parent, const std::string& file, const std::string& name,
                const ScanOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const mpi::Communicator communicator(parent);
  pipeline::run_on_all(communicator, [&] { pipeline::check_slab_bytes(options.run.slab_bytes); });
  io::Dataset dataset = pipeline::open_everywhere(file, name, communicator);
  const io::DatasetInfo& info = dataset.info();
  ScanSpec spec;
  pipeline::run_on_all(communicator, [&] { spec = spec_of(info, options); });
  const pipeline::ChosenBackend chosen = pipeline::choose_backend(options.run, communicator);
  const io::OutputSpec output = output_of(info, spec, options);
  pipeline::StagedDataset staged(output, communicator);

  ScanResult result;
  result.input = info.format;
  result.output_type = spec.output;
  result.output_dataset = output.dataset;
  result.shape = info.shape;
  result.count = info.elements;
  std::vector<StageTiming> stages;
  if (io::ContiguousWriter* writer = staged.writer()) {
    const pipeline::ScanOutcome outcome =
        run_scan(dataset, spec, *chosen.backend, *writer, options.run, communicator);
    result.last = value_of_bits(outcome.last_bits, spec.output);
    stages = outcome.stages;
  }
  staged.commit();

  result.report = pipeline::describe_run(chosen, communicator);
  result.report.stages = pipeline::busiest(stages, communicator);
  result.report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace warpfold
