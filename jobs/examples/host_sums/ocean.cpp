// Global sums of an ocean's points that MPI ranks share, the same bits for any number of ranks:
// ocean_cpp [POINTS]. Prints each as the bits of the double in hexadecimal, and as a number.

#include <mpi.h>

#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <variant>
#include <vector>

#include "warpfold/host_collectives.hpp"

namespace {

/// Numbers from 0 to 2^31 - 1 that look random.
std::int64_t mixed(std::int64_t i) { return (i * 1103515245 + 12345) % (std::int64_t{1} << 31); }

double temperature_at(std::int64_t i) {
  return std::ldexp(static_cast<double>(mixed(i) - (std::int64_t{1} << 30)),
                    static_cast<int>(i % 41) - 50);
}

double volume_at(std::int64_t i) {
  return std::ldexp(static_cast<double>(mixed(i + 7777777)), static_cast<int>(i % 31) - 15);
}

struct Rank {
  int number = 0;
  int ranks = 1;
};

Rank this_rank() {
  Rank rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank.number);
  MPI_Comm_size(MPI_COMM_WORLD, &rank.ranks);
  return rank;
}

void print(const char* name, double value) {
  if (this_rank().number == 0)
    std::printf("%-13s %016" PRIx64 "  %.17g\n", name, std::bit_cast<std::uint64_t>(value), value);
}

void sum_ocean(std::int64_t points) {
  const Rank rank = this_rank();
  std::vector<double> temperature;
  std::vector<double> volume;
  std::vector<std::int64_t> numbers;
  std::vector<std::uint8_t> wet;
  for (std::int64_t i = points * rank.number / rank.ranks;
       i < points * (rank.number + 1) / rank.ranks; ++i) {
    temperature.push_back(temperature_at(i));
    volume.push_back(volume_at(i));
    numbers.push_back(mixed(i));
    wet.push_back(i % 5 != 0 ? 1 : 0);
  }

  warpfold::HostCollectives global(MPI_COMM_WORLD);
  const auto t = warpfold::array_of(temperature.data(), temperature.size());
  const auto v = warpfold::array_of(volume.data(), volume.size());
  const auto n = warpfold::array_of(numbers.data(), numbers.size());

  // Two sums, a dot product and a sum of integers, in one message.
  const std::vector<warpfold::Value> sums =
      global.sums({{t, {}, wet.data()}, {v, {}, wet.data()}, {t, v, wet.data()}, {n}});
  const warpfold::Summary extrema =
      global.reduce(t, {.statistics = {warpfold::Statistic::min}, .summary = {}}, wet.data());
  std::vector<double> prefixes(temperature.size());
  global.scan(t, prefixes.data());
  double last = prefixes.empty() ? 0.0 : prefixes.back();
  MPI_Bcast(&last, 1, MPI_DOUBLE, rank.ranks - 1, MPI_COMM_WORLD);

  print("temperature", std::get<double>(sums[0]));
  print("volume", std::get<double>(sums[1]));
  print("heat", std::get<double>(sums[2]));
  print("coldest", std::get<double>(extrema.front().second));
  print("last prefix", last);
  if (rank.number == 0)
    std::printf("%-13s %" PRId64 "\n", "numbers",
                static_cast<std::int64_t>(std::get<warpfold::int128>(sums[3])));

  // A mistake of one rank is an error on all.
  try {
    global.sums({{rank.number == rank.ranks - 1 ? warpfold::Array{nullptr, 1} : t}});
  } catch (const warpfold::Error& error) {
    if (rank.number == 0)
      std::printf("%-13s %d: %s\n", "mistake", static_cast<int>(error.exit_code()), error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int status = 1;
  try {
    sum_ocean(argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 100003);
    status = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", this_rank().number, error.what());
  }
  MPI_Finalize();
  return status;
}
