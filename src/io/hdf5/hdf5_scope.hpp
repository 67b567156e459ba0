#pragma once

#include <hdf5.h>

#include <mutex>

namespace warpfold::io {

/// Held while the HDF5 library is used: lets one thread in at a time, since the library may be
/// built without thread safety, and keeps it from printing errors that are reported as Error.
class LibraryScope {
 public:
  LibraryScope();
  ~LibraryScope();
  LibraryScope(const LibraryScope&) = delete;
  LibraryScope& operator=(const LibraryScope&) = delete;

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

}  // namespace warpfold::io
