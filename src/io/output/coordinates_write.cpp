#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/text.hpp"
#include "io/dataset/dataset_info.hpp"
#include "io/dataset/dataset_names.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimension_scales.hpp"
#include "io/hdf5/link_access.hpp"
#include "io/output/characters.hpp"
#include "io/output/coordinates.hpp"
#include "io/output/dataset_create.hpp"
#include "io/output/input_variable.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

class CoordinateWriter {
 public:
  CoordinateWriter(hid_t file, const std::string& group, const std::set<std::string>& outputs,
                   const std::string& problem)
      : file_(file), group_(group), taken_(outputs), problem_(problem) {}

  void write(Coordinates& coordinates) {
    for (NamedDimension& dimension : coordinates.dimensions)
      if (!dimension.variable) make(dimension);
    std::vector<bool> made_here;
    for (std::size_t i = 0; i < coordinates.variables.size(); ++i)
      made_here.push_back(scale_of(coordinates, i) != nullptr && make(coordinates, i));
    for (NamedDimension& dimension : coordinates.dimensions) {
      if (!dimension.variable) continue;
      CarriedVariable& variable = coordinates.variables[*dimension.variable];
      dimension.name = variable.name;
      H5Iinc_ref(variable.made.get());
      dimension.made = DatasetHandle(variable.made.get());
    }
    for (std::size_t i = 0; i < coordinates.variables.size(); ++i)
      if (scale_of(coordinates, i) == nullptr) made_here[i] = make(coordinates, i);
    for (std::size_t i = 0; i < coordinates.variables.size(); ++i)
      if (made_here[i]) describe(coordinates, i);
  }

 private:
  /// Returns the dimension of its own name whose values a variable holds; null for none.
  static const NamedDimension* scale_of(const Coordinates& coordinates, std::size_t variable) {
    const auto found = std::ranges::find(coordinates.dimensions, std::optional(variable),
                                         &NamedDimension::variable);
    return found == coordinates.dimensions.end() ? nullptr : &*found;
  }

  /// Finds a name that is free, or under which there is what is_same() of a dataset; returns that.
  template <class IsSame>
  DatasetHandle find_name(std::string& name, IsSame&& is_same) {
    const std::string wanted = name;
    for (unsigned number = 2;; ++number) {
      const std::string path = group_ + name;
      if (!taken_.contains(path)) {
        if (!is_there(file_, path, problem_)) return {};
        const ObjectHandle object = open_object(file_, path);
        if (object && H5Iget_type(object.get()) == H5I_DATASET && is_in(file_, object.get()) &&
            is_same(object.get())) {
          H5Iinc_ref(object.get());
          return DatasetHandle(object.get());
        }
      }
      name = wanted + '_' + std::to_string(number);
    }
  }

  void make(NamedDimension& dimension) {
    const std::vector<std::uint64_t> shape{dimension.extent};
    dimension.made = find_name(dimension.name, [&](hid_t dataset) {
      return is_dimension_scale(dataset, problem_) && is_without_values(dataset, problem_) &&
             shape_of(dataset, problem_) == shape;
    });
    if (dimension.made) return;
    // As netCDF makes it: nobody ever reads or writes its elements.
    dimension.made =
        create_coordinate(file_, group_ + dimension.name, H5T_IEEE_F32BE,
                          make_space(shape, problem_).get(), dimension.is_unlimited, problem_);
    make_scale_without_values(dimension.made.get(), dimension.extent, problem_);
  }

  /// Tells whether it did not take a variable that is there.
  bool make(Coordinates& coordinates, std::size_t number) {
    CarriedVariable& variable = coordinates.variables[number];
    const StoredValues& values = variable.values;
    const NamedDimension* const dimension = scale_of(coordinates, number);
    const bool is_scale = dimension != nullptr;
    variable.made = find_name(variable.name, [&](hid_t dataset) {
      return is_dimension_scale(dataset, problem_) == is_scale && holds(dataset, values) &&
             says_the_same(dataset, variable) && has_bounds_of(dataset, coordinates, variable) &&
             (is_scale || has_dimensions_of(dataset, coordinates, variable));
    });
    if (variable.made) return false;
    variable.made = create_coordinate(file_, group_ + variable.name, values.type(), values.space(),
                                      is_scale && dimension->is_unlimited, problem_);
    write_values(variable.made.get(), values);
    if (is_scale && is_text(values.type()))
      make_characters(variable, *dimension);
    else if (is_scale)
      make_scale(variable.made.get(), variable.name, problem_);
    return true;
  }

  /// Makes a scale of texts, as HDF5 has them, one that netCDF takes for its dimension alone. What
  /// netCDF shows under its name are the characters, which every tool reads.
  void make_characters(CarriedVariable& variable, const NamedDimension& dimension) {
    make_scale_without_values(variable.made.get(), dimension.extent, problem_);
    const StoredValues characters = characters_of(variable.values, problem_);
    const std::uint64_t longest = extents_of(characters.space(), problem_).back();
    NamedDimension length{length_name(longest), longest};
    make(length);
    variable.characters = create_coordinate(file_, group_ + non_coordinate_prefix + variable.name,
                                            characters.type(), characters.space(), false, problem_);
    write_values(variable.characters.get(), characters);
    attach_scale(variable.characters.get(), variable.made.get(), 0, problem_);
    attach_scale(variable.characters.get(), length.made.get(), 1, problem_);
    if (!variable.source) add_encoding(variable.characters.get());
  }

  void add_encoding(hid_t characters) const {
    const TextAttribute encoding{"_Encoding", "utf-8"};
    add_text_attributes(characters, {&encoding, 1}, problem_);
  }

  void write_values(hid_t dataset, const StoredValues& values) const {
    if (values.empty()) return;
    require(H5Dwrite(dataset, values.type(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
            problem_);
  }

  /// Compares what says what numbers mean.
  bool says_the_same(hid_t dataset, const CarriedVariable& variable) const {
    for (const std::string name : {"units", "calendar"}) {
      std::optional<std::string> text;
      if (variable.source) text = read_text_attribute(variable.source.get(), name, problem_);
      if (read_text_attribute(dataset, name, problem_) != text) return false;
    }
    return true;
  }

  bool has_bounds_of(hid_t dataset, const Coordinates& coordinates,
                     const CarriedVariable& variable) const {
    const std::string attribute = variable.are_bounds_of_climatology ? "climatology" : "bounds";
    const auto name = read_text_attribute(dataset, attribute, problem_);
    if (!name || !variable.bounds) return !name && !variable.bounds;
    const std::string path = group_ + *name;
    if (!is_there(file_, path, problem_)) return false;
    const ObjectHandle bounds = open_object(file_, path);
    return bounds && H5Iget_type(bounds.get()) == H5I_DATASET &&
           holds(bounds.get(), coordinates.variables[*variable.bounds].values);
  }

  bool has_dimensions_of(hid_t dataset, const Coordinates& coordinates,
                         const CarriedVariable& variable) const {
    const std::vector<std::vector<DatasetHandle>> scales = scales_of(dataset, problem_);
    for (std::size_t d = 0; d < variable.dimensions.size(); ++d) {
      if (!variable.dimensions[d]) continue;
      const hid_t wanted = coordinates.dimensions[*variable.dimensions[d]].made.get();
      if (std::ranges::none_of(scales[d], [&](const DatasetHandle& scale) {
            return key_of(scale.get()) == key_of(wanted);
          }))
        return false;
    }
    return true;
  }

  bool holds(hid_t dataset, const StoredValues& values) const {
    const TypeHandle type(require(H5Dget_type(dataset), problem_));
    if (H5Tequal(type.get(), values.type()) <= 0) return false;
    if (shape_of(dataset, problem_) != extents_of(values.space(), problem_)) return false;
    SpaceHandle space(require(H5Scopy(values.space()), problem_));
    const Selection all = parse_selection("", shape_of(dataset, problem_));
    return values_of_dataset(dataset, type.get(), all, std::move(space), problem_) == values;
  }

  void describe(Coordinates& coordinates, std::size_t number) const {
    const CarriedVariable& variable = coordinates.variables[number];
    const hid_t made = variable.made.get();
    if (variable.source && !carry_attributes(variable, made))
      coordinates.notes.push_back(lacks_attributes(variable.name));
    if (variable.source && variable.characters)
      carry_attributes(variable, variable.characters.get());
    if (!variable.source && is_character(variable.values.type())) add_encoding(made);
    if (variable.bounds) {
      const TextAttribute bounds{variable.are_bounds_of_climatology ? "climatology" : "bounds",
                                 coordinates.variables[*variable.bounds].name};
      add_text_attributes(made, {&bounds, 1}, problem_);
    }
    if (scale_of(coordinates, number) != nullptr) return;
    for (std::size_t d = 0; d < variable.dimensions.size(); ++d)
      if (const auto dimension = variable.dimensions[d])
        attach_scale(made, coordinates.dimensions[*dimension].made.get(), d, problem_);
  }

  /// Returns whether all attributes are carried over. A damaged one costs those behind it.
  static bool carry_attributes(const CarriedVariable& variable, hid_t made) {
    std::vector<std::string> left_out{"bounds", "climatology", "DIMENSION_LABELS"};
    left_out.insert(left_out.end(), names_of_others.begin(), names_of_others.end());
    if (!variable.is_whole) left_out.emplace_back("actual_range");
    if (variable.is_computed)
      left_out.insert(left_out.end(), {"scale_factor", "add_offset", "_Unsigned", "_FillValue",
                                       "missing_value", "valid_min", "valid_max", "valid_range"});
    try {
      return copy_attributes(variable.source.get(), made, left_out, {}, "cannot copy attributes");
    } catch (const Error&) {
      H5Eclear2(H5E_DEFAULT);
      return false;
    }
  }

  hid_t file_;
  std::string group_;  ///< with a slash behind, unless it is the root
  std::set<std::string> taken_;
  std::string problem_;
};

/// Puts the names that variables were written under in place of theirs in the input.
std::string renamed(const std::string& text, const Coordinates& coordinates) {
  std::string result;
  for (std::string word : split_words(text)) {
    const bool has_colon = word.back() == ':';
    if (has_colon) word.pop_back();
    for (const CarriedVariable& variable : coordinates.variables)
      if (variable.source && own_name_of(variable.source.get(), text) == word) word = variable.name;
    if (!result.empty()) result += ' ';
    result += has_colon ? word + ':' : word;
  }
  return result;
}

std::string names_of(const Coordinates& coordinates, const std::vector<std::size_t>& variables) {
  std::string names;
  for (const std::size_t variable : variables) {
    if (!names.empty()) names += ' ';
    names += variable_name(coordinates.variables[variable].name);
  }
  return names;
}

}  // namespace

void write_coordinates(Coordinates& coordinates, hid_t file, const std::string& group,
                       const std::set<std::string>& outputs, const std::string& problem) {
  CoordinateWriter(file, group, outputs, problem).write(coordinates);
}

void attach_coordinates(const Coordinates& coordinates, hid_t output, const std::string& problem) {
  if (coordinates.empty()) return;
  for (std::size_t d = 0; d < coordinates.of_outputs.size(); ++d)
    for (const std::size_t dimension : coordinates.of_outputs[d])
      attach_scale(output, coordinates.dimensions[dimension].made.get(), d, problem);
  std::vector<TextAttribute> attributes;
  if (!coordinates.listed.empty())
    attributes.emplace_back(coordinates_name, names_of(coordinates, coordinates.listed));
  if (!coordinates.mapped.empty())
    attributes.emplace_back(grid_mapping_name, renamed(coordinates.grid_mapping, coordinates));
  add_text_attributes(output, attributes, problem);
}

}  // namespace warpfold::io
