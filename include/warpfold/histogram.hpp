#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/run_options.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold {

/// Options of histograms.
struct HistogramOptions {
  std::uint64_t bins = 10;    ///< number of bins of equal width, if `edges` is empty
  std::vector<double> edges;  ///< rising; bin i is [edges[i], edges[i + 1]), the last one closed
  /// The range of bins of equal width; the minimum and maximum finite value where not given.
  std::optional<std::pair<double, double>> range;
  ViewOptions view;  ///< which elements count, and their values
  RunOptions run;    ///< does not change counts
};

/// Result of a histogram of the whole dataset, on rank 0 alone.
struct HistogramResult : DatasetResult {
  std::vector<double> edges;          ///< bounds of the bins, rising
  std::vector<std::uint64_t> counts;  ///< counts of the bins
  std::uint64_t below = 0;            ///< number of elements below the first edge
  std::uint64_t above = 0;            ///< number of elements above the last edge
  std::uint64_t nan = 0;              ///< number of elements that are NaN
};

/// Counts the values of dataset `dataset` of HDF5 file `file` by bins, exactly, as
/// numpy.histogram() does. Collective over `communicator`; MPI must be initialised, unless it is
/// MPI_COMM_SELF. The counts are the same for any number of ranks, backend, slab size and storage
/// layout. Throws the same Error on every rank: a usage Error for invalid options, another if the
/// file can't be read.
HistogramResult histogram(MPI_Comm communicator, const std::string& file,
                          const std::string& dataset, const HistogramOptions& options = {});

/// Counts the values of several datasets of a file, which is opened once. Skips datasets that can't
/// be opened, unless they were named. Throws the same Error on every rank.
std::vector<DatasetOutcome<HistogramResult>> histogram(MPI_Comm communicator,
                                                       const std::string& file,
                                                       const DatasetChoice& datasets,
                                                       const HistogramOptions& options = {});

}  // namespace warpfold
