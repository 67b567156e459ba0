#include "io/hdf5/attributes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <sstream>
#include <string_view>

#include "io/hdf5/dimension_scales.hpp"
#include "io/hdf5/stored_values.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

/// Attributes that tie a netCDF-4 variable or dimension scale to others of its file.
constexpr std::array<std::string_view, 5> file_bound_names{
    "DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict"};

constexpr const char* fill_value_name = "_FillValue";

herr_t collect_name(hid_t, const char* name, const H5A_info_t*, void* names) {
  return append_name(name, names);
}

/// Attributes whose meaning readers of other files share (CF, netCDF).
constexpr std::array<const char*, 24> conventional_names{
    "units",       "calendar",      "long_name",     "standard_name", "axis",
    "positive",    "formula_terms", "cell_methods",  "_FillValue",    "missing_value",
    "valid_min",   "valid_max",     "valid_range",   "actual_range",  "scale_factor",
    "add_offset",  "_Unsigned",     "comment",       "description",   "compress",
    "flag_values", "flag_masks",    "flag_meanings", "leap_month"};

/// Lists all attributes in the order they were made where that is known, otherwise by name.
std::vector<std::string> attribute_names(hid_t dataset, const std::string& problem) {
  const PropertiesHandle creation(require(H5Dget_create_plist(dataset), problem));
  unsigned order = 0;
  require(H5Pget_attr_creation_order(creation.get(), &order), problem);
  const H5_index_t index =
      (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  std::vector<std::string> names;
  require(H5Aiterate2(dataset, index, H5_ITER_INC, nullptr, collect_name, &names), problem);
  return names;
}

bool refers_to_other_objects(hid_t type, const std::string& problem) {
  return require(H5Tdetect_class(type, H5T_REFERENCE), problem) > 0 ||
         require(H5Tdetect_class(type, H5T_VLEN), problem) > 0;
}

bool is_wanted(const std::string& name, hid_t type, hid_t target, const std::string& problem) {
  if (std::find(file_bound_names.begin(), file_bound_names.end(), name) != file_bound_names.end()) {
    return false;
  }
  if (refers_to_other_objects(type, problem)) return false;
  if (name != fill_value_name) return true;
  const TypeHandle target_type(require(H5Dget_type(target), problem));
  return require(H5Tequal(type, target_type.get()), problem) > 0;
}

void copy_attribute(hid_t source, hid_t target, const std::string& name,
                    const std::string& problem) {
  const AttributeHandle original(require(H5Aopen(source, name.c_str(), H5P_DEFAULT), problem));
  const TypeHandle own_type(require(H5Aget_type(original.get()), problem));
  if (!is_wanted(name, own_type.get(), target, problem)) return;
  // A copy, because a type that is named in the source's file has no place in the target's.
  const TypeHandle type(require(H5Tcopy(own_type.get()), problem));
  const SpaceHandle space(require(H5Aget_space(original.get()), problem));
  const StoredValues values =
      values_of_attribute(original.get(), name, type.get(), space.get(), problem);
  const PropertiesHandle creation(require(H5Aget_create_plist(original.get()), problem));
  const AttributeHandle copy(require(
      H5Acreate2(target, name.c_str(), type.get(), space.get(), creation.get(), H5P_DEFAULT),
      problem));
  if (values.empty()) return;
  require(H5Awrite(copy.get(), type.get(), values.data()), problem);
}

/// Copies the labels of some dimensions, if each has one.
void copy_labels(hid_t source, hid_t target, std::span<const std::size_t> dimensions,
                 const std::string& problem) {
  const AttributeHandle original(require(H5Aopen(source, labels_name, H5P_DEFAULT), problem));
  const TypeHandle own_type(require(H5Aget_type(original.get()), problem));
  if (H5Tget_class(own_type.get()) != H5T_STRING || dimensions.empty()) return;
  const TypeHandle type(require(H5Tcopy(own_type.get()), problem));
  const SpaceHandle space(require(H5Aget_space(original.get()), problem));
  const StoredValues values =
      values_of_attribute(original.get(), labels_name, type.get(), space.get(), problem);
  const std::size_t bytes = H5Tget_size(type.get());
  std::string labels;
  for (const std::size_t dimension : dimensions) {
    if (values.text().size() < (dimension + 1) * bytes) return;
    labels += values.text().substr(dimension * bytes, bytes);
  }
  const hsize_t count = dimensions.size();
  const SpaceHandle kept(require(H5Screate_simple(1, &count, nullptr), problem));
  const AttributeHandle copy(require(
      H5Acreate2(target, labels_name, type.get(), kept.get(), H5P_DEFAULT, H5P_DEFAULT), problem));
  require(H5Awrite(copy.get(), type.get(), labels.data()), problem);
}

/// Cuts what fills up a string: blanks, too, whatever its type says, as Fortran pads texts.
std::string_view without_padding(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

TypeHandle make_text_type(std::size_t bytes, const std::string& problem) {
  TypeHandle type(require(H5Tcopy(H5T_C_S1), problem));
  require(H5Tset_size(type.get(), bytes), problem);
  require(H5Tset_cset(type.get(), H5T_CSET_UTF8), problem);
  require(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), problem);
  return type;
}

// Iterations of HDF5 in an order crash where it can't decode an attribute (1.10). To look for a
// name that none has decodes those in the object's header; those elsewhere are iterated over one by
// one in no order.
std::optional<std::vector<std::string>> all_attributes(hid_t object) {
  std::vector<std::string> names;
  if (H5Aexists(object, "\x7f") >= 0 &&
      H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect_name, &names) >= 0)
    return names;
  H5Eclear2(H5E_DEFAULT);
  return std::nullopt;
}

bool has_attribute(hid_t object, const std::string& name) {
  const htri_t exists = H5Aexists(object, name.c_str());
  if (exists < 0) H5Eclear2(H5E_DEFAULT);
  return exists > 0;
}

bool copy_attributes(hid_t source, hid_t target, std::span<const std::string> left_out,
                     std::span<const std::size_t> dimensions, const std::string& problem) {
  const bool scale = is_dimension_scale(source, problem);
  const bool all = all_attributes(source).has_value();
  std::vector<std::string> names;
  if (all)
    names = attribute_names(source, problem);
  else
    std::ranges::copy_if(conventional_names, std::back_inserter(names),
                         [&](const std::string& name) { return has_attribute(source, name); });
  for (const std::string& name : names) {
    if (scale && (name == "CLASS" || name == "NAME")) continue;
    if (std::find(left_out.begin(), left_out.end(), name) != left_out.end()) continue;
    if (name == labels_name)
      copy_labels(source, target, dimensions, problem);
    else
      copy_attribute(source, target, name, problem);
  }
  return all;
}

std::optional<std::string> read_text_attribute(hid_t object, const std::string& name,
                                               const std::string& problem) {
  if (!has_attribute(object, name)) return std::nullopt;
  const AttributeHandle attribute(require(H5Aopen(object, name.c_str(), H5P_DEFAULT), problem));
  const TypeHandle type(require(H5Aget_type(attribute.get()), problem));
  if (H5Tget_class(type.get()) != H5T_STRING) return std::nullopt;
  const bool variable = require(H5Tis_variable_str(type.get()), problem) > 0;
  const SpaceHandle space(require(H5Aget_space(attribute.get()), problem));
  const StoredValues values =
      values_of_attribute(attribute.get(), name, type.get(), space.get(), problem);
  const std::size_t bytes = H5Tget_size(type.get());
  std::string lines;
  for (std::size_t at = 0; at < values.text().size(); at += bytes) {
    if (at > 0) lines += '\n';
    const char* const stored = values.text().data() + at;
    const char* string = stored;
    if (variable) std::memcpy(&string, stored, sizeof(char*));
    if (variable && string == nullptr) continue;
    lines += without_padding(variable ? std::string_view(string) : std::string_view(string, bytes));
  }
  return lines;
}

std::vector<std::string> read_lines(hid_t object, const std::string& name,
                                    const std::string& problem) {
  std::vector<std::string> lines;
  std::istringstream text(read_text_attribute(object, name, problem).value_or(""));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

void add_fill_value(hid_t target, const std::byte* element, const std::string& problem) {
  constexpr hsize_t count = 1;
  const SpaceHandle space(require(H5Screate_simple(1, &count, nullptr), problem));
  const TypeHandle type(require(H5Dget_type(target), problem));
  const AttributeHandle attribute(require(
      H5Acreate2(target, fill_value_name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
      problem));
  require(H5Awrite(attribute.get(), type.get(), element), problem);
}

void add_labels(hid_t target, std::vector<std::string> labels, const std::string& problem) {
  std::size_t bytes = 0;
  for (const std::string& label : labels) bytes = std::max(bytes, label.size());
  if (bytes == 0) return;
  std::string text;
  for (std::string& label : labels) {
    label.resize(bytes);
    text += label;
  }
  const TypeHandle type = make_text_type(bytes, problem);
  const SpaceHandle space = make_space({labels.size()}, problem);
  const AttributeHandle attribute(require(
      H5Acreate2(target, labels_name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), problem));
  require(H5Awrite(attribute.get(), type.get(), text.data()), problem);
}

void add_text_attributes(hid_t target, std::span<const TextAttribute> attributes,
                         const std::string& problem) {
  const PropertiesHandle creation(require(H5Pcreate(H5P_ATTRIBUTE_CREATE), problem));
  require(H5Pset_char_encoding(creation.get(), H5T_CSET_UTF8), problem);
  const SpaceHandle space(require(H5Screate(H5S_SCALAR), problem));
  for (const auto& [name, text] : attributes) {
    // HDF5 has no strings of no bytes.
    const std::size_t bytes = std::max<std::size_t>(1, text.size());
    const TypeHandle type = make_text_type(bytes, problem);
    const AttributeHandle attribute(require(
        H5Acreate2(target, name.c_str(), type.get(), space.get(), creation.get(), H5P_DEFAULT),
        problem));
    require(H5Awrite(attribute.get(), type.get(), text.c_str()), problem);
  }
}

}  // namespace warpfold::io
