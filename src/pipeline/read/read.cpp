#include "warpfold/read.hpp"

#include <bit>
#include <chrono>

#include "core/layout/hyperslab.hpp"
#include "core/layout/tiling.hpp"
#include "core/numeric/rounding.hpp"
#include "cpu/machine/host_memory.hpp"
#include "cuda/arrays/array_engine.hpp"
#include "pipeline/datasets/chosen_datasets.hpp"
#include "pipeline/reduce/dataset_pass.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

using pipeline::DatasetView;

/// Returns the options of a run on the backend whose memory is read into.
RunOptions run_options_of(const ReadOptions& options) {
  RunOptions run = options.run;
  run.backend = options.on_device ? BackendChoice::cuda : BackendChoice::cpu;
  if (options.run.backend != BackendChoice::automatic && options.run.backend != run.backend)
    throw usage_error(options.on_device ? "the cpu backend can't read into GPU memory"
                                        : "the cuda backend reads into GPU memory alone",
                      "", "Omit `backend`: `on_device` says where elements are to be.");
  return run;
}

ReadPart part_of(const DatasetView& view, const pipeline::Run& run) {
  ReadPart part{view.value_type(), view.info().shape, 0, view.info().shape, {}};
  if (run.place.gpu) part.device = run.place.gpu->device;
  if (run.communicator.is_alone()) return part;
  if (part.shape.empty())
    throw usage_error("ranks can't share dataset '" + view.info().name + "'", "it has no dimension",
                      "Read it by one rank.");
  const ElementRange mine =
      share_of(part.shape[0], run.communicator.size(), run.communicator.rank());
  part.first = mine.first;
  part.part_shape[0] = mine.count;
  return part;
}

/// Returns the bits of an element of a type, which can hold the value.
std::uint64_t element_bits(const Value& value, ElementType type) {
  return visit_element_type(type, [&](auto element) -> std::uint64_t {
    using Element = decltype(element);
    if constexpr (is_floating_element<Element>)
      element = output_element<Element>(std::get<double>(value));
    else
      element = static_cast<Element>(std::get<int128>(value));
    return std::bit_cast<Word<Element>>(element);
  });
}

std::shared_ptr<void> memory_of(const ReadPart& part, const ReadMemory& memory,
                                const DatasetView& view) {
  if (const std::uint64_t usable = cpu::usable_memory(); !part.device && part.bytes() > usable)
    throw Error(
        "cannot read dataset '" + view.info().name + "' of " + view.info().file + " into memory",
        "it has " + std::to_string(part.bytes()) + " bytes, and there are " +
            std::to_string(usable),
        "Read a part of it, or by ranks on more hosts.");
  std::shared_ptr<void> data = memory(part);
  if (data == nullptr && part.bytes() > 0)
    throw usage_error("there is no memory for elements that are read", "its address is null", "");
  return data;
}

/// Collective.
ReadResult read_view(DatasetView& view, const ReadOptions& options, const ReadMemory& memory,
                     pipeline::Run& run, std::chrono::steady_clock::time_point start) {
  const ElementType type = view.value_type();
  const bool nan = options.empty == "auto" && is_floating(type);
  ReadTarget target;
  target.left_out = element_bits(
      pipeline::empty_value(view, nan ? "nan" : options.empty, run.communicator), type);
  ReadResult result;
  pipeline::run_on_all(run.communicator, [&] {
    result.part = part_of(view, run);
    result.memory = memory_of(result.part, memory, view);
  });
  const std::vector<std::uint64_t>& shape = result.part.shape;
  const std::uint64_t behind_first = shape.empty() ? 1 : product(std::span(shape).subspan(1));
  target.indices = {result.part.first * behind_first, result.part.elements()};
  target.values = static_cast<std::byte*>(result.memory.get());
  std::vector<StageTiming> stages;
  pipeline::pass_dataset(
      view, run,
      [&](Backend& backend, const StagingPlan& plan) {
        return backend.make_read_engine(plan, target);
      },
      stages, target.indices);
  result.format = view.info().format;
  result.applied = view.applied;
  result.report = pipeline::report_of(run, stages, start);
  return result;
}

}  // namespace

std::uint64_t ReadPart::elements() const { return product(part_shape); }

std::uint64_t ReadPart::bytes() const { return elements() * size_of(value_type); }

std::shared_ptr<void> allocate_on_device(int device, std::uint64_t bytes) {
  return cuda::allocate_array(device, bytes);
}

ReadResult read(MPI_Comm parent, const std::string& file, const std::string& name,
                const ReadOptions& options, const ReadMemory& memory) {
  const auto start = std::chrono::steady_clock::now();
  const RunOptions run_options = run_options_of(options);
  pipeline::Run run(parent, run_options);
  DatasetView view = pipeline::open_view(file, name, options.view, run);
  return read_view(view, options, memory, run, start);
}

std::vector<DatasetOutcome<ReadResult>> read(MPI_Comm parent, const std::string& file,
                                             const DatasetChoice& datasets,
                                             const ReadOptions& options, const ReadMemory& memory) {
  const RunOptions run_options = run_options_of(options);
  pipeline::Run run(parent, run_options);
  return pipeline::for_each_dataset<ReadResult>(
      file, datasets, options.view, run, [&](DatasetView& view) {
        return read_view(view, options, memory, run, std::chrono::steady_clock::now());
      });
}

}  // namespace warpfold
