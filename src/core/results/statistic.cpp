#include "warpfold/core/statistic.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "core/base/nearest_word.hpp"
#include "core/base/text.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

void append_once(std::vector<Statistic>& statistics, Statistic statistic) {
  if (std::find(statistics.begin(), statistics.end(), statistic) == statistics.end())
    statistics.push_back(statistic);
}

/// What other programs call statistics, and what these are here.
constexpr std::pair<std::string_view, Statistic> other_names[] = {
    {"average", Statistic::mean}, {"avg", Statistic::mean},    {"len", Statistic::count},
    {"maximum", Statistic::max},  {"minimum", Statistic::min}, {"n", Statistic::count},
    {"norm", Statistic::l2},      {"sd", Statistic::std},      {"size", Statistic::count},
    {"stddev", Statistic::std},   {"stdev", Statistic::std},   {"total", Statistic::sum},
    {"variance", Statistic::var}};

/// Names the statistic that `name` most likely means; empty where none does.
std::string likely_name(std::string_view name) {
  for (const auto& [other, statistic] : other_names)
    if (other == name) return std::string(name_of(statistic));
  std::vector<std::string> names{"all"};
  for (const Statistic statistic : all_statistics) names.emplace_back(name_of(statistic));
  return name.size() < 3 ? "" : nearest_word(name, names);
}

void append_named(std::vector<Statistic>& statistics, std::string_view name) {
  if (name == "all") {
    for (const Statistic statistic : all_statistics) append_once(statistics, statistic);
  } else if (const auto statistic = find_named(all_statistics, name)) {
    append_once(statistics, *statistic);
  } else if (name == name_of(Statistic::sum_of_weights)) {
    append_once(statistics, Statistic::sum_of_weights);
  } else {
    throw usage_error("unknown statistic '" + std::string(name) + "'", "",
                      did_you_mean(likely_name(name)) + "Choose from " +
                          listed_names(all_statistics) + "; or all; with weights also " +
                          std::string(name_of(Statistic::sum_of_weights)) + ".");
  }
}

}  // namespace

std::string_view name_of(Statistic statistic) {
  constexpr std::string_view names[] = {
      "count",  "sum", "mean", "var",  "std",       "min",       "max",           "argmin",
      "argmax", "l1",  "l2",   "linf", "nan_count", "inf_count", "sum_of_weights"};
  return names[static_cast<std::size_t>(statistic)];
}

std::vector<Statistic> parse_statistics(std::string_view names) {
  std::vector<Statistic> statistics;
  for (std::size_t comma = names.find(','); comma != std::string_view::npos;
       comma = names.find(',')) {
    append_named(statistics, names.substr(0, comma));
    names.remove_prefix(comma + 1);
  }
  append_named(statistics, names);
  return statistics;
}

}  // namespace warpfold
