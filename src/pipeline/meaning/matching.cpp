#include "pipeline/meaning/matching.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/text.hpp"
#include "core/layout/hyperslab.hpp"
#include "io/dataset/texts.hpp"
#include "pipeline/meaning/coordinate.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr const char* advice =
    "Make them the same, or match them by position with `match` position.";

/// Numbers of one grid that were computed in different ways differ by less, in parts of the
/// distance to the next one.
constexpr double tolerance = 1e-4;
constexpr double tolerance_of_one = 1e-9;  ///< relative, for a coordinate without a next one

std::optional<CoordinateLine> read_text_line(const std::string& file, const std::string& path,
                                             const std::vector<std::uint64_t>& shape) {
  bool fits = false;
  const auto texts = io::read_texts(file, path, [&](const io::DatasetInfo& info) {
    fits = info.stored_shape == shape && shape.size() == 1;
    return io::selection_of(info);
  });
  if (!texts || !fits) return std::nullopt;
  CoordinateLine line{file, path, {}, {}, false, "", "", std::nullopt};
  for (const auto& number : texts->numbers)
    line.texts.push_back(number ? texts->there[*number] : "");
  return line;
}

std::string text_at(const CoordinateLine& line, std::size_t index) {
  if (!line.texts.empty()) return "'" + line.texts[index] + "'";
  const std::string number = shortest_decimal(line.numbers[index]);
  return line.time ? number + " " + line.units + " (" + line.calendar + ")" : number;
}

/// Returns the distance of a number to the nearer of its neighbours; infinite where it has none.
double distance_at(const std::vector<double>& numbers, std::size_t index) {
  double distance = std::numeric_limits<double>::infinity();
  if (index > 0) distance = std::fabs(numbers[index] - numbers[index - 1]);
  if (index + 1 < numbers.size())
    distance = std::min(distance, std::fabs(numbers[index + 1] - numbers[index]));
  return distance;
}

bool are_equal(const CoordinateLine& one, const CoordinateLine& other, std::size_t index) {
  if (one.texts.empty() != other.texts.empty()) return false;
  if (!one.texts.empty()) return one.texts[index] == other.texts[index];
  const double a = one.numbers[index];
  const auto b = number_in_units_of(one, other, index);
  if (!b) return false;
  if (a == *b || (std::isnan(a) && std::isnan(*b))) return true;
  if ((one.is_single || other.is_single) && static_cast<float>(a) == static_cast<float>(*b))
    return true;
  const double distance = distance_at(one.numbers, index);
  const double room = std::isfinite(distance)
                          ? tolerance * distance
                          : tolerance_of_one * std::fmax(std::fabs(a), std::fabs(*b));
  return std::fabs(a - *b) <= room;
}

bool have_common_name(const std::vector<io::DimensionName>& one,
                      const std::vector<io::DimensionName>& other) {
  return std::ranges::any_of(one, [&](const io::DimensionName& each) {
    return std::ranges::find(other, each.name, &io::DimensionName::name) != other.end();
  });
}

void require_order(const Grid& one, const Grid& other, const SharedDimension& shared,
                   bool have_coordinates, const std::string& problem) {
  const auto& a = one.names(shared.one);
  const auto& b = other.names(shared.other);
  if (a.empty() || b.empty() || have_common_name(a, b)) return;
  const bool is_elsewhere = one.has_dimension_called(b) || other.has_dimension_called(a);
  if (have_coordinates && !is_elsewhere) return;
  throw Error(problem,
              "their dimensions have different names; dimension " + std::to_string(shared.one) +
                  " is '" + one.shown_name(shared.one) + "', dimension " +
                  std::to_string(shared.other) + " of the other is '" +
                  other.shown_name(shared.other) + "'",
              advice);
}

/// Returns whether two datasets of a group have one dimension, of one name. Attribute `coordinates`
/// may give coordinates along it to one of them alone.
bool have_same_dimension(const Grid& one, const Grid& other, const SharedDimension& shared) {
  const auto group = [](const io::DatasetInfo& info) {
    return info.stored_file + ':' + info.name.substr(0, info.name.rfind('/') + 1);
  };
  return group(one.info()) == group(other.info()) &&
         have_common_name(one.names(shared.one), other.names(shared.other));
}

std::string short_name(const CoordinateLine& line) {
  return line.name.substr(line.name.rfind('/') + 1);
}

void require_equal(const CoordinateLine& one, const CoordinateLine& other,
                   const std::vector<std::uint64_t>& shape, const Selection& indices,
                   const std::string& problem) {
  const std::vector<std::uint64_t> counts = counts_of(indices);
  const std::uint64_t places = product(counts);
  std::vector<std::uint64_t> at(shape.size());
  for (std::uint64_t place = 0; place < places; ++place) {
    std::uint64_t rest = place;
    for (std::size_t d = at.size(); d-- > 0; rest /= counts[d])
      at[d] = indices[d].start + rest % counts[d] * indices[d].step;
    const std::uint64_t index = flat_index(at, shape);
    if (are_equal(one, other, index)) continue;
    const std::string index_text = at.empty() ? "it is " : "index " + joined(at, ",") + " has ";
    throw Error(problem,
                "their coordinates '" + short_name(one) + "' differ; " + index_text +
                    text_at(one, index) + " in '" + one.file + "' and " + text_at(other, index) +
                    " in '" + other.file + "'",
                advice);
  }
}

/// Returns whether units that are no times' are called alike: all degrees are.
bool have_one_unit(const CoordinateLine& one, const CoordinateLine& other) {
  if (one.units == other.units || (one.time && other.time)) return true;
  return one.units.starts_with("degree") && other.units.starts_with("degree");
}

std::string note_on_units(const std::string& name, const CoordinateLine& one,
                          const CoordinateLine& other, bool are_compared = true) {
  if (have_one_unit(one, other)) return "";
  return "coordinates '" + name + (are_compared ? "' have equal numbers in '" : "' are in '") +
         one.units + "' and '" + other.units + "'. ";
}

/// Says of leading dimensions of one index, which are ignored, that `one` has several of them.
/// Fields without times often have one time.
std::string note_on_single_indices(Grid& one, const Grid& other, std::size_t leading) {
  std::string note;
  for (std::size_t d = 0; d < leading; ++d)
    for (std::size_t of = 0; of < one.info().stored_shape.size(); ++of) {
      const std::uint64_t extent = one.info().stored_shape[of];
      if (extent < 2 || !have_common_name(one.names(of), other.names(d))) continue;
      const CoordinateLine* line = one.line(of);
      if (line == nullptr || !line->time)
        note += "the only index along '" + other.shown_name(d) + "' applies to all " +
                std::to_string(extent) + ". ";
    }
  return note;
}

const SharedDimension* shared_from(const std::vector<SharedDimension>& shared,
                                   std::size_t dimension) {
  const auto found = std::ranges::find(shared, dimension, &SharedDimension::one);
  return found == shared.end() ? nullptr : &*found;
}

/// Compares an auxiliary coordinate of both datasets, where it is one of the same dimensions; notes
/// units that differ.
std::string require_equal(const Grid& one, AuxiliaryCoordinate& of_one, const Grid& other,
                          AuxiliaryCoordinate& of_other, const std::vector<SharedDimension>& shared,
                          const std::string& problem) {
  if (of_one.dimensions.size() != of_other.dimensions.size()) return "";
  std::vector<std::uint64_t> shape;
  Selection indices;
  for (std::size_t i = 0; i < of_one.dimensions.size(); ++i) {
    const SharedDimension* both = shared_from(shared, of_one.dimensions[i]);
    if (both == nullptr || both->other != of_other.dimensions[i]) return "";
    shape.push_back(one.info().stored_shape[both->one]);
    indices.push_back(both->indices);
    if (other.info().stored_shape[both->other] != shape.back()) return "";
  }
  if (product(shape) > most_compared_elements || product(counts_of(indices)) == 0) return "";
  const CoordinateLine* a = one.line(of_one);
  const CoordinateLine* b = other.line(of_other);
  if (a == nullptr || b == nullptr) return "";
  require_equal(*a, *b, shape, indices, problem);
  return note_on_units(of_one.name, *a, *b);
}

std::string require_equal_auxiliaries(Grid& one, Grid& other,
                                      const std::vector<SharedDimension>& shared,
                                      const std::string& problem) {
  std::string note;
  for (AuxiliaryCoordinate& each : one.auxiliaries()) {
    auto& of_other = other.auxiliaries();
    const auto found = std::ranges::find(of_other, each.name, &AuxiliaryCoordinate::name);
    if (found == of_other.end()) continue;
    const bool is_same =
        one.info().stored_file == other.info().stored_file && each.path == found->path;
    if (!is_same) note += require_equal(one, each, other, *found, shared, problem);
  }
  return note;
}

}  // namespace

std::optional<TimeUnits> time_units(const io::DatasetText& text) {
  if (!text.units || !are_of_times(*text.units)) return std::nullopt;
  try {
    return TimeUnits(*text.units, text.calendar.value_or("standard"), "");
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<CoordinateLine> read_coordinate_line(const std::string& file, const std::string& path,
                                                   const std::vector<std::uint64_t>& shape) {
  if (path.empty() || product(shape) == 0) return std::nullopt;
  std::optional<io::Dataset> dataset;
  try {
    dataset.emplace(file, path);
  } catch (const Error&) {
    return read_text_line(file, path, shape);
  }
  dataset->take_as_unsigned();
  if (dataset->info().stored_shape != shape) return std::nullopt;
  Coordinate coordinate(std::move(*dataset));
  const io::DatasetText text = io::read_dataset_text(file, path);
  CoordinateLine line{file,
                      path,
                      coordinate.numbers(),
                      {},
                      false,
                      text.units.value_or(""),
                      text.calendar.value_or("standard"),
                      time_units(text)};
  const ElementType type = coordinate.value_type();
  line.is_single = is_floating(type) && type != ElementType::f64;
  return line;
}

std::optional<double> number_in_units_of(const CoordinateLine& other, const CoordinateLine& line,
                                         std::size_t index) {
  const double number = line.numbers[index];
  if (!line.time || !other.time) return number;
  return line.time->converted(number, *other.time);
}

Grid::Grid(const io::DatasetInfo& info) : info_(info), names_(io::read_dimension_names(info)) {
  for (auto& names : names_)
    std::erase_if(names, [](const auto& each) { return each.name.starts_with("phony_dim_"); });
  names_.resize(info.stored_shape.size());
  lines_.resize(info.stored_shape.size());
}

std::string Grid::shown_name(std::size_t dimension) const {
  return names_[dimension].empty() ? "" : names_[dimension].front().name;
}

bool Grid::has_dimension_called(const std::vector<io::DimensionName>& names) const {
  return std::ranges::any_of(names_,
                             [&](const auto& each) { return have_common_name(each, names); });
}

const CoordinateLine* Grid::line(std::size_t dimension) {
  auto& line = lines_[dimension];
  if (!line) line = read(dimension);
  return *line ? &**line : nullptr;
}

std::optional<std::vector<std::size_t>> Grid::dimensions_of(const std::string& path) const {
  std::vector<std::size_t> dimensions;
  try {
    for (const auto& names : io::read_dimension_names(info_.stored_file, path)) {
      const auto same = std::ranges::find_if(
          names_, [&](const auto& each) { return have_common_name(each, names); });
      if (same == names_.end()) return std::nullopt;
      dimensions.push_back(static_cast<std::size_t>(same - names_.begin()));
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return dimensions;
}

std::vector<AuxiliaryCoordinate>& Grid::auxiliaries() {
  if (auxiliaries_) return *auxiliaries_;
  std::vector<AuxiliaryCoordinate>& found = auxiliaries_.emplace();
  for (const auto& [name, path] : io::read_auxiliary_names(info_.file, info_.name))
    if (auto dimensions = dimensions_of(path);
        dimensions && !(dimensions->empty() && !info_.new_dimension.empty()))
      found.push_back({name, path, std::move(*dimensions)});
  return found;
}

const CoordinateLine* Grid::line(AuxiliaryCoordinate& coordinate) const {
  if (!coordinate.line) {
    std::vector<std::uint64_t> shape;
    for (const std::size_t d : coordinate.dimensions) shape.push_back(info_.stored_shape[d]);
    coordinate.line = read_coordinate_line(info_.stored_file, coordinate.path, shape);
    if (*coordinate.line) (*coordinate.line)->name = coordinate.name;
  }
  return *coordinate.line ? &**coordinate.line : nullptr;
}

std::string Grid::place(std::size_t dimension) const {
  const auto& names = names_[dimension];
  return info_.stored_file + ":" + (names.empty() ? "" : names.front().coordinate);
}

std::optional<CoordinateLine> Grid::read(std::size_t dimension) const {
  const auto& names = names_[dimension];
  if (names.empty()) return std::nullopt;
  const std::string& path = names.front().coordinate;
  if (path.empty()) return std::nullopt;
  if (!io::is_joined_along(info_, dimension))
    return read_coordinate_line(info_.stored_file, path, {info_.stored_shape[dimension]});
  std::optional<CoordinateLine> whole;
  for (const std::string& file : info_.files) {
    std::vector<std::uint64_t> shape;
    if (info_.new_dimension.empty())
      shape.push_back(io::Dataset(file, info_.name).info().stored_shape[dimension]);
    if (product(shape) == 0) continue;
    auto part = read_coordinate_line(file, path, shape);
    if (!part) return std::nullopt;
    if (!whole) {
      whole = std::move(part);
      continue;
    }
    for (std::size_t i = 0; i < part->numbers.size(); ++i)
      whole->numbers.push_back(number_in_units_of(*whole, *part, i).value_or(std::nan("")));
    whole->texts.insert(whole->texts.end(), part->texts.begin(), part->texts.end());
  }
  return whole;
}

std::string file_that_differs(const std::vector<std::string>& files, const io::DatasetInfo& first) {
  if (files.empty() || first.elements > most_compared_elements) return "";
  const auto texts = io::read_texts(first.file, first.name, io::selection_of);
  const auto line =
      texts ? std::nullopt : read_coordinate_line(first.file, first.name, first.stored_shape);
  const auto is_same = [](double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
  };
  for (const std::string& file : files) {
    if (file == first.file || !(texts || line) || !io::has_dataset(file, first.name)) continue;
    if (texts) {
      const auto other = io::read_texts(file, first.name, io::selection_of);
      if (other && other->shape == texts->shape && other->there == texts->there &&
          other->numbers == texts->numbers)
        continue;
    } else if (const auto other = read_coordinate_line(file, first.name, first.stored_shape);
               other && std::ranges::equal(line->numbers, other->numbers, is_same)) {
      continue;
    }
    return file;
  }
  return "";
}

void require_same_in(const std::vector<std::string>& files, const io::DatasetInfo& first) {
  const std::string file = file_that_differs(files, first);
  if (!file.empty())
    throw Error("cannot take '" + first.name + "' of '" + first.file + "' for all files",
                "that of '" + file + "' differs",
                "Make them the same, name one file's, such as '" + first.file + "::" + first.name +
                    "', or name the dimensions that it has, such as '" + first.name + "@0'.");
}

std::string require_match(Grid& one, Grid& other, const std::vector<SharedDimension>& shared,
                          const std::string& problem) {
  std::vector<std::string> unmatched;
  std::string note = note_on_single_indices(
      one, other, shared.empty() ? other.info().stored_shape.size() : shared.front().other);
  for (const SharedDimension& each : shared) {
    if (one.info().files.empty() && one.place(each.one) == other.place(each.other) &&
        one.has_coordinate(each.one))
      continue;
    const CoordinateLine* a = one.line(each.one);
    const CoordinateLine* b = other.line(each.other);
    require_order(one, other, each, a != nullptr && b != nullptr, problem);
    if (a != nullptr && b != nullptr) {
      require_equal(*a, *b, {one.info().stored_shape[each.one]}, {each.indices}, problem);
      note += note_on_units(one.shown_name(each.one), *a, *b, each.indices.count > 0);
    } else if ((a != nullptr) != (b != nullptr) && !have_same_dimension(one, other, each) &&
               one.info().stored_shape[each.one] > 0 && other.info().stored_shape[each.other] > 0) {
      const std::string name =
          a != nullptr ? one.shown_name(each.one) : other.shown_name(each.other);
      unmatched.push_back("'" + name + "'");
    }
  }
  note += require_equal_auxiliaries(one, other, shared, problem);
  if (unmatched.empty()) return note.substr(0, note.find_last_not_of(' ') + 1);
  return note + "only one of them has coordinates along " + joined(unmatched, ", ") +
         ", where they are matched by position.";
}

}  // namespace warpfold::pipeline
