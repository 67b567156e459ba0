#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "bench/harness/bench.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::bench {

struct IngestSettings {
  std::string file;
  std::string dataset;
  std::string output;                ///< of scans, a file that does not exist; empty: no scans
  std::vector<std::string> kernels;  ///< "warpfold", "raw"; empty: all
  int iterations = 5;
  RunOptions run;
};

/// The whole way from a file to its statistics, and to the file of its prefix sums, beside what
/// reading, inflating and copying alone take with as many threads, and beside the HDF5 library's
/// reading. Every rank does its part of each at the same time. Writes `output` and a copy of `file`
/// beside it, and removes both. Collective. Throws Error.
Result bench_ingest(MPI_Comm communicator, const IngestSettings& settings);

}  // namespace warpfold::bench
