#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/layout/selection.hpp"
#include "io/dataset/dataset.hpp"
#include "io/dataset/element_part.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/source_files.hpp"
#include "io/hdf5/whole_chunks.hpp"

namespace warpfold::io {

/// A dataset open in the HDF5 library. Construct, use and destroy within a LibraryScope.
class LibraryDataset {
 public:
  /// Throws Error as Dataset does, but for what concerns only the reading of elements.
  LibraryDataset(const std::string& file, const std::string& name);

  const DatasetInfo& info() const { return info_; }

  /// Returns the files beside info().stored_file that elements are read from. Throws an Error that
  /// names missing filters or sources of a virtual dataset.
  std::set<std::string> readable_sources() const;

  /// Returns the files that external links to the dataset lie in.
  std::set<std::string> files_passed() const;

  /// Returns the sources of a virtual dataset whose readable_sources() are there, as
  /// stacked_sources() does.
  std::optional<StackedSources> stacked() const;

  /// Reads `part`, a slice for each dimension of the stored shape, into `out`, which it fills, in
  /// the type and byte order of info().format. Throws Error.
  void read(const Selection& part, std::span<std::byte> out);

 private:
  void read_written(const Selection& part, std::span<std::byte> out);
  void open_for_elements();
  void read_at_once(const Selection& part, std::span<std::byte> out);
  void read_records(const Selection& stored, const Selection& within, std::span<std::byte> out);

  std::string problem_;
  FileHandle file_;
  std::string dataset_name_;  ///< without a member
  DatasetHandle dataset_;
  ElementPart part_;
  ElementType number_type_ = ElementType::f64;  ///< type of the part's numbers
  TypeHandle memory_type_;
  DatasetInfo info_;
  std::size_t stored_element_bytes_ = 0;
  bool zero_first_ = false;
  /// Elements that were last read of arrays or pairs, and which: a large array is read in several
  /// calls.
  std::vector<std::byte> records_;
  std::optional<Selection> last_piece_;
  std::optional<WholeChunks> whole_chunks_;  ///< once dataset_ is open for its elements
};

/// A size of HDF5's cache of uncompressed chunks for one dataset.
struct ChunkCache {
  std::size_t bytes = 0;
  std::size_t slots = 1;  ///< slots of its hash table; a prime
};

/// Returns a cache for access in row-major order: it holds one row of chunks (all chunks with the
/// same index along the first dimension), at most 256 MiB, but never less than one chunk, which
/// HDF5 has to hold in memory anyway.
ChunkCache chunk_cache_for(std::span<const std::uint64_t> shape,
                           std::span<const std::uint64_t> chunk_shape, std::size_t element_bytes);

/// Cuts `part`, a slice for each dimension of a dataset in chunks of `chunk_shape`, into pieces
/// that follow one another in row-major order and lie in no more than `max_chunks` chunks each, as
/// far as pieces of more than one element can. Neither empty; all extents 1 or more.
std::vector<Selection> pieces_by_chunks(const Selection& part,
                                        std::span<const std::uint64_t> chunk_shape,
                                        std::uint64_t max_chunks);

}  // namespace warpfold::io
