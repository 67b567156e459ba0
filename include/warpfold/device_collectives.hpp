#pragma once

#include <mpi.h>

#include <memory>

#include "warpfold/core/error.hpp"
#include "warpfold/core/summary.hpp"
#include "warpfold/device_array.hpp"
#include "warpfold/device_reduce.hpp"
#include "warpfold/device_scan.hpp"

namespace warpfold {

/// Reduces and scans arrays in the memory of the device that is current at construction. Keeps a
/// communicator of its own, scratch memory and page-locked memory between calls. All ranks
/// construct it, and destroy it before MPI_Finalize. One call at a time.
class DeviceCollectives {
 public:
  /// Takes the current device. Collective. Throws Error on every rank if any rank has no GPU, or
  /// the library was built without CUDA.
  explicit DeviceCollectives(MPI_Comm communicator);
  /// Frees the communicator and the memory.
  ~DeviceCollectives();
  /// Takes over another's communicator and memory. The other may then only be destroyed.
  DeviceCollectives(DeviceCollectives&&) noexcept;
  /// Frees its own communicator and memory, and takes over another's.
  DeviceCollectives& operator=(DeviceCollectives&&) noexcept;

  /// Reduces an array as the function reduce() does.
  Summary reduce(const DeviceArray& array, const DeviceReduceOptions& options = {},
                 DeviceStream stream = nullptr);
  /// Scans an array as the function scan() does.
  void scan(const DeviceArray& input, void* output, const DeviceScanOptions& options = {},
            DeviceStream stream = nullptr);

  /// Throws `mistake` on every rank. A rank that can't make the call that the others make calls
  /// this instead.
  [[noreturn]] void refuse(const Error& mistake);

 private:
  struct Parts;

  std::unique_ptr<Parts> parts_;
};

}  // namespace warpfold
