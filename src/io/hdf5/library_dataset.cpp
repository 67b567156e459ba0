#include "io/hdf5/library_dataset.hpp"

#include <algorithm>
#include <utility>

#include "io/chunks/chunk_cache.hpp"
#include "io/dataset/dataset_info.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/dataset/external_files.hpp"
#include "io/dataset/placeholder.hpp"
#include "io/dataset/virtual_sources.hpp"
#include "io/files/transfer.hpp"
#include "io/hdf5/fill_value.hpp"
#include "io/hdf5/filters.hpp"
#include "io/hdf5/hdf5_error.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/hdf5/library_parts.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

/// For each chunk that one call reads of, HDF5 keeps some 6 KiB until it is done.
constexpr std::uint64_t max_chunks_at_once = 1 << 14;

/// Stored elements keep their type in memory, so that HDF5 converts nothing but integers that are
/// narrower than their bytes.
TypeHandle memory_type_for(TypeHandle file_type, const StoredType& type) {
  return type.exact ? std::move(file_type) : make_type(type.format.value());
}

/// HDF5 refuses to read such a dataset if its fill value is undefined.
bool has_no_storage(const DatasetInfo& info) {
  const bool allocates = info.layout == Layout::contiguous || info.layout == Layout::chunked;
  return allocates && info.stored_bytes == 0;
}

}  // namespace

LibraryDataset::LibraryDataset(const std::string& file, const std::string& name)
    : problem_(cannot_read(file, name)), file_(open_for_reading(file)) {
  dataset_ = open_dataset(file_.get(), file, name, problem_);
  TypeHandle file_type(require(H5Dget_type(dataset_.get()), problem_));
  const StoredType type = describe_type(file_type.get());
  if (!type.format) throw Error(problem_, unsupported_reason(type), supported_types_advice());
  const std::string odd = reason_against_placeholder(dataset_.get());
  if (!odd.empty()) throw Error(problem_, odd, "There is nothing to read.");
  info_ = describe_dataset(dataset_.get(), type, file, name);
  memory_type_ = memory_type_for(std::move(file_type), type);
  const PropertiesHandle creation(require(H5Dget_create_plist(dataset_.get()), problem_));
  zero_first_ = may_leave_elements_unset(creation.get(), problem_);
}

std::set<std::string> LibraryDataset::readable_sources() const {
  if (info_.stored_bytes > 0) require_available(info_.filters, problem_);
  if (info_.layout == Layout::virtual_)
    return virtual_sources(dataset_.get(), info_.stored_file, problem_);
  if (info_.layout == Layout::external) return external_files(dataset_.get(), problem_);
  return {};
}

void LibraryDataset::read(const Selection& part, std::span<std::byte> out) {
  if (zero_first_) std::ranges::fill(out, std::byte{0});
  if (zero_first_ && has_no_storage(info_)) return;
  if (!cache_enlarged_) enlarge_chunk_cache();
  if (info_.layout != Layout::chunked) return read_at_once(part, out);
  for (const Selection& piece : cut_by_chunks(part, info_.chunk_shape, max_chunks_at_once)) {
    std::size_t bytes = size_of(info_.format.type);
    for (const Slice& slice : piece) bytes *= slice.count;
    read_at_once(piece, out.first(bytes));
    out = out.subspan(bytes);
  }
}

void LibraryDataset::read_at_once(const Selection& part, std::span<std::byte> out) const {
  read_elements(dataset_.get(), memory_type_.get(), part, out, problem_);
}

/// The cache's size counts only when a dataset is opened for the first time.
void LibraryDataset::enlarge_chunk_cache() {
  cache_enlarged_ = true;
  if (info_.layout != Layout::chunked) return;
  const PropertiesHandle access = access_with(
      chunk_cache_for(info_.stored_shape, info_.chunk_shape, size_of(info_.format.type)));
  dataset_.close();
  dataset_ =
      DatasetHandle(require(H5Dopen2(file_.get(), info_.name.c_str(), access.get()), problem_));
}

}  // namespace warpfold::io
