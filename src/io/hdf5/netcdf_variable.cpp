#include "io/hdf5/netcdf_variable.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <variant>

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimension_scales.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/stored_values.hpp"

namespace warpfold::io {
namespace {

constexpr const char* fill_attribute = "_FillValue";

bool is_marked(hid_t object) {
  return has_attribute(object, "_Netcdf4Dimid") || has_attribute(object, "_Netcdf4Coordinates");
}

bool is_in_netcdf_file(hid_t dataset, const std::string& problem) {
  const FileHandle file(require(H5Iget_file_id(dataset), problem));
  const GroupHandle root(require(H5Gopen2(file.get(), "/", H5P_DEFAULT), problem));
  return has_attribute(root.get(), "_NCProperties") || has_attribute(root.get(), "_nc3_strict");
}

/// Returns an element of a type as netCDF fills it where nobody says how.
std::array<std::byte, 8> default_element(hid_t stored_type, ElementType type,
                                         const std::string& problem) {
  std::array<std::byte, 8> element{};
  const Value fill = netcdf_default_fill(type);
  hid_t native = H5T_NATIVE_DOUBLE;
  if (const auto* real = std::get_if<double>(&fill)) {
    std::memcpy(element.data(), real, sizeof(*real));
  } else {
    const auto bits = static_cast<std::uint64_t>(std::get<int128>(fill));
    std::memcpy(element.data(), &bits, sizeof(bits));
    native = is_signed_integer(type) ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
  }
  require(H5Tconvert(native, stored_type, 1, element.data(), nullptr, H5P_DEFAULT), problem);
  return element;
}

/// Returns whether HDF5 fills floats as netCDF does where nobody says how, a number that nobody
/// else chooses: files of libraries that left no other mark have that.
bool is_filled_by_default(hid_t dataset, hid_t creation, ElementType type,
                          const std::string& problem) {
  const TypeHandle stored_type(require(H5Dget_type(dataset), problem));
  const std::size_t size = H5Tget_size(stored_type.get());
  if (is_integer(type) || size > sizeof(std::uint64_t)) return false;
  std::array<std::byte, 8> fill{};
  require(H5Pget_fill_value(creation, stored_type.get(), fill.data()), problem);
  const auto expected = default_element(stored_type.get(), type, problem);
  return std::equal(fill.begin(), fill.begin() + static_cast<std::ptrdiff_t>(size),
                    expected.begin());
}

}  // namespace

bool is_netcdf_variable(hid_t dataset, const std::string& problem) {
  if (is_marked(dataset) || is_in_netcdf_file(dataset, problem)) return true;
  for (const auto& scales : scales_of(dataset, problem))
    for (const DatasetHandle& scale : scales)
      if (is_marked(scale.get()) || is_without_values(scale.get(), problem)) return true;
  return false;
}

Value netcdf_default_fill(ElementType type) {
  return visit_element_type(type, [](auto element) -> Value {
    using Element = decltype(element);
    if constexpr (is_floating_element<Element>) {
      return 0x1.ep+122;
    } else {
      using Limits = std::numeric_limits<Element>;
      if constexpr (std::is_signed_v<Element>)
        return int128{Limits::min()} + (sizeof(Element) == 8 ? 2 : 1);
      return int128{Limits::max()} - (sizeof(Element) == 8 ? 1 : 0);
    }
  });
}

bool has_default_fill(hid_t dataset, hid_t creation, ElementType type, const std::string& problem) {
  if (size_of(type) == 1 || has_attribute(dataset, fill_attribute)) return false;
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  require(H5Pfill_value_defined(creation, &defined), problem);
  if (defined != H5D_FILL_VALUE_USER_DEFINED) return false;
  return is_filled_by_default(dataset, creation, type, problem) ||
         is_netcdf_variable(dataset, problem);
}

std::vector<std::uint64_t> with_missing_records(hid_t dataset, std::vector<std::uint64_t> shape,
                                                const std::string& problem) {
  const SpaceHandle space(require(H5Dget_space(dataset), problem));
  std::vector<hsize_t> most(shape.size());
  require(H5Sget_simple_extent_dims(space.get(), nullptr, most.data()), problem);
  if (std::ranges::count(most, H5S_UNLIMITED) == 0 || !is_netcdf_variable(dataset, problem))
    return shape;
  const std::vector<std::vector<DatasetHandle>> scales = scales_of(dataset, problem);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (most[d] != H5S_UNLIMITED || scales[d].empty()) continue;
    const hid_t scale = scales[d].front().get();
    const std::vector<std::uint64_t> records = shape_of(scale, problem);
    if (is_without_values(scale, problem))
      shape[d] = std::max(shape[d], longest_extent(scale, problem));
    else if (records.size() == 1)
      shape[d] = std::max(shape[d], records.front());
  }
  return shape;
}

std::array<std::byte, 8> element_of_missing_records(hid_t dataset, hid_t stored_type,
                                                    ElementType type, const std::string& problem) {
  std::array<std::byte, 8> element{};
  if (has_attribute(dataset, fill_attribute)) {
    const AttributeHandle fill(require(H5Aopen(dataset, fill_attribute, H5P_DEFAULT), problem));
    const SpaceHandle space(require(H5Aget_space(fill.get()), problem));
    if (H5Sget_simple_extent_npoints(space.get()) == 1 &&
        H5Aread(fill.get(), stored_type, element.data()) >= 0)
      return element;
    H5Eclear2(H5E_DEFAULT);
  }
  return default_element(stored_type, type, problem);
}

}  // namespace warpfold::io
