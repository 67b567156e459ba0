#include "io/files/open_file.hpp"

#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_scope.hpp"

namespace warpfold::io {

class OpenFile::Implementation {
 public:
  explicit Implementation(const std::string& path) : file_(open_for_reading(path)) {}

 private:
  FileHandle file_;
};

OpenFile::OpenFile(const std::string& path) {
  const LibraryScope scope;
  implementation_ = std::make_unique<Implementation>(path);
}

OpenFile::~OpenFile() {
  if (!implementation_) return;
  const LibraryScope scope;
  implementation_.reset();
}

OpenFile::OpenFile(OpenFile&& other) noexcept = default;

}  // namespace warpfold::io
