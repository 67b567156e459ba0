#include "io/hdf5/link_access.hpp"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <sstream>
#include <vector>

namespace warpfold::io {
namespace {

namespace fs = std::filesystem;

/// Returns the places where HDF5 looks for a linked file, in its order (see H5Lcreate_external).
std::vector<fs::path> candidate_paths(const fs::path& parent, const fs::path& child) {
  std::vector<fs::path> candidates;
  if (child.is_absolute()) candidates.push_back(child);
  const fs::path name = child.is_absolute() ? child.filename() : child;
  if (const char* prefixes = std::getenv("HDF5_EXT_PREFIX"); prefixes != nullptr) {
    std::istringstream entries(prefixes);
    for (std::string entry; std::getline(entries, entry, ':');)
      candidates.push_back(fs::path(entry) / name);
  }
  candidates.push_back(parent.parent_path() / name);
  candidates.push_back(name);
  std::error_code error;
  if (const fs::path resolved = fs::canonical(parent, error); !error)
    candidates.push_back(resolved.parent_path() / name);
  return candidates;
}

herr_t pass_link(const char* parent, const char*, const char* child, const char*, unsigned*, hid_t,
                 void* passed) noexcept {
  try {
    if (passed != nullptr) static_cast<std::set<std::string>*>(passed)->insert(parent);
    std::error_code error;
    for (const fs::path& path : candidate_paths(parent, child))
      if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return -1;
  } catch (const std::exception&) {
    return -1;
  }
  return 0;
}

}  // namespace

PropertiesHandle make_link_access(std::set<std::string>* passed) {
  const std::string problem = "cannot follow links";
  PropertiesHandle access(require(H5Pcreate(H5P_LINK_ACCESS), problem));
  require(H5Pset_elink_cb(access.get(), pass_link, passed), problem);
  return access;
}

}  // namespace warpfold::io
