#include "io/dataset/dataset_open.hpp"

#include <algorithm>

#include "io/dataset/dataset_names.hpp"
#include "io/hdf5/hdf5_error.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr std::size_t max_names = 10;

std::string choices(hid_t location, const std::string& of_what) {
  const std::vector<std::string> names = dataset_names(location);
  if (names.empty()) return of_what + " has no datasets";
  return of_what + " has " + enumerate(names, max_names);
}

[[noreturn]] void throw_unopened(hid_t file, const std::string& name, const std::string& problem) {
  const std::string causes = take_library_causes();
  const bool has_link = !name.empty() && H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0;
  H5Eclear2(H5E_DEFAULT);
  if (has_link)
    throw Error(problem, causes, advice_on(causes, "Check what the link of that name points to."));
  throw Error(problem, "no such dataset; " + choices(file, "the file"),
              "Give the path of a dataset.");
}

}  // namespace

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

}  // namespace warpfold::io
