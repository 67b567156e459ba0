#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warpfold/applied_attributes.hpp"
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
  /// Sums of N elements are written as N + 1 offsets, in one dimension, as sparse matrices have
  /// them: all exclusive prefixes and the total. Not with an axis, nor other operations.
  bool offsets = false;
  std::optional<ElementType> output_type;           ///< default_scan_output() where not given
  OverflowPolicy overflow = OverflowPolicy::error;  ///< integers that the output type can't hold
  ViewOptions view;  ///< omitted elements count as the operation's identity
  /// The dimension to scan along, in place of the flat order.
  std::optional<Axis> axis;
  OutputOptions output;    ///< the file and the dataset in it
  StorageOptions storage;  ///< storage of the output
  RunOptions run;          ///< no influence on the output
};

/// A scan's result is filled on rank 0 alone.
struct ScanResult {
  ElementFormat format;                        ///< as stored
  ElementType value_type = ElementType::f64;   ///< as ReduceResult's
  AppliedAttributes applied;                   ///< attributes that unpacked the stored numbers
  ElementType output_type = ElementType::f64;  ///< type of the prefixes
  std::string output_dataset;                  ///< path in the output file
  std::optional<int> axis;                     ///< axis of the shape
  std::string axis_name;                       ///< empty where it has none
  std::vector<std::uint64_t> shape;            ///< shape of the input, as selected
  std::vector<std::uint64_t> output_shape;     ///< the same but for offsets
  std::uint64_t count = 0;                     ///< number of elements
  Value last;                                  ///< the last prefix; nothing for no elements
  RunReport report;                            ///< the run: backend, threads, times
};

/// Writes the prefix scan of dataset `dataset` of HDF5 file `file`, in row-major order or along an
/// axis, to a dataset of the same shape in a new file. Prefixes of floats are the exact sums,
/// each rounded once. Collective over
/// `communicator`; MPI must be initialised, unless it is MPI_COMM_SELF. The output is the same bits
/// for any number of ranks, any backend, slab size and storage layout. Throws the same Error on
/// every rank: a usage Error for options that make no sense, any other where a file can't be read
/// or written, or a prefix overflows.
ScanResult scan(MPI_Comm communicator, const std::string& file, const std::string& dataset,
                const ScanOptions& options);

/// Scans several datasets of a file into one new file, which is complete or not there: each is
/// called as its input, and `options.output` names the file alone. Skips those that were chosen by
/// a pattern, or because all were, and are coordinates of others, can't be read, or don't fit the
/// options: nothing of them is in the file. Throws the same Error on every rank.
std::vector<DatasetOutcome<ScanResult>> scan(MPI_Comm communicator, const std::string& file,
                                             const DatasetChoice& datasets,
                                             const ScanOptions& options);

}  // namespace warpfold
