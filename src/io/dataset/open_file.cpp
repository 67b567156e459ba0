#include <algorithm>
#include <utility>

#include "io/dataset/dataset.hpp"
#include "io/dataset/dataset_info.hpp"
#include "io/dataset/dataset_names.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/dataset/element_part.hpp"
#include "io/dataset/placeholder.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/hdf5/source_files.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

/// Lists the dataset at a path by the members of its elements, if they have any; `listing` has its
/// name, and of an Error what is known till then.
std::vector<DatasetListing> described(hid_t file, const std::string& file_path,
                                      const std::string& path, DatasetListing& listing) {
  const std::string problem = cannot_read(file_path, listing.name);
  const DatasetHandle dataset = open_stored_dataset(file, file_path, path, problem);
  const TypeHandle type(require(H5Dget_type(dataset.get()), problem));
  listing.stored_type = describe_type(type.get()).name;
  listing.shape = shape_of(dataset.get(), problem);
  const SpaceHandle space(require(H5Dget_space(dataset.get()), problem));
  listing.is_null = H5Sget_simple_extent_type(space.get()) == H5S_NULL;
  std::vector<DatasetListing> members;
  for (const std::string& member : element_members(type.get())) {
    DatasetListing& each = members.emplace_back(listing);
    if (!member.empty()) each.name += '.' + member;
    const ElementPart part = element_part(type.get(), member);
    const StoredType stored = describe_type(part.type.get());
    if (!listing.is_null)
      each.shape.insert(each.shape.end(), part.extents.begin(), part.extents.end());
    each.stored_type = stored.name + part.role;
    each.unsupported =
        stored.format ? reason_against_placeholder(dataset.get()) : unsupported_reason(stored);
  }
  return members;
}

std::set<std::string> files_beneath(hid_t file, const std::string& path, const std::string& name) {
  const std::string problem = cannot_read(path, name);
  const std::string dataset_path = split_name(file, name).dataset;
  const DatasetHandle dataset = open_stored_dataset(file, path, dataset_path, problem);
  const std::string stored_file = stored_file_of(dataset.get(), problem);
  std::set<std::string> files = found_sources(dataset.get(), stored_file, problem);
  files.insert(stored_file);
  files.merge(files_passed(file, dataset_path));
  return files;
}

}  // namespace

class OpenFile::Implementation : public KeptFile {
  using KeptFile::KeptFile;
};

OpenFile::OpenFile(const std::string& path) {
  const LibraryScope scope;
  implementation_ = std::make_unique<Implementation>(path);
}

OpenFile::~OpenFile() {
  if (!implementation_) return;
  const LibraryScope scope;
  implementation_.reset();
}

OpenFile::OpenFile(OpenFile&& other) noexcept = default;

std::set<std::string> files_beneath(const std::string& file,
                                    const std::vector<std::string>& names) {
  const LibraryScope scope;
  std::set<std::string> files{file};
  const FileHandle handle = open_for_reading(file);
  for (const std::string& name : names) {
    try {
      files.merge(files_beneath(handle.get(), file, name));
    } catch (const Error&) {
      continue;
    }
  }
  return files;
}

bool is_pattern(const std::string& file, const std::string& name) {
  if (name.find_first_of("*?[") == std::string::npos) return false;
  const LibraryScope scope;
  return !is_there(open_for_reading(file).get(), name);
}

bool has_dataset(const std::string& file, const std::string& name) {
  const LibraryScope scope;
  return is_there(open_for_reading(file).get(), name);
}

std::vector<DatasetListing> list_datasets(const std::string& file, const std::string& pattern) {
  const LibraryScope scope;
  const FileHandle handle = open_for_reading(file);
  // The name to list, and the one at which HDF5 has it.
  std::vector<std::pair<std::string, std::string>> names;
  for (const std::string& name :
       pattern.empty() ? dataset_names(handle.get()) : dataset_names(handle.get(), pattern)) {
    const std::string variable = variable_name(name);
    const bool is_variable = split_name(handle.get(), variable).dataset == name;
    if (!is_variable && variable == name) continue;  // another has the name of this dimension
    names.emplace_back(is_variable ? variable : name, name);
  }
  std::ranges::sort(names);
  std::vector<DatasetListing> listings;
  for (const auto& [listed, name] : names) {
    DatasetListing listing;
    listing.name = listed;
    const bool whole = pattern.empty() || matches(name, pattern) || matches(listing.name, pattern);
    try {
      for (DatasetListing& each : described(handle.get(), file, name, listing))
        if (whole || matches(each.name, pattern)) listings.push_back(std::move(each));
    } catch (const Error& error) {
      listing.unsupported = error.why();
      listing.damaged = true;
      if (whole) listings.push_back(std::move(listing));
    }
  }
  return listings;
}

}  // namespace warpfold::io
