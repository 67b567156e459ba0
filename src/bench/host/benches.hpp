#pragma once

#include <cstdint>

#include "cpu/kernels/kernels.hpp"

namespace warpfold::bench::host {

/// What to measure, and by what.
struct Means {
  std::uint64_t bytes;
  int threads;
  int runs;
  const cpu::Kernels& kernels;
};

/// Exact reductions of an array in memory beside reading it and beside plain, inexact sums, by the
/// same threads.
void bench_sums(const Means& means);

/// Reduces along axes beside the flat reduction of the same array, by the same threads.
void bench_axes(const Means& means);

}  // namespace warpfold::bench::host
