#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/chunks/chunk_encoder.hpp"
#include "io/chunks/noting_driver.hpp"
#include "io/hdf5/hdf5_library.hpp"

namespace warpfold::io {

/// Placement of large objects in a new file: objects of `threshold` bytes or more begin at
/// multiples of `boundary`.
struct Alignment {
  hsize_t threshold = 1;
  hsize_t boundary = 1;
};

/// Gives back mapped memory of so many bytes.
struct Unmap {
  std::size_t bytes = 0;
  void operator()(void* memory) const noexcept;
};

/// An HDF5 file that no other program uses, open for writing. It gives chunks their places without
/// their bytes, which other processes may write there meanwhile. Members throw Error, and are
/// called within a LibraryScope, as is the destructor.
class OwnFile {
 public:
  /// Makes an empty file, which any HDF5 from 1.8 on can read.
  void create(const std::string& path, Alignment alignment);

  /// Opens a file that is there.
  void open(const std::string& path, Alignment alignment);

  /// Returns false where HDF5 reports a failure.
  bool close() noexcept { return file_.close(); }

  hid_t get() const noexcept { return file_.get(); }

  /// Enters a chunk of that size into the index of a dataset, given the chunk's first element.
  /// Returns where in the file its bytes have to be written. Errors begin with `problem`.
  std::uint64_t allocate_chunk(hid_t dataset, const std::vector<hsize_t>& origin,
                               const ChunkSize& size, const std::string& problem);

 private:
  PropertiesHandle make_access(Alignment alignment, const std::string& problem);

  /// Returns memory that HDF5 takes for a chunk of so many bytes.
  const void* stand_in(std::size_t bytes, const std::string& problem);

  std::optional<NotingDriver> driver_;
  FileHandle file_;
  std::unique_ptr<void, Unmap> stand_in_;
};

}  // namespace warpfold::io
