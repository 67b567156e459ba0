#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "warpfold/array_options.hpp"
#include "warpfold/core/array.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// Reduces, scans and sums arrays in host memory, in the caller's thread, to the bits that
/// DeviceCollectives gives; keeps from call to call a communicator of its own and scratch memory.
/// Made by all ranks, and destroyed by all before MPI_Finalize. One call at a time. Calls are
/// collective; MPI must be initialised, unless the communicator is MPI_COMM_SELF. They throw the
/// same Error on every rank, also where ranks differ in types, options or the number of fields.
class HostCollectives {
 public:
  /// Duplicates the communicator. Collective. Throws the same Error on every rank.
  explicit HostCollectives(MPI_Comm communicator);
  /// Frees the communicator and the memory.
  ~HostCollectives();
  /// Takes over another's communicator and memory. The other may then only be destroyed.
  HostCollectives(HostCollectives&&) noexcept;
  /// Frees its own communicator and memory, and takes over another's.
  HostCollectives& operator=(HostCollectives&&) noexcept;

  /// Reduces an array, without the elements whose byte of the mask is 0 (null selects all): on
  /// every rank the same bits, however the array is partitioned. Indices count over all ranks'
  /// elements, those left out as well.
  Summary reduce(const Array& array, const ArrayReduceOptions& options = {},
                 const std::uint8_t* mask = nullptr);

  /// Writes the prefix scan of an array to `output`: memory for as many elements of the output
  /// type, aligned to them; `input.data` itself where both types have the same size.
  void scan(const Array& input, void* output, const ArrayScanOptions& options = {});

  /// Sums fields, all of them in one message: on every rank, of floats the doubles nearest to the
  /// true sums (NaN and infinities as IEEE 754 has them), of integers the exact ones. A field may
  /// have any number of elements on a rank.
  std::vector<Value> sums(const std::vector<Field>& fields);

  /// Throws `mistake` on every rank: for a rank that can't make the call that others make, whatever
  /// that is.
  [[noreturn]] void refuse(const Error& mistake);

 private:
  struct Parts;

  std::unique_ptr<Parts> parts_;
};

}  // namespace warpfold
