#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "warpfold/core/element_range.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::io {

enum class Layout : std::uint8_t { compact, contiguous, chunked, external, virtual_ };

struct Filter {
  int id = 0;
  std::string name;
  bool available = true;
};

/// What is known of a dataset without reading its elements. Shapes are in elements, row-major.
struct DatasetInfo {
  std::string file;
  std::string name;
  ElementFormat format;
  std::string stored_type;  ///< as users know it: "float32 big-endian", "bool", "enum of int8"
  std::vector<std::uint64_t> shape;  ///< empty for a scalar
  std::uint64_t elements = 0;        ///< 1 for a scalar, 0 for a null dataspace
  Layout layout = Layout::contiguous;
  std::vector<std::uint64_t> chunk_shape;  ///< empty unless chunked
  std::vector<Filter> filters;             ///< in the order they were applied
  std::uint64_t stored_bytes = 0;
  /// Where a contiguous dataset's first element lies in the file, all others packed behind it in
  /// `format`; none where nothing is allocated or the stored bits are not those of `format`.
  std::optional<std::uint64_t> file_offset;
};

/// How elements are fetched: by the quickest way there is, or always by the HDF5 library.
enum class ReadPath : std::uint8_t { automatic, library };

/// A dataset open for reading. Elements arrive in the file's own type and byte order, packed, in
/// row-major order. One object serves one thread at a time; ranks open the file on their own.
class Dataset {
 public:
  /// Throws Error for a missing or unreadable file, a file that is not HDF5 or is truncated, an
  /// unknown dataset (lists those there are), an unsupported type (named), a missing filter, a
  /// virtual dataset with a missing source.
  Dataset(const std::string& file, const std::string& name, ReadPath path = ReadPath::automatic);

  /// Opens a dataset that another process has described, of the same file: without the HDF5 library
  /// where its bytes are known to lie together. Throws Error.
  explicit Dataset(const DatasetInfo& known);
  ~Dataset();
  Dataset(Dataset&& other) noexcept;
  Dataset& operator=(Dataset&& other) noexcept;

  const DatasetInfo& info() const;

  /// Reads `range` into `out`, which holds range.count * size_of(type) bytes. Throws Error.
  void read(ElementRange range, std::span<std::byte> out);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// One line of a file's table of contents.
struct DatasetListing {
  std::string name;  ///< path without a leading slash
  std::string stored_type;
  std::vector<std::uint64_t> shape;
  std::string unsupported;  ///< why its elements cannot be read; empty if they can
};

/// Every dataset of a file in the order of its path, also those that cannot be read.
std::vector<DatasetListing> list_datasets(const std::string& file);

}  // namespace warpfold::io
