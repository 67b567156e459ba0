#include "io/dataset.hpp"

#include <optional>
#include <utility>

#include "io/byte_reader.hpp"
#include "io/dataset_info.hpp"
#include "io/file_version.hpp"
#include "io/hdf5_scope.hpp"
#include "io/library_dataset.hpp"
#include "io/path_choice.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {

class Dataset::Implementation {
 public:
  Implementation(const std::string& file, const std::string& name, ReadPath path)
      : problem_(cannot_read(file, name)),
        version_(version_of(file)),
        library_(std::in_place, file, name),
        info_(library_->info()) {
    take_path(info_, path, problem_);
    if (info_.path == ReadPath::library) library_->require_readable();
    if (reads_directly()) bytes_.emplace(info_.file, problem_);
  }

  explicit Implementation(const DatasetInfo& known)
      : problem_(cannot_read(known.file, known.name)),
        version_(version_of(known.file)),
        info_(known) {
    if (reads_directly()) bytes_.emplace(info_.file, problem_);
    if (info_.path == ReadPath::library) open_library();
  }

  const DatasetInfo& info() const { return info_; }

  void read(ElementRange range, std::span<std::byte> out) {
    require_fitting(range, out.size());
    if (range.count == 0) return;
    if (bytes_)
      bytes_->read(place_of(range), out);
    else
      read_by_library(range, out);
  }

  void choose_cache(FileCache cache) {
    if (!bytes_) return;
    // Past the cache, elements keep the alignment that they have in the file.
    const bool aligned = *info_.file_offset % element_bytes() == 0;
    bytes_->choose_cache(aligned ? cache : FileCache::through, *info_.file_offset,
                         info_.elements * element_bytes());
  }

  bool may_read_past_cache() const { return bytes_ && bytes_->may_go_past(); }

  std::span<std::byte> fetch(ElementRange range, std::span<std::byte> buffer) {
    const std::uint64_t bytes = range.count * element_bytes();
    if (bytes_ && range.count > 0 && buffer.size() >= bytes + fetch_slack) {
      require_inside(range);
      return bytes_->fetch(place_of(range), bytes, buffer);
    }
    read(range, buffer.first(bytes));
    return buffer.first(bytes);
  }

  void require_unchanged() const {
    if (version_of(info_.file) == version_) return;
    throw Error(problem_, "the file changed while it was read",
                "Start again once its writer is done.");
  }

 private:
  bool reads_directly() const {
    return info_.path == ReadPath::direct && info_.file_offset.has_value();
  }

  void open_library() {
    library_.emplace(info_.file, info_.name);
    library_->require_readable();
  }

  std::size_t element_bytes() const { return size_of(info_.format.type); }

  /// In the file, where bytes are read directly.
  std::uint64_t place_of(ElementRange range) const {
    return info_.file_offset.value() + range.first * element_bytes();
  }

  void require_inside(ElementRange range) const {
    if (range.first > info_.elements || range.count > info_.elements - range.first) {
      throw Error(problem_,
                  "elements " + std::to_string(range.first) + " to " + std::to_string(range.end()) +
                      " are asked for, it has " + std::to_string(info_.elements),
                  "");
    }
  }

  void require_fitting(ElementRange range, std::size_t buffer_bytes) const {
    require_inside(range);
    if (buffer_bytes != range.count * size_of(info_.format.type)) {
      throw Error(problem_,
                  "the buffer of " + std::to_string(buffer_bytes) + " bytes does not fit " +
                      std::to_string(range.count) + " elements",
                  "");
    }
  }

  void read_by_library(ElementRange range, std::span<std::byte> out) {
    const LibraryScope scope;
    if (!library_) open_library();
    library_->read(range, out);
  }

  std::string problem_;
  FileVersion version_;  ///< as it was before the file was opened
  std::optional<LibraryDataset> library_;
  DatasetInfo info_;
  std::optional<ByteReader> bytes_;  ///< where elements are read directly
};

Dataset::Dataset(const std::string& file, const std::string& name, ReadPath path) {
  const LibraryScope scope;
  implementation_ = std::make_unique<Implementation>(file, name, path);
}

Dataset::Dataset(const DatasetInfo& known) {
  const LibraryScope scope;
  implementation_ = std::make_unique<Implementation>(known);
}

Dataset::~Dataset() {
  if (!implementation_) return;
  const LibraryScope scope;
  implementation_.reset();
}

Dataset::Dataset(Dataset&& other) noexcept = default;

Dataset& Dataset::operator=(Dataset&& other) noexcept {
  std::swap(implementation_, other.implementation_);
  return *this;
}

const DatasetInfo& Dataset::info() const { return implementation_->info(); }

void Dataset::read(ElementRange range, std::span<std::byte> out) {
  implementation_->read(range, out);
}

void Dataset::choose_cache(FileCache cache) { implementation_->choose_cache(cache); }

bool Dataset::may_read_past_cache() const { return implementation_->may_read_past_cache(); }

std::span<std::byte> Dataset::fetch(ElementRange range, std::span<std::byte> buffer) {
  return implementation_->fetch(range, buffer);
}

void Dataset::require_unchanged() const { implementation_->require_unchanged(); }

}  // namespace warpfold::io
