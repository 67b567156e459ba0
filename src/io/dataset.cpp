#include "io/dataset.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/chunk_cache.hpp"
#include "io/dataset_info.hpp"
#include "io/dataset_open.hpp"
#include "io/filters.hpp"
#include "io/hdf5_error.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_handle.hpp"
#include "io/hdf5_scope.hpp"
#include "io/hdf5_type.hpp"
#include "io/posix_file.hpp"
#include "io/transfer.hpp"
#include "io/virtual_sources.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

/// HDF5 leaves the buffer as it is for elements that were never written and have no fill value, or
/// one that is never to be filled in.
bool may_leave_elements_unset(hid_t dataset, const std::string& problem) {
  const PropertiesHandle creation(require(H5Dget_create_plist(dataset), problem));
  H5D_fill_time_t time = H5D_FILL_TIME_IFSET;
  H5D_fill_value_t value = H5D_FILL_VALUE_DEFAULT;
  require(H5Pget_fill_time(creation.get(), &time), problem);
  require(H5Pfill_value_defined(creation.get(), &value), problem);
  return time == H5D_FILL_TIME_NEVER || value == H5D_FILL_VALUE_UNDEFINED;
}

/// Stored elements keep their type in memory, so that HDF5 converts nothing but integers that are
/// narrower than their bytes.
TypeHandle memory_type_for(TypeHandle file_type, const StoredType& type) {
  return type.exact ? std::move(file_type) : make_type(type.format.value());
}

}  // namespace

class Dataset::Implementation {
 public:
  Implementation(const std::string& file, const std::string& name, ReadPath path)
      : problem_(cannot_read(file, name)), file_(open_for_reading(file)) {
    dataset_ = open_dataset(file_.get(), file, name, problem_);
    TypeHandle file_type(require(H5Dget_type(dataset_.get()), problem_));
    const StoredType type = describe_type(file_type.get());
    if (!type.format) throw Error(problem_, unsupported_reason(type), supported_types_advice());
    info_ = describe_dataset(dataset_.get(), type, file, name);
    memory_type_ = memory_type_for(std::move(file_type), type);
    require_readable();
    if (path == ReadPath::automatic && info_.file_offset) open_directly();
    enlarge_chunk_cache();
    zero_first_ = may_leave_elements_unset(dataset_.get(), problem_);
  }

  /// Reads directly: `known` has a file offset.
  explicit Implementation(const DatasetInfo& known)
      : problem_(cannot_read(known.file, known.name)), info_(known) {
    open_directly();
  }

  const DatasetInfo& info() const { return info_; }

  void read(ElementRange range, std::span<std::byte> out) {
    require_fitting(range, out.size());
    if (range.count == 0) return;
    if (direct_) {
      read_directly(range, out);
    } else {
      read_by_library(range, out);
    }
  }

 private:
  void require_readable() {
    if (info_.stored_bytes > 0) require_available(info_.filters, problem_);
    if (info_.layout == Layout::virtual_) {
      require_virtual_sources(file_.get(), info_.file, dataset_.get(), problem_);
    }
  }

  void open_directly() {
    direct_ = FileDescriptor(::open(info_.file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!direct_) throw Error(problem_, describe_errno(errno), "");
  }

  /// The cache's size counts only when a dataset is opened for the first time.
  void enlarge_chunk_cache() {
    if (info_.layout != Layout::chunked) return;
    const PropertiesHandle access =
        access_with(chunk_cache_for(info_.shape, info_.chunk_shape, size_of(info_.format.type)));
    dataset_.close();
    dataset_ =
        DatasetHandle(require(H5Dopen2(file_.get(), info_.name.c_str(), access.get()), problem_));
  }

  void require_fitting(ElementRange range, std::size_t buffer_bytes) const {
    if (range.first > info_.elements || range.count > info_.elements - range.first) {
      throw Error(problem_,
                  "elements " + std::to_string(range.first) + " to " + std::to_string(range.end()) +
                      " are asked for, it has " + std::to_string(info_.elements),
                  "");
    }
    if (buffer_bytes != range.count * size_of(info_.format.type)) {
      throw Error(problem_,
                  "the buffer of " + std::to_string(buffer_bytes) + " bytes does not fit " +
                      std::to_string(range.count) + " elements",
                  "");
    }
  }

  void read_directly(ElementRange range, std::span<std::byte> out) const {
    const std::uint64_t offset =
        info_.file_offset.value() + range.first * size_of(info_.format.type);
    const TransferResult result = read_at(direct_.get(), offset, out);
    if (result.error != 0) throw Error(problem_, describe_errno(result.error), "");
    if (result.bytes == out.size()) return;
    throw Error(problem_,
                "the file ends at byte " + std::to_string(offset + result.bytes) +
                    ", before the dataset does",
                "Copy the file again, or check whether its writer was interrupted.");
  }

  void read_by_library(ElementRange range, std::span<std::byte> out) {
    const LibraryScope scope;
    if (zero_first_) std::fill(out.begin(), out.end(), std::byte{0});
    read_elements({dataset_.get(), memory_type_.get(), size_of(info_.format.type), info_.shape},
                  range, out, problem_);
  }

  std::string problem_;
  FileHandle file_;
  DatasetHandle dataset_;
  TypeHandle memory_type_;
  DatasetInfo info_;
  FileDescriptor direct_;
  bool zero_first_ = false;
};

Dataset::Dataset(const std::string& file, const std::string& name, ReadPath path) {
  const LibraryScope scope;
  implementation_ = std::make_unique<Implementation>(file, name, path);
}

Dataset::Dataset(const DatasetInfo& known) {
  const LibraryScope scope;
  implementation_ = known.file_offset ? std::make_unique<Implementation>(known)
                                      : std::make_unique<Implementation>(known.file, known.name,
                                                                         ReadPath::automatic);
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

}  // namespace warpfold::io
