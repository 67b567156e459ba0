#include "io/dataset/dimensions.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>

#include "core/base/text.hpp"
#include "io/dataset/dataset_info.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/dataset/element_part.hpp"
#include "io/dataset/placeholder.hpp"
#include "io/files/external_files.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimension_scales.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_library.hpp"

namespace warpfold::io {
namespace {

std::vector<std::string> labels_of(hid_t dataset, std::size_t dimensions,
                                   const std::string& problem) {
  std::vector<std::string> labels;
  std::istringstream lines(read_text_attribute(dataset, "DIMENSION_LABELS", problem).value_or(""));
  for (std::string label; std::getline(lines, label);) labels.push_back(label);
  labels.resize(dimensions);
  return labels;
}

void add(std::vector<DimensionName>& names, const DimensionName& name) {
  if (!name.name.empty() &&
      std::ranges::find(names, name.name, &DimensionName::name) == names.end())
    names.push_back(name);
}

/// Adds the names of a scale.
void add_scale(std::vector<DimensionName>& names, hid_t scale, const std::string& problem) {
  const std::string own = own_name_of(scale, problem);
  if (!reason_against_placeholder(scale).empty()) return add(names, {own, ""});
  const std::string path = path_of(scale, problem);
  add(names, {own, path});
  add(names, {read_text_attribute(scale, "NAME", problem).value_or(""), path});
}

}  // namespace

std::vector<std::vector<DimensionName>> read_dimension_names(const std::string& file,
                                                             const std::string& name) {
  const LibraryScope scope;
  const std::string problem = cannot_read(file, name);
  const FileHandle handle = open_for_reading(file);
  const auto [path, member] = split_name(handle.get(), name);
  const DatasetHandle dataset = open_stored_dataset(handle.get(), file, path, problem);
  const std::size_t dimensions = shape_of(dataset.get(), problem).size();
  const auto scales = scales_of(dataset.get(), problem);
  const auto labels = labels_of(dataset.get(), dimensions, problem);
  std::vector<std::vector<DimensionName>> all(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) {
    for (const DatasetHandle& scale : scales[d]) add_scale(all[d], scale.get(), problem);
    add(all[d], {labels[d], all[d].empty() ? "" : all[d].front().coordinate});
  }
  const TypeHandle type(require(H5Dget_type(dataset.get()), problem));
  all.resize(dimensions + element_part(type.get(), member).extents.size());
  return all;
}

std::vector<DimensionName> read_auxiliary_names(const std::string& file, const std::string& name) {
  const LibraryScope scope;
  const std::string problem = cannot_read(file, name);
  const FileHandle handle = open_for_reading(file);
  const auto [path, member] = split_name(handle.get(), name);
  const DatasetHandle dataset = open_stored_dataset(handle.get(), file, path, problem);
  std::vector<DimensionName> auxiliaries;
  if (!member.empty()) return auxiliaries;
  const auto words = read_text_attribute(dataset.get(), "coordinates", problem);
  for (const std::string& word : split_words(words.value_or(""))) {
    try {
      if (const DatasetHandle named = open_netcdf_variable(dataset.get(), word))
        add(auxiliaries, {word.substr(word.rfind('/') + 1), path_of(named.get(), problem)});
    } catch (const RefusedFile&) {
      continue;
    }
  }
  return auxiliaries;
}

}  // namespace warpfold::io
