#include "io/hdf5/dimension_scales.hpp"

#include <hdf5_hl.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <utility>

#include "core/values/cf_time.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/library_versions.hpp"
#include "io/hdf5/link_access.hpp"
#include "io/hdf5/source_files.hpp"
#include "io/hdf5/stored_values.hpp"

namespace warpfold::io {
namespace {

constexpr const char* list_name = "DIMENSION_LIST";
constexpr const char* attached_name = "REFERENCE_LIST";

/// How the name of a scale without values begins; its extent follows, right-aligned.
const std::string without_values = "This is a netCDF dimension but not a netCDF variable.";

/// Returns whether the type is of lists of references to objects.
bool is_list_of_objects(hid_t type, const std::string& problem) {
  if (H5Tget_class(type) != H5T_VLEN) return false;
  const TypeHandle item(require(H5Tget_super(type), problem));
  return require(H5Tequal(item.get(), H5T_STD_REF_OBJ), problem) > 0;
}

/// Paths of a file's objects by references to them. HDF5 searches the whole file for the path of
/// each object that a reference leads to. Entries are checked before use.
struct KnownPaths {
  std::map<hobj_ref_t, std::string> paths;
  bool complete = false;  ///< whether all of the file was gone through
};

/// Returns a file's known paths, by the file's name. Guarded by the LibraryScope.
KnownPaths& known_paths(const std::string& file) {
  constexpr std::size_t most_files = 64;
  static std::map<std::string, KnownPaths> known;
  if (known.size() == most_files && !known.contains(file)) known.clear();
  return known[file];
}

hobj_ref_t reference_of(const LinkInfo& link) {
#if H5_VERSION_GE(1, 12, 0)
  hobj_ref_t reference = 0;
  std::memcpy(&reference, &link.u.token, sizeof(reference));
  return reference;
#else
  return link.u.address;
#endif
}

herr_t note_path(hid_t, const char* path, const LinkInfo* link, void* known) noexcept {
  constexpr std::size_t most_paths = 262144;
  try {
    auto& paths = static_cast<KnownPaths*>(known)->paths;
    if (link->type == H5L_TYPE_HARD)
      paths.try_emplace(reference_of(*link), '/' + std::string(path));
    return paths.size() < most_paths ? 0 : 1;
  } catch (const std::exception&) {
    return -1;
  }
}

/// Opens the object by its name. Returns none where that is no longer what the reference leads to.
ObjectHandle opened_by_name(hid_t dataset, const std::string& path, hobj_ref_t reference) {
  hobj_ref_t found = 0;
  ObjectHandle object = open_object(dataset, path);
  if (object && H5Rcreate(&found, object.get(), ".", H5R_OBJECT, H5I_INVALID_HID) >= 0 &&
      found == reference)
    return object;
  H5Eclear2(H5E_DEFAULT);
  return {};
}

ObjectHandle opened_by_known_path(hid_t dataset, const KnownPaths& known, hobj_ref_t reference) {
  const auto found = known.paths.find(reference);
  return found == known.paths.end() ? ObjectHandle()
                                    : opened_by_name(dataset, found->second, reference);
}

/// Opens a scale by the name that it gives itself, in the dataset's group or one above.
ObjectHandle opened_by_own_name(hid_t dataset, hid_t scale, hobj_ref_t reference,
                                const std::string& problem) {
  const auto name = read_text_attribute(scale, "NAME", problem);
  if (!name || name->empty() || name->starts_with(without_values)) return {};
  std::string group = path_of(dataset, problem);
  while (!group.empty()) {
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
    if (ObjectHandle object = opened_by_name(dataset, group + '/' + *name, reference))
      return object;
  }
  return {};
}

/// Opens what a reference leads to, so that HDF5 knows its name.
ObjectHandle dereferenced(hid_t dataset, hobj_ref_t reference, const std::string& problem) {
  KnownPaths& known = known_paths(stored_file_of(dataset, problem));
  if (ObjectHandle object = opened_by_known_path(dataset, known, reference)) return object;
  if (known.paths.contains(reference)) known = {};
  ObjectHandle object(H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, &reference));
  if (!object) return object;
  if (ObjectHandle named = opened_by_own_name(dataset, object.get(), reference, problem))
    return named;
  if (!known.complete) {
    known.paths.clear();
    if (visit_links(dataset, "/", H5_INDEX_NAME, H5_ITER_NATIVE, note_path, &known, H5P_DEFAULT) <
        0)
      H5Eclear2(H5E_DEFAULT);
    known.complete = true;
    if (ObjectHandle named = opened_by_known_path(dataset, known, reference)) return named;
  }
  if (const std::string path = path_of(object.get(), problem); !path.empty())
    known.paths[reference] = path;
  return object;
}

DatasetHandle referenced(hid_t dataset, hobj_ref_t reference, const std::string& problem) {
  const ObjectHandle object = dereferenced(dataset, reference, problem);
  if (!object || H5Iget_type(object.get()) != H5I_DATASET) {
    H5Eclear2(H5E_DEFAULT);
    return {};
  }
  require_allowed_sources(object.get(), problem);
  H5Iinc_ref(object.get());
  return DatasetHandle(object.get());
}

/// Returns the path of the group that an object lies in, with a slash behind.
std::string group_path_of(hid_t object, const std::string& problem) {
  const std::string path = path_of(object, problem);
  return path.substr(0, path.rfind('/') + 1);
}

std::vector<std::vector<DatasetHandle>> attached_scales(hid_t dataset, std::size_t dimensions,
                                                        const std::string& problem) {
  std::vector<std::vector<DatasetHandle>> scales(dimensions);
  const AttributeHandle attribute(require(H5Aopen(dataset, list_name, H5P_DEFAULT), problem));
  const TypeHandle type(require(H5Aget_type(attribute.get()), problem));
  const SpaceHandle space(require(H5Aget_space(attribute.get()), problem));
  const auto lists = require(H5Sget_simple_extent_npoints(space.get()), problem);
  if (static_cast<std::size_t>(lists) != dimensions || !is_list_of_objects(type.get(), problem))
    return scales;
  const StoredValues values =
      values_of_attribute(attribute.get(), list_name, type.get(), space.get(), problem);
  for (std::size_t d = 0; d < dimensions; ++d) {
    hvl_t list;
    std::memcpy(&list, values.data() + d * sizeof(list), sizeof(list));
    for (std::size_t i = 0; i < list.len; ++i)
      if (DatasetHandle scale =
              referenced(dataset, static_cast<const hobj_ref_t*>(list.p)[i], problem))
        scales[d].push_back(std::move(scale));
  }
  return scales;
}

/// Returns the axes of a NeXus signal that have an element for each index of their dimension.
std::vector<std::vector<DatasetHandle>> scales_of_signal(hid_t dataset,
                                                         const std::string& problem) {
  const std::vector<std::uint64_t> shape = shape_of(dataset, problem);
  std::vector<std::vector<DatasetHandle>> scales(shape.size());
  const std::vector<std::string> names = axes_of_signal(dataset, problem);
  const std::string group = group_path_of(dataset, problem);
  for (std::size_t d = 0; d < names.size(); ++d) {
    if (names[d].empty()) continue;
    const ObjectHandle axis = open_object(dataset, group + names[d]);
    H5Eclear2(H5E_DEFAULT);
    if (!axis || H5Iget_type(axis.get()) != H5I_DATASET) continue;
    require_allowed_sources(axis.get(), problem);
    if (shape_of(axis.get(), problem) != std::vector{shape[d]}) continue;
    H5Iinc_ref(axis.get());
    scales[d].emplace_back(axis.get());
  }
  return scales;
}

}  // namespace

bool is_dimension_scale(hid_t dataset, const std::string& problem) {
  const auto kind = read_text_attribute(dataset, "CLASS", problem);
  return kind && kind->starts_with("DIMENSION_SCALE");
}

bool is_without_values(hid_t scale, const std::string& problem) {
  const TypeHandle type(require(H5Dget_type(scale), problem));
  if (H5Tget_class(type.get()) == H5T_STRING) return false;
  const auto name = read_text_attribute(scale, "NAME", problem);
  return name && name->starts_with(without_values);
}

std::vector<std::vector<DatasetHandle>> scales_of(hid_t dataset, const std::string& problem) {
  const SpaceHandle space(require(H5Dget_space(dataset), problem));
  const auto dimensions =
      static_cast<std::size_t>(require(H5Sget_simple_extent_ndims(space.get()), problem));
  if (has_attribute(dataset, list_name)) return attached_scales(dataset, dimensions, problem);
  if (dimensions != 1 || !is_dimension_scale(dataset, problem))
    return scales_of_signal(dataset, problem);
  std::vector<std::vector<DatasetHandle>> scales(1);
  H5Iinc_ref(dataset);
  scales.front().emplace_back(dataset);
  return scales;
}

std::vector<std::string> axes_of_signal(hid_t dataset, const std::string& problem) {
  const std::string path = group_path_of(dataset, problem);
  if (path.empty()) return {};
  const ObjectHandle group = open_object(dataset, path);
  if (!group || !has_attribute(group.get(), "axes")) return {};
  std::vector<std::string> signals = read_lines(group.get(), "signal", problem);
  std::ranges::copy(read_lines(group.get(), "auxiliary_signals", problem),
                    std::back_inserter(signals));
  std::vector<std::string> axes = read_lines(group.get(), "axes", problem);
  const std::string own = own_name_of(dataset, problem);
  const std::size_t dimensions = shape_of(dataset, problem).size();
  if (dimensions == 1 && std::ranges::count(axes, own) > 0) return {own};
  if (std::ranges::count(signals, own) == 0 || axes.size() != dimensions) return {};
  std::ranges::replace(axes, ".", "");
  return axes;
}

bool is_time_along(hid_t variable, hid_t scale, const std::string& problem) {
  const auto scales = scales_of(variable, problem);
  if (scales.size() != 1 || scales.front().empty() ||
      path_of(scales.front().front().get(), problem) != path_of(scale, problem))
    return false;
  return are_of_times(read_text_attribute(variable, "units", problem).value_or(""));
}

std::uint64_t longest_extent(hid_t scale, const std::string& problem) {
  struct Attached {
    hobj_ref_t dataset;
    int dimension;
  };
  if (!has_attribute(scale, attached_name)) return 0;
  const AttributeHandle attribute(require(H5Aopen(scale, attached_name, H5P_DEFAULT), problem));
  const SpaceHandle space(require(H5Aget_space(attribute.get()), problem));
  const TypeHandle type(require(H5Tcreate(H5T_COMPOUND, sizeof(Attached)), problem));
  require(H5Tinsert(type.get(), "dataset", HOFFSET(Attached, dataset), H5T_STD_REF_OBJ), problem);
  require(H5Tinsert(type.get(), "dimension", HOFFSET(Attached, dimension), H5T_NATIVE_INT),
          problem);
  const StoredValues values =
      values_of_attribute(attribute.get(), attached_name, type.get(), space.get(), problem);
  std::uint64_t longest = 0;
  for (std::size_t at = 0; at + sizeof(Attached) <= values.text().size(); at += sizeof(Attached)) {
    Attached attached;
    std::memcpy(&attached, values.data() + at, sizeof(attached));
    const DatasetHandle dataset = referenced(scale, attached.dataset, problem);
    if (!dataset) continue;
    const std::vector<std::uint64_t> shape = shape_of(dataset.get(), problem);
    const auto dimension = static_cast<std::size_t>(attached.dimension);
    if (dimension < shape.size()) longest = std::max(longest, shape[dimension]);
  }
  return longest;
}

bool is_unlimited(hid_t scale, const std::string& problem) {
  const SpaceHandle space(require(H5Dget_space(scale), problem));
  hsize_t most = 0;
  return H5Sget_simple_extent_ndims(space.get()) == 1 &&
         H5Sget_simple_extent_dims(space.get(), nullptr, &most) == 1 && most == H5S_UNLIMITED;
}

std::string own_name_of(hid_t object, const std::string& problem) {
  const std::string path = path_of(object, problem);
  return path.substr(path.rfind('/') + 1);
}

void make_scale(hid_t dataset, const std::string& name, const std::string& problem) {
  require(H5DSset_scale(dataset, name.c_str()), problem);
}

void make_scale_without_values(hid_t dataset, std::uint64_t extent, const std::string& problem) {
  std::string digits = std::to_string(extent);
  constexpr std::size_t width = 10;
  if (digits.size() < width) digits.insert(0, width - digits.size(), ' ');
  make_scale(dataset, without_values + digits, problem);
}

void attach_scale(hid_t dataset, hid_t scale, std::size_t dimension, const std::string& problem) {
  require(H5DSattach_scale(dataset, scale, static_cast<unsigned>(dimension)), problem);
}

void detach_scales(hid_t dataset, const std::string& problem) {
  if (!has_attribute(dataset, list_name)) return;
  const std::vector<std::vector<DatasetHandle>> scales = scales_of(dataset, problem);
  for (std::size_t d = 0; d < scales.size(); ++d)
    for (const DatasetHandle& scale : scales[d])
      require(H5DSdetach_scale(dataset, scale.get(), static_cast<unsigned>(d)), problem);
}

bool is_attached(hid_t scale, const std::string& problem) {
  return is_dimension_scale(scale, problem) && has_attribute(scale, attached_name);
}

}  // namespace warpfold::io
