#include "io/dataset/dataset_open.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/base/nearest_word.hpp"
#include "io/dataset/dataset_names.hpp"
#include "io/dataset/element_part.hpp"
#include "io/dataset/placeholder.hpp"
#include "io/files/external_files.hpp"
#include "io/hdf5/library_versions.hpp"
#include "io/hdf5/source_files.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr std::size_t max_names = 10;

std::string choices(hid_t location, const std::string& of_what) {
  const std::vector<std::string> names = dataset_names(location);
  if (names.empty()) return of_what + " has no datasets";
  return of_what + " has " + enumerate(names, max_names);
}

/// Returns what the first link on the way to `name` is that leads to no object, if there is one.
std::string broken_link_text(hid_t file, const std::string& name) {
  for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
    const std::string path = name.substr(0, end);
    if (H5Oexists_by_name(file, path.c_str(), link_access()) <= 0) {
      const std::string text = link_text(file, path);
      return text.empty() ? "" : (path == name ? "it" : "'" + path + "'") + " is " + text;
    }
    if (end == std::string::npos) return "";
  }
}

/// Returns what to do about a name that no dataset has.
std::string advice_on(hid_t file, const std::string& name) {
  std::error_code none;
  if (std::filesystem::is_regular_file(name, none))
    return "'" + name +
           "' is a file. To join files, add `concat` and the dimension along which they continue.";
  const std::string nearest = nearest_word(name, dataset_names(file));
  // Any two short names are close.
  const bool is_likely = name.size() > 3 || nearest_word(name, {nearest}, 0) == nearest;
  return (nearest.empty() || !is_likely ? "" : did_you_mean("'" + nearest + "'")) +
         "Give the path of a dataset.";
}

/// Throws where the rule on external files refuses a link on the way to `name`.
void require_allowed_links(hid_t file, const std::string& name, const std::string& problem) {
  if (external_files_rule() == ExternalFiles::any || name.empty()) return;
  PassedLinks passed;
  const PropertiesHandle links = make_link_access(&passed);
  const ObjectHandle object(H5Oopen(file, name.c_str(), links.get()));
  if (object) require_opened_allowed(object.get(), stored_file_of(file, problem), problem);
  H5Eclear2(H5E_DEFAULT);
  if (!passed.refused.empty())
    throw RefusedFile(problem, "an external link leads to '" + passed.refused + "'");
}

[[noreturn]] void throw_unopened(hid_t file, const std::string& name, const std::string& problem) {
  const std::string causes = take_library_causes();
  require_allowed_links(file, name, problem);
  const std::string link = name.empty() ? "" : broken_link_text(file, name);
  const bool has_link = !name.empty() && H5Lexists(file, name.c_str(), link_access()) > 0;
  H5Eclear2(H5E_DEFAULT);
  const Error failure = library_error(problem, causes, "Check the file with h5ls or h5dump.");
  if (!link.empty() && failure.why() == causes)
    throw Error(problem, link + ", which cannot be opened",
                "Restore what it points to, or name another dataset.");
  if (has_link || !link.empty()) throw failure;
  throw Error(problem, "no such dataset; " + choices(file, "the file"), advice_on(file, name));
}

bool is_dataset_with_members(hid_t file, const std::string& path) {
  const ObjectHandle object = open_object(file, path);
  const bool is_dataset = object && H5Iget_type(object.get()) == H5I_DATASET;
  const TypeHandle type(is_dataset ? H5Dget_type(object.get()) : H5I_INVALID_HID);
  return type && has_members(type.get());
}

/// Returns where a dataset lies: netCDF stores a variable that is called as a dimension, but is not
/// its coordinate, under a name of its own, and the dimension may lie under the variable's.
std::string stored_path(hid_t file, const std::string& name) {
  const std::size_t base = name.rfind('/') + 1;
  const std::string path = name.substr(0, base) + non_coordinate_prefix + name.substr(base);
  const bool is_variable =
      H5Lexists(file, path.c_str(), link_access()) > 0 && open_object(file, path);
  H5Eclear2(H5E_DEFAULT);
  if (!is_variable) return name;
  const ObjectHandle object = open_object(file, name);
  H5Eclear2(H5E_DEFAULT);
  const bool is_other = object && (H5Iget_type(object.get()) != H5I_DATASET ||
                                   reason_against_placeholder(object.get()).empty());
  return is_other ? name : path;
}

}  // namespace

DatasetHandle open_named(hid_t variable, const std::string& name) {
  std::string group = name.starts_with('/') ? "/" : path_of(variable, cannot_read_variable);
  const FileHandle file(require(H5Iget_file_id(variable), cannot_read_variable));
  while (!group.empty()) {
    group.erase(group.rfind('/'));
    std::string path = group;
    path.append("/").append(name);
    const ObjectHandle object = open_object(file.get(), path);
    if (object && H5Iget_type(object.get()) == H5I_DATASET) {
      require_allowed_sources(object.get(), cannot_read_variable);
      H5Iinc_ref(object.get());
      return DatasetHandle(object.get());
    }
  }
  H5Eclear2(H5E_DEFAULT);
  return {};
}

DatasetHandle open_netcdf_variable(hid_t variable, const std::string& name) {
  const std::size_t base = name.rfind('/') + 1;
  DatasetHandle named =
      open_named(variable, name.substr(0, base) + non_coordinate_prefix + name.substr(base));
  return named ? std::move(named) : open_named(variable, name);
}

DatasetHandle open_netcdf_scalar(hid_t variable, const std::string& name) {
  DatasetHandle named = open_netcdf_variable(variable, name);
  if (named && !shape_of(named.get(), cannot_read_variable).empty()) return {};
  return named;
}

std::string link_text(hid_t file, const std::string& path) {
  LinkInfo link;
  if (get_link_info(file, path.c_str(), &link, H5P_DEFAULT) < 0) return "";
  if (link.type != H5L_TYPE_SOFT && link.type != H5L_TYPE_EXTERNAL) return "";
  std::string value(link.u.val_size + 1, '\0');
  if (H5Lget_val(file, path.c_str(), value.data(), value.size(), H5P_DEFAULT) < 0) return "";
  if (link.type == H5L_TYPE_SOFT) return "a soft link to '" + std::string(value.c_str()) + "'";
  const char* other = nullptr;
  const char* object = nullptr;
  if (H5Lunpack_elink_val(value.data(), link.u.val_size, nullptr, &other, &object) < 0) return "";
  return "an external link to '" + std::string(object) + "' in '" + other + "'";
}

ElementsName split_name(hid_t file, const std::string& name) {
  ElementsName whole{stored_path(file, name), ""};
  if (whole.dataset != name || name.find('.') == std::string::npos || open_object(file, name))
    return whole;
  for (std::size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0;
       dot = name.rfind('.', dot - 1)) {
    const std::string path = stored_path(file, name.substr(0, dot));
    if (is_dataset_with_members(file, path)) {
      whole = {path, name.substr(dot + 1)};
      break;
    }
  }
  H5Eclear2(H5E_DEFAULT);
  return whole;
}

bool is_there(hid_t file, const std::string& name) {
  const auto [path, member] = split_name(file, name);
  const ObjectHandle object = open_object(file, path);
  if (!object) {
    const bool has_link = H5Lexists(file, path.c_str(), link_access()) > 0;
    H5Eclear2(H5E_DEFAULT);
    return has_link;
  }
  if (member.empty()) return H5Iget_type(object.get()) == H5I_DATASET;
  const TypeHandle type(H5Dget_type(object.get()));
  return static_cast<bool>(element_part(type.get(), member).type);
}

std::string cannot_read(const std::string& file, const std::string& name) {
  return "cannot read '" + name + "' in '" + file + "'";
}

std::string without_leading_slashes(const std::string& path) {
  return path.substr(std::min(path.size(), path.find_first_not_of('/')));
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
  return open_stored_dataset(file, file_path, split_name(file, name).dataset, problem);
}

DatasetHandle open_stored_dataset(hid_t file, const std::string& file_path, const std::string& path,
                                  const std::string& problem) {
  const ObjectHandle object = open_object(file, path);
  if (!object) throw_unopened(file, path, problem);
  switch (H5Iget_type(object.get())) {
    case H5I_DATASET:
      break;
    case H5I_GROUP:
      throw Error(
          problem, "it is a group; " + choices(object.get(), "the group"),
          "Give the path of a dataset; run 'warpfold info " + file_path + "' to list them.");
    default:
      throw Error(problem, "it is a datatype", "Give the path of a dataset.");
  }
  require_allowed_sources(object.get(), problem);
  H5Iinc_ref(object.get());
  return DatasetHandle(object.get());
}

}  // namespace warpfold::io
