#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/statistic.hpp"
#include "warpfold/core/summary.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/run_options.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold {

struct ReduceOptions {
  std::vector<Statistic> statistics = {Statistic::count, Statistic::sum,  Statistic::min,
                                       Statistic::max,   Statistic::mean, Statistic::std};
  SummaryOptions summary;
  ViewOptions view;
  RunOptions run;
};

/// Of all elements in view; filled on rank 0 alone.
struct ReduceResult {
  Summary summary;
  ElementFormat format;                       ///< as stored
  ElementType value_type = ElementType::f64;  ///< the stored one, unless unpacking gives another
  std::vector<std::uint64_t> shape;           ///< as selected
  RunReport report;
};

/// Reduces dataset `dataset` of HDF5 file `file` in one pass. Collective over `communicator`; MPI
/// must be initialised. The results are the same bits for any number of ranks, any backend, slab
/// size and storage layout. Throws the same Error on every rank.
ReduceResult reduce(MPI_Comm communicator, const std::string& file, const std::string& dataset,
                    const ReduceOptions& options = {});

/// The same of several datasets of a file, which is opened once. Those that were chosen by a
/// pattern, or because all were, and can't be opened are skipped. Throws the same Error on every
/// rank.
std::vector<DatasetOutcome<ReduceResult>> reduce(MPI_Comm communicator, const std::string& file,
                                                 const DatasetChoice& datasets,
                                                 const ReduceOptions& options = {});

}  // namespace warpfold
