#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/harness/timing_loop.hpp"
#include "cpu/kernels/kernels.hpp"

/// The benchmarks of warpfold_bench_host, and what they share.
namespace warpfold::bench::host {

/// Size of the array, and the threads and kernels that process it.
struct Setup {
  std::uint64_t bytes;
  int threads;
  int runs;
  const cpu::Kernels& kernels;
};

/// Exact reductions of an array in memory beside reading it and beside plain, inexact sums, by the
/// same threads.
void bench_sums(const Setup& setup);

/// Reduces along axes beside the flat reduction of the same array, by the same threads.
void bench_axes(const Setup& setup);

/// Scans an array in memory, beside the exact total that ranks exchange before.
void bench_scans(const Setup& setup);

/// Makes a candidate called `label`.
Candidate candidate(std::string label, std::function<void()> run);

/// Prints the heading of tables whose first row of each group is called `first`.
void print_heading(const char* first);

/// Measures candidates that each go through `bytes`, and prints GB/s and the rate as a share of the
/// first one's.
void measure_and_print(std::vector<Candidate> candidates, std::uint64_t bytes, int runs);

enum class Data { uniform, normal, wide, sprinkled };

constexpr const char* name_of(Data data) {
  constexpr const char* names[] = {"uniform", "normal", "60 binary orders", "0.1 % NaN"};
  return names[static_cast<std::size_t>(data)];
}

inline double element(Data data, std::mt19937_64& random) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  switch (data) {
    case Data::normal:
      return std::sqrt(-2.0 * std::log(unit + 0x1p-54)) * std::cos(static_cast<double>(random()));
    case Data::wide:
      return std::ldexp(random() % 2 == 0 ? 1.0 + unit : -1.0 - unit,
                        static_cast<int>(random() % 60) - 30);
    case Data::sprinkled:
      return random() % 1000 == 0 ? std::nan("") : unit;
    case Data::uniform:
      break;
  }
  return unit;
}

/// Fills an array by repeating a run of random elements whose length has no common factor with that
/// of a block.
template <class T>
void fill(std::span<std::byte> bytes, Data data) {
  constexpr std::size_t period = 1000003;
  std::mt19937_64 random(1);
  std::vector<T> pattern(period);
  const double scale = std::is_integral_v<T> ? 1e6 : 1.0;
  for (T& x : pattern) x = static_cast<T>(scale * element(data, random));
  auto* x = reinterpret_cast<T*>(bytes.data());
  const std::size_t n = bytes.size() / sizeof(T);
  for (std::size_t i = 0; i < n; i += period)
    std::copy_n(pattern.begin(), std::min(period, n - i), x + i);
}

}  // namespace warpfold::bench::host
