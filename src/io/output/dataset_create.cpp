#include "io/output/dataset_create.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/layout/partition.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/filters/block_decoder.hpp"
#include "io/filters/filter.hpp"
#include "io/hdf5/dimension_scales.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/hdf5/link_access.hpp"
#include "io/hdf5/registered_filters.hpp"
#include "io/output/input_variable.hpp"
#include "io/output/replaced_datasets.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr std::uint64_t max_stored_chunk_bytes = (std::uint64_t{1} << 32) - 1;

[[noreturn]] void throw_bad_storage(const OutputDataset& spec, const std::string& why,
                                    const std::string& suggestion) {
  throw usage_error("cannot store '" + spec.dataset + "' that way", why, suggestion);
}

/// Chunks may not exceed a dataset of fixed shape.
std::vector<hsize_t> fitting_chunk_shape(const OutputDataset& spec) {
  std::vector<hsize_t> chunk(spec.storage.chunk_shape.begin(), spec.storage.chunk_shape.end());
  for (std::size_t d = 0; d < chunk.size(); ++d) {
    chunk[d] = std::min<hsize_t>(chunk[d], std::max<hsize_t>(1, spec.shape[d]));
  }
  return chunk;
}

void require_valid_chunks(const OutputDataset& spec) {
  const auto& chunk_shape = spec.storage.chunk_shape;
  if (chunk_shape.size() != spec.shape.size()) {
    throw_bad_storage(spec,
                      "the chunks have " + std::to_string(chunk_shape.size()) +
                          " dimensions, but the dataset has " + std::to_string(spec.shape.size()),
                      "Give a chunk extent for each dimension.");
  }
  std::uint64_t max_elements = max_stored_chunk_bytes / size_of(spec.format.type);
  for (std::size_t d = 0; d < chunk_shape.size(); ++d) {
    if (chunk_shape[d] == 0) throw_bad_storage(spec, "a chunk extent is 0", "Give 1 or more.");
  }
  for (const hsize_t extent : fitting_chunk_shape(spec)) {
    if (extent > max_elements) {
      throw_bad_storage(spec, "a chunk would have 4 GiB or more", "Give smaller chunks.");
    }
    max_elements /= extent;
  }
}

PropertiesHandle make_creation(const std::string& problem) {
  PropertiesHandle creation(require(H5Pcreate(H5P_DATASET_CREATE), problem));
  require(H5Pset_obj_track_times(creation.get(), false), problem);
  // netCDF-4 wants to know the order in which attributes were made.
  require(H5Pset_attr_creation_order(creation.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
          problem);
  return creation;
}

PropertiesHandle make_creation(const OutputDataset& spec, const std::string& problem) {
  PropertiesHandle creation = make_creation(problem);
  const StorageOptions& storage = spec.storage;
  if (storage.chunk_shape.empty()) {
    require(H5Pset_layout(creation.get(), H5D_CONTIGUOUS), problem);
    require(H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY), problem);
    require(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER), problem);
    return creation;
  }
  const std::vector<hsize_t> chunk = fitting_chunk_shape(spec);
  require(H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data()), problem);
  if (storage.shuffle) require(H5Pset_shuffle(creation.get()), problem);
  if (storage.deflate_level) {
    require(H5Pset_deflate(creation.get(), static_cast<unsigned>(*storage.deflate_level)), problem);
  }
  if (storage.zstd_level) {
    if (H5Zfilter_avail(filter_id::zstd) <= 0)
      register_decoder({.id = filter_id::zstd, .name = "zstd", .parameters = {}});
    const auto level = static_cast<unsigned>(*storage.zstd_level);
    require(H5Pset_filter(creation.get(), filter_id::zstd, H5Z_FLAG_OPTIONAL, 1, &level), problem);
  }
  if (storage.fletcher32) require(H5Pset_fletcher32(creation.get()), problem);
  return creation;
}

PropertiesHandle make_links(const std::string& problem) {
  PropertiesHandle links(require(H5Pcreate(H5P_LINK_CREATE), problem));
  require(H5Pset_char_encoding(links.get(), H5T_CSET_UTF8), problem);
  return links;
}

/// Makes the groups above a dataset that the file lacks; HDF5 would give them times.
void make_groups(hid_t file, const std::string& dataset, hid_t links, const std::string& problem) {
  const PropertiesHandle creation = make_group_creation(H5P_GROUP_CREATE, problem);
  std::string parent;
  std::istringstream path(dataset);
  for (std::string name, group; std::getline(path, name, '/');) {
    if (name.empty() || name == ".") continue;
    group = std::exchange(parent, parent + '/' + name);
    if (group.empty() || require(H5Lexists(file, group.c_str(), H5P_DEFAULT), problem) > 0)
      continue;
    GroupHandle(
        require(H5Gcreate2(file, group.c_str(), links, creation.get(), H5P_DEFAULT), problem));
  }
}

}  // namespace

void require_valid_storage(const OutputDataset& spec) {
  const StorageOptions& storage = spec.storage;
  const auto last = spec.dataset.find_last_not_of("/.");
  const std::string whole = '/' + spec.dataset + '/';
  if (last == std::string::npos || spec.dataset.back() == '/' ||
      whole.find("/../") != std::string::npos) {
    throw usage_error("cannot write a dataset '" + spec.dataset + "'", "it is not a dataset's path",
                      "Give a name such as 'x' or 'group/x'.");
  }
  if (spec.shape.size() > H5S_MAX_RANK) {
    throw_bad_storage(spec, "HDF5 has at most 32 dimensions", "Give a shape of fewer.");
  }
  if (storage.deflate_level && (*storage.deflate_level < 0 || *storage.deflate_level > 9)) {
    throw_bad_storage(spec, "deflate has no level " + std::to_string(*storage.deflate_level),
                      "Give 0 to 9.");
  }
  if (storage.zstd_level) {
    if (*storage.zstd_level < 1 || *storage.zstd_level > 22)
      throw_bad_storage(spec, "zstd has no level " + std::to_string(*storage.zstd_level),
                        "Give 1 to 22.");
    if (storage.deflate_level)
      throw_bad_storage(spec, "both deflate and zstd are requested", "Omit one of them.");
    if (!make_zstd_compressor(*storage.zstd_level))
      throw_bad_storage(spec, "this build has no zstd", "Choose deflate.");
  }
  if (!storage.chunk_shape.empty()) {
    require_valid_chunks(spec);
  } else if (storage.filtered()) {
    if (spec.shape.empty())
      throw_bad_storage(spec, "it is a scalar, which has no chunks to filter", "Omit the filters.");
    throw_bad_storage(spec, "filters need chunks", "Give a chunk shape too.");
  }
}

DatasetHandle create_dataset(hid_t file, const std::string& preliminary_name,
                             const OutputDataset& spec, const std::string& problem) {
  const TypeHandle type = make_type(spec.format);
  const SpaceHandle space = make_space(spec.shape, problem);
  const PropertiesHandle creation = make_creation(spec, problem);
  return DatasetHandle(require(H5Dcreate2(file, preliminary_name.c_str(), type.get(), space.get(),
                                          H5P_DEFAULT, creation.get(), H5P_DEFAULT),
                               problem));
}

void give_name(hid_t file, const std::string& preliminary_name, const std::string& path,
               const std::string& problem) {
  const PropertiesHandle links = make_links(problem);
  make_groups(file, path, links.get(), problem);
  require(H5Lmove(file, preliminary_name.c_str(), file, path.c_str(), links.get(), H5P_DEFAULT),
          problem);
}

void require_own_groups(hid_t file, const std::string& path, const std::string& problem) {
  for (std::size_t end = path.find('/', 1); end != std::string::npos;
       end = path.find('/', end + 1)) {
    const std::string group = path.substr(0, end);
    if (require(H5Lexists(file, group.c_str(), H5P_DEFAULT), problem) == 0) return;
    const ObjectHandle object = open_object(file, group);
    if (object && is_in(file, object.get())) continue;
    H5Eclear2(H5E_DEFAULT);
    const std::string link = link_text(file, group);
    throw Error(problem,
                "'" + group + "' is " + (link.empty() ? "a link" : link) +
                    (object ? ", which lies in '" + stored_file_of(object.get(), problem) + "'"
                            : ", which cannot be opened"),
                "Give the dataset a path in the file itself.");
  }
}

bool is_there(hid_t file, const std::string& path, const std::string& problem) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    if (require(H5Lexists(file, path.substr(0, end).c_str(), H5P_DEFAULT), problem) == 0)
      return false;
    if (end == std::string::npos) return true;
  }
}

void require_removable(hid_t file, const std::string& path, const std::string& problem) {
  const ObjectHandle object = open_object(file, path);
  if (object && H5Iget_type(object.get()) == H5I_GROUP)
    throw Error(problem, "'" + path + "' is a group in it", "Give the dataset another name.");
  if (object && H5Iget_type(object.get()) == H5I_DATATYPE)
    throw Error(problem, "'" + path + "' is a datatype in it, which others may use",
                "Give the dataset another name.");
  if (object && H5Iget_type(object.get()) == H5I_DATASET && is_attached(object.get(), problem))
    throw Error(problem, "'" + path + "' is a dimension of other datasets in it",
                "Give the dataset another name.");
}

std::vector<hsize_t> origin_of_chunk(const OutputDataset& spec, std::uint64_t number) {
  const std::vector<hsize_t> extents = fitting_chunk_shape(spec);
  std::vector<hsize_t> origin(extents.size());
  for (std::size_t d = extents.size(); d-- > 1;) {
    const std::uint64_t chunks = ceil_div(spec.shape[d], std::uint64_t{extents[d]});
    origin[d] = number % chunks * extents[d];
    number /= chunks;
  }
  origin[0] = number * extents[0];
  return origin;
}

DatasetHandle create_coordinate(hid_t file, const std::string& path, hid_t type, hid_t space,
                                bool is_unlimited, const std::string& problem) {
  constexpr std::uint64_t most_elements = 512;  // of a chunk, as netCDF has it
  const PropertiesHandle links = make_links(problem);
  const PropertiesHandle creation = make_creation(problem);
  make_groups(file, path, links.get(), problem);
  const SpaceHandle own(require(H5Scopy(space), problem));
  if (is_unlimited) {
    const hsize_t extent = extents_of(space, problem).at(0);
    const hsize_t most = H5S_UNLIMITED;
    const hsize_t chunk = std::clamp<hsize_t>(extent, 1, most_elements);
    require(H5Sset_extent_simple(own.get(), 1, &extent, &most), problem);
    require(H5Pset_chunk(creation.get(), 1, &chunk), problem);
  }
  DatasetHandle dataset(require(
      H5Dcreate2(file, path.c_str(), type, own.get(), links.get(), creation.get(), H5P_DEFAULT),
      problem));
  mark_coordinate(dataset.get(), problem);
  return dataset;
}

std::vector<std::uint64_t> extents_of(hid_t space, const std::string& problem) {
  const int dimensions = require(H5Sget_simple_extent_ndims(space), problem);
  std::vector<hsize_t> extents(static_cast<std::size_t>(dimensions));
  require(H5Sget_simple_extent_dims(space, extents.data(), nullptr), problem);
  return {extents.begin(), extents.end()};
}

}  // namespace warpfold::io
