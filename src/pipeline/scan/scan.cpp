#include "warpfold/scan.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/values/ordered_key.hpp"
#include "pipeline/datasets/chosen_datasets.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/output/chunk_packer.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/regions/chunk_rows.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/scan/axis_scan_pipeline.hpp"
#include "pipeline/scan/scan_pipeline.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

/// Throws a usage Error where there are no such offsets.
void check_offsets(const ScanOptions& options) {
  if (!options.offsets) return;
  if (options.operation != ScanOperation::sum)
    throw usage_error("`offsets` makes running sums", "another operation is requested",
                      "Omit `offsets` or `operation`.");
  if (options.exclusive)
    throw usage_error("both `exclusive` and `offsets` are given",
                      "offsets begin with 0 as they are", "Omit `exclusive`.");
  if (options.axis)
    throw usage_error("`offsets` needs a whole dataset", "an axis is given",
                      "Omit `offsets` or `axis`.");
}

/// HDF5's null dataspace has neither elements nor a shape that an output could have.
void require_shape(const io::DatasetInfo& info) {
  if (info.elements > 0 || !info.shape.empty()) return;
  throw Error("cannot scan '" + info.name + "' of '" + info.file + "'",
              "it has a null dataspace, which has no elements and no shape",
              "There is nothing to scan.");
}

ScanSpec spec_of(const pipeline::DatasetView& view, const ScanOptions& options) {
  ScanSpec spec;
  spec.input = {view.value_type(), native_byte_order};
  spec.operation = options.operation;
  spec.exclusive = options.exclusive;
  spec.output =
      options.output_type.value_or(default_scan_output(view.value_type(), options.operation));
  spec.overflow = options.overflow;
  validate(spec);
  spec.input = view.info().format;
  return spec;
}

io::OutputSpec output_of(const pipeline::DatasetView& view, const ScanSpec& spec,
                         const ScanOptions& options, pipeline::Run& run) {
  io::OutputSpec output = pipeline::describe_output(options.output, view.info(),
                                                    spec.operation == ScanOperation::sum
                                                        ? pipeline::element_attributes(view)
                                                        : pipeline::packing_attributes(view),
                                                    run);
  output.inputs.insert(view.auxiliary_files.begin(), view.auxiliary_files.end());
  output.shape = view.info().shape;
  if (options.offsets) {
    output.shape = {view.info().elements + 1};
    pipeline::merge_dimensions(output, "_offsets");
  }
  // A running sum is no such quantity, and CF has no word for it.
  if (spec.operation == ScanOperation::sum) output.changed_text = {{"standard_name", std::nullopt}};
  output.format = {spec.output, native_byte_order};
  output.storage = pipeline::with_chunk_shape(options.storage, output.shape, size_of(spec.output));
  return output;
}

/// Returns how many blocks of outputs a rank keeps in memory until their chunks are made, and as
/// many again until they are written: a thread that has made its last chunk of one finds others to
/// make, as far as memory allows.
std::uint64_t blocks_in_memory(const pipeline::ChunkRows& rows, std::uint64_t block_elements,
                               std::size_t element_bytes, int threads) {
  constexpr std::uint64_t least = 2;
  constexpr std::uint64_t chunks_per_thread = 2;
  const auto chunks = chunks_per_thread * static_cast<std::uint64_t>(threads);
  const std::uint64_t for_threads = 1 + chunks * rows.chunk_elements() / block_elements;
  const std::uint64_t fitting =
      pipeline::chunk_memory(threads) / (2 * block_elements * element_bytes);
  return std::max(least, std::min(fitting, for_threads));
}

/// Writes the offset 0, and leaves the others to an inclusive scan. Collective.
void begin_offsets(io::ContiguousWriter& writer, std::size_t size,
                   const mpi::Communicator& communicator) {
  pipeline::run_on_root(communicator,
                        [&] { writer.write(0, std::vector<std::byte>(size, std::byte{0})); });
  writer.skip(size);
}

/// Scans a dataset that has elements into its staged output. Collective.
pipeline::ScanOutcome scan_whole(pipeline::DatasetView& view, const ScanSpec& spec, bool offsets,
                                 pipeline::ArrayOutput& output, pipeline::Run& run) {
  std::optional<pipeline::OutputRows> rows;
  if (output.is_chunked())
    rows.emplace(pipeline::OutputRows{
        pipeline::ChunkRows(pipeline::grid_of(output.spec().shape, output.spec().storage)),
        offsets ? 1U : 0U});
  ScanEngine* engine = nullptr;
  const pipeline::BlockJob blocks(
      view, pipeline::needs_of_scan({}, spec.output, run.place.gpu.has_value()),
      [&](Backend& backend, const BlockEnginePlan& plan) {
        auto made = backend.make_scan_engine(plan, spec);
        engine = made.get();
        return made;
      },
      run, rows ? &*rows : nullptr);
  const std::size_t output_bytes = size_of(spec.output);
  pipeline::ScanJob scan{blocks, *engine, nullptr, {}, spec, view.info().elements};
  if (blocks.whole_rows) {
    const int threads = blocks.plan.threads;
    scan.chunks.emplace(pipeline::ChunkedBlocks{
        output, rows->rows, *blocks.whole_rows, rows->zeros,
        blocks_in_memory(rows->rows, blocks.whole_rows->max_places(), output_bytes, threads),
        threads});
  } else {
    scan.writer = output.writer();
    if (offsets) begin_offsets(*scan.writer, output_bytes, run.communicator);
  }
  return pipeline::scan_blocks(scan, run.monitor, run.communicator);
}

/// A dataset that is to be scanned.
struct ScanWork {
  pipeline::DatasetView view;
  ScanSpec spec;
  std::optional<pipeline::AxisShape> lines;  ///< along an axis, unless all is one line
  io::OutputSpec output;
  ScanResult result;  ///< as far as it is known
};

/// Throws where the options don't fit the dataset. Collective.
ScanWork prepare(pipeline::DatasetView view, const ScanOptions& options, pipeline::Run& run) {
  ScanWork work{std::move(view), {}, {}, {}, {}};
  const io::DatasetInfo& info = work.view.info();
  ScanResult& result = work.result;
  std::optional<std::int64_t> axis;
  if (options.axis)
    axis = pipeline::axis_numbers({&*options.axis, 1}, info, run.communicator).front();
  pipeline::run_on_all(run.communicator, [&] {
    require_shape(info);
    work.spec = spec_of(work.view, options);
    work.lines = pipeline::lines_of(info.shape, axis);
    if (axis) result.axis = pipeline::resolve_axes({&*axis, 1}, info.shape).front();
    if (axis && run.communicator.is_root())
      result.axis_name = pipeline::dimension_names(info)[static_cast<std::size_t>(*result.axis)];
    work.output = output_of(work.view, work.spec, options, run);
    io::require_valid_storage(work.output);
  });
  pipeline::describe_view(work.view, result);
  result.output_type = work.spec.output;
  result.output_dataset = work.output.dataset;
  result.output_shape = work.output.shape;
  result.count = info.elements;
  return work;
}

/// Scans into an output file. Collective.
ScanResult scan_into(ScanWork& work, const ScanOptions& options, pipeline::Run& run,
                     pipeline::OutputFile& file, std::chrono::steady_clock::time_point start) {
  pipeline::DatasetView& view = work.view;
  ScanResult result = std::move(work.result);
  pipeline::ArrayOutput staged =
      run.reserving.time(0, [&] { return pipeline::ArrayOutput(work.output, file, run); });
  std::vector<StageTiming> stages;
  pipeline::while_unchanged(view, run.communicator, [&] {
    if (view.info().elements == 0) {
      if (options.offsets)
        begin_offsets(*staged.writer(), size_of(work.spec.output), run.communicator);
      return;
    }
    const pipeline::ScanOutcome outcome =
        work.lines ? pipeline::scan_lines(view, work.spec, *work.lines, *staged.writer(), run)
                   : scan_whole(view, work.spec, options.offsets, staged, run);
    result.last = value_of_bits(outcome.last_bits, work.spec.output);
    stages = outcome.stages;
  });
  pipeline::run_on_all(run.communicator, [&] { run.backend.get(); });
  pipeline::add_up(stages, staged.finish());
  result.report = pipeline::report_of(run, stages, start);
  return result;
}

}  // namespace

ScanResult scan(MPI_Comm parent, const std::string& file, const std::string& name,
                const ScanOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check_offsets(options);
  pipeline::Run run(parent, options.run);
  pipeline::OutputFile output(run.communicator);
  ScanWork work = prepare(pipeline::open_view(file, name, options.view, run), options, run);
  ScanResult result = scan_into(work, options, run, output, start);
  output.commit(result.report, run.monitor.stages());
  result.report.seconds = pipeline::seconds_since(start);
  return result;
}

std::vector<DatasetOutcome<ScanResult>> scan(MPI_Comm parent, const std::string& file,
                                             const DatasetChoice& datasets,
                                             const ScanOptions& options) {
  check_offsets(options);
  pipeline::Run run(parent, options.run);
  pipeline::OutputFile output(run.communicator);
  auto outcomes = pipeline::for_each_output<ScanResult>(
      file, datasets, options.view, options.output, run,
      [&](pipeline::DatasetView view) { return prepare(std::move(view), options, run); },
      [&](ScanWork& work) {
        return scan_into(work, options, run, output, std::chrono::steady_clock::now());
      });
  output.commit(outcomes, run.monitor.stages());
  return outcomes;
}

}  // namespace warpfold
