#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warpfold/axis.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/scan_operation.hpp"
#include "warpfold/core/storage_options.hpp"
#include "warpfold/core/summary.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/output_options.hpp"
#include "warpfold/run_options.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold {

/// Options of scans of datasets.
struct ScanOptions {
  ScanOperation operation = ScanOperation::sum;  ///< sum, minimum or maximum
  bool exclusive = false;                        ///< each prefix without its own element
  /// Write N + 1 offsets for N elements, in one dimension, as in sparse matrices (CSR): all
  /// exclusive prefix sums, then the total. Not with an axis or another operation.
  bool offsets = false;
  std::optional<ElementType> output_type;           ///< default_scan_output() where not given
  OverflowPolicy overflow = OverflowPolicy::error;  ///< integers that the output type can't hold
  ViewOptions view;  ///< skipped elements count as the operation's identity
  /// Dimension to scan along, instead of in flat order.
  std::optional<Axis> axis;
  OutputOptions output;    ///< the file and the dataset in it
  StorageOptions storage;  ///< storage of the output
  RunOptions run;          ///< does not change the output
};

/// Result of a scan, on rank 0 alone.
struct ScanResult : DatasetResult {
  ElementType output_type = ElementType::f64;  ///< type of the prefixes
  std::string output_dataset;                  ///< path in the output file
  std::optional<int> axis;                     ///< number of the axis, if any
  std::string axis_name;                       ///< empty if it has none
  std::vector<std::uint64_t> output_shape;     ///< the same, except for offsets
  std::uint64_t count = 0;                     ///< number of elements
  Value last;                                  ///< last prefix; empty without elements
};

/// Writes the prefix scan of dataset `dataset` of HDF5 file `file`, in row-major order or along an
/// axis, to a dataset of the same shape in a new file. Prefixes of floats are the exact sums, each
/// rounded once. Collective over `communicator`; MPI must be initialised, unless it is
/// MPI_COMM_SELF. The output has the same bits for any number of ranks, backend, slab size and
/// storage layout. Throws the same Error on every rank: a usage Error for invalid options, another
/// if a file can't be read or written, or a prefix overflows.
ScanResult scan(MPI_Comm communicator, const std::string& file, const std::string& dataset,
                const ScanOptions& options);

/// Scans several datasets of a file into one new file, which appears when complete. Outputs have
/// the names of their inputs; `options.output` names the file alone. Skips datasets that can't be
/// read, don't fit the options or are coordinates of others, unless they were named: the file has
/// nothing of them. Throws the same Error on every rank.
std::vector<DatasetOutcome<ScanResult>> scan(MPI_Comm communicator, const std::string& file,
                                             const DatasetChoice& datasets,
                                             const ScanOptions& options);

}  // namespace warpfold
