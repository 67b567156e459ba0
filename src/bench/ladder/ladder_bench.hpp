#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/bench.hpp"

namespace warpfold::bench {

struct LadderSettings {
  std::vector<std::string> types;    ///< of reduce: u32, f32, f64; of atomics: i32, u32
  std::vector<std::string> kernels;  ///< names of variants and their company; empty: all
  std::optional<std::uint64_t> elements;
  bool article = false;  ///< as many elements as the articles have
  int iterations = 21;
  RunOptions run;
};

/// Every variant of the reduction's ladder beside the production kernel, CUB and a copy. Inputs are
/// those of the articles: u32 of the Middle-Square Weyl Sequence (2^28 elements, 2^30 in the
/// article), f32 and f64 1.23 (10^8). Collective. Throws Error, where there is no GPU too.
Result ladder_reduce(MPI_Comm communicator, const LadderSettings& settings);

/// The ladder of inclusive sums of i32, as ladder_reduce(); random elements, 2^26.
Result ladder_scan(MPI_Comm communicator, const LadderSettings& settings);

/// Filters that count with atomics, which keep a tenth, half and nine tenths of random elements,
/// 2^26, beside a copy.
Result ladder_atomics(MPI_Comm communicator, const LadderSettings& settings);

}  // namespace warpfold::bench
