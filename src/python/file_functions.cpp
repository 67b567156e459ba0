#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/info_document.hpp"
#include "cli/report/json_writer.hpp"
#include "cli/requests/parsed_request.hpp"
#include "cli/requests/requests.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "io/dataset/dataset.hpp"
#include "io/files/external_files.hpp"
#include "mpi/communicator.hpp"
#include "python/bindings.hpp"
#include "python/host_array.hpp"
#include "python/values.hpp"
#include "python/watched_call.hpp"
#include "warpfold/core/float16.hpp"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace warpfold::python {
namespace {

using Words = std::vector<std::string>;

/// Tells whether each rank has results of its own.
template <class Request>
constexpr bool on_every_rank = std::is_same_v<Request, cli::ReadRequest>;

nb::list names_of(const std::vector<std::string>& texts) {
  nb::list names;
  for (const std::string& text : texts) names.append(nb::cast(text));
  return names;
}

/// Returns None on other ranks than 0, unless each has results; there whether several datasets were
/// requested, and of each its name, why it was skipped, whether as reading it failed, what
/// to_result(request, result) returns, and the notes of its data. `more` are arguments of the
/// library's function behind the options.
template <class Request, class ToResult, class... More>
nb::object answer(const Words& words, std::uintptr_t communicator, WatchedCall& call,
                  const ToResult& to_result, const More&... more) {
  cli::ParsedRequest<Request> parsed(words);
  Request& request = parsed.request;
  const mpi::Communicator ranks(communicator_at(communicator));
  request.options.run = call.watched(parsed.run);
  const io::ExternalFilesRule rule(parsed.run.external);
  const auto outcomes = call([&] {
    request.complete(ranks, words);
    const std::string& file = request.arguments.file;
    if (request.arguments.several)
      return Request::compute(ranks.get(), file, request.arguments.datasets, request.options,
                              more...);
    const std::string& dataset = request.arguments.dataset();
    return std::vector<DatasetOutcome<typename Request::Result>>{
        {dataset, "", Request::compute(ranks.get(), file, dataset, request.options, more...)}};
  });
  if (!ranks.is_root() && !on_every_rank<Request>) return nb::none();
  nb::list results;
  for (const auto& [dataset, skipped, result, failed] : outcomes)
    results.append(nb::make_tuple(dataset, skipped, failed,
                                  skipped.empty() ? to_result(request, result) : nb::none(),
                                  names_of(result.report.notes)));
  return nb::make_tuple(request.arguments.several, results);
}

nb::dict values_by_name(const cli::ReduceRequest& request, const Summary& summary,
                        const std::vector<Value>& quantiles) {
  nb::dict values = to_python(summary);
  for (std::size_t i = 0; i < quantiles.size(); ++i)
    values[nb::cast(request.quantile_names[i])] = to_python(quantiles[i]);
  return values;
}

/// Makes a dict of the names of what was requested: values; names of datasets in the output; or
/// such dicts by label.
nb::object reduce_result(const cli::ReduceRequest& request, const ReduceResult& result) {
  if (request.by_labels() && request.options.output.path.empty()) {
    nb::dict labels;
    for (const LabelSummary& label : result.labels)
      labels[label.text.empty() ? to_python(label.label) : nb::cast(label.text)] =
          values_by_name(request, label.summary, label.quantiles);
    return labels;
  }
  nb::dict values = values_by_name(request, result.summary, result.quantiles);
  const std::vector<std::string> names = request.output_names(result);
  for (std::size_t i = 0; i < names.size(); ++i)
    values[nb::cast(names[i])] = result.outputs[i].dataset;
  return values;
}

nb::object scan_result(const cli::ScanRequest&, const ScanResult& result) {
  return nb::make_tuple(result.output_dataset, result.count, to_python(result.last));
}

nb::object compact_result(const cli::CompactRequest&, const CompactResult& result) {
  return nb::make_tuple(
      result.output_dataset,
      result.indices_dataset.empty() ? nb::none() : nb::cast(result.indices_dataset), result.count,
      result.kept);
}

nb::object histogram_result(const cli::HistogramRequest&, const HistogramResult& result) {
  const nb::object counts = empty_array({result.counts.size()}, ElementType::i64);
  const nb::object edges = empty_array({result.edges.size()}, ElementType::f64);
  std::memcpy(memory_of(counts), result.counts.data(), result.counts.size() * sizeof(std::int64_t));
  std::memcpy(memory_of(edges), result.edges.data(), result.edges.size() * sizeof(double));
  return nb::make_tuple(counts, edges, result.below, result.above, result.nan);
}

/// Adds a function of (words, communicator, progress, interruptible) that returns answer().
template <class Request, class ToResult, class... More>
void add_function(nb::module_& module, const char* name, ToResult to_result, More... more) {
  module.def(
      name,
      [=](const Words& words, std::uintptr_t communicator, nb::object progress,
          bool interruptible) {
        WatchedCall call(std::move(progress), interruptible);
        return answer<Request>(words, communicator, call, to_result, more...);
      },
      "words"_a, "communicator"_a, "progress"_a.none(), "interruptible"_a);
}

nb::object info(const Words& words, std::uintptr_t communicator, bool interruptible) {
  const mpi::Communicator ranks(communicator_at(communicator));
  cli::Session session{ranks.get(), ranks.rank(), ranks.size(), words};
  WatchedCall call(nb::none(), interruptible);
  const std::string text = call([&] { return cli::json_text(cli::info_document(session)); });
  return ranks.is_root() ? nb::cast(text) : nb::none();
}

/// Makes floats of as many elements that lie at the end of their memory.
void widen(float* values, std::size_t elements) {
  const auto* const stored =
      reinterpret_cast<const std::byte*>(values) + elements * sizeof(BFloat16);
  for (std::size_t i = 0; i < elements; ++i) {
    BFloat16 element;
    std::memcpy(&element, stored + i * sizeof element, sizeof element);
    values[i] = element.to_float();
  }
}

/// Returns all elements of a dataset that this machine wrote.
nb::object read_output(const std::string& file, const std::string& name) {
  io::Dataset dataset(file, name);
  const io::DatasetInfo& info = dataset.info();
  const nb::object array = empty_array(info.shape, info.format.type);
  const std::size_t bytes = info.elements * size_of(info.format.type);
  if (bytes == 0) return array;
  auto* memory = static_cast<std::byte*>(memory_of(array));
  const bool widens = info.format.type == ElementType::bf16;
  const nb::gil_scoped_release released;
  dataset.read(ElementRange{0, info.elements}, std::span(memory + (widens ? bytes : 0), bytes));
  if (widens) widen(reinterpret_cast<float*>(memory), info.elements);
  return array;
}

/// Returns memory for a part that is read. Elements of bfloat16, which NumPy lacks, have place for
/// floats, and are at its end.
std::shared_ptr<void> memory_for(const ReadPart& part) {
  if (part.device) return allocate_on_device(*part.device, part.bytes());
  const bool widens = part.value_type == ElementType::bf16;
  const auto buffer = std::make_shared<cpu::PageBuffer>((widens ? 2 : 1) * part.bytes());
  return {buffer, buffer->span().data() + (widens ? part.bytes() : 0)};
}

/// Makes a NumPy array; or of elements in GPU memory an object that has DLPack, its shape, its type
/// and its address.
nb::object read_result(const cli::ReadRequest&, const ReadResult& result) {
  const ReadPart& part = result.part;
  auto* values = static_cast<std::byte*>(result.memory.get());
  ElementType type = part.value_type;
  if (!part.device && type == ElementType::bf16) {
    values -= part.bytes();
    type = ElementType::f32;
    widen(reinterpret_cast<float*>(values), part.elements());
  }
  auto kept = std::make_unique<std::shared_ptr<void>>(result.memory);
  const nb::capsule owner(kept.get(), [](void* memory) noexcept {
    delete static_cast<std::shared_ptr<void>*>(memory);
  });
  kept.release();
  const std::vector<std::size_t> shape(part.part_shape.begin(), part.part_shape.end());
  const auto export_to = [&](auto framework, int device_type, int device) {
    const nb::ndarray<decltype(framework)> array(values, shape.size(), shape.data(), owner, nullptr,
                                                 dlpack_type_of(type), device_type, device);
    return nb::cast(array, nb::rv_policy::reference);
  };
  if (!part.device) return export_to(nb::numpy(), nb::device::cpu::value, 0);
  const nb::object name =
      type == ElementType::bf16 ? nb::str("bfloat16") : numpy_type(type).attr("name");
  return nb::make_tuple(export_to(nb::array_api(), nb::device::cuda::value, *part.device),
                        nb::tuple(nb::cast(part.part_shape)), name,
                        reinterpret_cast<std::uintptr_t>(values));
}

}  // namespace

void add_file_functions(nb::module_& module) {
  add_function<cli::ReduceRequest>(module, "reduce", reduce_result);
  add_function<cli::ScanRequest>(module, "scan", scan_result);
  add_function<cli::CompactRequest>(module, "compact", compact_result);
  add_function<cli::HistogramRequest>(module, "histogram", histogram_result);
  add_function<cli::ReadRequest>(module, "read", read_result, memory_for);
  module.def("info", info, "words"_a, "communicator"_a, "interruptible"_a);
  module.def("read_output", read_output, "file"_a, "dataset"_a);
}

}  // namespace warpfold::python
