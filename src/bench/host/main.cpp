#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/host/host_benchmark.hpp"
#include "cpu/machine/machine.hpp"
#include "warpfold/core/error.hpp"

/// `warpfold_bench_host [sums|axes|scans [MEBIBYTES [THREADS [RUNS [INSTRUCTION_SET]]]]]`.
namespace warpfold::bench::host {
namespace {

std::uint64_t argument(const std::vector<std::string>& arguments, std::size_t place,
                       std::uint64_t otherwise) {
  if (place >= arguments.size()) return otherwise;
  std::uint64_t value = 0;
  const std::string& text = arguments[place];
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0)
    throw usage_error("'" + text + "' is not a positive number", "",
                      "Give sums|axes|scans MEBIBYTES THREADS RUNS INSTRUCTION_SET.");
  return value;
}

using Bench = void (*)(const Setup&);

Bench chosen_bench(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "sums") return bench_sums;
  if (arguments[0] == "axes") return bench_axes;
  if (arguments[0] == "scans") return bench_scans;
  throw usage_error("unknown measurement '" + arguments[0] + "'", "",
                    "Choose sums, axes or scans.");
}

void run(const std::vector<std::string>& arguments) {
  const Bench bench = chosen_bench(arguments);
  const cpu::Kernels& kernels = cpu::choose_kernels(arguments.size() < 5 ? "" : arguments[4]);
  const std::uint64_t bytes = argument(arguments, 1, 1024) << 20;
  const auto cores = static_cast<std::uint64_t>(cpu::available_cores());
  const auto threads = static_cast<int>(argument(arguments, 2, cores));
  const auto runs = static_cast<int>(argument(arguments, 3, 7));
  std::printf("%d threads, %s, %.0f MiB, %d runs\n", threads, kernels.name,
              static_cast<double>(bytes) / 0x1p20, runs);
  bench({bytes, threads, runs, kernels});
}

}  // namespace
}  // namespace warpfold::bench::host

int main(int count, char** values) {
  try {
    warpfold::bench::host::run({values + 1, values + count});
  } catch (const warpfold::Error& error) {
    std::fprintf(stderr, "warpfold: error: %s\n", error.what());
    return static_cast<int>(error.exit_code());
  }
  return 0;
}
