#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "warpfold/core/scan_operation.hpp"
#include "warpfold/core/summary.hpp"
#include "warpfold/device_array.hpp"

namespace warpfold {

/// Floating-point elements are summed in one of these ways.
enum class FloatSums : std::uint8_t {
  /// Gives the exact prefixes, each rounded once: the same bits for any ranks and on any machine.
  reproducible,
  /// Adds in the output type's own arithmetic: gives the same bits from run to run for the same
  /// partitions on one GPU model. Input and output type are the same, f32 or f64. Takes 0.8 to 0.9
  /// of the time, less where elements spread over many binary orders or cancel.
  fast
};

struct DeviceScanOptions {
  ScanOperation operation = ScanOperation::sum;
  bool exclusive = false;
  std::optional<ElementType> output_type;  ///< default_scan_output() where not given
  /// `error`: a prefix of integers that its output type can't hold is an Error that names the first
  /// such index; the output is then unspecified. Costs nothing where the number of elements
  /// excludes it; else the last rank reads its input twice as well, and all wait for their prefixes
  /// where the sums of their positive and negative elements don't exclude it.
  OverflowPolicy overflow = OverflowPolicy::error;
  FloatSums float_sums = FloatSums::reproducible;
};

/// Writes the prefix scan of an array in device memory, behind what `stream` holds, to `output`:
/// device memory for as many elements of the output type, aligned to them; `input.data` itself
/// where both types have the same size. What is put into `stream` later meets the prefixes; the
/// call may return before they are there. Ranks read their elements twice (reduce, MPI_Exscan,
/// scan); the last one, or one alone, once.
///
/// Collective over `communicator`; MPI must be initialised, unless it is MPI_COMM_SELF, options and
/// types equal on all ranks. Throws the same Error on every rank.
///
/// DeviceCollectives does the same without setting up anew in each call.
void scan(MPI_Comm communicator, const DeviceArray& input, void* output,
          const DeviceScanOptions& options = {}, DeviceStream stream = nullptr);

}  // namespace warpfold
