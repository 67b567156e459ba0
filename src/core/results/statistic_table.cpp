#include "core/results/statistic_table.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "core/results/axis_results.hpp"
#include "core/results/summarize.hpp"

namespace warpfold {
namespace {

template <auto Member>
Value value_by(const Summarizer& summarizer) {
  return std::invoke(Member, summarizer);
}

/// Makes a function that stores `Result()(results, output)` of outputs.
template <class Result>
constexpr auto stored_by(Result) {
  return [](const AxisStore& store) {
    return visit_element_type(store.to, [&store](auto zero) {
      using Out = decltype(zero);
      const AxisResults<Out> results(store);
      auto* const elements = reinterpret_cast<Out*>(store.out);
      for (std::uint64_t i = 0; i < store.outputs.count; ++i) {
        const std::optional<Out> result = Result()(results, store.outputs.first + i);
        if (!result) return i;
        elements[i] = *result;
      }
      return store.outputs.count;
    });
  };
}

constexpr StatisticRow statistic_rows[] = {
    {.statistic = Statistic::count,
     .name = "count",
     .other_names = "len n size",
     .factors = AllowedFactors::any,
     .type = ResultType::count,
     .unit = ResultUnit::none,
     .prefix = "number of values of ",
     .of_accumulator = value_by<&Summarizer::count>,
     .along_axes = stored_by([](const auto& of, auto output) { return of.count(output); })},
    {.statistic = Statistic::sum_of_weights,
     .name = "sum_of_weights",
     .needs = {.absolute = true},
     .factors = AllowedFactors::weights,
     .unit = ResultUnit::none,
     .prefix = "sum of weights of ",
     .of_accumulator = [](const Summarizer& of) -> Value {
       return of.contents().absolute.rounded(of.rounding());
     },
     .along_axes = stored_by([](const auto& of, auto output) { return of.weights(output); })},
    {.statistic = Statistic::sum,
     .name = "sum",
     .other_names = "total",
     .needs = {.sum = true},
     .factors = AllowedFactors::any,
     .takes_overflow = true,
     .type = ResultType::sum,
     .of_nothing = OfNothing::zero_or_chosen,
     .cell_method = "sum",
     .of_accumulator = value_by<&Summarizer::sum>,
     .along_axes = stored_by([](const auto& of, auto output) { return of.sum(output); }),
     .of_products = [](const ExactSumOfSquares& sum, std::uint64_t,
                       Rounding rounding) { return sum.rounded(rounding); }},
    {.statistic = Statistic::mean,
     .name = "mean",
     .other_names = "average avg",
     .needs = {.sum = true},
     .factors = AllowedFactors::any,
     .of_nothing = OfNothing::nan,
     .cell_method = "mean",
     .of_accumulator = value_by<&Summarizer::mean>,
     .along_axes = stored_by([](const auto& of, auto output) { return of.mean(output); }),
     .of_weighted = weighted_mean,
     .of_products = mean_of_products},
    {.statistic = Statistic::var,
     .name = "var",
     .other_names = "variance",
     .needs = {.sum = true, .squares = true},
     .factors = AllowedFactors::weights,
     .takes_ddof = true,
     .of_nothing = OfNothing::nan,
     .unit = ResultUnit::squared,
     .cell_method = "variance",
     .prefix = "variance of ",
     .of_accumulator = value_by<&Summarizer::variance>,
     .along_axes = stored_by([](const auto& of, auto output) { return of.variance(output); }),
     .of_weighted = weighted_variance},
    {.statistic = Statistic::std,
     .name = "std",
     .other_names = "sd stddev stdev",
     .needs = {.sum = true, .squares = true},
     .factors = AllowedFactors::weights,
     .takes_ddof = true,
     .of_nothing = OfNothing::nan,
     .unit = ResultUnit::difference,
     .cell_method = "standard_deviation",
     .of_accumulator = value_by<&Summarizer::standard_deviation>,
     .along_axes = stored_by([](const auto& of, auto output) { return of.deviation(output); }),
     .of_weighted = weighted_deviation},
    {.statistic = Statistic::min,
     .name = "min",
     .other_names = "minimum",
     .needs = {.extrema = true},
     .type = ResultType::element,
     .of_nothing = OfNothing::fill_value,
     .cell_method = "minimum",
     .of_accumulator = [](const Summarizer& of) { return of.extremum(of.contents().minimum); },
     .along_axes = stored_by([](const auto& of, auto output) { return of.minimum(output); })},
    {.statistic = Statistic::max,
     .name = "max",
     .other_names = "maximum",
     .needs = {.extrema = true},
     .type = ResultType::element,
     .of_nothing = OfNothing::fill_value,
     .cell_method = "maximum",
     .of_accumulator = [](const Summarizer& of) { return of.extremum(of.contents().maximum); },
     .along_axes = stored_by([](const auto& of, auto output) { return of.maximum(output); })},
    {.statistic = Statistic::argmin,
     .name = "argmin",
     .needs = {.extrema = true},
     .type = ResultType::index,
     .of_nothing = OfNothing::minus_one,
     .unit = ResultUnit::none,
     .prefix = "index of the minimum of ",
     .of_accumulator = [](const Summarizer& of) { return of.index_of(of.contents().minimum); },
     .along_axes = stored_by([](const auto& of, auto output) { return of.argmin(output); })},
    {.statistic = Statistic::argmax,
     .name = "argmax",
     .needs = {.extrema = true},
     .type = ResultType::index,
     .of_nothing = OfNothing::minus_one,
     .unit = ResultUnit::none,
     .prefix = "index of the maximum of ",
     .of_accumulator = [](const Summarizer& of) { return of.index_of(of.contents().maximum); },
     .along_axes = stored_by([](const auto& of, auto output) { return of.argmax(output); })},
    {.statistic = Statistic::l1,
     .name = "l1",
     .needs = {.absolute = true},
     .sums_unsigned = true,
     .type = ResultType::magnitudes,
     .prefix = "sum of absolute values of ",
     .of_accumulator = value_by<&Summarizer::absolute_sum>,
     .along_axes = stored_by([](const auto& of, auto output) { return of.absolute_sum(output); })},
    {.statistic = Statistic::l2,
     .name = "l2",
     .other_names = "norm",
     .needs = {.squares = true},
     .prefix = "root of the sum of squares of ",
     .of_accumulator = value_by<&Summarizer::root_of_squares>,
     .along_axes = stored_by([](const auto& of, auto output) { return of.norm(output); })},
    {.statistic = Statistic::linf,
     .name = "linf",
     .needs = {.extrema = true},
     .type = ResultType::magnitude,
     .cell_method = "maximum_absolute_value",
     .of_accumulator = value_by<&Summarizer::largest_magnitude>,
     .along_axes =
         stored_by([](const auto& of, auto output) { return of.largest_magnitude(output); })},
    {.statistic = Statistic::nan_count,
     .name = "nan_count",
     .factors = AllowedFactors::any,
     .type = ResultType::count,
     .unit = ResultUnit::none,
     .prefix = "number of NaN in ",
     .of_accumulator = [](const Summarizer& of) -> Value {
       return int128{of.contents().nan_count};
     },
     .along_axes = stored_by([](const auto& of, auto output) { return of.nan_count(output); })},
    {.statistic = Statistic::inf_count,
     .name = "inf_count",
     .factors = AllowedFactors::any,
     .type = ResultType::count,
     .unit = ResultUnit::none,
     .prefix = "number of infinities in ",
     .of_accumulator = value_by<&Summarizer::infinity_count>,
     .along_axes =
         stored_by([](const auto& of, auto output) { return of.infinity_count(output); })},
};

constexpr const StatisticRow* find_row(Statistic statistic) {
  return std::find_if(std::begin(statistic_rows), std::end(statistic_rows),
                      [=](const StatisticRow& row) { return row.statistic == statistic; });
}

static_assert(std::size(statistic_rows) == std::size(all_statistics) + 1);
static_assert(std::all_of(std::begin(all_statistics), std::end(all_statistics), [](Statistic each) {
  return find_row(each) != std::end(statistic_rows);
}));

}  // namespace

std::uint64_t store_summarized(const AxisStore& store) {
  return stored_by([](const auto& of, auto output) { return of.summarized(output); })(store);
}

std::span<const StatisticRow> statistic_table() { return statistic_rows; }

const StatisticRow& row_of(Statistic statistic) { return *find_row(statistic); }

}  // namespace warpfold
