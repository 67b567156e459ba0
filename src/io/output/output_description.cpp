#include "io/output/output_description.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/values/byte_order.hpp"
#include "core/values/decoding.hpp"
#include "core/values/ordered_key.hpp"
#include "core/values/value_element.hpp"
#include "io/dataset/dataset_info.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/dataset/dimensions.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/output/characters.hpp"
#include "io/output/dataset_create.hpp"
#include "io/output/input_variable.hpp"

namespace warpfold::io {
namespace {

void write_fill_value(const OutputDataset& wanted, hid_t dataset, const std::string& problem) {
  if (wanted.fill_value == Value{}) return;
  visit_element_type(wanted.format.type, [&](auto element) {
    element = element_of<decltype(element)>(wanted.fill_value);
    if (wanted.format.order != native_byte_order) element = byte_swapped(element);
    add_fill_value(dataset, reinterpret_cast<const std::byte*>(&element), problem);
  });
}

/// Returns the dimensions that outputs have; a single one that is merged is about the same.
std::vector<std::size_t> dimensions_left(const OutputSpec& spec) {
  using Fate = CarriedDimension::Fate;
  if (spec.added) return {};
  std::vector<std::size_t> left, merged;
  for (std::size_t d = 0; d < spec.dimensions.size(); ++d) {
    if (spec.dimensions[d].is_left()) left.push_back(d);
    if (spec.dimensions[d].fate == Fate::merged && !spec.dimensions[d].selected.dropped)
      merged.push_back(d);
  }
  if (merged.size() == 1) return merged;
  return left;
}

/// Returns the name of the first dimension where the input's files lack it.
std::string new_dimension(const OutputSpec& spec) {
  return spec.dimensions.empty() ? "" : spec.dimensions.front().new_name;
}

/// Writes the names of an output's dimensions as labels, where the input's files have no scales and
/// lack the first dimension.
void label_dimensions(const OutputSpec& spec, hid_t dataset, const std::string& problem) {
  const auto& [path, name] = *spec.attributes_from;
  const auto names = read_dimension_names(path, name, new_dimension(spec));
  std::vector<std::string> labels;
  for (const std::size_t d : dimensions_left(spec))
    labels.push_back(names[d].empty() ? "" : names[d].front().name);
  add_labels(dataset, labels, problem);
}

OutputSource open_input(const OutputSpec& spec) {
  OutputSource source;
  if (!spec.attributes_from) return source;
  const auto& [path, name] = *spec.attributes_from;
  source.file = open_for_reading(path);
  const auto [stored, member] = split_name(source.file.get(), name);
  DatasetHandle dataset =
      open_stored_dataset(source.file.get(), path, stored, cannot_read(path, name));
  std::optional<NamedDimension> merged;
  if (!spec.merged_name.empty()) merged = NamedDimension{spec.merged_name, spec.shape.front()};
  source.coordinates = read_coordinates(dataset.get(), spec.dimensions, std::move(merged));
  // Attributes of compound elements do not apply to their members.
  if (member.empty()) source.dataset = std::move(dataset);
  return source;
}

/// Returns the coordinate's values; texts of variable length, as the netCDF library wants them.
StoredValues values_of(const OutputDimension& dimension, std::uint64_t extent) {
  SpaceHandle space = make_space({extent}, dimension.name);
  std::vector<std::byte> values;
  const auto append = [&](const auto& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    values.insert(values.end(), bytes.begin(), bytes.end());
  };
  if (dimension.texts.empty()) {
    visit_element_type(dimension.type, [&](auto element) {
      if constexpr (std::is_integral_v<decltype(element)>)
        for (const std::uint64_t bits : dimension.numbers)
          append(static_cast<decltype(element)>(bits));
    });
    return {make_type({dimension.type, native_byte_order}), std::move(space), std::move(values)};
  }
  TypeHandle type(require(H5Tcopy(H5T_C_S1), dimension.name));
  require(H5Tset_size(type.get(), H5T_VARIABLE), dimension.name);
  const auto is_ascii = [](const std::string& text) {
    return std::ranges::all_of(text, [](char each) { return static_cast<signed char>(each) >= 0; });
  };
  if (!std::ranges::all_of(dimension.texts, is_ascii))
    require(H5Tset_cset(type.get(), H5T_CSET_UTF8), dimension.name);
  // StoredValues gives them back, as HDF5 gives back what it allocates.
  for (const std::string& text : dimension.texts) append(strdup(text.c_str()));
  return {std::move(type), std::move(space), std::move(values)};
}

/// Reports the values of a variable, unpacked, or its texts, and what the numbers mean.
void report_variable(const CarriedVariable& variable, ReportedCoordinate& reported) {
  const StoredValues& stored = variable.values;
  if (is_text(stored.type())) {
    for (const std::string_view text : views_of(stored)) reported.texts.emplace_back(text);
    return;
  }
  const auto format = describe_type(stored.type()).format;
  if (!format) return;
  Decoding decoding;
  ElementType type = format->type;
  if (variable.source && !variable.is_computed)
    if (const auto packed = unpacking_of(variable.source.get()))
      std::tie(type, decoding.unpacking) = *packed;
  reported.type = decoding.value_type(type);
  visit_element_type(type, [&](auto element) {
    visit_value_of<decltype(element)>(decoding.unpacking, [&](auto value) {
      for (std::size_t at = 0; at < stored.text().size(); at += sizeof(element)) {
        std::memcpy(static_cast<void*>(&element), stored.data() + at, sizeof(element));
        if (format->order != native_byte_order) element = byte_swapped(element);
        decode(decoding, element, value);
        reported.values.push_back(value_of_bits(value_bits(value), reported.type));
      }
    });
  });
  if (!variable.source) return;
  for (const auto& [name, text] :
       {std::pair{"units", &reported.units}, std::pair{"calendar", &reported.calendar}})
    *text = read_text_attribute(variable.source.get(), name, cannot_read_variable).value_or("");
}

/// Passes on what outputs lack.
void note_lacks(const OutputSpec& spec, const Coordinates& coordinates) {
  if (spec.note)
    for (const std::string& note : coordinates.notes) spec.note(note);
}

/// Finds the listed variable of one dimension whose path in the input is `path`.
std::optional<std::size_t> listed_of(const Coordinates& coordinates, std::size_t dimension,
                                     const std::string& path) {
  for (const std::size_t each : coordinates.listed)
    if (const CarriedVariable& variable = coordinates.variables[each];
        variable.dimensions == std::vector{std::optional(dimension)} && variable.source &&
        path_of(variable.source.get(), cannot_read_variable) == path)
      return each;
  return std::nullopt;
}

/// Adds texts beside the coordinate of cells, as characters. Returns false where there is none.
bool add_beside_cells(const OutputDimension& added, std::uint64_t extent,
                      Coordinates& coordinates) {
  std::vector<std::vector<std::size_t>>& names = coordinates.of_outputs;
  if (!added.is_of_cells || added.place >= names.size()) return false;
  const auto has_values = [&](std::size_t d) {
    return coordinates.dimensions[d].variable ||
           std::ranges::any_of(coordinates.listed, [&](std::size_t each) {
             const CarriedVariable& variable = coordinates.variables[each];
             return variable.is_computed && variable.dimensions == std::vector{std::optional{d}};
           });
  };
  const auto cells = std::ranges::find_if(names[added.place], has_values);
  if (cells == names[added.place].end()) {
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(added.place));
    return false;
  }
  StoredValues characters = characters_of(values_of(added, extent), added.name);
  const std::uint64_t length = extents_of(characters.space(), added.name).back();
  // CDO 2.1 refuses variables whose attribute `coordinates` lists characters along the time.
  CarriedVariable variable{added.name, {}, std::move(characters), {}};
  for (const std::size_t dimension : {*cells, coordinates.dimensions.size()})
    variable.dimensions.emplace_back(dimension);
  coordinates.variables.push_back(std::move(variable));
  coordinates.dimensions.push_back({length_name(length), length});
  return true;
}

/// Adds a dimension to those of outputs, which are of `shape`.
void add_dimension(const OutputDimension& added, const std::vector<std::uint64_t>& shape,
                   Coordinates& coordinates) {
  std::vector<std::vector<std::size_t>>& names = coordinates.of_outputs;
  if (add_beside_cells(added, shape.at(added.place), coordinates)) return;
  // The netCDF library 4.9 can't open a file where dimensions without a name follow others.
  for (std::size_t d = names.size(); d + 1 < shape.size(); ++d) {
    const std::string number = std::to_string(d);
    names.push_back({coordinates.dimensions.size()});
    coordinates.dimensions.push_back({phony_name + number, shape[d < added.place ? d : d + 1]});
  }
  const std::uint64_t extent = shape.at(added.place);
  names.insert(names.begin() + static_cast<std::ptrdiff_t>(added.place),
               {coordinates.dimensions.size()});
  coordinates.dimensions.push_back({added.name, extent, coordinates.variables.size()});
  coordinates.variables.push_back({added.name, {}, values_of(added, extent), {}});
}

}  // namespace

std::vector<OutputDataset> datasets_of(const OutputSpec& spec) {
  std::vector<OutputDataset> datasets{static_cast<const OutputDataset&>(spec)};
  datasets.insert(datasets.end(), spec.others.begin(), spec.others.end());
  return datasets;
}

OutputSource open_source(const OutputSpec& spec) {
  OutputSource source = open_input(spec);
  if (spec.added) add_dimension(*spec.added, spec.shape, source.coordinates);
  return source;
}

std::vector<ReportedCoordinate> coordinates_of(const OutputSpec& spec) {
  const std::vector<std::size_t> left = dimensions_left(spec);
  const auto [path, dataset] = *spec.attributes_from;
  const std::vector<std::vector<DimensionName>> names =
      read_dimension_names(path, dataset, new_dimension(spec));
  const LibraryScope scope;
  const OutputSource source = open_source(spec);
  const Coordinates& coordinates = source.coordinates;
  note_lacks(spec, coordinates);
  std::vector<ReportedCoordinate> reported(spec.shape.size());
  for (std::size_t d = 0; d < reported.size(); ++d) {
    const std::size_t dimension = d < left.size() ? left[d] : d;
    reported[d].name = d < left.size() && !names[dimension].empty()
                           ? names[dimension].front().name
                           : "dim_" + std::to_string(dimension);
    if (d >= coordinates.of_outputs.size() || coordinates.of_outputs[d].empty()) continue;
    const NamedDimension& found = coordinates.dimensions[coordinates.of_outputs[d].front()];
    if (!found.name.starts_with(phony_name)) reported[d].name = found.name;
    auto variable = found.variable;
    if (!variable && d < left.size() && !names[dimension].empty())
      variable = listed_of(coordinates, coordinates.of_outputs[d].front(),
                           names[dimension].front().coordinate);
    if (variable) report_variable(coordinates.variables[*variable], reported[d]);
  }
  return reported;
}

// Copies the input's global attributes. An output that others are added to keeps those of its first
// input.
void write_origin(const OutputSource& source, hid_t file, const std::string& problem) {
  if (!source.file) return;
  for (const char* name :
       {"Conventions", "title", "institution", "source", "references", "comment"}) {
    const auto text = read_text_attribute(source.file.get(), name, problem);
    if (!text || text->empty() || has_attribute(file, name)) continue;
    const TextAttribute attribute{name, *text};
    add_text_attributes(file, {&attribute, 1}, problem);
  }
}

// Writes CF's audit trail, the newest line first; without times, so that the same command makes the
// same file.
void write_history(const OutputSpec& spec, const OutputSource& source, hid_t file,
                   const std::string& problem) {
  std::string history = spec.history;
  std::string earlier = read_text_attribute(file, "history", problem).value_or("");
  if (earlier.empty() && source.file)
    earlier = read_text_attribute(source.file.get(), "history", problem).value_or("");
  if (!history.empty() && !earlier.empty()) history += '\n';
  history += earlier;
  if (history.empty()) return;
  const TextAttribute attribute{"history", history};
  if (require(H5Aexists(file, "history"), problem) > 0)
    require(H5Adelete(file, "history"), problem);
  add_text_attributes(file, {&attribute, 1}, problem);
}

std::vector<std::string> write_coordinates(const OutputSpec& spec, OutputSource& source, hid_t file,
                                           const std::string& problem) {
  std::set<std::string> outputs;
  for (const OutputDataset& each : datasets_of(spec)) outputs.insert(each.dataset);
  const std::string group = spec.dataset.substr(0, spec.dataset.rfind('/') + 1);
  write_coordinates(source.coordinates, file, group, outputs, problem);
  note_lacks(spec, source.coordinates);
  std::vector<std::string> written;
  for (const CarriedVariable& each : source.coordinates.variables)
    written.push_back(group + each.name);
  for (const NamedDimension& each : source.coordinates.dimensions)
    written.push_back(group + each.name);
  return written;
}

void write_attributes(const OutputSpec& spec, const OutputDataset& wanted,
                      const OutputSource& source, hid_t dataset, const std::string& problem) {
  if (source.dataset && wanted.carries_attributes) {
    std::vector<std::string> left_out = wanted.dropped_attributes;
    for (const TextAttribute& attribute : spec.text_attributes) left_out.push_back(attribute.first);
    for (const auto& changed : wanted.changed_text) left_out.push_back(changed.first);
    left_out.insert(left_out.end(), names_of_others.begin(), names_of_others.end());
    if (!source.coordinates.empty())
      left_out.insert(left_out.end(), {coordinates_name, grid_mapping_name});
    if (!new_dimension(spec).empty()) {
      left_out.emplace_back(labels_name);
      if (source.coordinates.empty()) label_dimensions(spec, dataset, problem);
    }
    if (!copy_attributes(source.dataset.get(), dataset, left_out, dimensions_left(spec), problem) &&
        spec.note)
      spec.note(lacks_attributes(wanted.dataset));
  }
  std::vector<TextAttribute> changed;
  for (const auto& [name, text] : wanted.changed_text)
    if (text) changed.emplace_back(name, *text);
  add_text_attributes(dataset, changed, problem);
  write_fill_value(wanted, dataset, problem);
  attach_coordinates(source.coordinates, dataset, problem);
  add_text_attributes(dataset, spec.text_attributes, problem);
}

}  // namespace warpfold::io
