#include "bench/host/host_benchmark.hpp"

#include <cstdio>
#include <utility>

namespace warpfold::bench::host {

Candidate candidate(std::string label, std::function<void()> run) {
  return {{.operation = std::move(label), .clock = Clock::host},
          [run = std::move(run)](std::uint64_t) { run(); }};
}

void print_heading(const char* first) {
  std::printf("%-34s %8s %8s %8s %8s\n", "GB/s", "median", "least", "most",
              (std::string("of ") + first).c_str());
}

void measure_and_print(std::vector<Candidate> candidates, std::uint64_t bytes, int runs) {
  const std::vector<Row> rows =
      measure(std::move(candidates), {.warm_up = 1, .measured = runs}, time_on_host);
  const double gigabytes = static_cast<double>(bytes) * 1e-9;
  for (const Row& row : rows)
    std::printf("%-34s %8.2f %8.2f %8.2f %8.2f\n", row.operation.c_str(),
                gigabytes / row.seconds->median, gigabytes / row.seconds->maximum,
                gigabytes / row.seconds->minimum,
                rows.front().seconds->median / row.seconds->median);
  std::fflush(stdout);
}

}  // namespace warpfold::bench::host
