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

/// Reduces, scans and sums arrays in host memory, in the caller's thread, with the same bits as
/// DeviceCollectives. Keeps a communicator of its own and scratch memory between calls. All ranks
/// construct it, and destroy it before MPI_Finalize. One call at a time. Calls are collective; MPI
/// must be initialised, unless the communicator is MPI_COMM_SELF. They throw the same Error on
/// every rank, also if ranks differ in types, options or the number of fields.
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

  /// Reduces an array. Elements whose byte of the mask is 0 are skipped; null selects all. Every
  /// rank gets the same bits, for any partition. Indices count over the elements of all ranks,
  /// including skipped ones.
  Summary reduce(const Array& array, const ArrayReduceOptions& options = {},
                 const std::uint8_t* mask = nullptr);

  /// Writes the prefix scan of an array to `output`: memory for `input.count` elements of the
  /// output type, aligned to them. It may be `input.data` if both types have the same size.
  void scan(const Array& input, void* output, const ArrayScanOptions& options = {});

  /// Sums all fields in one message. Every rank gets the sums: of floats the doubles nearest to the
  /// true ones (NaN and infinities as in IEEE 754), of integers the exact ones. A field may have
  /// any number of elements on a rank.
  std::vector<Value> sums(const std::vector<Field>& fields);

  /// Throws `mistake` on every rank. A rank that can't make the call that the others make calls
  /// this instead.
  [[noreturn]] void refuse(const Error& mistake);

 private:
  struct Parts;

  std::unique_ptr<Parts> parts_;
};

}  // namespace warpfold
