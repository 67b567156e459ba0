#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>

#include "core/layout/selection.hpp"
#include "io/dataset/dataset.hpp"
#include "io/hdf5/hdf5_handle.hpp"

namespace warpfold::io {

/// A dataset open in the HDF5 library. Construct, use and destroy within a LibraryScope.
class LibraryDataset {
 public:
  /// Throws Error as Dataset does, but for what concerns only the reading of elements.
  LibraryDataset(const std::string& file, const std::string& name);

  const DatasetInfo& info() const { return info_; }

  /// The files beside info().stored_file that elements are read from. Throws an Error that names
  /// missing filters or sources of a virtual dataset.
  std::set<std::string> readable_sources() const;

  /// Reads `part`, a slice for each dimension of the stored shape, into `out`, which it fills, in
  /// the type and byte order of info().format. Throws Error.
  void read(const Selection& part, std::span<std::byte> out);

 private:
  void enlarge_chunk_cache();
  void read_at_once(const Selection& part, std::span<std::byte> out) const;

  std::string problem_;
  FileHandle file_;
  DatasetHandle dataset_;
  TypeHandle memory_type_;
  DatasetInfo info_;
  bool zero_first_ = false;
  bool cache_enlarged_ = false;
};

}  // namespace warpfold::io
