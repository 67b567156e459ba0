#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "core/base/text.hpp"
#include "io/dataset/dataset_info.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimension_scales.hpp"
#include "io/output/characters.hpp"
#include "io/output/coordinates.hpp"
#include "io/output/dataset_create.hpp"
#include "io/output/input_variable.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

using Fate = CarriedDimension::Fate;

Slice whole(std::uint64_t extent) { return {0, extent, 1, false}; }

/// Notes that outputs lack something because of an error, and forgets HDF5's part of that.
void note_lack(Coordinates& coordinates, const std::string& lacking, const Error& error) {
  H5Eclear2(H5E_DEFAULT);
  if (!error.why().empty())
    coordinates.notes.push_back("outputs lack " + lacking + ": " + error.why() + ".");
}

class CoordinateReader {
 public:
  CoordinateReader(hid_t dataset, std::span<const CarriedDimension> dimensions,
                   std::optional<NamedDimension> merged)
      : dataset_(dataset),
        source_(dimensions.begin(), dimensions.end()),
        merged_(std::move(merged)) {
    // One element is that element, and no cell.
    for (CarriedDimension& dimension : source_) {
      if (dimension.selected.count == 0 || !dimension.has_single_elements()) continue;
      if (dimension.fate == Fate::reduced) dimension.selected.dropped = true;
      if (dimension.fate == Fate::reduced || dimension.fate == Fate::reduced_to_cells)
        dimension.fate = Fate::kept;
    }
  }

  Coordinates read() {
    std::vector<std::vector<DatasetHandle>> scales = scales_of(dataset_, cannot_read_variable);
    if (!source_.empty() && source_.front().is_new()) scales.emplace(scales.begin());
    if (scales.size() > source_.size()) return {};
    scales.resize(source_.size());  // dimensions of arrays in elements have none
    for (std::size_t d = 0; d < source_.size(); ++d)
      for (const DatasetHandle& scale : scales[d]) known_.emplace(key_of(scale.get()), d);
    if (known_.empty()) return {};
    for (std::size_t d = 0; d < source_.size(); ++d) {
      const bool is_left = source_[d].is_left();
      if (is_left) result_.of_outputs.emplace_back();
      for (DatasetHandle& scale : scales[d]) {
        const auto dimension = carry_dimension(std::move(scale), source_[d]);
        if (is_left && dimension) result_.of_outputs.back().push_back(*dimension);
      }
      if (is_left && source_[d].is_new())
        result_.of_outputs.back().push_back(carry_new_dimension(source_[d]));
      // The netCDF library 4.9 can't open a file where dimensions without a name follow others.
      if (is_left && result_.of_outputs.back().empty())
        result_.of_outputs.back().push_back(
            add_dimension(phony_name + std::to_string(d), source_[d].extent()));
    }
    if (merged_) {
      result_.of_outputs.push_back({result_.dimensions.size()});
      result_.dimensions.push_back(std::move(*merged_));
    }
    carry_listed();
    carry_grid_mapping();
    for (const std::size_t scalar : scalars_) add_once(result_.listed, scalar);
    return std::move(result_);
  }

 private:
  static void add_once(std::vector<std::size_t>& numbers, std::size_t number) {
    if (std::find(numbers.begin(), numbers.end(), number) == numbers.end())
      numbers.push_back(number);
  }

  /// Does what may fail without harm to anything but `lacking`, as a note names it.
  template <class Body>
  auto attempt(const std::string& lacking, Body&& body) -> decltype(body()) {
    try {
      return body();
    } catch (const Error& error) {
      note_lack(result_, lacking, error);
      return {};
    }
  }

  static std::string coordinate_called(const std::string& name) {
    return "the coordinate '" + name + "'";
  }

  /// Returns the text of an attribute that names variables, if there is one.
  std::optional<std::string> read_name_from(hid_t object, const std::string& attribute) {
    return attempt("what attribute '" + attribute + "' names",
                   [&] { return read_text_attribute(object, attribute, cannot_read_variable); });
  }

  std::optional<std::size_t> add(CarriedVariable variable) {
    result_.variables.push_back(std::move(variable));
    return result_.variables.size() - 1;
  }

  std::size_t add_dimension(std::string name, std::uint64_t extent) {
    result_.dimensions.push_back({std::move(name), extent});
    return result_.dimensions.size() - 1;
  }

  /// Carries over what a scale says of a dimension, and returns the dimension's number where it is
  /// left and has a name.
  std::optional<std::size_t> carry_dimension(DatasetHandle scale,
                                             const CarriedDimension& dimension) {
    const std::string name = own_name_of(scale.get(), cannot_read_variable);
    if (name.empty() || dimension.fate == Fate::merged) return std::nullopt;
    std::optional<std::size_t> number;
    if (dimension.is_left()) {
      number = add_dimension(name, dimension.extent());
      result_.dimensions.back().is_unlimited = is_unlimited(scale.get(), cannot_read_variable);
      carried_dimensions_.emplace(key_of(scale.get()), *number);
    }
    const auto variable = attempt(coordinate_called(name), [&] {
      return dimension.fate == Fate::kept ? carry_values(scale, name, dimension, number)
                                          : carry_cells(scale, name, dimension, number);
    });
    if (number)
      result_.dimensions[*number].variable = variable;
    else if (variable)
      scalars_.push_back(*variable);
    return number;
  }

  /// Carries over a dimension that files lack; its coordinate are their numbers of its name.
  std::size_t carry_new_dimension(const CarriedDimension& dimension) {
    const std::string& name = dimension.new_name;
    new_dimension_ = add_dimension(name, dimension.extent());
    const auto carry = [&]() -> std::optional<std::size_t> {
      DatasetHandle named = open_netcdf_scalar(dataset_, name);
      if (!named) return std::nullopt;
      return dimension.fate == Fate::kept ? carry_named(dataset_, name, true)
                                          : carry_cells(named, name, dimension, new_dimension_);
    };
    result_.dimensions[*new_dimension_].variable = attempt(coordinate_called(name), carry);
    return *new_dimension_;
  }

  /// Returns the new dimension where a variable of one element has another one in each file.
  const CarriedDimension* dimension_of_scalar(hid_t scalar, hid_t type) const {
    if (source_.empty() || !source_.front().is_new()) return nullptr;
    const CarriedDimension& dimension = source_.front();
    const std::uint64_t files = dimension.files.size();
    const StoredValues values = read_part({scalar, dimension.files}, type, {whole(files)});
    const bool is_its_own = own_name_of(scalar, cannot_read_variable) == dimension.new_name;
    return are_alike(values, files) && !is_its_own ? nullptr : &dimension;
  }

  std::optional<std::size_t> carry_values(DatasetHandle& scale, const std::string& name,
                                          const CarriedDimension& dimension,
                                          std::optional<std::size_t> number) {
    const Slice& slice = dimension.selected;
    const InputVariable input{scale.get(), dimension.files};
    const auto shape = shape_of(input);
    const TypeHandle type(require(H5Dget_type(scale.get()), cannot_read_variable));
    const bool of_characters = shape.size() == 2 && is_character(type.get());
    if (is_without_values(scale.get(), cannot_read_variable)) return std::nullopt;
    if (shape.size() > 1 && !of_characters)
      throw Error(cannot_read_variable, "it has a dimension's name, but several dimensions", "");
    if (shape.empty() || !has_indices(slice, shape.front()) || !is_number_or_text(type.get()))
      return std::nullopt;
    Selection part{slice};
    if (of_characters) part.push_back(whole(shape[1]));
    StoredValues values = of_characters && number
                              ? texts_of(read_part(input, type.get(), part), cannot_read_variable)
                              : read_part(input, type.get(), part);
    CarriedVariable variable{name, {}, std::move(values), {}};
    if (number)
      variable.dimensions.emplace_back(number);
    else if (of_characters)
      variable.dimensions.emplace_back(add_dimension(length_name(shape[1]), shape[1]));
    variable.is_whole = slice == whole(shape.front());
    variable.source = std::move(scale);
    const auto added = add(std::move(variable));
    carry_bounds(*added);
    return added;
  }

  /// Carries over the bounds of a variable's cells, where all of their dimensions are.
  void carry_bounds(std::size_t number) {
    const hid_t source = result_.variables[number].source.get();
    for (const std::string attribute : {"bounds", "climatology"}) {
      const auto name = read_name_from(source, attribute);
      if (!name) continue;
      const auto bounds =
          attempt(coordinate_called(*name), [&] { return carry_named(source, *name, false); });
      if (!bounds) continue;
      result_.variables[number].bounds = bounds;
      result_.variables[number].are_bounds_of_climatology = attribute == "climatology";
      return;
    }
  }

  /// Makes a coordinate of the cells that several elements make up.
  std::optional<std::size_t> carry_cells(DatasetHandle& scale, const std::string& name,
                                         const CarriedDimension& dimension,
                                         std::optional<std::size_t> number) {
    const Slice& slice = dimension.selected;
    const InputVariable input{scale.get(), dimension.files};
    const auto shape = shape_of(input);
    const TypeHandle type(require(H5Dget_type(scale.get()), cannot_read_variable));
    if (is_without_values(scale.get(), cannot_read_variable) || shape.size() != 1 ||
        slice.count == 0 || !has_indices(slice, shape.front()) || !is_number(type.get()))
      return std::nullopt;
    const std::vector<double> elements = read_numbers(input, {slice});
    if (!is_monotonic(elements))
      throw Error(cannot_read_variable, number ? "it neither rises nor falls throughout" : "", "");
    std::vector<double> values = elements;
    CarriedVariable bounds = attempt("the bounds of '" + name + "'", [&] {
                               return bounds_of(scale.get(), dimension, values);
                             }).value_or(CarriedVariable{name + "_bnds", {}, no_values(), {}});
    const auto ends = ends_of_cells(values, dimension, elements[0] < elements.back());
    std::vector<double> middles;
    for (std::uint64_t cell = 0; cell < dimension.extent(); ++cell) {
      const ElementRange indices = dimension.cell(cell);
      middles.push_back(indices.count == 1 ? elements[indices.first]
                                           : std::midpoint(ends[2 * cell], ends[2 * cell + 1]));
    }
    const bool is_float = H5Tget_class(type.get()) == H5T_FLOAT;
    const bool packed = is_packed(scale.get()) || (bounds.source && is_packed(bounds.source.get()));
    const bool keeps_type = is_float && !packed && holds(type.get(), ends);
    const hid_t written = keeps_type ? type.get() : H5T_NATIVE_DOUBLE;
    std::vector<std::uint64_t> extents(number ? 1 : 0, middles.size());
    CarriedVariable variable{name, {}, converted(middles, written, extents), {}};
    if (number) variable.dimensions.emplace_back(number);
    variable.is_whole = false;
    variable.is_computed = true;
    extents.push_back(2);
    CarriedVariable made{bounds.name, std::move(bounds.source), converted(ends, written, extents),
                         variable.dimensions};
    made.is_whole = false;
    made.is_computed = true;
    made.dimensions.emplace_back(bounds.dimensions.empty() ? two_bounds() : bounds.dimensions[0]);
    variable.source = std::move(scale);
    variable.bounds = add(std::move(made));
    return add(std::move(variable));
  }

  /// Makes cells of the times of a dimension that has no coordinate of its own.
  std::optional<std::size_t> carry_cells_of_times(DatasetHandle& times,
                                                  const std::vector<DatasetHandle>& scales,
                                                  const CarriedDimension& dimension) {
    const hid_t scale = scales.front().get();
    if (!is_without_values(scale, cannot_read_variable) ||
        !is_time_along(times.get(), scale, cannot_read_variable))
      return std::nullopt;
    std::optional<std::size_t> number;
    if (dimension.is_left()) number = carried_dimensions_.at(key_of(scale));
    return carry_cells(times, own_name_of(times.get(), cannot_read_variable), dimension, number);
  }

  static StoredValues no_values() { return converted({}, H5T_NATIVE_DOUBLE, {0}); }

  /// Returns the outer ones of the bounds of each cell's first and last element, which rise or fall
  /// as elements do. Of each element there is a value, or two.
  static std::vector<double> ends_of_cells(const std::vector<double>& values,
                                           const CarriedDimension& dimension, bool rises) {
    const std::size_t width = values.size() / dimension.selected.count;
    std::vector<double> ends;
    for (std::uint64_t cell = 0; cell < dimension.extent(); ++cell) {
      const ElementRange indices = dimension.cell(cell);
      const std::uint64_t first = indices.first;
      const std::uint64_t last = indices.end() - 1;
      const auto [least, most] =
          std::minmax({values[first * width], values[first * width + width - 1],
                       values[last * width], values[last * width + width - 1]});
      ends.insert(ends.end(), {rises ? least : most, rises ? most : least});
    }
    return ends;
  }

  /// Puts the bounds of a scale's elements in place of their values; returns the variable without
  /// values, and with the dimension of the two bounds alone.
  std::optional<CarriedVariable> bounds_of(hid_t scale, const CarriedDimension& dimension,
                                           std::vector<double>& values) {
    const Slice& slice = dimension.selected;
    const auto name = read_text_attribute(scale, "bounds", cannot_read_variable);
    if (!name) return std::nullopt;
    DatasetHandle bounds = open_named(scale, *name);
    if (!bounds) return std::nullopt;
    const InputVariable input{bounds.get(), dimension.files, path_of(scale, cannot_read_variable)};
    const auto shape = shape_of(input);
    const TypeHandle type(require(H5Dget_type(bounds.get()), cannot_read_variable));
    if (shape.size() != 2 || shape[1] != 2 || !has_indices(slice, shape[0]) ||
        !is_number(type.get()))
      return std::nullopt;
    require_units_of(scale, bounds.get());
    std::vector<double> cells = read_numbers(input, {slice, whole(2)});
    if (!std::all_of(cells.begin(), cells.end(), [](double each) { return std::isfinite(each); }))
      throw Error(cannot_read_variable, "some are missing", "");
    require_cells_of(values, cells);
    CarriedVariable variable{own_name_of(bounds.get(), cannot_read_variable), {}, no_values(), {}};
    std::vector<std::vector<DatasetHandle>> scales = scales_of(bounds.get(), cannot_read_variable);
    if (!scales[1].empty())
      variable.dimensions.emplace_back(carry_other_dimension(std::move(scales[1].front()), 2));
    variable.source = std::move(bounds);
    values = std::move(cells);
    return variable;
  }

  std::size_t two_bounds() {
    if (!two_bounds_) two_bounds_ = add_dimension("bnds", 2);
    return *two_bounds_;
  }

  /// Carries over a dimension that the dataset itself does not have.
  std::optional<std::size_t> carry_other_dimension(DatasetHandle scale, std::uint64_t extent) {
    const auto known = carried_dimensions_.find(key_of(scale.get()));
    if (known != carried_dimensions_.end()) return known->second;
    return carry_dimension(std::move(scale), {whole(extent), Fate::kept});
  }

  /// Carries over a variable that an attribute of `variable` names, if all of its dimensions are
  /// left, and its bounds if they are wanted.
  std::optional<std::size_t> carry_named(hid_t variable, const std::string& name,
                                         bool with_bounds) {
    DatasetHandle named = open_netcdf_variable(variable, name);
    if (!named) return std::nullopt;
    const ObjectKey key = key_of(named.get());
    const auto known = carried_variables_.find(key);
    if (known != carried_variables_.end()) return known->second;
    if (known_.contains(key) || key == key_of(dataset_)) return std::nullopt;
    const TypeHandle type(require(H5Dget_type(named.get()), cannot_read_variable));
    const SpaceHandle space(require(H5Dget_space(named.get()), cannot_read_variable));
    if (H5Sget_simple_extent_type(space.get()) == H5S_NULL || !is_number_or_text(type.get()))
      return std::nullopt;
    Selection part;
    std::vector<std::vector<DatasetHandle>> scales = scales_of(named.get(), cannot_read_variable);
    const bool is_scalar = scales.empty();
    const CarriedDimension* const first =
        is_scalar ? dimension_of_scalar(named.get(), type.get()) : dimension_of(scales.front());
    const SeveralFiles files = first != nullptr ? first->files : SeveralFiles{};
    const InputVariable input{named.get(), files,
                              with_bounds ? "" : path_of(variable, cannot_read_variable)};
    const auto shape = shape_of(input);
    bool drops_first = false;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const auto* dimension = is_scalar ? first : dimension_of(scales[d]);
      if (dimension != nullptr && dimension->fate != Fate::kept) {
        if (is_scalar) return std::nullopt;
        if (shape.size() == 1)
          if (const auto cells = carry_cells_of_times(named, scales[d], *dimension)) return cells;
        if (d > 0 || merged_ || dimension->selected.count == 0 || !is_number(type.get()))
          return std::nullopt;
        drops_first = true;
      }
      if (d > 0 && dimension != nullptr && !dimension->files.empty()) return std::nullopt;
      part.push_back(dimension != nullptr ? dimension->selected : whole(shape[d]));
      if (!has_indices(part.back(), shape[d])) return std::nullopt;
    }
    CarriedVariable carried{own_name_of(named.get(), cannot_read_variable),
                            {},
                            drops_first ? values_of_all_indices(input, type.get(), part)
                                        : read_part(input, type.get(), part),
                            {}};
    carried.is_whole = takes_everything(part, shape);
    if (drops_first) part.front().dropped = true;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (part[d].dropped) continue;
      carried.dimensions.emplace_back();
      if (is_scalar)
        carried.dimensions.back() = new_dimension_;
      else if (!scales[d].empty())
        carried.dimensions.back() = carry_other_dimension(std::move(scales[d].front()), shape[d]);
    }
    carried.source = std::move(named);
    const auto added = add(std::move(carried));
    carried_variables_.emplace(key, *added);
    if (with_bounds && (!is_scalar || first == nullptr)) carry_bounds(*added);
    return added;
  }

  /// Returns which of the dataset's dimensions the scales are of, none for another.
  const CarriedDimension* dimension_of(const std::vector<DatasetHandle>& scales) const {
    for (const DatasetHandle& scale : scales)
      if (const auto found = known_.find(key_of(scale.get())); found != known_.end())
        return &source_[found->second];
    return nullptr;
  }

  void carry_listed() {
    const auto names = read_name_from(dataset_, coordinates_name);
    for (const std::string& name : split_words(names.value_or("")))
      if (const auto number =
              attempt(coordinate_called(name), [&] { return carry_named(dataset_, name, true); }))
        if (!new_dimension_ || result_.dimensions[*new_dimension_].variable != number)
          add_once(result_.listed, *number);
  }

  /// Its text is a variable's name, or names with colons behind, before those of coordinates. It is
  /// about maps, which are the last two dimensions.
  void carry_grid_mapping() {
    const std::size_t others = source_.size() - std::min<std::size_t>(source_.size(), 2);
    if (!std::all_of(source_.begin() + static_cast<std::ptrdiff_t>(others), source_.end(),
                     [](const CarriedDimension& each) { return each.is_left(); }))
      return;
    const auto text = read_name_from(dataset_, grid_mapping_name);
    const std::vector<std::string> words = split_words(text.value_or(""));
    for (std::string word : words) {
      if (words.size() > 1 && word.back() != ':') continue;
      if (word.back() == ':') word.pop_back();
      const auto number = attempt("the grid mapping '" + word + "'",
                                  [&] { return carry_named(dataset_, word, false); });
      if (!number) return result_.mapped.clear();
      add_once(result_.mapped, *number);
    }
    if (!result_.mapped.empty()) result_.grid_mapping = *text;
  }

  hid_t dataset_;
  std::vector<CarriedDimension> source_;
  std::optional<NamedDimension> merged_;
  std::optional<std::size_t> new_dimension_;  ///< its number, where files lack it and it is left
  std::map<ObjectKey, std::size_t> known_;    ///< scales of the dataset: of which dimension
  std::map<ObjectKey, std::size_t> carried_dimensions_;
  std::map<ObjectKey, std::size_t> carried_variables_;
  std::vector<std::size_t> scalars_;
  std::optional<std::size_t> two_bounds_;
  Coordinates result_;
};

}  // namespace

Coordinates read_coordinates(hid_t dataset, std::span<const CarriedDimension> dimensions,
                             std::optional<NamedDimension> merged) {
  try {
    return CoordinateReader(dataset, dimensions, std::move(merged)).read();
  } catch (const Error& error) {
    Coordinates none;
    note_lack(none, "all coordinates", error);
    return none;
  }
}

}  // namespace warpfold::io
