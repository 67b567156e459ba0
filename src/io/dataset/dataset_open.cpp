#include "io/dataset/dataset_open.hpp"

#include <algorithm>

#include "io/hdf5/hdf5_library.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

#if H5_VERSION_GE(1, 12, 0)
using ObjectInfo = H5O_info2_t;
#else
using ObjectInfo = H5O_info_t;
#endif

herr_t collect_dataset(hid_t, const char* name, const ObjectInfo* object, void* names) {
  return object->type == H5O_TYPE_DATASET ? append_name(name, names) : 0;
}

herr_t visit_objects(hid_t location, std::vector<std::string>& names) {
#if H5_VERSION_GE(1, 12, 0)
  return H5Ovisit3(location, H5_INDEX_NAME, H5_ITER_NATIVE, collect_dataset, &names,
                   H5O_INFO_BASIC);
#else
  return H5Ovisit2(location, H5_INDEX_NAME, H5_ITER_NATIVE, collect_dataset, &names,
                   H5O_INFO_BASIC);
#endif
}

constexpr std::size_t max_names = 10;

std::string choices(hid_t location, const std::string& of_what) {
  const std::vector<std::string> names = dataset_names(location);
  if (names.empty()) return of_what + " has no datasets";
  return of_what + " has " + enumerate(names, max_names);
}

/// Says what a soft or external link leads to; nothing of others.
std::string link_text(hid_t file, const std::string& name) {
  H5L_info_t link;
  if (H5Lget_info(file, name.c_str(), &link, H5P_DEFAULT) < 0 || link.type == H5L_TYPE_HARD)
    return "";
  std::string value(link.u.val_size + 1, '\0');
  if (H5Lget_val(file, name.c_str(), value.data(), value.size(), H5P_DEFAULT) < 0) return "";
  if (link.type == H5L_TYPE_SOFT)
    return "it is a soft link to '" + std::string(value.c_str()) + "'";
  const char* target_file = nullptr;
  const char* target = nullptr;
  if (link.type != H5L_TYPE_EXTERNAL ||
      H5Lunpack_elink_val(value.data(), link.u.val_size, nullptr, &target_file, &target) < 0)
    return "";
  return "it is an external link to '" + std::string(target) + "' in '" + target_file + "'";
}

[[noreturn]] void throw_unopened(hid_t file, const std::string& name, const std::string& problem) {
  const std::string causes = take_library_causes();
  const bool has_link = !name.empty() && H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0;
  const std::string link = has_link ? link_text(file, name) : "";
  H5Eclear2(H5E_DEFAULT);
  const Error failure = library_error(problem, causes, "Check the file with h5ls or h5dump.");
  if (!link.empty() && failure.why() == causes)
    throw Error(problem, link + ", which can't be opened",
                "Restore what it points to, or name another dataset.");
  if (has_link) throw failure;
  throw Error(problem, "no such dataset; " + choices(file, "the file"),
              "Give the path of a dataset.");
}

}  // namespace

std::vector<std::string> dataset_names(hid_t location) {
  std::vector<std::string> names;
  require(visit_objects(location, names), "cannot list the datasets");
  std::sort(names.begin(), names.end());
  return names;
}

std::string cannot_read(const std::string& file, const std::string& name) {
  return "cannot read '" + name + "' in '" + file + "'";
}

std::string enumerate(const std::vector<std::string>& names, std::size_t maximum) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), maximum); ++i) {
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  }
  if (names.size() > maximum)
    text += ", ... and " + std::to_string(names.size() - maximum) + " more";
  return text;
}

DatasetHandle open_dataset(hid_t file, const std::string& file_path, const std::string& name,
                           const std::string& problem) {
  const ObjectHandle object(H5Oopen(file, name.c_str(), H5P_DEFAULT));
  if (!object) throw_unopened(file, name, problem);
  switch (H5Iget_type(object.get())) {
    case H5I_DATASET:
      break;
    case H5I_GROUP:
      throw Error(problem, "it is a group; " + choices(object.get(), "the group"),
                  "Give the path of a dataset; 'warpfold info " + file_path + "' lists them.");
    default:
      throw Error(problem, "it is a datatype", "Give the path of a dataset.");
  }
  return DatasetHandle(require(H5Dopen2(file, name.c_str(), H5P_DEFAULT), problem));
}

std::string stored_file_of(hid_t dataset, const std::string& problem) {
  return queried_name(
      [&](char* text, std::size_t size) { return H5Fget_name(dataset, text, size); }, problem);
}

}  // namespace warpfold::io
