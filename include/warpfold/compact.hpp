#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/storage_options.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/output_options.hpp"
#include "warpfold/run_options.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold {

/// Options of compactions.
struct CompactOptions {
  ViewOptions view;        ///< its conditions select elements
  bool indices = false;    ///< also write the flat indices of selected elements
  OutputOptions output;    ///< indices get the dataset's name with "_indices" appended
  StorageOptions storage;  ///< storage of the output, and of the indices
  RunOptions run;          ///< no influence on the output
};

/// Result of a compaction, on rank 0 alone.
struct CompactResult : DatasetResult {
  std::string output_dataset;   ///< path of the dataset of elements
  std::string indices_dataset;  ///< empty unless requested
  std::uint64_t count = 0;      ///< number of elements of the input
  std::uint64_t kept = 0;       ///< number of elements written
};

/// Writes the elements of dataset `dataset` of HDF5 file `file` that meet all conditions to a new
/// one-dimensional dataset, in row-major order. Collective over `communicator`; MPI must be
/// initialised, unless it is MPI_COMM_SELF. The output has the same bits for any number of ranks,
/// backend, slab size and storage layout. Throws the same Error on every rank: a usage Error for
/// invalid options, another if a file can't be read or written.
CompactResult compact(MPI_Comm communicator, const std::string& file, const std::string& dataset,
                      const CompactOptions& options);

/// Compacts several datasets of a file into one new file, with the rules of scan().
std::vector<DatasetOutcome<CompactResult>> compact(MPI_Comm communicator, const std::string& file,
                                                   const DatasetChoice& datasets,
                                                   const CompactOptions& options);

}  // namespace warpfold
