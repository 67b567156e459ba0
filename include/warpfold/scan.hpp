#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_operation.hpp"
#include "warpfold/core/storage_options.hpp"
#include "warpfold/core/summary.hpp"
#include "warpfold/output_options.hpp"
#include "warpfold/run_options.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold {

struct ScanOptions {
  ScanOperation operation = ScanOperation::sum;
  bool exclusive = false;
  std::optional<ElementType> output_type;  ///< default_scan_output() where not given
  OverflowPolicy overflow = OverflowPolicy::error;
  ViewOptions view;  ///< what it leaves out counts as the operation's identity
  /// Scan along this dimension alone; a negative one counts from the last.
  std::optional<std::int64_t> axis;
  OutputOptions output;
  StorageOptions storage;  ///< of the output
  RunOptions run;
};

/// Of the whole scan; filled on rank 0 alone.
struct ScanResult {
  ElementFormat input;                        ///< as stored
  ElementType value_type = ElementType::f64;  ///< as ReduceResult's
  ElementType output_type = ElementType::f64;
  std::string output_dataset;
  std::vector<std::uint64_t> shape;
  std::uint64_t count = 0;
  Value last;  ///< the last prefix; nothing for no elements
  RunReport report;
};

/// Writes the prefix scan of a dataset, in row-major order, to a new file of the same shape.
/// Collective over `communicator`; MPI must be initialised. The output is the same bits for any
/// number of ranks, any backend, slab size and storage layout. Throws the same Error on every rank.
ScanResult scan(MPI_Comm communicator, const std::string& file, const std::string& dataset,
                const ScanOptions& options);

}  // namespace warpfold
