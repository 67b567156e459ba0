#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warpfold/applied_attributes.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/run_options.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold {

/// Options of reading.
struct ReadOptions {
  ViewOptions view;  ///< which elements count, and their values
  /// The value of elements that don't count: a number of their type, or "nan"; "auto": NaN in
  /// floats, in integers the dataset's `_FillValue` where values are as stored, otherwise netCDF's
  /// default fill value.
  std::string empty = "auto";
  bool on_device = false;  ///< reads into GPU memory: the GPU decompresses and decodes
  RunOptions run;          ///< `backend` is automatic, or that of the memory
};

/// A rank's part of a dataset: consecutive indices along its first dimension, in rank order; their
/// numbers differ by at most one.
struct ReadPart {
  ElementType value_type = ElementType::f64;  ///< type of the elements, in native byte order
  std::vector<std::uint64_t> shape;           ///< shape of the whole dataset, as selected
  std::uint64_t first = 0;                    ///< first index of the part along its first dimension
  std::vector<std::uint64_t> part_shape;      ///< shape of the part
  std::optional<int> device;  ///< number of the GPU that is to hold it, among the visible ones

  /// Counts the elements of the part.
  std::uint64_t elements() const;
  /// Counts their bytes.
  std::uint64_t bytes() const;
};

/// Returns memory for a part, aligned to its elements: of the GPU that it names, or of the host.
/// May throw Error. `std::shared_ptr<void>(data, [](void*) {})` is memory that a caller keeps.
using ReadMemory = std::function<std::shared_ptr<void>(const ReadPart& part)>;

/// Allocates memory of a GPU, which is freed with the last owner. Throws Error where too little is
/// free.
std::shared_ptr<void> allocate_on_device(int device, std::uint64_t bytes);

/// A read's result is each rank's own but for what is said to be rank 0's.
struct ReadResult {
  ReadPart part;                 ///< the rank's part
  std::shared_ptr<void> memory;  ///< memory of its elements, row-major
  ElementFormat format;          ///< as stored
  AppliedAttributes applied;     ///< attributes that unpacked the stored numbers; on rank 0
  RunReport report;              ///< the run: backend, threads, times; on rank 0
};

/// Reads dataset `dataset` of HDF5 file `file` into memory, decoded: each rank gets its part, in
/// what `memory` returns once it is known. Beside it a run takes memory for the slabs under way, on
/// a GPU at most RunOptions::device_memory_bytes. All of it is allocated before anything is read.
/// Returns once the elements are there. Collective over `communicator`; MPI must be initialised,
/// unless it is MPI_COMM_SELF. The elements are the same bits on any backend, for any number of
/// ranks, slab size and storage layout. Throws the same Error on every rank: a usage Error for
/// options that make no sense, any other where the file can't be read, or memory is too small.
ReadResult read(MPI_Comm communicator, const std::string& file, const std::string& dataset,
                const ReadOptions& options, const ReadMemory& memory);

/// Reads several datasets of a file, which is opened once. Those that were chosen by a pattern, or
/// because all were, and can't be opened are skipped. Throws the same Error on every rank.
std::vector<DatasetOutcome<ReadResult>> read(MPI_Comm communicator, const std::string& file,
                                             const DatasetChoice& datasets,
                                             const ReadOptions& options, const ReadMemory& memory);

}  // namespace warpfold
