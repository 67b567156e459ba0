#include "io/output/input_variable.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>
#include <utility>

#include "io/dataset/dataset_info.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/dataset/source_files.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/creation_properties.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/output/dataset_create.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr std::uint64_t max_carried_bytes = std::uint64_t{1} << 28;

/// Calls use(variable of the same path) in each file.
template <class Use>
void for_each_file(hid_t variable, SeveralFiles files, const Use& use) {
  const std::string path =
      queried_name([&](char* text, std::size_t size) { return H5Iget_name(variable, text, size); },
                   cannot_read_variable);
  for (const std::string& name : files) {
    const FileHandle file = open_for_reading(name);
    use(open_dataset(file.get(), name, path, cannot_read_variable).get());
  }
}

/// Says what numbers of a variable mean.
std::vector<std::optional<std::string>> meaning_of(hid_t variable) {
  for (const char* packing : {"scale_factor", "add_offset"})
    if (require(H5Aexists(variable, packing), cannot_read_variable) > 0)
      throw Error(cannot_read_variable, "", "");
  std::vector<std::optional<std::string>> texts;
  for (const char* name : {"units", "calendar", "bounds", "climatology"})
    texts.push_back(read_text_attribute(variable, name, cannot_read_variable));
  return texts;
}

void require_alike(bool alike) {
  if (!alike) throw Error(cannot_read_variable, "", "");
}

StoredValues read_part_of_files(hid_t variable, hid_t type, const Selection& part,
                                SeveralFiles files) {
  require_alike(H5Tdetect_class(type, H5T_VLEN) == 0 && H5Tis_variable_str(type) == 0);
  std::vector<std::byte> bytes;
  std::uint64_t first = 0;
  for_each_file(variable, files, [&](hid_t there) {
    const std::uint64_t extent = shape_of(there, cannot_read_variable).front();
    Selection taken = part;
    taken.front() = slice_within(part.front(), {first, extent});
    first += extent;
    if (taken.front().count == 0) return;
    const StoredValues values = read_part(there, type, taken);
    bytes.insert(bytes.end(), values.data(), values.data() + values.text().size());
  });
  return {TypeHandle(require(H5Tcopy(type), cannot_read_variable)),
          make_space(selected_shape(part), cannot_read_variable), std::move(bytes)};
}

}  // namespace

ObjectKey key_of(hid_t object) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info;
  require(H5Oget_info3(object, &info, H5O_INFO_BASIC), cannot_read_variable);
  const auto& place = info.token;
#else
  H5O_info_t info;
  require(H5Oget_info2(object, &info, H5O_INFO_BASIC), cannot_read_variable);
  const auto& place = info.addr;
#endif
  return {info.fileno, std::string(reinterpret_cast<const char*>(&place), sizeof(place))};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

DatasetHandle open_named(hid_t variable, const std::string& name) {
  std::string group =
      queried_name([&](char* text, std::size_t size) { return H5Iget_name(variable, text, size); },
                   cannot_read_variable);
  const FileHandle file(require(H5Iget_file_id(variable), cannot_read_variable));
  while (!group.empty()) {
    group.erase(group.rfind('/'));
    std::string path = group;
    path.append("/").append(name);
    const ObjectHandle object = open_object(file.get(), path);
    if (object && H5Iget_type(object.get()) == H5I_DATASET) {
      H5Iinc_ref(object.get());
      return DatasetHandle(object.get());
    }
  }
  H5Eclear2(H5E_DEFAULT);
  return {};
}

std::vector<std::uint64_t> shape_of(hid_t variable, SeveralFiles files) {
  std::vector<std::uint64_t> shape = shape_of(variable, cannot_read_variable);
  if (files.empty()) return shape;
  const TypeHandle type(require(H5Dget_type(variable), cannot_read_variable));
  const auto meaning = meaning_of(variable);
  require_alike(!shape.empty());
  std::uint64_t extent = 0;
  for_each_file(variable, files, [&](hid_t there) {
    std::vector<std::uint64_t> other = shape_of(there, cannot_read_variable);
    const TypeHandle other_type(require(H5Dget_type(there), cannot_read_variable));
    require_alike(H5Tequal(type.get(), other_type.get()) > 0 && meaning_of(there) == meaning &&
                  other.size() == shape.size());
    extent += std::exchange(other.front(), shape.front());
    require_alike(other == shape);
  });
  shape.front() = extent;
  return shape;
}

StoredValues read_part(hid_t variable, hid_t type, const Selection& part, SeveralFiles files) {
  const std::vector<std::uint64_t> shape = selected_shape(part);
  std::uint64_t bytes = H5Tget_size(type);
  for (const std::uint64_t extent : shape) {
    if (extent > max_carried_bytes / std::max<std::uint64_t>(bytes, 1))
      throw Error(cannot_read_variable, "", "");
    bytes *= extent;
  }
  if (!files.empty()) return read_part_of_files(variable, type, part, files);
  const PropertiesHandle creation(require(H5Dget_create_plist(variable), cannot_read_variable));
  require_available(filters_of(creation.get()), cannot_read_variable);
  // HDF5 itself would take elements of missing files for fill values.
  source_files(variable, stored_file_of(variable, cannot_read_variable), cannot_read_variable);
  const SpaceHandle stored(require(H5Dget_space(variable), cannot_read_variable));
  if (bytes > 0) select_part(stored.get(), part, cannot_read_variable);
  return values_of_dataset(variable, type, stored.get(), make_space(shape, cannot_read_variable),
                           cannot_read_variable);
}

std::vector<double> read_numbers(hid_t variable, const Selection& part, SeveralFiles files) {
  const StoredValues values = read_part(variable, H5T_NATIVE_DOUBLE, part, files);
  const auto* first = reinterpret_cast<const double*>(values.data());
  return {first, first + H5Sget_simple_extent_npoints(values.space())};
}

}  // namespace warpfold::io
