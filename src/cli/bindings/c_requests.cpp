#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/report/text.hpp"
#include "cli/requests/parsed_request.hpp"
#include "cli/requests/requests.hpp"
#include "core/base/text.hpp"
#include "io/files/external_files.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/bindings/status.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

using Results = nlohmann::ordered_json;  ///< has by name "real" (its bits), "integer" or "text"

struct warpfold_request {
  std::string command;
  std::vector<std::string> options;  ///< as words of a command line
  Results results;
};

namespace warpfold::cli {
namespace {

void add_result(Results& results, const std::string& name, const Value& value) {
  Results& result = results[name] = Results::object();
  if (const auto* real = std::get_if<double>(&value)) {
    result["real"] = std::bit_cast<std::uint64_t>(*real);
  } else if (const auto* integer = std::get_if<int128>(&value)) {
    using Limits = std::numeric_limits<std::int64_t>;
    if (*integer >= Limits::min() && *integer <= Limits::max())
      result["integer"] = static_cast<std::int64_t>(*integer);
    result["text"] = to_string(*integer);
  }
}

void add_results(Results& results, const std::string& prefix, const Summary& summary) {
  for (const auto& [statistic, value] : summary)
    add_result(results, prefix + std::string(warpfold::name_of(statistic)), value);
}

Results results_of(const ReduceRequest& request, const ReduceResult& result) {
  Results results = Results::object();
  const std::vector<std::string> names = request.result_names();
  for (std::size_t i = 0; i < result.outputs.size(); ++i)
    results[names[i]]["text"] = result.outputs[i].dataset;
  add_results(results, "", result.summary);
  for (std::size_t i = 0; i < result.quantiles.size(); ++i)
    add_result(results, request.quantile_names[i], result.quantiles[i]);
  for (const LabelSummary& label : result.labels) {
    const std::string prefix =
        (label.text.empty() ? to_string(std::get<int128>(label.label)) : label.text) + ":";
    add_results(results, prefix, label.summary);
    for (std::size_t i = 0; i < label.quantiles.size(); ++i)
      add_result(results, prefix + request.quantile_names[i], label.quantiles[i]);
  }
  return results;
}

Results results_of(const ScanRequest&, const ScanResult& result) {
  Results results = Results::object();
  results["output"]["text"] = result.output_dataset;
  add_result(results, "count", int128{result.count});
  add_result(results, "last", result.last);
  return results;
}

/// Takes a text from C.
std::string text_of(const char* text, const std::string& name) {
  if (text == nullptr) throw usage_error("the " + name + " is null", "", "Pass a text.");
  return text;
}

template <class Request>
Request& request_at(Request* request) {
  if (request == nullptr)
    throw usage_error("the request is null", "", "Pass what warpfold_request_create() made.");
  return *request;
}

/// Returns a request's command line, the same on every rank. Collective; throws the same Error on
/// every rank, a usage Error where it isn't the same.
std::vector<std::string> command_line_of(warpfold_request* request, const char* file,
                                         const char* dataset, const mpi::Communicator& ranks) {
  std::vector<std::string> words;
  pipeline::run_on_all(ranks, [&] {
    const auto& [command, options, results] = request_at(request);
    words = {"warpfold", command, text_of(file, "file"), text_of(dataset, "dataset")};
    words.insert(words.end(), options.begin(), options.end());
  });
  const std::string of_root = mpi::broadcast(shell_quoted(words), ranks);
  pipeline::run_on_all(ranks, [&] {
    if (shell_quoted(words) != of_root)
      throw usage_error("ranks make different requests", "",
                        "Set the same options on all of them.");
  });
  return words;
}

/// Does what a command line asks for, of one dataset; returns rank 0's results on every rank.
template <class Request>
Results run(const std::vector<std::string>& words, const mpi::Communicator& ranks) {
  ParsedRequest<Request> parsed(words);
  Request& request = parsed.request;
  request.options.run = parsed.run;
  const io::ExternalFilesRule rule(parsed.run.external);
  request.complete(ranks, words);
  if (request.arguments.several)
    throw usage_error("several datasets are named", "", "Name one for each request.");
  const auto result = Request::compute(ranks.get(), request.arguments.file,
                                       request.arguments.dataset(), request.options);
  const std::string text = ranks.is_root() ? results_of(request, result).dump() : "";
  return Results::parse(mpi::broadcast(text, ranks));
}

/// Returns a member of a result. Throws a usage Error where there is none.
const Results& member_of(const warpfold_request* request, const char* name,
                         const std::string& member) {
  const Results& results = request_at(request).results;
  const std::string wanted = text_of(name, "name");
  std::vector<std::string> names;
  for (const auto& [each, value] : results.items()) names.push_back(each);
  if (!results.contains(wanted))
    throw usage_error("there is no result '" + wanted + "'",
                      names.empty() ? "nothing was run" : "there are " + joined(names, ", "),
                      "Name one of the results that were requested.");
  const Results& result = results[wanted];
  if (!result.contains(member))
    throw Error("the result '" + wanted + "' is not available as " + member,
                result.empty() ? "no element counts" : "it is of another type or too large", "");
  return result[member];
}

}  // namespace
}  // namespace warpfold::cli

namespace cli = warpfold::cli;
using warpfold::status_of;

int warpfold_request_create(const char* command, warpfold_request** made) {
  return status_of([&] {
    *made = nullptr;
    const std::string name = cli::text_of(command, "command");
    if (name != "reduce" && name != "scan")
      throw warpfold::usage_error("there is no request '" + name + "'", "",
                                  "Request reduce or scan.");
    *made = new warpfold_request{name, {}, Results::object()};
  });
}

int warpfold_request_set(warpfold_request* request, const char* option, const char* value) {
  return status_of([&] {
    std::string word = "--" + cli::text_of(option, "option");
    std::ranges::replace(word, '_', '-');
    if (value != nullptr) word.append("=").append(value);
    cli::request_at(request).options.push_back(std::move(word));
  });
}

int warpfold_request_run(warpfold_request* request, MPI_Comm communicator, const char* file,
                         const char* dataset) {
  return status_of([&] {
    const warpfold::mpi::Communicator ranks(communicator);
    const std::vector<std::string> words = cli::command_line_of(request, file, dataset, ranks);
    request->results = Results::object();
    request->results = request->command == "reduce" ? cli::run<cli::ReduceRequest>(words, ranks)
                                                    : cli::run<cli::ScanRequest>(words, ranks);
  });
}

int warpfold_request_run_f(warpfold_request* request, MPI_Fint communicator, const char* file,
                           const char* dataset) {
  return warpfold_request_run(request, MPI_Comm_f2c(communicator), file, dataset);
}

int warpfold_request_real(const warpfold_request* request, const char* name, double* value) {
  return status_of([&] {
    *value = std::bit_cast<double>(cli::member_of(request, name, "real").get<std::uint64_t>());
  });
}

int warpfold_request_integer(const warpfold_request* request, const char* name, int64_t* value) {
  return status_of([&] { *value = cli::member_of(request, name, "integer").get<std::int64_t>(); });
}

int warpfold_request_text(const warpfold_request* request, const char* name, const char** text) {
  return status_of([&] {
    *text = cli::member_of(request, name, "text").get_ptr<const std::string*>()->c_str();
  });
}

int warpfold_request_free(warpfold_request** request) {
  return status_of([&] {
    delete *request;
    *request = nullptr;
  });
}
