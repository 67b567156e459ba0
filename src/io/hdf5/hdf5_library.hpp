#pragma once

#include <hdf5.h>
#include <sys/types.h>

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>

#include "warpfold/core/error.hpp"

/// Returns whether this HDF5 enumerates chunks in one pass (H5Dchunk_iter), rather than by a search
/// from the first chunk on for each of them.
#define WARPFOLD_HDF5_ITERATES_CHUNKS H5_VERSION_GE(1, 12, 3)

/// Returns whether this HDF5 has a class of complex numbers.
#define WARPFOLD_HDF5_HAS_COMPLEX H5_VERSION_GE(2, 0, 0)

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

void note_left_open() noexcept;

/// Returns whether HDF5 failed to give back an identifier of this process. It crashes then when it
/// is torn down: at exit, and in MPI_Finalize where it is parallel.
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

/// Returns what HDF5's error stack says of the last failed call, the innermost cause first, and
/// clears it. Call within a LibraryScope and before any other HDF5 function.
std::string take_library_causes();

/// Makes an Error of such causes; where they say that a file is of a format unknown to this HDF5,
/// one that says just that.
Error library_error(const std::string& problem, const std::string& causes,
                    const std::string& suggestion);

/// Throws an Error whose reason is HDF5's error stack.
[[noreturn]] void throw_library_error(const std::string& problem,
                                      const std::string& suggestion = {});

/// Returns `result`, HDF5's identifier, count or status; throws an Error where it is negative.
template <class Result>
Result require(Result result, const std::string& problem) {
  if (result < 0) throw_library_error(problem);
  return result;
}

/// Appends `name` to `names`, a std::vector<std::string>, for HDF5's iterations: returns less than
/// 0 where there is no memory for it.
herr_t append_name(const char* name, void* names) noexcept;

/// Calls query(text, size), one of HDF5's that return a name's length, and then again for the name.
/// Throws Error.
template <class Query>
std::string queried_name(Query query, const std::string& problem) {
  const ssize_t length = require(query(nullptr, 0), problem);
  std::string name(static_cast<std::size_t>(length), '\0');
  require(query(name.data(), name.size() + 1), problem);
  return name;
}

/// Returns the path of an open object in its file, empty where it has none. Throws an Error
/// beginning with `problem`.
std::string path_of(hid_t object, const std::string& problem);

/// Returns the name of the file that an open object lies in. Throws an Error beginning with
/// `problem`.
std::string stored_file_of(hid_t object, const std::string& problem);

}  // namespace warpfold::io
