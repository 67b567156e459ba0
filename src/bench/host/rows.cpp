#include "bench/host/rows.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace warpfold::bench::host {
namespace {

using Clock = std::chrono::steady_clock;

double median(const Row& row) { return row.seconds[row.seconds.size() / 2]; }

}  // namespace

void measure(std::vector<Row>& rows, int runs) {
  for (Row& row : rows) row.run();
  for (int i = 0; i < runs; ++i) {
    for (Row& row : rows) {
      const auto start = Clock::now();
      row.run();
      row.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
  }
  for (Row& row : rows) std::sort(row.seconds.begin(), row.seconds.end());
}

void print_heading(const char* first) {
  std::printf("%-34s %8s %8s %8s %8s\n", "GB/s", "median", "least", "most",
              (std::string("of ") + first).c_str());
}

void print(const std::vector<Row>& rows, std::uint64_t bytes) {
  const double gigabytes = static_cast<double>(bytes) * 1e-9;
  for (const Row& row : rows)
    std::printf("%-34s %8.2f %8.2f %8.2f %8.2f\n", row.label.c_str(), gigabytes / median(row),
                gigabytes / row.seconds.back(), gigabytes / row.seconds.front(),
                median(rows.front()) / median(row));
  std::fflush(stdout);
}

}  // namespace warpfold::bench::host
