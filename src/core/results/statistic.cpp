#include "warpfold/core/statistic.hpp"

#include <algorithm>
#include <string>

#include "core/base/nearest_word.hpp"
#include "core/base/text.hpp"
#include "core/results/statistic_table.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

void append_once(std::vector<Statistic>& statistics, Statistic statistic) {
  if (std::find(statistics.begin(), statistics.end(), statistic) == statistics.end())
    statistics.push_back(statistic);
}

/// Names the statistic that `name` most likely means; empty where none does.
std::string likely_name(std::string_view name) {
  for (const StatisticRow& row : statistic_table())
    for (const std::string& other : split_words(std::string(row.other_names)))
      if (other == name) return std::string(row.name);
  std::vector<std::string> names{"all"};
  for (const Statistic statistic : all_statistics) names.emplace_back(name_of(statistic));
  return name.size() < 3 ? "" : nearest_word(name, names);
}

void append_named(std::vector<Statistic>& statistics, std::string_view name) {
  if (name == "all") {
    for (const Statistic statistic : all_statistics) append_once(statistics, statistic);
    return;
  }
  const auto rows = statistic_table();
  const auto row = std::ranges::find(rows, name, &StatisticRow::name);
  if (row == rows.end())
    throw usage_error("unknown statistic '" + std::string(name) + "'", "",
                      did_you_mean(likely_name(name)) + "Choose from " +
                          listed_names(all_statistics) + "; or all; with weights also " +
                          std::string(name_of(Statistic::sum_of_weights)) + ".");
  append_once(statistics, row->statistic);
}

}  // namespace

std::string_view name_of(Statistic statistic) { return row_of(statistic).name; }

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
