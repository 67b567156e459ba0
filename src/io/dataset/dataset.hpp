#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/layout/chunk_grid.hpp"
#include "core/layout/hyperslab.hpp"
#include "core/layout/selection.hpp"
#include "core/values/packing.hpp"
#include "io/files/byte_reader.hpp"
#include "io/files/file_versions.hpp"
#include "io/filters/filter.hpp"
#include "io/filters/narrow_elements.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/read_path.hpp"

namespace warpfold::io {

struct DatasetParts;

enum class Layout : std::uint8_t { compact, contiguous, chunked, external, virtual_ };

/// A dataset as its file has it.
struct StoredDataset {
  std::string file;
  std::string name;
  std::string stored_file;  ///< file that contains it: differs from `file` after an external link
  std::set<std::string> link_files;  ///< that external links to it lie in; known to who opened it
  ElementFormat format;
  NarrowElements narrow;    ///< elements of chunks are widened to `format`
  std::string stored_type;  ///< as users know it: "float32 big-endian", "bool", "enum of int8"
  /// Whether the attribute `_Unsigned` says that these signed integers have no sign.
  bool marked_unsigned = false;
  bool taken_as_unsigned = false;           ///< `format` is of integers without a sign for that
  std::vector<std::uint64_t> stored_shape;  ///< empty for a scalar
  /// The extents that the file has elements of, where a netCDF variable lacks records that its
  /// unlimited dimensions have: others are `missing_element`. Empty where there are all.
  std::vector<std::uint64_t> written_shape;
  std::array<std::byte, 8> missing_element = {};  ///< as it would be stored
  Layout layout = Layout::contiguous;
  std::vector<std::uint64_t> chunk_shape;  ///< as stored; empty unless chunked
  std::vector<Filter> filters;             ///< in the order they were applied
  std::uint64_t stored_bytes = 0;
  /// One element in `format`, for chunks that were never written.
  std::array<std::byte, 8> fill = {};
  std::uint64_t unwritten_chunks = 0;  ///< counts all chunks, not only selected ones
  bool has_default_fill = false;       ///< elements of netCDF's default fill value are missing
  bool partial_edge_chunks_filtered = true;
  /// Files whose datasets were concatenated along a dimension, `file` the first; empty for one
  /// file.
  std::vector<std::string> files;
  std::size_t concatenated_along = 0;
  std::string new_dimension;  ///< name of that dimension, the first, where each file lacks it
  std::vector<std::uint64_t> file_extents;  ///< each file's along it; known to who opened them
  /// Facts that a reader of results has to know, a sentence each.
  std::vector<std::string> notes;
};

/// The selected part of a dataset.
struct SelectedPart {
  Selection selection;  ///< selection of the stored elements; empty if all are selected
  std::vector<std::uint64_t> shape;  ///< as selected
  std::uint64_t elements = 0;        ///< selected; 1 for a scalar, 0 for a null dataspace
};

/// Chunks that are needed, by their indices along one dimension of their grid.
struct NeededChunks {
  std::uint64_t stride = 1;  ///< consecutive chunks that share an index
  std::vector<bool> along;

  bool holds(std::uint64_t number) const { return along[number / stride % along.size()]; }
};

/// How a dataset's elements are read.
struct ReadPlan {
  std::string problem;                ///< begins what an Error says of it: "cannot read ..."
  ReadPath path = ReadPath::library;  ///< never `automatic`
  std::string path_reason;  ///< why not a quicker path, or empty: "it is virtual", "filter zfp"
  /// Byte of the file at which a contiguous dataset's first stored element lies, all others packed
  /// behind it in `format`; none where nothing is allocated or the stored bits are not those of
  /// `format`.
  std::optional<std::uint64_t> file_offset;
  /// Other files that elements lie in: sources of a virtual dataset, external raw files. Known once
  /// it is opened to be read.
  std::set<std::string> source_files;
  /// Datasets that lie one behind another in it, as those of several files, or the sources of a
  /// virtual dataset, and are read in its place; null where none do.
  std::shared_ptr<const DatasetParts> parts;
  std::vector<NeededChunks> needed;  ///< chunks that are read, where all have them; others are fill
};

/// Metadata of a dataset, known without reading its elements. Shapes are in elements, row-major.
struct DatasetInfo : StoredDataset, SelectedPart, ReadPlan {};

/// Dimension along which datasets follow one another.
struct JoinedDimension {
  std::size_t number = 0;
  std::string new_name = {};  ///< name of a new dimension, the first, of one index each; else empty

  bool is_new() const { return !new_name.empty(); }
};

/// Parts differ in their extents along one dimension alone, and where they are unpacked in how they
/// are stored; each has elements and selects all.
struct DatasetParts {
  std::size_t dimension = 0;
  bool is_new = false;               ///< parts lack the dimension, and are one index of it each
  std::vector<std::uint64_t> first;  ///< index along it, of each
  std::vector<DatasetInfo> infos;
  std::vector<Packing> packings;  ///< each one's, where all are unpacked when read
  UnpackedValues unpacked;        ///< form of the dataset's elements then

  /// Returns the indices of a dataset, which may be a part, along the dimension.
  std::uint64_t extent_of(const DatasetInfo& part) const {
    return is_new ? 1 : part.stored_shape[dimension];
  }

  /// Makes the dataset's elements of some that part `part` stores. Throws an Error where one can't
  /// be distinguished from those left out.
  void unpack(std::size_t part, std::span<const std::byte> stored,
              std::span<std::byte> elements) const;
};

/// Returns whether elements are values already: those of parts that each have a packing of their
/// own.
bool is_unpacked(const DatasetInfo& info);

/// Makes integers that are marked as unsigned such: `format` is of unsigned ones from now on.
void take_as_unsigned(StoredDataset& info);

/// Lists all files that must stay as they are for the dataset to be read.
std::set<std::string> input_files(const DatasetInfo& info);

/// Returns whether a dimension, as stored, goes on from file to file.
inline bool is_joined_along(const DatasetInfo& info, std::size_t dimension) {
  return !info.files.empty() && dimension == info.concatenated_along;
}

/// Lists those of them that are there for the named datasets of a file; a dataset that can't be
/// opened has none but the file.
std::set<std::string> files_beneath(const std::string& file, const std::vector<std::string>& names);

/// Returns a slice for each dimension of the stored shape, also where everything is selected.
Selection selection_of(const DatasetInfo& info);

/// Returns a box of info.shape as slices, one for each dimension of the stored shape.
Selection part_of_box(const DatasetInfo& info, const Hyperslab& box);

/// Counts the bytes of one chunk of a chunked dataset without filters.
std::uint64_t chunk_bytes_of(const StoredDataset& info);

/// Returns whether a filter, by its number, is one of the dataset's.
bool has_filter(const StoredDataset& info, int id);

/// Returns the grid of a chunked dataset's chunks, with what is selected of it.
ChunkGrid grid_of(const DatasetInfo& info);

/// Bytes of the file to read for all that is selected, about: chunks whole and all taken to be as
/// large.
std::uint64_t bytes_to_read(const DatasetInfo& info);

/// A dataset open for reading. Elements arrive in the file's own type and byte order, packed, in
/// row-major order. Threads may read at once, though only one is in the HDF5 library at a time:
/// where `file_offset` is known and the path is direct, read() does without it. Chunks are read
/// quicker by a ChunkSource. Ranks open the file on their own.
class Dataset {
 public:
  /// Throws Error for a missing or unreadable file, a file that is not HDF5 or is truncated, an
  /// unknown dataset (lists those there are), an unsupported type (named), a filter that is missing
  /// where the library is to undo it, a virtual dataset with a missing source; a usage Error for a
  /// path that is not open to the dataset.
  Dataset(const std::string& file, const std::string& name, ReadPath path = ReadPath::automatic);

  /// Opens the datasets called `name` of several files as one, each behind the one before it along
  /// a dimension. `packing_of` is called with the description of each, its file open; where
  /// packings differ, elements are unpacked values. Throws as for one file, and an Error that names
  /// two files whose other extents are not the same, or whose values no type holds.
  Dataset(const std::vector<std::string>& files, const std::string& name,
          const JoinedDimension& dimension, ReadPath path,
          const std::function<Packing(const DatasetInfo&)>& packing_of);

  /// Opens a dataset that another process has described, of the same file: without the HDF5 library
  /// unless that is its path. Throws Error.
  explicit Dataset(const DatasetInfo& known);
  ~Dataset();
  Dataset(Dataset&& other) noexcept;
  Dataset& operator=(Dataset&& other) noexcept;

  const DatasetInfo& info() const;

  void take_as_unsigned();

  /// Adds a sentence to info().notes, unless it is empty.
  void add_note(const std::string& text);

  /// Makes a part of the stored elements all there are from now on: a slice for each dimension of
  /// info().stored_shape. Before any thread reads.
  void select(const Selection& selection);

  /// Has chunks not be read, but be as if never written, none of whose selected indices along a
  /// dimension of the stored shape is needed: that of a number where its bit is set.
  void need(std::size_t dimension, std::span<const std::uint64_t> words);

  /// Reads `range` into `out`, which holds range.count * size_of(type) bytes. Throws Error.
  void read(ElementRange range, std::span<std::byte> out);

  /// Sets how fetch() reads from now on: until then through the operating system's cache. Before
  /// any thread reads.
  void choose_cache(FileCache cache);

  /// Returns whether fetch() may read past the cache, as far as choose_cache() could tell.
  bool may_read_past_cache() const;

  /// Reads a range, or a box of info().shape, packed. Returns where in `buffer` the elements lie,
  /// aligned to their size; the rest of it may be overwritten. A buffer that holds fetch_slack
  /// bytes more begins at a multiple of 4096 bytes: it may be read into past the cache.
  std::span<std::byte> fetch(ElementRange range, std::span<std::byte> buffer);
  std::span<std::byte> fetch(const Hyperslab& box, std::span<std::byte> buffer);

  /// Returns what its files were when it was opened.
  const FileVersions& file_versions() const;

  /// Throws an Error if the file was written to or replaced since it was opened.
  void require_unchanged() const { make_require_unchanged()(); }

  /// Returns what does so, also once the dataset is closed.
  std::function<void()> make_require_unchanged() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

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

/// One line of a file's table of contents.
struct DatasetListing {
  std::string name;  ///< path without a leading slash
  std::string stored_type;
  std::vector<std::uint64_t> shape;
  bool is_null = false;     ///< a null dataspace, of no elements
  std::string unsupported;  ///< why its elements cannot be read; empty if they can
  bool damaged = false;     ///< as it can't be opened, a link leads nowhere, say
};

/// Returns whether a name stands for the datasets of a file that it matches: it has `*`, `?` or
/// `[`, and no dataset is called so. Throws Error.
bool is_pattern(const std::string& file, const std::string& name);

/// Returns whether a file has a dataset of that name, or a member of one. Throws Error.
bool has_dataset(const std::string& file, const std::string& name);

/// Lists a file's datasets in the order of their paths, all or those that match a pattern (`*`, `?`
/// and `[...]` stand for what they do in a shell, and for no slash), also those that cannot be
/// read, and behind links of all kinds. A dataset with several names is listed by one of them: a
/// hard link's where all are wanted.
std::vector<DatasetListing> list_datasets(const std::string& file, const std::string& pattern = "");

}  // namespace warpfold::io
