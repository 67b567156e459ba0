#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "cli/options/common_options.hpp"
#include "cli/options/option_values.hpp"
#include "cli/requests/requests.hpp"
#include "core/results/histogram_bins.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

std::vector<double> parse_reals(std::string_view option, std::string_view text) {
  std::vector<double> numbers;
  for (const std::string& word : parse_names(option, text))
    numbers.push_back(parse_real(option, word));
  return numbers;
}

std::uint64_t parse_number_of_bins(std::string_view text) {
  try {
    return parse_integer("--bins", text, 1, max_histogram_bins);
  } catch (const Error& error) {
    throw usage_error(error.problem(), error.why(),
                      fmt::format("Give a number of bins, 1 to {}, or two or more edges, "
                                  "separated by commas.",
                                  max_histogram_bins));
  }
}

}  // namespace

HistogramRequest::HistogramRequest(CLI::App& command) : DatasetRequest(command) {
  add_dataset_arguments(command, arguments);
  add_option(command, "--bins", "N|EDGE,...",
             "Number of bins of equal width, or bin edges. Edges are two or more rising "
             "numbers. Default: 10 bins",
             [this](const std::string& text) { take_bins(text); });
  add_option(command, "--range", "FROM,TO",
             "Range of the N bins. Default: from the least to the greatest finite value",
             [this](const std::string& text) { take_range(text); });
  add_view_options(command, options.view);
}

void HistogramRequest::complete(const mpi::Communicator& communicator,
                                const std::vector<std::string>&) {
  take_files(arguments, options.view, communicator);
  if (options.range && !options.edges.empty())
    throw usage_error("both --range and the edges of bins are given", "",
                      "Omit --range, or give --bins a number.");
}

void HistogramRequest::take_bins(const std::string& text) {
  if (text.find(',') != std::string::npos)
    options.edges = parse_reals("--bins", text);
  else
    options.bins = parse_number_of_bins(text);
}

void HistogramRequest::take_range(const std::string& text) {
  if (std::ranges::count(text, ',') != 1)
    throw usage_error("bad --range '" + text + "'", "it does not have two ends",
                      "Give two numbers: --range 0,100.");
  const std::vector<double> ends = parse_reals("--range", text);
  options.range.emplace(ends[0], ends[1]);
}

}  // namespace warpfold::cli
