#include "warpfold/scan.hpp"

#include <bit>
#include <chrono>

#include "cpu/thread_binding.hpp"
#include "pipeline/backend_choice.hpp"
#include "pipeline/block_source.hpp"
#include "pipeline/collective.hpp"
#include "pipeline/dataset_info_exchange.hpp"
#include "pipeline/scan_cut.hpp"
#include "pipeline/scan_output.hpp"
#include "pipeline/scan_pipeline.hpp"
#include "pipeline/slab_plan.hpp"
#include "pipeline/stage_clock.hpp"
#include "warpfold/core/partition.hpp"
#include "warpfold/core/version.hpp"

namespace warpfold {
namespace {

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
  output.storage = with_chunk_shape(options.storage, info.shape, size_of(spec.output));
  output.force = options.force;
  output.attributes_from = {info.file, info.name};
  output.text_attributes = {{"warpfold_command", options.history},
                            {"warpfold_version", std::string(version())},
                            {"warpfold_input", info.file + ":" + info.name}};
  return output;
}

Value value_of_bits(std::uint64_t bits, ElementType type) {
  if (is_floating(type)) return std::bit_cast<double>(bits);
  if (is_signed_integer(type)) return static_cast<int128>(static_cast<std::int64_t>(bits));
  return static_cast<int128>(bits);
}

/// The cut that all ranks can follow: some engines may hold less than is wanted.
pipeline::ScanCut agree_on_cut(const pipeline::ScanCut& wanted, const ScanEngine& engine,
                               const mpi::Communicator& communicator) {
  const std::vector<std::uint64_t> least =
      mpi::minimum({wanted.granule, wanted.block_elements, engine.block_elements()}, communicator);
  pipeline::ScanCut cut = wanted;
  cut.granule = least[0];
  cut.block_elements = least[1];
  return cut.limited_to(least[2]);
}

/// Scans a dataset that has elements into its staged output. Collective.
pipeline::ScanOutcome run_scan(io::Dataset& dataset, const ScanSpec& spec,
                               const pipeline::BackendPlace& place,
                               pipeline::StartingBackend& backend, io::ContiguousWriter& writer,
                               const RunOptions& run, const mpi::Communicator& communicator) {
  const io::DatasetInfo& info = dataset.info();
  const pipeline::ScanCut wanted = pipeline::cut_for_scan(
      info, spec, {place.gpu.has_value(), communicator.size(), run.slab_bytes});
  // Threads and the memory that they touch first stay near the GPU.
  const cpu::ThreadBinding binding(place.near_gpu, place.threads);
  std::unique_ptr<pipeline::BlockSource> source;
  std::unique_ptr<ScanEngine> engine;
  pipeline::run_on_all(communicator, [&] {
    dataset.choose_cache(run.file_cache);
    source = pipeline::make_block_source(dataset, wanted.piece_elements, place.threads);
    engine =
        backend.get().make_scan_engine({spec, wanted.piece_elements, wanted.block_elements,
                                        source->staging_bytes(), place.threads, place.threads});
  });
  const pipeline::ScanCut cut = agree_on_cut(wanted, *engine, communicator);
  const pipeline::BlockNumbers blocks{info.elements, cut.block_elements,
                                      static_cast<std::uint64_t>(communicator.size()),
                                      static_cast<std::uint64_t>(communicator.rank())};
  return pipeline::scan_blocks(
      {*source, *engine, writer, spec, blocks, cut.piece_elements, place.threads}, run,
      communicator);
}

}  // namespace

ScanResult scan(MPI_Comm parent, const std::string& file, const std::string& name,
                const ScanOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const mpi::Communicator communicator(parent);
  pipeline::run_on_all(communicator, [&] { pipeline::check_slab_bytes(options.run.slab_bytes); });
  const pipeline::BackendPlace place = pipeline::choose_place(options.run, communicator);
  pipeline::StartingBackend backend([&place] { return make_backend(place); });
  io::Dataset dataset = pipeline::open_everywhere(file, name, communicator, options.run.read_path);
  const io::DatasetInfo& info = dataset.info();
  ScanSpec spec;
  pipeline::run_on_all(communicator, [&] { spec = spec_of(info, options); });
  const io::OutputSpec output = output_of(info, spec, options);
  pipeline::ScanOutput staged(output, communicator);

  ScanResult result;
  result.input = info.format;
  result.output_type = spec.output;
  result.output_dataset = output.dataset;
  result.shape = info.shape;
  result.count = info.elements;
  std::vector<StageTiming> stages;
  if (io::ContiguousWriter* writer = staged.writer()) {
    const pipeline::ScanOutcome outcome =
        run_scan(dataset, spec, place, backend, *writer, options.run, communicator);
    result.last = value_of_bits(outcome.last_bits, spec.output);
    stages = outcome.stages;
  }
  pipeline::run_on_all(communicator, [&] {
    dataset.require_unchanged();
    backend.get();
  });
  const auto packing = staged.commit(options.run, place.threads);
  stages.insert(stages.end(), packing.begin(), packing.end());

  result.report = pipeline::describe_run(backend.get(), place.fallback, communicator);
  result.report.stages = pipeline::busiest(stages, communicator);
  result.report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace warpfold
