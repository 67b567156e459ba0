#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness/row.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::bench {

/// What to measure. Empty lists mean the usual choice.
struct Settings {
  std::vector<std::uint64_t> sizes;     ///< bytes of a rank's larger array, ascending
  std::vector<std::string> types;       ///< "f32"; of scans also "u8:u64"
  std::vector<std::string> operations;  ///< "sum", "inclusive"
  std::vector<std::string> kernels;     ///< "fold", "CUB", "copy"
  int iterations = 21;
  RunOptions run;  ///< backend, threads, device memory and whether ranks may share a GPU
};

/// The GPU of rank 0 and what drives it.
struct DeviceFacts {
  std::string compute_capability;  ///< "9.0"
  int multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
  std::string driver;   ///< the CUDA version it serves, "13.0"
  std::string runtime;  ///< the CUDA version of this build
  std::string cub;      ///< "CUB 3.0.1", or why there is none
};

/// Filled on rank 0 alone, but for `wrong`.
struct Result {
  RunReport run;
  DeviceFacts device;  ///< empty without a GPU
  std::vector<Row> rows;
  std::uint64_t wrong = 0;  ///< rows that failed their check, on any rank
};

/// Reduces of arrays in device memory beside CUB's sums, a read-only probe and a copy. Every rank
/// measures on its own GPU at the same time. Collective. Throws Error, where there is no GPU too.
Result bench_reduce(MPI_Comm communicator, const Settings& settings);

/// Prefix sums of arrays in device memory beside CUB's and a copy; as bench_reduce().
Result bench_scan(MPI_Comm communicator, const Settings& settings);

/// Reductions and scans of arrays that lie in the memory of all ranks' GPUs, from the call of
/// DeviceCollectives to the result on every rank, beside copies on all GPUs. Collective. Throws
/// Error, where there is no GPU too.
Result bench_collectives(MPI_Comm communicator, const Settings& settings);

/// Handing results from GPU to host, and combining them over ranks; on the cpu backend, or where
/// there is no GPU and the choice is free, only the latter. Collective. Throws Error.
Result bench_combine(MPI_Comm communicator, const Settings& settings);

}  // namespace warpfold::bench
