#pragma once

#include <hdf5.h>

#include <optional>
#include <string>

#include "io/chunks/noting_driver.hpp"
#include "io/files/posix_file.hpp"
#include "io/hdf5/hdf5_library.hpp"

namespace warpfold::io {

/// An HDF5 file, open read-only, that can be asked which bytes a call of the library would read:
/// raw data are not read then, only their place is noted.
class AddressRecorder {
 public:
  /// Throws an Error beginning with `problem`. Call within a LibraryScope, as all that follows.
  AddressRecorder(const std::string& path, const std::string& problem);
  AddressRecorder(const AddressRecorder&) = delete;
  AddressRecorder& operator=(const AddressRecorder&) = delete;

  hid_t file() const { return file_.get(); }

  /// Returns the raw data that `call` would have read last, if any; whatever buffer it was given
  /// keeps its contents.
  template <class Call>
  std::optional<FileBytes> record(Call call) {
    return driver_.note({.skips_reads = true, .stand_in = {}, .last = {}, .count = 0}, call).last;
  }

 private:
  NotingDriver driver_;
  FileHandle file_;
};

}  // namespace warpfold::io
