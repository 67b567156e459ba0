#include "bench/harness/result.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace warpfold::bench {
namespace {

std::string_view peer_operation(std::string_view operation) {
  return operation == "statistics" || operation == "extrema" ? "sum" : operation;
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

void compare_with_ceiling(std::vector<Row>& rows) {
  double ceiling = 0;
  for (const Row& row : rows)
    if (row.ceiling && row.seconds) ceiling = std::max(ceiling, row.seconds->median);
  if (ceiling == 0) return;
  for (Row& row : rows)
    if (row.seconds && row.seconds->median > 0) row.of_ceiling = ceiling / row.seconds->median;
}

void Result::add(std::vector<Row> more) {
  for (Row& row : more) {
    if (row.check == Check::wrong) ++wrong;
    rows.push_back(std::move(row));
  }
}

}  // namespace warpfold::bench
