#include "cli/options/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/options/option_values.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

bool has_only(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

/// Refuses "p95" and "percentile95", as others call quantiles.
void refuse_percentile(std::string_view option, const std::string& name) {
  const std::size_t digits = name.find_first_of("0123456789");
  const std::string word = name.substr(0, digits);
  if (digits == std::string::npos || name.size() > digits + 2) return;
  if (word != "p" && word != "pct" && word != "percentile" && word != "quantile") return;
  const std::string number = name.substr(digits);
  if (!has_only(number, "0123456789")) return;
  throw usage_error(fmt::format("bad {} '{}'", option, name), "it is not a statistic",
                    fmt::format("Did you mean q{:0>2}?", number));
}

/// Returns the fraction of the quantile called `name`; nothing if none would be called so.
std::optional<double> fraction_of(std::string_view option, const std::string& name) {
  if (name == "median") return 0.5;
  const std::string number = name.substr(1);
  if (name.front() != 'q' || number.empty() || !has_only(number, "0123456789.")) return {};
  const bool is_percent = number.size() == 2 && has_only(number, "0123456789");
  const bool is_fraction = number.size() > 1 && std::ranges::count(number, '.') == 1;
  const double fraction =
      is_percent || is_fraction ? parse_real(option, is_percent ? "0." + number : number) : 2;
  if (fraction <= 1) return fraction;
  throw usage_error(fmt::format("bad {} '{}'", option, name),
                    "a quantile has two digits of percent, or a fraction from 0 to 1 with a point",
                    "Try q05, q0.05 or q0.999.");
}

}  // namespace

Operations parse_operations(std::string_view option, std::string_view text) {
  Operations operations;
  std::string statistics;
  for (const std::string& name : parse_names(option, text)) {
    const std::optional<double> fraction = fraction_of(option, name);
    if (!fraction) {
      refuse_percentile(option, name);
      statistics += (statistics.empty() ? "" : ",") + name;
    } else if (std::ranges::find(operations.quantiles, name) == operations.quantiles.end()) {
      operations.quantiles.push_back(name);
      operations.fractions.push_back(*fraction);
    }
  }
  if (!statistics.empty()) operations.statistics = parse_statistics(statistics);
  return operations;
}

}  // namespace warpfold::cli
