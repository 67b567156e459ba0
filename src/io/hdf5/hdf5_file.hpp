#pragma once

#include <string>

#include "io/hdf5/hdf5_library.hpp"

namespace warpfold::io {

/// The functions below throw Error, and are called within a LibraryScope.

/// Makes properties with which files are opened by HDF5's plain file driver, so that their bytes
/// lie where HDF5 says, and that bound what the library keeps of objects.
PropertiesHandle make_access();

/// Opens an HDF5 file read-only; says whether it is missing, a folder, not readable, not HDF5,
/// truncated, or being written. Opens it without a lock if the file system has none.
FileHandle open_for_reading(const std::string& path);

/// Keeps a file open: as long as it lives, open_for_reading() returns the same file for its path,
/// unless another has taken its place. Made and destroyed within a LibraryScope.
class KeptFile {
 public:
  /// Throws what open_for_reading() throws.
  explicit KeptFile(const std::string& path);
  ~KeptFile();
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;

 private:
  std::string path_;
  FileHandle file_;
  bool is_noted_ = false;
};

/// Makes the creation properties of a new file (`properties` is H5P_FILE_CREATE), for its root
/// group, or of a group (H5P_GROUP_CREATE): the order of links and attributes is kept, times are
/// not.
PropertiesHandle make_group_creation(hid_t properties, const std::string& problem);

}  // namespace warpfold::io
