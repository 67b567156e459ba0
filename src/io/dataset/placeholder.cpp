#include "io/dataset/placeholder.hpp"

#include <array>
#include <cstddef>
#include <string_view>

#include "io/hdf5/dimension_scales.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/link_access.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr const char* matlab_mark = "MATLAB_empty";
constexpr const char* octave_mark = "OCTAVE_EMPTY_MATRIX";

/// Returns whether an object has an attribute that is one integer, not 0; anything else is no mark.
bool is_marked(hid_t object, const char* mark) {
  if (H5Aexists(object, mark) <= 0) return false;
  const AttributeHandle attribute(H5Aopen(object, mark, H5P_DEFAULT));
  if (!attribute) return false;
  const SpaceHandle space(H5Aget_space(attribute.get()));
  const TypeHandle type(H5Aget_type(attribute.get()));
  if (H5Sget_simple_extent_npoints(space.get()) != 1) return false;
  if (H5Tget_class(type.get()) != H5T_INTEGER) return false;
  int value = 0;
  return H5Aread(attribute.get(), H5T_NATIVE_INT, &value) >= 0 && value != 0;
}

/// Octave keeps an array as the dataset `value` of a group that has the mark.
bool is_empty_for_octave(hid_t dataset) {
  std::array<char, 1024> text{};
  const ssize_t length = H5Iget_name(dataset, text.data(), text.size());
  if (length <= 0 || static_cast<std::size_t>(length) >= text.size()) return false;
  const std::string name = text.data();
  constexpr std::string_view last = "/value";
  if (!name.ends_with(last) || name.size() == last.size()) return false;
  const FileHandle file(H5Iget_file_id(dataset));
  const std::string group_name = name.substr(0, name.size() - last.size());
  const ObjectHandle group = open_object(file.get(), group_name);
  return group && is_marked(group.get(), octave_mark);
}

bool is_dimension_alone(hid_t dataset) {
  try {
    return is_without_values(dataset, "");
  } catch (const Error&) {
    return false;
  }
}

std::string reason_against(hid_t dataset) {
  if (is_marked(dataset, matlab_mark))
    return "it is an empty array of MATLAB's, which stores its extents";
  if (is_empty_for_octave(dataset))
    return "it is an empty array of Octave's, which stores its extents";
  if (is_dimension_alone(dataset)) return "it is a dimension of netCDF's without a variable";
  return "";
}

}  // namespace

std::string reason_against_placeholder(hid_t dataset) {
  std::string reason = reason_against(dataset);
  H5Eclear2(H5E_DEFAULT);
  return reason;
}

}  // namespace warpfold::io
