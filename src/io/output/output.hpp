#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/chunks/chunk_encoder.hpp"
#include "io/files/posix_file.hpp"
#include "io/output/carried_dimension.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/reported_numbers.hpp"
#include "warpfold/core/storage_options.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::io {

struct OutputDataset {
  std::string dataset;  ///< path inside the file; groups in between are made
  std::vector<std::uint64_t> shape;
  ElementFormat format;
  StorageOptions storage;                            ///< with a chunk_shape, or contiguous
  bool carries_attributes = true;                    ///< attributes of OutputSpec::attributes_from
  std::vector<std::string> dropped_attributes = {};  ///< attributes not carried over
  Value fill_value = {};                             ///< for an attribute `_FillValue`, if any
  /// Text attributes in place of those carried over; none where there is to be no such attribute.
  std::vector<std::pair<std::string, std::optional<std::string>>> changed_text = {};
};

/// Throws a usage Error where the storage options of `spec` fit neither each other nor its shape.
void require_valid_storage(const OutputDataset& spec);

/// A dimension of outputs that their input does not have, and its coordinate.
struct OutputDimension {
  std::string name;
  ElementType type = ElementType::i64;      ///< type of numbers
  std::vector<std::uint64_t> numbers = {};  ///< value_bits() of integers
  std::vector<std::string> texts = {};      ///< in place of numbers, if any
  std::size_t place = 0;                    ///< among the dimensions of outputs
  bool is_of_cells = false;  ///< the coordinate is beside that of cells, where these have one
};

/// A file of one dataset, or more.
struct OutputSpec : OutputDataset {
  std::string path;                   ///< the final name
  std::vector<OutputDataset> others;  ///< datasets 1, 2, ...; this one is dataset 0
  bool keeps_others = false;          ///< other datasets of an existing file stay
  /// May replace an existing file, or, where that keeps others, datasets of these names in it.
  bool force = false;
  std::set<std::string> inputs;  ///< files that it must not replace in any case
  /// The dataset whose attributes are carried over (file, dataset), if any.
  std::optional<std::pair<std::string, std::string>> attributes_from;
  /// How outputs have each of that dataset's dimensions.
  std::vector<CarriedDimension> dimensions;
  std::string merged_name;               ///< name of the one dimension that replaces merged ones
  std::optional<OutputDimension> added;  ///< in place of those that are merged, or of cells
  std::vector<std::pair<std::string, std::string>> text_attributes;  ///< attributes of each dataset
  /// A line for the file's attribute `history`, above those of the file that `attributes_from`
  /// names.
  std::string history;
  /// Takes what a reader of outputs has to know, a sentence each; none: nobody does.
  std::function<void(const std::string&)> note;

  const OutputDataset& dataset_at(std::size_t number) const {
    return number == 0 ? *this : others[number - 1];
  }
};

/// Returns the coordinates that outputs of `spec` have, which are computed from a dataset: of each
/// of their dimensions the first. Notes what outputs lack. Throws Error.
std::vector<ReportedCoordinate> coordinates_of(const OutputSpec& spec);

/// A new HDF5 file under a temporary name beside its final one, to which datasets are added one
/// after another. Made by one rank. Until commit() nothing exists under the final name; the
/// destructor removes what was not committed.
class StagedFile {
 public:
  /// Stages the datasets of `spec`: all bytes of contiguous ones are there to be written. Throws
  /// Error for an existing target without `force`, a target that is one of the inputs (a usage
  /// Error), a folder that is missing or not writable, too little space, storage options that do
  /// not fit the shape (a usage Error), a target whose other datasets can't be kept, a dataset that
  /// is there already.
  explicit StagedFile(OutputSpec spec);
  ~StagedFile();
  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&&) = delete;

  /// Stages further datasets, of the same file, in place of those that were not finished. Throws
  /// likewise.
  void stage(OutputSpec spec);

  const std::string& temporary_path() const;

  /// Tells where a staged contiguous dataset's first byte lies; none for chunked storage or no
  /// elements.
  std::optional<std::uint64_t> data_offset(std::size_t dataset = 0) const;

  /// Enters chunk `number` of a staged dataset, which is chunked, into the file: numbers are in
  /// row-major order, each is entered once, in any order, on which its place depends. Returns the
  /// byte of the file where whoever has the chunk writes it. Throws Error.
  std::uint64_t allocate_chunk(std::uint64_t number, const ChunkSize& size,
                               std::size_t dataset = 0);

  /// Gives the staged datasets their names, attributes and coordinates. Throws Error.
  void finish();

  /// Leaves the staged datasets out of the file.
  void drop();

  /// Finishes what is staged, makes the file durable and gives it its final name. Throws Error;
  /// then nothing is under the final name that was not there before.
  void commit();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

class MemoryFile;

/// Pages of a file that ranks write to at once: each has its own, or they share some.
enum class SharedPages : std::uint8_t { none, some };

/// Writes bytes into a contiguous dataset that is already allocated, or chunks that are; every rank
/// has its own. Or hands them to a function.
class ContiguousWriter {
 public:
  /// Takes bytes for a place, counted from the dataset's start. Threads may call it at once.
  using Sink = std::function<void(std::uint64_t byte_offset, std::span<const std::byte> bytes)>;

  /// Hands all bytes to `sink`.
  explicit ContiguousWriter(Sink sink);

  /// Opens `path` (a StagedFile's temporary path), whose dataset begins at byte `data_offset`; that
  /// is 0 for chunks. Errors name `output`, the file's final name, if that is given. Throws Error.
  ContiguousWriter(const std::string& path, std::uint64_t data_offset,
                   const std::string& output = {}, SharedPages shared = SharedPages::none);
  ~ContiguousWriter();
  ContiguousWriter(ContiguousWriter&& other) noexcept;
  ContiguousWriter& operator=(ContiguousWriter&&) = delete;

  /// Writes `bytes` at `byte_offset` from the dataset's start. Threads may write at once. Throws
  /// Error, which for a full disk or quota says how many bytes were left to write.
  void write(std::uint64_t byte_offset, std::span<const std::byte> bytes);

  /// Counts the bytes from so many on from here on.
  void skip(std::uint64_t bytes) { data_offset_ += bytes; }

  /// Returns once everything written is on storage. Throws Error.
  void sync();

 private:
  std::string problem_;
  std::uint64_t data_offset_;
  FileDescriptor descriptor_;
  std::unique_ptr<MemoryFile> memory_;
  Sink sink_;  ///< in place of a file
};

/// Reads such a dataset's bytes back once all ranks have synced theirs.
class ContiguousReader {
 public:
  /// Opens the file as ContiguousWriter does.
  ContiguousReader(const std::string& path, std::uint64_t data_offset,
                   const std::string& output = {});

  /// Fills `out` from `byte_offset` on, from the dataset's start. Throws Error.
  void read(std::uint64_t byte_offset, std::span<std::byte> out) const;

 private:
  std::string problem_;
  std::uint64_t data_offset_;
  FileDescriptor descriptor_;
};

}  // namespace warpfold::io
