#include "io/dataset/dataset_names.hpp"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <set>
#include <sstream>

#include "io/dataset/dataset_open.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/library_versions.hpp"

namespace warpfold::io {
namespace {

constexpr const char* cannot_list = "cannot list the datasets";

struct Link {
  std::string name;
  bool hard = false;
};

herr_t collect_link(hid_t, const char* name, const LinkInfo* info, void* links) noexcept {
  try {
    static_cast<std::vector<Link>*>(links)->push_back({name, info->type == H5L_TYPE_HARD});
  } catch (const std::exception&) {
    return -1;
  }
  return 0;
}

std::vector<Link> links_of(hid_t group) {
  std::vector<Link> links;
  require(iterate_links(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_link, &links),
          cannot_list);
  return links;
}

/// An object at the end of a link: what it is, and a key that no other object has.
struct Object {
  H5O_type_t type = H5O_TYPE_UNKNOWN;  ///< unknown if the link is dangling or damaged
  std::string key;                     ///< empty where it can't be opened
};

/// Identifies a file while it is closed and opened again, as those behind external links are.
std::string file_key(hid_t object) {
  const std::string path = stored_file_of(object, cannot_list);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return path;
  return std::to_string(status.st_dev) + ' ' + std::to_string(status.st_ino);
}

Object object_of(const ObjectInfo& info, const std::string& file) {
#if H5_VERSION_GE(1, 12, 0)
  const auto& place = info.token;
#else
  const auto& place = info.addr;
#endif
  return {info.type,
          file + ' ' + std::string(reinterpret_cast<const char*>(&place), sizeof(place))};
}

/// Describes what lies behind `path` in the group, in the file whose key is `file`; unknown where
/// it is damaged.
Object object_at(hid_t group, const std::string& path, const std::string& file) {
  ObjectInfo info;
  if (get_object_info_by_name(group, path.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0)
    return object_of(info, file);
  H5Eclear2(H5E_DEFAULT);
  return {};
}

/// Describes what lies behind any link, whichever file that leads to.
Object followed(hid_t group, const std::string& path) {
  const ObjectHandle object = open_object(group, path);
  if (!object) {
    H5Eclear2(H5E_DEFAULT);
    return {};
  }
  return object_at(object.get(), ".", file_key(object.get()));
}

/// Lists each dataset and each group once, hard links first: so a link back to a group that was
/// gone through ends there.
class AllDatasets {
 public:
  explicit AllDatasets(hid_t location) : location_(location) {
    const std::string file = file_key(location);
    seen_.insert(object_at(location, ".", file).key);
    visit(location, "", file);
    for (std::size_t i = 0; i < others_.size(); ++i) follow(std::string(others_[i]));
  }

  std::vector<std::string> names;

 private:
  void visit(hid_t group, const std::string& above, const std::string& file) {
    for (const auto& [name, hard] : links_of(group)) {
      const std::string path = above + name;
      if (!hard) {
        others_.push_back(path);
        continue;
      }
      const Object object = object_at(group, name, file);
      if (is_new_group(object, path))
        visit(GroupHandle(require(H5Gopen2(group, name.c_str(), H5P_DEFAULT), cannot_list)).get(),
              path + '/', file);
    }
  }

  void follow(const std::string& path) {
    const Object object = followed(location_, path);
    if (!is_new_group(object, path)) return;
    const ObjectHandle group = open_object(location_, path);
    require(group.get(), cannot_list);
    visit(group.get(), path + '/', file_key(group.get()));
  }

  /// Lists a new object that is no group.
  bool is_new_group(const Object& object, const std::string& path) {
    if (!object.key.empty() && !seen_.insert(object.key).second) return false;
    if (object.type == H5O_TYPE_DATASET || object.type == H5O_TYPE_UNKNOWN) names.push_back(path);
    return object.type == H5O_TYPE_GROUP;
  }

  hid_t location_;
  std::set<std::string> seen_;
  std::vector<std::string> others_;  ///< paths of links that are not hard
};

/// Lists each dataset once whose path matches, level by level.
class MatchingDatasets {
 public:
  MatchingDatasets(hid_t location, const std::string& pattern) : location_(location) {
    std::istringstream text(pattern);
    for (std::string part; std::getline(text, part, '/');)
      if (!part.empty()) parts_.push_back(part);
    if (!parts_.empty()) match(location, "", 0, file_key(location));
  }

  std::vector<std::string> names;

 private:
  void match(hid_t group, const std::string& above, std::size_t level, const std::string& file) {
    for (const Link& link : links_of(group)) {
      const bool last = level + 1 == parts_.size();
      const bool whole = matches(link.name, parts_[level]) ||
                         (last && matches(variable_name(link.name), parts_[level]));
      if (!whole && !(last && matches_before_dot(link.name))) continue;
      const std::string path = above + link.name;
      const Object object =
          link.hard ? object_at(group, link.name, file) : followed(location_, path);
      if (last) {
        add(object, path, whole ? seen_ : seen_with_members_);
      } else if (object.type == H5O_TYPE_GROUP) {
        const ObjectHandle below = open_object(location_, path);
        require(below.get(), cannot_list);
        match(below.get(), path + '/', level + 1, file_key(below.get()));
      }
    }
  }

  bool matches_before_dot(const std::string& name) const {
    const std::string& part = parts_.back();
    for (std::size_t dot = part.find('.'); dot != std::string::npos; dot = part.find('.', dot + 1))
      if (matches(name, part.substr(0, dot))) return true;
    return false;
  }

  void add(const Object& object, const std::string& path, std::set<std::string>& seen) {
    if (object.type != H5O_TYPE_DATASET && object.type != H5O_TYPE_UNKNOWN) return;
    if (object.key.empty() || seen.insert(object.key).second) names.push_back(path);
  }

  hid_t location_;
  std::vector<std::string> parts_;
  std::set<std::string> seen_;
  std::set<std::string> seen_with_members_;
};

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::string variable_name(const std::string& path) {
  const std::size_t base = path.rfind('/') + 1;
  const std::string prefix = non_coordinate_prefix;
  if (path.compare(base, prefix.size(), prefix) != 0 || path.size() == base + prefix.size())
    return path;
  return path.substr(0, base) + path.substr(base + prefix.size());
}

bool matches(const std::string& path, const std::string& pattern) {
  return ::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0;
}

std::vector<std::string> dataset_names(hid_t location) {
  return sorted(AllDatasets(location).names);
}

std::vector<std::string> dataset_names(hid_t location, const std::string& pattern) {
  return sorted(MatchingDatasets(location, pattern).names);
}

}  // namespace warpfold::io
