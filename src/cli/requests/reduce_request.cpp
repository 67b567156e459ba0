#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

#include "cli/options/common_options.hpp"
#include "cli/options/operations.hpp"
#include "cli/options/option_values.hpp"
#include "cli/report/text.hpp"
#include "cli/requests/requests.hpp"
#include "core/results/statistic_table.hpp"
#include "core/values/time_windows.hpp"
#include "pipeline/meaning/dataset_name.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

constexpr Choice<QuantileMethod> quantile_methods[] = {{"linear", QuantileMethod::linear},
                                                       {"lower", QuantileMethod::lower},
                                                       {"higher", QuantileMethod::higher},
                                                       {"midpoint", QuantileMethod::midpoint},
                                                       {"nearest", QuantileMethod::nearest}};

constexpr Choice<Places> place_choices[] = {{"indices", Places::indices},
                                            {"coordinates", Places::coordinates}};

constexpr std::uint64_t most_int64 = std::numeric_limits<std::int64_t>::max();

constexpr const char* axes_advice =
    "Name the axes with --axis, or write a report with --json or --csv.";
constexpr const char* output_advice =
    "Name the output with -o, or write a report with --json or --csv.";

Error needed(const std::string& option, const std::string& needs, const char* advice) {
  return usage_error(option + " needs " + needs, "without it the results are numbers, not datasets",
                     advice);
}

/// Writes what --ops may name, but for quantiles by their numbers.
std::string operation_words() {
  return "all|" + names_of(all_statistics) + "|" + std::string(name_of(Statistic::sum_of_weights)) +
         "|median,...";
}

}  // namespace

ReduceRequest::ReduceRequest(CLI::App& command) : DatasetRequest(command) {
  add_dataset_arguments(command_, arguments);
  add_statistics_options();
  add_factor_options();
  add_axes_options();
  add_view_options(command_, options.view);
}

void ReduceRequest::complete(const mpi::Communicator& communicator,
                             const std::vector<std::string>& words) {
  take_files(arguments, options.view, communicator);
  check_quantile_options();
  check_output_options();
  options.output.command = shell_quoted(words);
  if (command_.count("--ops") == 0) choose_statistics();
  check_effects();
}

std::vector<std::string> ReduceRequest::result_names() const {
  std::vector<std::string> names;
  for (const Statistic statistic : options.statistics)
    names.emplace_back(warpfold::name_of(statistic));
  names.insert(names.end(), quantile_names.begin(), quantile_names.end());
  return names;
}

void ReduceRequest::check_quantile_options() const {
  if (quantile_names.empty() && command_.count("--quantile-method") > 0)
    throw usage_error("--quantile-method needs a quantile", "",
                      "Request some with --ops median,q05, or omit it.");
  if (command_.count("--quantile-memory") == 0) return;
  if (quantile_names.empty())
    throw usage_error("--quantile-memory needs a quantile along axes or by labels",
                      "other statistics keep no elements in memory", "Omit it.");
  if (!along_axes() && !by_labels())
    throw usage_error("--quantile-memory does not support quantiles of all elements",
                      "they keep none in memory", "Omit it.");
}

void ReduceRequest::choose_statistics() {
  const bool weighted = !options.weights.empty();
  if (along_axes())
    options.statistics = {weighted ? Statistic::mean : Statistic::sum};
  else if (weighted)
    options.statistics = {Statistic::count, Statistic::sum_of_weights, Statistic::sum,
                          Statistic::mean};
  else if (!options.times.empty())
    options.statistics = {Statistic::count, Statistic::sum, Statistic::mean};
}

void ReduceRequest::check_output_options() const {
  const auto require = [&](std::initializer_list<const char*> given, const char* needs,
                           const char* advice) {
    for (const char* option : given)
      if (command_.count(option) > 0) throw needed(option, needs, advice);
  };
  const char* const needs = along_axes() || by_labels() ? "-o" : "--axis";
  const char* const advice = along_axes() || by_labels() ? output_advice : axes_advice;
  if (!along_axes())
    require({"--every", "--complete", "--min-count", "--keepdims"}, "--axis",
            "Name the axes with --axis.");
  if (!along_axes() && !by_labels()) require({"-o"}, needs, advice);
  if (!options.output.path.empty()) return;
  require({"--append", "--force", "--chunks", "--deflate", "--zstd", "--shuffle", "--fletcher32"},
          needs, advice);
  if (!along_axes()) require({"--output-type", "--empty"}, needs, advice);
}

std::vector<std::string> ReduceRequest::output_names(const ReduceResult& result) const {
  std::vector<std::string> names;
  auto quantile = quantile_names.begin();
  for (const AxisOutput& output : result.outputs) {
    const auto is_of_same = [&](const AxisOutput& other) {
      return other.statistic == output.statistic && !other.quantile;
    };
    names.push_back(output.quantile ? *quantile++
                                    : std::string(warpfold::name_of(output.statistic)));
    if (!output.dimension.empty() && std::ranges::count_if(result.outputs, is_of_same) > 1)
      names.back() += '_' + output.dimension;
  }
  return names;
}

bool ReduceRequest::takes_ddof() const {
  return std::ranges::any_of(options.statistics, &StatisticRow::takes_ddof, row_of);
}

bool ReduceRequest::takes_overflow() const {
  return std::ranges::any_of(options.statistics, &StatisticRow::takes_overflow, row_of);
}

void ReduceRequest::check_effects() const {
  const auto refuse = [&](const char* option, const char* why) {
    if (command_.count(option) > 0)
      throw usage_error(std::string(option) + " has no effect", why, "Omit it.");
  };
  const bool has_factors = !options.weights.empty() || !options.times.empty();
  if (has_factors) refuse("--overflow", "sums with --weights or --times are floats");
  if (!takes_overflow()) refuse("--overflow", "no sum is requested");
  if (!takes_ddof()) refuse("--ddof", "neither var nor std is requested");
  const bool may_be_empty =
      std::ranges::any_of(options.statistics, &StatisticRow::takes_empty, row_of);
  if (std::ranges::none_of(options.statistics, &StatisticRow::is_index, row_of))
    refuse("--places", "neither argmin nor argmax is requested");
  if (!may_be_empty && quantile_names.empty())
    refuse("--empty", "neither extrema nor sums nor quantiles are requested");
  if (options.view.files.empty() && pipeline::names_beside(options.view).empty() &&
      options.by.empty() && !has_factors)
    refuse("--match", "no other dataset is named");
}

void ReduceRequest::add_statistics_options() {
  add_option(command_, "--ops", operation_words(),
             "Statistics and quantiles: mean,std,median,q05,all. Statistics take one pass, "
             "quantiles more; these are named in percent (q05) or as fractions (q0.999). "
             "Default: count,sum,min,max,mean,std",
             [this](const std::string& text) { take_operations(text); })
      ->option_text("NAME,...");
  add_option(command_, "--quantile-method", quantile_methods,
             "Interpolation of quantiles, as NumPy's method. Default: linear",
             options.quantile_method)
      ->option_text("METHOD");
  add_option(command_, "--quantile-memory", "SIZE",
             "Limit a rank's memory for quantiles along axes. Default: 1G of elements",
             options.quantile_memory_bytes, parse_size);
  add_option(command_, "--by", "[FILE::]DATASET|year|season|month|day|dayofyear|hour,...",
             "Reduce the elements of each label. DATASET has the labels, integers or strings, "
             "for all or some dimensions of the dataset. Results are datasets of OUT with -o, "
             "otherwise numbers. With --axis, the indices along the first axis with the same "
             "label are reduced, or those whose times have the same PART, such as season or "
             "year,month. Integer labels may have several of the axes",
             options.by, parse_name)
      ->option_text("[FILE::]DATASET|PART");
  add_option(command_, "--nan", nan_policies, "Propagate or skip NaN elements. Default: propagate",
             options.summary.nan);
  add_option(command_, "--overflow", overflow_policies,
             "Report or wrap sums of integers that overflow. wrap computes modulo 2^width of "
             "the elements' type, with --axis of the output's. Default: error",
             options.summary.overflow);
  add_option(command_, "--ddof", "N", "Divide var and std by count - N. Default: 0",
             options.summary.ddof, parse_integer, 0U, most_int64);
}

void ReduceRequest::add_factor_options() {
  add_option(command_, "--weights", "[FILE::]DATASET|cos:DIMENSION",
             "Weight elements by this dataset, or a cosine. DATASET has all or some dimensions "
             "of the dataset; cos:lat is the cosine of the coordinate lat. Default of --ops: "
             "count,sum_of_weights,sum,mean, with --axis mean",
             options.weights, parse_name);
  add_option(command_, "--times", "[FILE::]DATASET",
             "Multiply elements by those of this dataset. Default of --ops: count,sum,mean, "
             "with --axis sum",
             options.times, parse_name);
}

void ReduceRequest::take_operations(const std::string& text) {
  Operations operations = parse_operations("--ops", text);
  options.statistics = std::move(operations.statistics);
  options.quantiles = std::move(operations.fractions);
  quantile_names = std::move(operations.quantiles);
}

void ReduceRequest::take_every(const std::string& text) {
  if (text.find_first_not_of("+-.0123456789") != std::string::npos) {
    window_length(text);
    options.every = text;
    return;
  }
  options.every = parse_integer("--every", text, 1, most_int64);
}

void ReduceRequest::add_axes_options() {
  const OptionGroup group(command_, "Along axes");
  add_option(command_, "--axis", "K|NAME,...",
             "Reduce along these dimensions only. As NumPy's axis; negative numbers count from "
             "the last. Results are a dataset of OUT; without -o up to 100 results are "
             "printed. Default of --ops: sum",
             options.axes, parse_axes);
  add_option(command_, "--every", "N|year|season|month|day|N years|N months|N days|N hours",
             "Reduce groups of N indices along the first axis. The last group may have fewer. "
             "Or reduce the times of one window at a time; seasons begin in December, hours at "
             "midnight, N days, months and years with the first time's",
             [this](const std::string& text) { take_every(text); })
      ->option_text("N|WINDOW");
  command_.add_flag("--complete", options.complete,
                    "Omit incomplete windows of time. Only the first and the last of --every month "
                    "can be incomplete");
  add_option(command_, "--min-count", "N",
             "Make outputs of fewer than N elements missing. Only valid elements count. The "
             "value is that of --empty, or NaN, or netCDF's default for integers",
             options.min_count, parse_integer, 0U, most_int64);
  add_option(command_, "--places", place_choices,
             "Form of argmin and argmax in outputs. Flat indices along the axes, or the "
             "coordinates of each reduced dimension. Default: indices",
             options.places);
  command_.add_flag("--keepdims", options.keep_dimensions,
                    "Keep reduced dimensions with extent 1. As NumPy's keepdims");
  add_output_options(command_, options.output,
                     ". For several --ops it is the prefix of their names: DATASET_mean");
  add_storage_options(command_, options.storage);
  add_option(command_, "--empty", "auto|VALUE",
             "Value of extrema and sums without elements. Default: 0 for sums; for extrema the "
             "dataset's _FillValue, or NaN, or netCDF's default for integers",
             [this](const std::string& text) { options.empty = text; });
  add_option(command_, "--output-type", names_of(all_element_types),
             "Type of sums, means and the like. Default: floats keep their type, sums of "
             "integers have 64 bits, and means and the like of integers are f64",
             [this](const std::string& text) { options.output_type = parse_element_type(text); })
      ->option_text("TYPE");
}

std::string_view name_of(QuantileMethod method) { return word_of(method, quantile_methods); }

}  // namespace warpfold::cli
