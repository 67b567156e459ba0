#pragma once

#include <memory>
#include <string>

namespace warpfold::io {

/// Holds a file open for reading: the HDF5 library reads its metadata but once while datasets of it
/// are opened and closed.
class OpenFile {
 public:
  /// Throws Error, as a Dataset does for its file.
  explicit OpenFile(const std::string& path);
  ~OpenFile();
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace warpfold::io
