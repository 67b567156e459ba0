#include "io/hdf5/link_access.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <sstream>
#include <vector>

#include "io/files/external_files.hpp"

namespace warpfold::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* cannot_follow = "cannot follow links";

/// Returns the places where HDF5 looks for a linked file, in its order (see H5Lcreate_external).
std::vector<fs::path> candidates_of_link(const fs::path& parent, const fs::path& child) {
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

/// Returns the file that a link leads to and the rule in force refuses, or nothing. HDF5 opens the
/// first candidate that is an HDF5 file.
std::string refused_target(const fs::path& parent, const fs::path& child) {
  if (external_files_rule() == ExternalFiles::any) return "";
  if (external_files_rule() == ExternalFiles::none) return child.string();
  std::error_code error;
  for (const fs::path& path : candidates_of_link(parent, child)) {
    if (!fs::exists(path, error)) continue;
    if (!is_allowed(path.string(), parent.string())) return path.string();
    if (H5Fis_hdf5(path.c_str()) > 0) return "";
  }
  return "";
}

herr_t pass_link(const char* parent, const char*, const char* child, const char*, unsigned*, hid_t,
                 void* data) noexcept {
  try {
    PassedLinks unused;
    PassedLinks& passed = data != nullptr ? *static_cast<PassedLinks*>(data) : unused;
    passed.files.insert(parent);
    std::error_code error;
    for (const fs::path& path : candidates_of_link(parent, child))
      if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return -1;
    passed.refused = refused_target(parent, child);
    if (!passed.refused.empty()) return -1;
  } catch (const std::exception&) {
    return -1;
  }
  return 0;
}

}  // namespace

PropertiesHandle make_link_access(PassedLinks* passed) {
  PropertiesHandle access(require(H5Pcreate(H5P_LINK_ACCESS), cannot_follow));
  guard_links(access.get(), passed);
  return access;
}

hid_t link_access() {
  static const auto* access = new PropertiesHandle(make_link_access(nullptr));
  return access->get();
}

void guard_links(hid_t access, PassedLinks* passed) {
  require(H5Pset_elink_cb(access, pass_link, passed), cannot_follow);
  require(H5Pset_elink_acc_flags(access, H5F_ACC_RDONLY), cannot_follow);
}

ObjectHandle open_object(hid_t location, const std::string& path) {
  ObjectHandle object(H5Oopen(location, path.c_str(), link_access()));
  if (!object || external_files_rule() == ExternalFiles::any) return object;
  const std::string naming_file = stored_file_of(location, cannot_follow);
  if (stored_file_of(object.get(), cannot_follow) == naming_file) return object;
  try {
    require_opened_allowed(object.get(), naming_file, cannot_follow);
  } catch (const RefusedFile&) {
    return {};
  }
  return object;
}

void require_opened_allowed(hid_t object, const std::string& naming_file,
                            const std::string& problem) {
  if (external_files_rule() == ExternalFiles::any) return;
  const std::string path = stored_file_of(object, problem);
  require_allowed(path, naming_file, problem);
  const FileHandle file(require(H5Iget_file_id(object), problem));
  void* descriptor = nullptr;
  require(H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &descriptor), problem);
  struct stat opened {};
  struct stat named {};
  // The path without links is in the folder; it has to be the path of what is open.
  std::error_code error;
  const std::string canonical = fs::canonical(path, error).string();
  if (error || ::fstat(*static_cast<int*>(descriptor), &opened) != 0 ||
      ::stat(canonical.c_str(), &named) != 0 || opened.st_dev != named.st_dev ||
      opened.st_ino != named.st_ino || !is_allowed(canonical, naming_file))
    throw RefusedFile(problem, "'" + path + "' was exchanged while it was opened");
}

}  // namespace warpfold::io
