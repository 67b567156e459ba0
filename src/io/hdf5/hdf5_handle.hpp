#pragma once

#include <hdf5.h>

#include <utility>

namespace warpfold::io {

void note_left_open() noexcept;

/// Whether HDF5 failed to give back an identifier of this process. It crashes then when it is torn
/// down: at exit, and in MPI_Finalize where it is parallel.
bool left_something_open() noexcept;

/// Owns one HDF5 identifier and gives it back with `close_function`.
template <herr_t (*close_function)(hid_t)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) noexcept : id_(id) {}
  ~Handle() { close(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      close();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
    }
    return *this;
  }

  hid_t get() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ >= 0; }

  /// Gives the identifier back early; false where HDF5 reports a failure.
  bool close() noexcept {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    const bool closed = id < 0 || close_function(id) >= 0;
    if (!closed) note_left_open();
    return closed;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using AttributeHandle = Handle<H5Aclose>;
using DatasetHandle = Handle<H5Dclose>;
using FileHandle = Handle<H5Fclose>;
using GroupHandle = Handle<H5Gclose>;
using ObjectHandle = Handle<H5Oclose>;
using PropertiesHandle = Handle<H5Pclose>;
using SpaceHandle = Handle<H5Sclose>;
using TypeHandle = Handle<H5Tclose>;

}  // namespace warpfold::io
