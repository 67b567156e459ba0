#pragma once

#include <hdf5.h>

#include <cstddef>
#include <optional>
#include <string>

#include "io/files/posix_file.hpp"
#include "io/hdf5/hdf5_library.hpp"

namespace warpfold::io {

/// A file driver of HDF5 that reads and writes files as its plain one does, but for raw data that
/// its owner wants to know the place of: that is noted in place of being read or written. See "HDF5
/// Virtual File Layer" in the HDF5 documentation. Used within a LibraryScope.
class NotingDriver {
 public:
  /// Throws an Error beginning with `problem`.
  explicit NotingDriver(const std::string& problem);
  NotingDriver(const NotingDriver&) = delete;
  NotingDriver& operator=(const NotingDriver&) = delete;

  /// Makes files that are opened with the properties `access` use this driver, which has to outlive
  /// them. Throws Error as the constructor does.
  void set_in(hid_t access, const std::string& problem);

  /// State shared by the driver and its files.
  struct Notes {
    bool skips_reads = false;        ///< raw data is not read
    const void* stand_in = nullptr;  ///< bytes at this address are not written
    std::optional<FileBytes> last;   ///< the last bytes noted
    std::size_t count = 0;           ///< how often something was noted
  };

  /// Runs `call` with such notes; returns what came of them.
  template <class Call>
  Notes note(const Notes& notes, Call call) {
    const Noting noting(notes_, notes);
    call();
    return notes_;
  }

 private:
  struct Noting {
    Noting(Notes& own, const Notes& notes) : own_(own) { own_ = notes; }
    ~Noting() { own_ = {}; }
    Noting(const Noting&) = delete;
    Noting& operator=(const Noting&) = delete;
    Notes& own_;
  };

  Notes notes_;
  Handle<H5FDunregister> driver_;
};

}  // namespace warpfold::io
