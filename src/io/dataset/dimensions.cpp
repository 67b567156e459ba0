#include "io/dataset/dimensions.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

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
  std::vector<std::string> labels = read_lines(dataset, "DIMENSION_LABELS", problem);
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

/// Variables by their names.
using Variables = std::vector<std::pair<std::string, DatasetHandle>>;

/// Returns the variables that a dataset's attribute `coordinates` names and that are there.
Variables auxiliaries_of(hid_t dataset, const std::string& problem) {
  Variables auxiliaries;
  const auto words = read_text_attribute(dataset, "coordinates", problem);
  for (const std::string& word : split_words(words.value_or(""))) {
    try {
      if (DatasetHandle named = open_netcdf_variable(dataset, word))
        auxiliaries.emplace_back(word.substr(word.rfind('/') + 1), std::move(named));
    } catch (const RefusedFile&) {
      continue;
    }
  }
  return auxiliaries;
}

/// Adds the auxiliary coordinate that has the times of a dimension whose scale has no values, where
/// there is one: WRF's XTIME has those of Time.
void add_times(std::vector<DimensionName>& names, const Variables& auxiliaries, hid_t scale,
               const std::string& problem) {
  std::vector<DimensionName> times;
  for (const auto& [name, auxiliary] : auxiliaries)
    if (is_time_along(auxiliary.get(), scale, problem))
      times.push_back({name, path_of(auxiliary.get(), problem)});
  if (times.size() != 1) return;
  for (DimensionName& name : names) name.coordinate = times.front().coordinate;
  add(names, times.front());
}

}  // namespace

std::vector<std::vector<DimensionName>> read_dimension_names(const std::string& file,
                                                             const std::string& name,
                                                             const std::string& new_dimension) {
  const LibraryScope scope;
  const std::string problem = cannot_read(file, name);
  const FileHandle handle = open_for_reading(file);
  const auto [path, member] = split_name(handle.get(), name);
  const DatasetHandle dataset = open_stored_dataset(handle.get(), file, path, problem);
  const std::size_t dimensions = shape_of(dataset.get(), problem).size();
  const auto scales = scales_of(dataset.get(), problem);
  const auto labels = labels_of(dataset.get(), dimensions, problem);
  const auto axes = axes_of_signal(dataset.get(), problem);
  std::optional<Variables> auxiliaries;
  std::vector<std::vector<DimensionName>> all(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) {
    for (const DatasetHandle& scale : scales[d]) add_scale(all[d], scale.get(), problem);
    if (!all[d].empty() && all[d].front().coordinate.empty()) {
      if (!auxiliaries) auxiliaries = auxiliaries_of(dataset.get(), problem);
      add_times(all[d], *auxiliaries, scales[d].front().get(), problem);
    }
    if (all[d].empty() && !axes.empty()) add(all[d], {axes[d], ""});
    add(all[d], {labels[d], all[d].empty() ? "" : all[d].front().coordinate});
  }
  const TypeHandle type(require(H5Dget_type(dataset.get()), problem));
  all.resize(dimensions + element_part(type.get(), member).extents.size());
  if (!new_dimension.empty()) {
    const DatasetHandle single = open_netcdf_scalar(dataset.get(), new_dimension);
    all.insert(all.begin(), {{new_dimension, single ? path_of(single.get(), problem) : ""}});
  }
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
  for (const auto& [name_of, auxiliary] : auxiliaries_of(dataset.get(), problem))
    add(auxiliaries, {name_of, path_of(auxiliary.get(), problem)});
  return auxiliaries;
}

}  // namespace warpfold::io
