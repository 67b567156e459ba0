#include "io/output/coordinate_names.hpp"

#include <map>

#include "io/dataset/dataset_open.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimension_scales.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/output/coordinates.hpp"
#include "io/output/input_variable.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

void add_coordinates_of(hid_t variable, std::set<ObjectKey>& keys) {
  if (is_dimension_scale(variable, cannot_read_variable)) keys.insert(key_of(variable));
  for (const DatasetHandle& described : open_described(variable))
    keys.insert(key_of(described.get()));
}

}  // namespace

std::set<std::string> coordinates_among(const std::string& file,
                                        const std::vector<std::string>& datasets) {
  const LibraryScope scope;
  const FileHandle opened = open_for_reading(file);
  std::set<ObjectKey> coordinates;
  std::map<std::string, ObjectKey> keys;
  for (const std::string& name : datasets) {
    try {
      const DatasetHandle dataset = open_dataset(opened.get(), file, name, cannot_read_variable);
      keys.emplace(name, key_of(dataset.get()));
      add_coordinates_of(dataset.get(), coordinates);
    } catch (const Error&) {
      H5Eclear2(H5E_DEFAULT);
    }
  }
  std::set<std::string> found;
  for (const auto& [name, key] : keys)
    if (coordinates.contains(key)) found.insert(name);
  return found;
}

}  // namespace warpfold::io
