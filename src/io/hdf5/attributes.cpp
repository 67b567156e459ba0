#include "io/hdf5/attributes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "io/hdf5/hdf5_library.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

/// Attributes that tie a netCDF-4 variable or dimension scale to others of its file.
constexpr std::array<std::string_view, 5> file_bound_names{
    "DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict"};

constexpr const char* fill_value_name = "_FillValue";
constexpr const char* labels_name = "DIMENSION_LABELS";

constexpr std::uint64_t max_string_bytes = std::uint64_t{1} << 28;

constexpr std::size_t max_path_bytes = 4096;

constexpr const char* odd_attribute_advice = "Copy the input again, or delete the attribute.";

/// Bytes in memory of an attribute's values, strings of variable length aside. HDF5 multiplies the
/// elements that a file claims without a check, but holds no more bytes than there are.
std::size_t bytes_of_values(hid_t attribute, const std::string& name, hid_t type, hid_t space,
                            const std::string& problem) {
  const auto elements =
      static_cast<std::uint64_t>(require(H5Sget_simple_extent_npoints(space), problem));
  const std::uint64_t stored = H5Aget_storage_size(attribute);
  const std::size_t element_bytes = H5Tget_size(type);
  if (elements > stored / element_bytes)
    throw Error(problem,
                "the input's attribute " + name + " has " + std::to_string(elements) +
                    " elements in " + std::to_string(stored) + " bytes",
                odd_attribute_advice);
  return elements * element_bytes;
}

/// Sums the lengths of the variable-length strings and sequences of one element as it is stored, of
/// file type `type`: it has a length in four bytes, lowest first, and where in the file its bytes
/// lie.
std::uint64_t string_bytes_of(hid_t type, const unsigned char* element) {
  const H5T_class_t type_class = H5Tget_class(type);
  std::uint64_t bytes = 0;
  if (type_class == H5T_VLEN || (type_class == H5T_STRING && H5Tis_variable_str(type) > 0)) {
    for (unsigned i = 0; i < 4; ++i) bytes |= std::uint64_t{element[i]} << 8 * i;
    if (type_class == H5T_VLEN) bytes *= H5Tget_size(TypeHandle(H5Tget_super(type)).get());
  } else if (type_class == H5T_COMPOUND) {
    for (int i = 0; i < H5Tget_nmembers(type); ++i) {
      const auto member = static_cast<unsigned>(i);
      const TypeHandle member_type(H5Tget_member_type(type, member));
      bytes += string_bytes_of(member_type.get(), element + H5Tget_member_offset(type, member));
    }
  } else if (type_class == H5T_ARRAY) {
    const TypeHandle item(H5Tget_super(type));
    const std::size_t item_bytes = H5Tget_size(item.get());
    const std::size_t items = item_bytes > 0 ? H5Tget_size(type) / item_bytes : 0;
    for (std::size_t i = 0; i < items; ++i)
      bytes += string_bytes_of(item.get(), element + i * item_bytes);
  }
  return bytes;
}

/// Reads attributes of a type of memory as the sum of their strings' lengths, before HDF5 allocates
/// the strings: by a conversion to opaque bytes, which HDF5 knows while this lives.
class StringLengths {
 public:
  StringLengths(hid_t type, const std::string& problem)
      : problem_(problem), opaque_(require(H5Tcreate(H5T_OPAQUE, 1), problem)) {
    require(H5Tregister(H5T_PERS_SOFT, name, type, opaque_.get(), add_up), problem);
  }
  ~StringLengths() { H5Tunregister(H5T_PERS_SOFT, name, -1, -1, add_up); }
  StringLengths(const StringLengths&) = delete;
  StringLengths& operator=(const StringLengths&) = delete;

  std::uint64_t sum(hid_t attribute, std::size_t elements) const {
    sum_ = 0;
    std::vector<std::byte> unused(elements);
    require(H5Aread(attribute, opaque_.get(), unused.data()), problem_);
    return sum_;
  }

 private:
  static herr_t add_up(hid_t stored_type, hid_t, H5T_cdata_t* call, std::size_t count,
                       std::size_t stride, std::size_t, void* elements, void*, hid_t) {
    if (call->command == H5T_CONV_INIT) call->need_bkg = H5T_BKG_NO;
    if (call->command != H5T_CONV_CONV) return 0;
    const std::size_t step = stride != 0 ? stride : H5Tget_size(stored_type);
    const auto* element = static_cast<const unsigned char*>(elements);
    for (std::size_t i = 0; i < count; ++i)
      sum_ += string_bytes_of(stored_type, element + i * step);
    return 0;
  }

  static constexpr const char* name = "warpfold string lengths";
  static inline std::uint64_t sum_ = 0;  ///< a conversion is handed nothing else to add to

  const std::string& problem_;
  TypeHandle opaque_;
};

/// Refuses strings that HDF5 would allocate gigabytes for, as it takes their lengths from the file.
void require_short_strings(hid_t attribute, const std::string& name, hid_t type,
                           std::size_t elements, const std::string& problem) {
  const std::uint64_t bytes = StringLengths(type, problem).sum(attribute, elements);
  if (bytes <= max_string_bytes) return;
  throw Error(problem,
              "the input's attribute " + name + " has strings of " + std::to_string(bytes) +
                  " bytes, more than " + std::to_string(max_string_bytes),
              odd_attribute_advice);
}

/// The values of an attribute in memory; gives back what HDF5 allocated for variable-length ones.
class AttributeValues {
 public:
  AttributeValues(hid_t attribute, const std::string& name, hid_t type, hid_t space,
                  const std::string& problem)
      : type_(type), space_(space), bytes_(bytes_of_values(attribute, name, type, space, problem)) {
    if (bytes_.empty()) return;
    if (require(H5Tdetect_class(type, H5T_STRING), problem) > 0 ||
        require(H5Tdetect_class(type, H5T_VLEN), problem) > 0)
      require_short_strings(attribute, name, type, bytes_.size() / H5Tget_size(type), problem);
    require(H5Aread(attribute, type, bytes_.data()), problem);
  }
  ~AttributeValues() {
    if (bytes_.empty()) return;
#if H5_VERSION_GE(1, 12, 0)
    H5Treclaim(type_, space_, H5P_DEFAULT, bytes_.data());
#else
    H5Dvlen_reclaim(type_, space_, H5P_DEFAULT, bytes_.data());
#endif
  }
  AttributeValues(const AttributeValues&) = delete;
  AttributeValues& operator=(const AttributeValues&) = delete;

  bool empty() const { return bytes_.empty(); }
  const std::byte* data() const { return bytes_.data(); }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

 private:
  hid_t type_;
  hid_t space_;
  std::vector<std::byte> bytes_;
};

herr_t collect_name(hid_t, const char* name, const H5A_info_t*, void* names) {
  return append_name(name, names);
}

/// Lists them in the order they were made where that is known, otherwise by name.
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

/// Tells whether `dataset` is a netCDF dimension scale: it then has a CLASS and, mostly, a NAME.
bool is_dimension_scale(hid_t dataset, const std::string& problem) {
  if (require(H5Aexists(dataset, "CLASS"), problem) == 0) return false;
  const AttributeHandle attribute(require(H5Aopen(dataset, "CLASS", H5P_DEFAULT), problem));
  const TypeHandle type(require(H5Aget_type(attribute.get()), problem));
  if (H5Tget_class(type.get()) != H5T_STRING) return false;
  if (require(H5Tis_variable_str(type.get()), problem) > 0) return false;
  const SpaceHandle space(require(H5Aget_space(attribute.get()), problem));
  const AttributeValues values(attribute.get(), "CLASS", type.get(), space.get(), problem);
  return values.text().starts_with("DIMENSION_SCALE");
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
  const AttributeValues values(original.get(), name, type.get(), space.get(), problem);
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
  const AttributeValues values(original.get(), labels_name, type.get(), space.get(), problem);
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

/// Cuts what fills up a string of fixed length.
std::string_view without_padding(std::string_view text, hid_t type) {
  text = text.substr(0, text.find('\0'));
  if (H5Tget_strpad(type) == H5T_STR_SPACEPAD)
    text = text.substr(0, text.find_last_not_of(' ') + 1);
  return text;
}

/// Returns the path of the object that a reference leads to; empty where there is none.
std::string name_of_referenced(hid_t location, const hobj_ref_t& reference) {
  std::string name(max_path_bytes, '\0');
  const ssize_t length = H5Rget_name(location, H5R_OBJECT, &reference, name.data(), name.size());
  H5Eclear2(H5E_DEFAULT);
  const bool known = length > 0 && static_cast<std::size_t>(length) < name.size();
  return known ? name.substr(0, static_cast<std::size_t>(length)) : "";
}

TypeHandle make_text_type(std::size_t bytes, const std::string& problem) {
  TypeHandle type(require(H5Tcopy(H5T_C_S1), problem));
  require(H5Tset_size(type.get(), bytes), problem);
  require(H5Tset_cset(type.get(), H5T_CSET_UTF8), problem);
  require(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), problem);
  return type;
}

}  // namespace

void copy_attributes(hid_t source, hid_t target, std::span<const std::string> left_out,
                     std::span<const std::size_t> dimensions, const std::string& problem) {
  const bool scale = is_dimension_scale(source, problem);
  for (const std::string& name : attribute_names(source, problem)) {
    if (scale && (name == "CLASS" || name == "NAME")) continue;
    if (std::find(left_out.begin(), left_out.end(), name) != left_out.end()) continue;
    if (name == labels_name)
      copy_labels(source, target, dimensions, problem);
    else
      copy_attribute(source, target, name, problem);
  }
}

std::optional<std::string> read_text_attribute(hid_t object, const std::string& name,
                                               const std::string& problem) {
  if (require(H5Aexists(object, name.c_str()), problem) == 0) return std::nullopt;
  const AttributeHandle attribute(require(H5Aopen(object, name.c_str(), H5P_DEFAULT), problem));
  const TypeHandle type(require(H5Aget_type(attribute.get()), problem));
  if (H5Tget_class(type.get()) != H5T_STRING) return std::nullopt;
  const bool variable = require(H5Tis_variable_str(type.get()), problem) > 0;
  const SpaceHandle space(require(H5Aget_space(attribute.get()), problem));
  const AttributeValues values(attribute.get(), name, type.get(), space.get(), problem);
  const std::size_t bytes = H5Tget_size(type.get());
  std::string lines;
  for (std::size_t at = 0; at < values.text().size(); at += bytes) {
    if (at > 0) lines += '\n';
    const char* const stored = values.text().data() + at;
    const char* string = stored;
    if (variable) std::memcpy(&string, stored, sizeof(char*));
    if (variable && string == nullptr) continue;
    lines += variable ? std::string_view(string) : without_padding({string, bytes}, type.get());
  }
  return lines;
}

std::vector<std::vector<std::string>> read_referenced_names(hid_t dataset, const std::string& name,
                                                            const std::string& problem) {
  if (require(H5Aexists(dataset, name.c_str()), problem) == 0) return {};
  const AttributeHandle attribute(require(H5Aopen(dataset, name.c_str(), H5P_DEFAULT), problem));
  const TypeHandle type(require(H5Aget_type(attribute.get()), problem));
  if (H5Tget_class(type.get()) != H5T_VLEN) return {};
  const TypeHandle item(require(H5Tget_super(type.get()), problem));
  if (require(H5Tequal(item.get(), H5T_STD_REF_OBJ), problem) == 0) return {};
  const SpaceHandle space(require(H5Aget_space(attribute.get()), problem));
  const AttributeValues values(attribute.get(), name, type.get(), space.get(), problem);
  std::vector<std::vector<std::string>> lists(values.text().size() / sizeof(hvl_t));
  for (std::size_t i = 0; i < lists.size(); ++i) {
    hvl_t list;
    std::memcpy(&list, values.data() + i * sizeof(list), sizeof(list));
    for (std::size_t j = 0; j < list.len; ++j)
      lists[i].push_back(name_of_referenced(dataset, static_cast<const hobj_ref_t*>(list.p)[j]));
  }
  return lists;
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
