#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "warpfold/core/element_type.hpp"

namespace warpfold::io {

/// How a dataset is to be stored. Contiguous unless a chunk shape is given; filters need chunks.
/// Chunk extents beyond the dataset's are cut to them.
struct StorageOptions {
  std::vector<std::uint64_t> chunk_shape;
  std::optional<int> deflate_level;
  bool shuffle = false;
  bool fletcher32 = false;
};

struct OutputSpec {
  std::string path;     ///< the final name
  std::string dataset;  ///< path inside the file; groups in between are made
  std::vector<std::uint64_t> shape;
  ElementFormat format;
  StorageOptions storage;
  bool force = false;  ///< may replace an existing file
  /// The dataset whose attributes are carried over (file, dataset), if any.
  std::optional<std::pair<std::string, std::string>> attributes_from;
  std::vector<std::pair<std::string, std::string>> text_attributes;
};

/// A new HDF5 file under a temporary name beside its final one. Made by one rank. Until commit()
/// nothing exists under the final name; the destructor removes what was not committed.
class StagedFile {
 public:
  /// Throws Error for an existing target without `force`, a target that is the attributes' source
  /// file itself (a usage Error), a folder that is missing or not writable, too little space,
  /// storage options that do not fit the shape (a usage Error).
  explicit StagedFile(OutputSpec spec);
  ~StagedFile();
  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&&) = delete;

  /// Empty once committed.
  const std::string& temporary_path() const { return temporary_path_; }

  /// Where the contiguous dataset's first byte lies; none for chunked storage or no elements.
  std::optional<std::uint64_t> data_offset() const { return data_offset_; }

  /// Makes the file durable and gives it its final name. Throws Error; then nothing is under the
  /// final name that was not there before.
  void commit();

 private:
  OutputSpec spec_;
  std::string temporary_path_;
  std::optional<std::uint64_t> data_offset_;
};

/// Writes bytes into a contiguous dataset that is already allocated; every rank has its own.
class ContiguousWriter {
 public:
  /// Opens `path` (a StagedFile's temporary path), whose dataset begins at byte `data_offset`.
  /// Throws Error.
  ContiguousWriter(std::string path, std::uint64_t data_offset);
  ~ContiguousWriter();
  ContiguousWriter(ContiguousWriter&& other) noexcept;
  ContiguousWriter& operator=(ContiguousWriter&&) = delete;

  /// Writes `bytes` at `byte_offset` from the dataset's start. Threads may write at once. Throws
  /// Error, which for a full disk or quota says how many bytes were left to write.
  void write(std::uint64_t byte_offset, std::span<const std::byte> bytes);

  /// Returns once everything written is on storage. Throws Error.
  void sync();

 private:
  std::string path_;
  std::uint64_t data_offset_;
  int descriptor_ = -1;
};

/// Writes elements into a chunked dataset through the HDF5 library; one rank, in ascending order.
class ChunkedWriter {
 public:
  /// Opens `dataset` of `path` (a StagedFile's temporary path). Throws Error.
  ChunkedWriter(const std::string& path, const std::string& dataset);
  ~ChunkedWriter();
  ChunkedWriter(ChunkedWriter&& other) noexcept;
  ChunkedWriter& operator=(ChunkedWriter&&) = delete;

  /// Writes elements [first, first + bytes.size() / element size) in row-major order. Throws Error.
  void write(std::uint64_t first, std::span<const std::byte> bytes);

  /// Hands everything to the operating system. Throws Error; the destructor alone does not.
  void close();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace warpfold::io
