#include "bench/harness/result.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <variant>

#include "core/results/summarize.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::bench {
namespace {

std::string_view peer_operation(std::string_view operation) {
  return operation == "statistics" || operation == "extrema" ? "sum" : operation;
}

std::uint64_t low_bits(std::uint64_t bits, std::size_t bytes) {
  return bytes == 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

/// One unit in the last place of a float of `digits` significant bits near `value`.
double unit_in_last_place(double value, int digits) {
  constexpr int min_exponent = -1021;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent, min_exponent) - digits);
}

double error_in_ulps(double claimed, const Accumulator& exact, int digits) {
  if (!std::isfinite(claimed)) return std::numeric_limits<double>::infinity();
  ExactSum error = exact.sum;
  error.add(-claimed);
  return std::fabs(error.rounded()) / unit_in_last_place(exact.sum.rounded(), digits);
}

}  // namespace

Spread spread_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  const bool odd = samples.size() % 2 == 1;
  const double median = odd ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return {median, samples.front(), samples.back()};
}

void set_rates(std::vector<Row>& rows, int ranks) {
  for (Row& row : rows)
    if (row.seconds && row.seconds->median > 0 && row.useful_bytes != 0)
      row.gigabytes_per_second =
          static_cast<double>(row.useful_bytes) * ranks / row.seconds->median * 1e-9;
}

void compare_with_peers(std::vector<Row>& rows) {
  const auto rate = [&](auto&& is_peer) -> std::optional<double> {
    const auto found = std::find_if(rows.begin(), rows.end(), is_peer);
    return found == rows.end() ? std::nullopt : found->gigabytes_per_second;
  };
  const auto copy = rate([](const Row& row) { return row.operation == "copy"; });
  for (Row& row : rows) {
    if (!row.gigabytes_per_second) continue;
    const auto cub = rate([&](const Row& peer) {
      return peer.kernel == "CUB" && peer.operation == peer_operation(row.operation);
    });
    if (copy) row.of_copy = *row.gigabytes_per_second / *copy;
    if (cub) row.of_cub = *row.gigabytes_per_second / *cub;
  }
}

void compare_with_plain(std::vector<Row>& rows, const std::string& plain,
                        const std::vector<std::string>& views) {
  for (Row& row : rows) {
    if (std::ranges::find(views, row.kernel) == views.end()) continue;
    const auto peer = std::ranges::find_if(rows, [&](const Row& other) {
      return other.kernel == plain && other.operation == row.operation;
    });
    if (peer != rows.end() && peer->gigabytes_per_second && row.gigabytes_per_second)
      row.of_plain = *row.gigabytes_per_second / *peer->gigabytes_per_second;
  }
}

void compare_with_ceiling(std::vector<Row>& rows) {
  double ceiling = 0;
  for (const Row& row : rows)
    if (row.ceiling && row.seconds) ceiling = std::max(ceiling, row.seconds->median);
  if (ceiling == 0) return;
  for (Row& row : rows)
    if (row.seconds && row.seconds->median > 0) row.of_ceiling = ceiling / row.seconds->median;
}

void judge_sum(Row& row, std::uint64_t bits, ElementType input, ElementType output,
               const Accumulator& exact) {
  if (output == ElementType::f64) {
    row.error_ulps = error_in_ulps(std::bit_cast<double>(bits), exact, 53);
  } else if (output == ElementType::f32) {
    const auto claimed = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    row.error_ulps = error_in_ulps(static_cast<double>(claimed), exact, 24);
  } else {
    const Value sum = summarize(exact, input, {Statistic::sum}, {}).front().second;
    const auto right = static_cast<std::uint64_t>(std::get<int128>(sum));
    const std::size_t bytes = size_of(output);
    row.check = low_bits(bits, bytes) == low_bits(right, bytes) ? Check::right : Check::wrong;
  }
}

void Result::add(std::vector<Row> more) {
  for (Row& row : more) {
    if (row.check == Check::wrong && !row.kernel.starts_with("CUB")) ++wrong;
    rows.push_back(std::move(row));
  }
}

}  // namespace warpfold::bench
