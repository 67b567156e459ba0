#include <mpi.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/info_document.hpp"
#include "cli/options/command_line.hpp"
#include "cli/options/common_options.hpp"
#include "cli/report/json_writer.hpp"
#include "cli/requests/compact_request.hpp"
#include "cli/requests/histogram_request.hpp"
#include "cli/requests/reduce_request.hpp"
#include "cli/requests/scan_request.hpp"
#include "io/dataset/dataset.hpp"
#include "io/files/external_files.hpp"
#include "mpi/communicator.hpp"
#include "python/bindings.hpp"
#include "python/values.hpp"
#include "python/watched_call.hpp"
#include "warpfold/core/float16.hpp"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace warpfold::python {
namespace {

using Words = std::vector<std::string>;

/// A parsed request is what the words of a command line ask for; the second word is the command.
template <class Request>
class ParsedRequest {
 public:
  explicit ParsedRequest(const Words& words) : command_(*program_.add_subcommand(words.at(1))) {
    cli::add_run_options(command_, run);
    cli::parse_words(program_, {words.begin() + 1, words.end()});
  }

 private:
  CLI::App program_{"", "warpfold"};
  CLI::App& command_;

 public:
  Request request{command_};
  RunOptions run;
};

nb::list names_of(const std::vector<std::string>& texts) {
  nb::list names;
  for (const std::string& text : texts) names.append(nb::cast(text));
  return names;
}

/// Returns None on other ranks than 0; there whether several datasets were requested, and of each
/// its name, why it was skipped, whether as reading it failed, what to_result(request, result)
/// returns, and the notes of its data.
template <class Result, class Request, class Compute, class ToResult>
nb::object answer(const Words& words, std::uintptr_t communicator, WatchedCall& call,
                  const Compute& compute, const ToResult& to_result) {
  ParsedRequest<Request> parsed(words);
  Request& request = parsed.request;
  const mpi::Communicator ranks(communicator_at(communicator));
  request.options.run = call.watched(parsed.run);
  const io::ExternalFilesRule rule(parsed.run.external);
  const auto outcomes = call([&] {
    request.complete(ranks, words);
    const std::string& file = request.arguments.file;
    if (request.arguments.several)
      return compute(ranks.get(), file, request.arguments.datasets, request.options);
    const std::string& dataset = request.arguments.dataset();
    return std::vector<DatasetOutcome<Result>>{
        {dataset, "", compute(ranks.get(), file, dataset, request.options)}};
  });
  if (!ranks.is_root()) return nb::none();
  nb::list results;
  for (const auto& [dataset, skipped, result, failed] : outcomes)
    results.append(nb::make_tuple(dataset, skipped, failed,
                                  skipped.empty() ? to_result(request, result) : nb::none(),
                                  names_of(result.report.notes)));
  return nb::make_tuple(request.arguments.several, results);
}

/// Makes a dict of the names of what was requested: values; names of datasets in the output; or
/// such dicts by label.
nb::object reduce_result(const cli::ReduceRequest& request, const ReduceResult& result) {
  if (request.by_labels() && request.options.output.path.empty()) {
    nb::dict labels;
    for (const auto& [label, text, summary] : result.labels)
      labels[text.empty() ? to_python(label) : nb::cast(text)] = to_python(summary);
    return labels;
  }
  nb::dict values = to_python(result.summary);
  for (std::size_t i = 0; i < result.quantiles.size(); ++i)
    values[nb::cast(request.quantile_names[i])] = to_python(result.quantiles[i]);
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
template <class Result, class Request, class Compute, class ToResult>
void add_function(nb::module_& module, const char* name, Compute compute, ToResult to_result) {
  module.def(
      name,
      [=](const Words& words, std::uintptr_t communicator, nb::object progress,
          bool interruptible) {
        WatchedCall call(std::move(progress), interruptible);
        return answer<Result, Request>(words, communicator, call, compute, to_result);
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

void widen(const std::vector<std::byte>& stored, float* values) {
  for (std::size_t i = 0; i < stored.size() / sizeof(BFloat16); ++i) {
    BFloat16 element;
    std::memcpy(&element, stored.data() + i * sizeof element, sizeof element);
    values[i] = element.to_float();
  }
}

/// Returns all elements of a dataset that this machine wrote.
nb::object read(const std::string& file, const std::string& name) {
  io::Dataset dataset(file, name);
  const io::DatasetInfo& info = dataset.info();
  const nb::object array = empty_array(info.shape, info.format.type);
  const std::size_t bytes = info.elements * size_of(info.format.type);
  if (bytes == 0) return array;
  if (info.format.type == ElementType::bf16) {
    std::vector<std::byte> stored(bytes);
    dataset.read(ElementRange{0, info.elements}, stored);
    widen(stored, static_cast<float*>(memory_of(array)));
  } else {
    auto* memory = static_cast<std::byte*>(memory_of(array));
    const nb::gil_scoped_release released;
    dataset.read(ElementRange{0, info.elements}, std::span(memory, bytes));
  }
  return array;
}

}  // namespace

void add_file_functions(nb::module_& module) {
  add_function<ReduceResult, cli::ReduceRequest>(
      module, "reduce", [](const auto&... of) { return reduce(of...); }, reduce_result);
  add_function<ScanResult, cli::ScanRequest>(
      module, "scan", [](const auto&... of) { return scan(of...); }, scan_result);
  add_function<CompactResult, cli::CompactRequest>(
      module, "compact", [](const auto&... of) { return compact(of...); }, compact_result);
  add_function<HistogramResult, cli::HistogramRequest>(
      module, "histogram", [](const auto&... of) { return histogram(of...); }, histogram_result);
  module.def("info", info, "words"_a, "communicator"_a, "interruptible"_a);
  module.def("read", read, "file"_a, "dataset"_a);
}

}  // namespace warpfold::python
