#include "io/dataset/external_files.hpp"

#include <climits>
#include <filesystem>

#include "io/hdf5/hdf5_error.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/hdf5/queried_name.hpp"

namespace warpfold::io {

std::set<std::string> external_files(hid_t dataset, const std::string& problem) {
  const PropertiesHandle creation(require(H5Dget_create_plist(dataset), problem));
  const PropertiesHandle access(require(H5Dget_access_plist(dataset), problem));
  const std::filesystem::path folder = queried_name(
      [&](char* text, std::size_t size) { return H5Pget_efile_prefix(access.get(), text, size); },
      problem);
  std::set<std::string> files;
  const int count = require(H5Pget_external_count(creation.get()), problem);
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    char name[PATH_MAX + 1] = {};
    require(H5Pget_external(creation.get(), i, PATH_MAX, name, nullptr, nullptr), problem);
    files.insert((folder / name).string());
  }
  return files;
}

}  // namespace warpfold::io
