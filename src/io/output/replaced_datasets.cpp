#include "io/output/replaced_datasets.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "io/dataset/dataset_open.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimension_scales.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/library_versions.hpp"
#include "io/hdf5/link_access.hpp"
#include "io/output/dataset_create.hpp"
#include "io/output/input_variable.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

/// HDF5's comment on an object, which netCDF does not show.
const std::string coordinate_mark = "coordinate written by warpfold";

/// Attributes in which words are not the names of variables.
const std::set<std::string> prose{"history",   "title",         "comment",         "cell_methods",
                                  "long_name", "standard_name", "warpfold_command"};

struct Links {
  std::vector<std::string> hard, soft;  ///< paths
};

herr_t collect_path(hid_t, const char* path, const LinkInfo* info, void* links) noexcept {
  auto& [hard, soft] = *static_cast<Links*>(links);
  if (info->type == H5L_TYPE_HARD) return append_name(path, &hard);
  return info->type == H5L_TYPE_SOFT ? append_name(path, &soft) : 0;
}

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_marked(hid_t object, const std::string& problem) {
  return coordinate_mark ==
         queried_name(
             [&](char* text, std::size_t size) { return H5Oget_comment(object, text, size); },
             problem);
}

/// Finds, of the marked coordinates of datasets that were removed, those that are not in use.
class UnusedCoordinates {
 public:
  UnusedCoordinates(hid_t file, const std::string& problem) : file_(file), problem_(problem) {}

  /// Adds the coordinates of the dataset that a path leads to, if it does, and theirs.
  void add_of(const std::string& path) {
    const ObjectHandle object = open_object(file_, path);
    if (object && H5Iget_type(object.get()) == H5I_DATASET)
      in_doubt_keep([&] { add_of(object.get()); });
  }

  /// Returns the paths of those that nothing else in the file refers to.
  std::vector<std::string> unused() {
    if (!candidates_.empty())
      in_doubt_keep([&] {
        look_through_file();
        drop_used();
      });
    std::vector<std::string> unused;
    for (const auto& [key, paths] : candidates_)
      if (!uses_anything_) unused.push_back(paths.front());
    return unused;
  }

 private:
  template <class Look>
  void in_doubt_keep(Look&& look) {
    try {
      look();
    } catch (const Error&) {
      H5Eclear2(H5E_DEFAULT);
      uses_anything_ = true;
    }
  }

  void add_of(hid_t dataset) {
    for (const auto& scales : scales_of(dataset, problem_))
      for (const DatasetHandle& scale : scales) add(scale.get());
    for (const DatasetHandle& described : open_described(dataset)) add(described.get());
  }

  void drop_used() {
    const auto is_used = [&](const auto& each) {
      const auto& [key, paths] = each;
      return paths.size() != 1 || keys_.contains(key) || names_.contains(last_name(paths.front()));
    };
    for (auto used = std::ranges::find_if(candidates_, is_used); used != candidates_.end();
         used = std::ranges::find_if(candidates_, is_used)) {
      for (const std::string& path : used->second) note_uses(open(path).get());
      candidates_.erase(used);
    }
  }

  ObjectHandle open(const std::string& path) const {
    return ObjectHandle(require(H5Oopen(file_, path.c_str(), H5P_DEFAULT), problem_));
  }

  void add(hid_t dataset) {
    if (!is_marked(dataset, problem_) || !candidates_.try_emplace(key_of(dataset)).second) return;
    const std::string characters = non_coordinate_prefix + own_name_of(dataset, problem_);
    if (const DatasetHandle named = open_named(dataset, characters)) add(named.get());
    add_of(dataset);
  }

  void look_through_file() {
    Links links;
    require(
        visit_links(file_, "/", H5_INDEX_NAME, H5_ITER_NATIVE, collect_path, &links, H5P_DEFAULT),
        problem_);
    note_uses(open("/").get());
    for (const std::string& path : links.hard) {
      const ObjectHandle object = open(path);
      const auto candidate = candidates_.find(key_of(object.get()));
      if (candidate == candidates_.end())
        note_uses(object.get());
      else
        candidate->second.push_back(path);
    }
    for (const std::string& path : links.soft) {
      LinkInfo info;
      require(get_link_info(file_, path.c_str(), &info, H5P_DEFAULT), problem_);
      std::string target(info.u.val_size, '\0');
      require(H5Lget_val(file_, path.c_str(), target.data(), target.size(), H5P_DEFAULT), problem_);
      names_.insert(last_name(target.c_str()));
    }
  }

  void note_uses(hid_t object) {
    names_.insert(non_coordinate_prefix + own_name_of(object, problem_));
    if (H5Iget_type(object) == H5I_DATASET) {
      for (const auto& scales : scales_of(object, problem_))
        for (const DatasetHandle& scale : scales) keys_.insert(key_of(scale.get()));
      const TypeHandle type(require(H5Dget_type(object), problem_));
      const PropertiesHandle creation(require(H5Dget_create_plist(object), problem_));
      note_references(type.get());
      uses_anything_ |= H5Pget_layout(creation.get()) == H5D_VIRTUAL;
    }
    const auto attributes = all_attributes(object);
    uses_anything_ |= !attributes;
    for (const std::string& name : attributes.value_or(std::vector<std::string>()))
      if (name != "DIMENSION_LIST" && name != "REFERENCE_LIST" && !prose.contains(name))
        note_uses(object, name);
  }

  void note_uses(hid_t object, const std::string& attribute) {
    const AttributeHandle opened(
        require(H5Aopen(object, attribute.c_str(), H5P_DEFAULT), problem_));
    const TypeHandle type(require(H5Aget_type(opened.get()), problem_));
    note_references(type.get());
    for (const std::string& name : names_in(object, attribute)) names_.insert(last_name(name));
  }

  void note_references(hid_t type) {
    uses_anything_ |= require(H5Tdetect_class(type, H5T_REFERENCE), problem_) > 0;
  }

  hid_t file_;
  std::string problem_;
  std::map<ObjectKey, std::vector<std::string>> candidates_;  ///< and the paths of hard links
  std::set<ObjectKey> keys_;                                  ///< keys of dimensions
  std::set<std::string> names_;                               ///< names that texts may refer to
  bool uses_anything_ = false;
};

/// Removes links, and the datasets that have no other ones, after these are detached from others.
void remove(hid_t file, const std::vector<std::string>& paths, const std::string& problem) {
  for (const std::string& path : paths) {
    LinkInfo link;
    require(get_link_info(file, path.c_str(), &link, H5P_DEFAULT), problem);
    if (link.type != H5L_TYPE_HARD) continue;
    const ObjectHandle object = open_object(file, path);
    if (object && H5Iget_type(object.get()) == H5I_DATASET && hard_links_of(object.get()) == 1)
      detach_scales(object.get(), problem);
  }
  for (const std::string& path : paths)
    require(H5Ldelete(file, path.c_str(), H5P_DEFAULT), problem);
}

}  // namespace

void mark_coordinate(hid_t dataset, const std::string& problem) {
  require(H5Oset_comment(dataset, coordinate_mark.c_str()), problem);
}

void remove_replaced(hid_t file, const std::vector<std::string>& paths,
                     const std::string& problem) {
  UnusedCoordinates coordinates(file, problem);
  std::vector<std::string> replaced;
  for (const std::string& path : paths) {
    if (!is_there(file, path, problem)) continue;
    require_removable(file, path, problem);
    coordinates.add_of(path);
    replaced.push_back(path);
  }
  remove(file, replaced, problem);
  remove(file, coordinates.unused(), problem);
}

}  // namespace warpfold::io
