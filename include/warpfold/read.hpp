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
  /// Value of elements that don't count: a number of their type, "nan" or "auto". "auto" is NaN for
  /// floats; for integers it is the dataset's `_FillValue` if values are as stored, otherwise
  /// netCDF's default fill value.
  std::string empty = "auto";
  bool on_device = false;  ///< read into GPU memory; the GPU decompresses
  RunOptions run;          ///< `backend` is automatic, or that of the memory
};

/// A rank's part of a dataset: consecutive indices along its first dimension, in rank order. Ranks'
/// numbers of indices differ by at most one.
struct ReadPart {
  ElementType value_type = ElementType::f64;  ///< type of the elements, in native byte order
  std::vector<std::uint64_t> shape;           ///< shape of the whole dataset, as selected
  std::uint64_t first = 0;                    ///< first index of the part along its first dimension
  std::vector<std::uint64_t> part_shape;      ///< shape of the part
  std::optional<int> device;  ///< number of the GPU that holds it, of the visible ones

  /// Returns the number of elements of the part.
  std::uint64_t elements() const;
  /// Returns the number of bytes of the elements.
  std::uint64_t bytes() const;
};

/// Returns memory for a part, aligned to its elements: of the GPU that the part names, or of the
/// host. May throw Error. `std::shared_ptr<void>(data, [](void*) {})` is memory that the caller
/// owns.
using ReadMemory = std::function<std::shared_ptr<void>(const ReadPart& part)>;

/// Allocates GPU memory, which is freed with its last owner. Throws Error if too little is free.
std::shared_ptr<void> allocate_on_device(int device, std::uint64_t bytes);

/// Result of a read. Each rank has its own, except for members that only rank 0 has.
struct ReadResult {
  ReadPart part;                 ///< the rank's part
  std::shared_ptr<void> memory;  ///< memory of its elements, row-major
  ElementFormat format;          ///< as stored
  AppliedAttributes applied;     ///< attributes that unpacked the numbers; on rank 0
  RunReport report;              ///< the run: backend, threads, times; on rank 0
};

/// Reads dataset `dataset` of HDF5 file `file` into memory, decoded. Each rank gets its part, in
/// the memory that `memory` returns for it. The slabs under way take further memory, on a GPU at
/// most RunOptions::device_memory_bytes. All memory is allocated before anything is read. Returns
/// when all elements have been stored. Collective over `communicator`; MPI must be initialised,
/// unless it is MPI_COMM_SELF. The elements have the same bits for any backend, number of ranks,
/// slab size and storage layout. Throws the same Error on every rank: a usage Error for invalid
/// options, another if the file can't be read or memory is too small.
ReadResult read(MPI_Comm communicator, const std::string& file, const std::string& dataset,
                const ReadOptions& options, const ReadMemory& memory);

/// Reads several datasets of a file, which is opened once. Skips datasets that can't be opened,
/// unless they were named. Throws the same Error on every rank.
std::vector<DatasetOutcome<ReadResult>> read(MPI_Comm communicator, const std::string& file,
                                             const DatasetChoice& datasets,
                                             const ReadOptions& options, const ReadMemory& memory);

}  // namespace warpfold
