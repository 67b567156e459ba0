#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/statistic.hpp"
#include "warpfold/core/summary.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold {

struct ReduceOptions {
  std::vector<Statistic> statistics = {Statistic::count, Statistic::sum,  Statistic::min,
                                       Statistic::max,   Statistic::mean, Statistic::std};
  SummaryOptions summary;
  RunOptions run;
};

/// Of the whole dataset; filled on rank 0 alone.
struct ReduceResult {
  Summary summary;
  ElementFormat format;
  std::vector<std::uint64_t> shape;
  RunReport report;
};

/// Reduces dataset `dataset` of HDF5 file `file` in one pass. Collective over `communicator`; MPI
/// must be initialised. The results are the same bits for any number of ranks, any backend, slab
/// size and storage layout. Throws the same Error on every rank.
ReduceResult reduce(MPI_Comm communicator, const std::string& file, const std::string& dataset,
                    const ReduceOptions& options = {});

}  // namespace warpfold
