#include "pipeline/datasets/concatenation.hpp"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/base/text.hpp"
#include "core/values/packing.hpp"
#include "io/dataset/dataset_text.hpp"
#include "io/dataset/dimensions.hpp"
#include "io/dataset/texts.hpp"
#include "io/files/file_names.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/datasets/shared_dimensions.hpp"
#include "pipeline/meaning/interpretation.hpp"
#include "pipeline/meaning/matching.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::string_view new_dimension = "new:";  ///< begins the name of one that files lack

[[noreturn]] void throw_different(const io::DatasetInfo& first, const io::DatasetInfo& other,
                                  const std::string& attributes, const std::string& suggestion) {
  throw Error(
      "cannot concatenate '" + first.name + "' of '" + first.file + "' and '" + other.file + "'",
      "their attributes " + attributes + " differ", suggestion);
}

/// Returns how a file has its values, as the options have its attributes applied.
Packing packing_of(io::DatasetInfo info, ViewOptions options) {
  options.where.clear();
  if (!options.raw) io::take_as_unsigned(info);
  return {info.format, interpret(info, options).decoding};
}

/// Notes stored types that differ.
class StoredTypes {
 public:
  void operator()(const io::DatasetInfo& info) {
    if (first_.stored_type.empty()) first_ = info;
    if (other_.stored_type.empty() && info.format.type != first_.format.type) other_ = info;
  }

  std::string note(const io::DatasetInfo& whole) const {
    if (other_.stored_type.empty() || whole.elements == 0) return "";
    return "'" + first_.file + "' and '" + other_.file + "' store '" + whole.name + "' as " +
           first_.stored_type + " and " + other_.stored_type + "; values are " +
           std::string(name_of(whole.format.type)) + ".";
  }

 private:
  io::StoredDataset first_;
  io::StoredDataset other_;
};

/// Requires that files have the same units, and the same indices along all dimensions but the one
/// along which they go on; notes where coordinates along that one don't.
class SameGrid {
 public:
  /// `dimension`: none if it is a new one.
  explicit SameGrid(std::optional<std::size_t> dimension) : dimension_(dimension) {}

  void operator()(const io::DatasetInfo& info) {
    if (dimension_ && info.stored_shape.size() <= *dimension_) return;
    const io::DatasetText text = io::read_dataset_text(info.file, info.name);
    Grid grid(info);
    // Scalars, as the number of a run, go along a new dimension.
    if (!dimension_)
      std::erase_if(grid.auxiliaries(),
                    [](const AuxiliaryCoordinate& each) { return each.dimensions.empty(); });
    if (first_) {
      require_units(info, text.units);
      compare(info, "standard_name", text_.standard_name, text.standard_name);
      compare(info, "cell_methods", text_.cell_methods, text.cell_methods);
      require_dimensions(grid);
    }
    if (dimension_) follow(grid, *dimension_);
    if (!first_) {
      first_.emplace(std::move(grid));
      text_ = text;
    }
  }

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void note(const std::string& kind, const std::string& text) {
    if (noted_.insert(kind).second) notes_.push_back(text);
  }

  void require_units(const io::DatasetInfo& info, const std::optional<std::string>& units) {
    if (units == text_.units) return;
    if (units && text_.units)
      throw_different(first_->info(), info, "units ('" + *text_.units + "' and '" + *units + "')",
                      "Convert the numbers of one, or join them regardless with `match` "
                      "position.");
    note("units", "'" + info.name + "' has units in only one of '" + first_->info().file +
                      "' and '" + info.file + "'.");
  }

  void compare(const io::DatasetInfo& info, const std::string& attribute,
               const std::optional<std::string>& of_first,
               const std::optional<std::string>& there) {
    if (of_first && there && *of_first != *there)
      note(attribute, "the " + attribute + " of '" + info.name + "' is '" + *of_first + "' in '" +
                          first_->info().file + "', '" + *there + "' in '" + info.file + "'.");
  }

  void require_dimensions(Grid& grid) {
    const io::DatasetInfo& first = first_->info();
    const io::DatasetInfo& info = grid.info();
    if (info.stored_shape.size() != first.stored_shape.size()) return;
    std::vector<SharedDimension> shared;
    for (std::size_t d = 0; d < info.stored_shape.size(); ++d)
      if (d == dimension_)
        shared.push_back({d, d, {0, 0, 1, false}});
      else if (info.stored_shape[d] == first.stored_shape[d])
        shared.push_back({d, d, {0, info.stored_shape[d], 1, false}});
    const std::string files = "'" + first.file + "' and '" + info.file + "'";
    const std::string unmatched =
        require_match(*first_, grid, shared, "cannot concatenate '" + first.name + "' of " + files);
    if (!unmatched.empty()) note("coordinates", files + ": " + unmatched);
  }

  /// Compares where a file begins with where the one before it ends.
  void follow(Grid& grid, std::size_t dimension) {
    const CoordinateLine* line = grid.line(dimension);
    if (line == nullptr || line->numbers.empty()) return;
    const double begin = line->numbers.front();
    const auto back = std::ranges::adjacent_find(line->numbers, std::greater_equal());
    if (line->time && back != line->numbers.end())
      note("order", "coordinates '" + grid.shown_name(dimension) + "' do not rise in '" +
                        line->file + "': " + shortest_decimal(*(back + 1)) + " follows " +
                        shortest_decimal(*back) + ".");
    if (!line->time && !falls_ && line->numbers.size() > 1)
      falls_ = line->numbers[1] < line->numbers[0];
    if (last_) {
      const auto end = last_->time && line->time ? last_->time->converted(last_->end, *line->time)
                                                 : std::optional(last_->end);
      if (!falls_ && end && *end != begin) falls_ = !line->time && begin < *end;
      if (end && !(falls_.value_or(false) ? begin < *end : begin > *end))
        note("order", "coordinates '" + grid.shown_name(dimension) + "' do not rise from '" +
                          last_->file + "', which ends with " + shortest_decimal(*end) + ", to '" +
                          line->file + "', which begins with " + shortest_decimal(begin) + ".");
    }
    last_ = {line->file, line->numbers.back(), line->time};
  }

  struct End {
    std::string file;
    double end;
    std::optional<TimeUnits> time;
  };

  std::optional<std::size_t> dimension_;
  std::optional<Grid> first_;
  io::DatasetText text_;  ///< text of the first
  std::optional<End> last_;
  std::optional<bool> falls_;  ///< in the first file of several numbers, or between; times rise
  std::set<std::string> noted_;
  std::vector<std::string> notes_;
};

std::string meaning_text(const io::DatasetText& text) {
  return "'" + text.units.value_or("") + "'" +
         (text.calendar ? " (" + *text.calendar + ")" : std::string());
}

[[noreturn]] void throw_other_units(const std::string& path, const std::string& first_file,
                                    const io::DatasetText& first, const std::string& file,
                                    const io::DatasetText& text) {
  throw Error("cannot concatenate '" + path + "' of '" + first_file + "' and '" + file + "'",
              "their units or calendars differ; they are " + meaning_text(first) + " and " +
                  meaning_text(text),
              "Select indices, or make files of the same units, as 'cdo setreftime' does.");
}

/// Opens the datasets at `path` of all files of a dataset, one behind another along a dimension:
/// times in the units of the first.
io::Dataset open_of_all(const io::DatasetInfo& info, const std::string& path,
                        const io::JoinedDimension& dimension) {
  std::optional<io::DatasetText> first;
  return io::Dataset(info.files, path, dimension, ReadPath::automatic,
                     [&](const io::DatasetInfo& each) {
                       Packing packing = packing_of(each, {});
                       const io::DatasetText text = io::read_dataset_text(each.file, each.name);
                       if (!first) first = text;
                       const auto stored = time_units(text);
                       const auto wanted = time_units(*first);
                       const bool are_times = stored && wanted && stored->converted(0, *wanted);
                       if (are_times) packing.times = {*stored, *wanted};
                       if (are_times || (text.units == first->units && !stored && !wanted))
                         return packing;
                       throw_other_units(path, info.file, *first, each.file, text);
                     });
}

/// Returns the new dimension where each file's dataset counts for its own elements: a single one,
/// or one that may not be the same in all files.
std::optional<std::size_t> new_dimension_of(const std::string& path, const io::DatasetInfo& info) {
  if (io::read_dimension_names(info.file, path).empty()) return 0;
  if (io::describe_texts(info.file, path, &info)) return std::nullopt;
  const io::DatasetInfo first = io::Dataset(info.file, path).info();
  const bool may_differ =
      first.elements > most_compared_elements || !file_that_differs(info.files, first).empty();
  return may_differ ? std::optional<std::size_t>(0) : std::nullopt;
}

/// Finds the dimension that `concat` names, one of a file's dataset or a new one.
io::JoinedDimension dimension_called(const Axis& concat, const io::DatasetInfo& first) {
  const auto* text = std::get_if<std::string>(&concat);
  if (text == nullptr || !text->starts_with(new_dimension)) {
    try {
      return {named_dimension(concat, first).number};
    } catch (const Error& error) {
      throw Error(error.problem(), error.why(),
                  error.suggestion() + " Join along a new one with `concat` 'new:NAME'.",
                  error.exit_code());
    }
  }
  const std::string name(trimmed(std::string_view(*text).substr(new_dimension.size())));
  const std::string problem = "cannot concatenate '" + first.name + "' along '" + *text + "'";
  if (name.empty() || name.find_first_of("/,@=") != std::string::npos)
    throw usage_error(problem, "'" + name + "' is no name of a dimension",
                      "Name the new dimension, such as 'new:member'.");
  const auto names = io::read_dimension_names(first);
  for (std::size_t d = 0; d < names.size(); ++d)
    if (std::ranges::find(names[d], name, &io::DimensionName::name) != names[d].end())
      throw usage_error(
          problem, "dimension " + std::to_string(d) + " has that name in '" + first.file + "'",
          "Choose another name, or join along that dimension with `concat` '" + name + "'.");
  return {0, name};
}

/// Finds the dimension along which datasets beside another go on by their extents, where the first
/// fits the first file's part of the other, and not all of it.
std::optional<std::size_t> joined_by_shape(const NamedDataset& named, const io::DatasetInfo& info) {
  const auto texts = io::describe_texts(named.file, named.dataset, &info);
  const io::DatasetInfo beside = texts ? *texts : io::Dataset(named.file, named.dataset).info();
  const auto joined_in = [&](const io::DatasetInfo& dataset) -> std::optional<std::size_t> {
    const auto shared = shared_part(named, beside, dataset, Matching::coordinates).dimensions;
    const auto found = std::ranges::find(shared, info.concatenated_along, &SharedDimension::one);
    return found == shared.end() ? std::nullopt : std::optional(found->other);
  };
  std::optional<std::size_t> in_all;
  static_cast<void>(capture_exception([&] { in_all = joined_in(info); }));
  return in_all ? std::nullopt : joined_in(io::Dataset(info.files.front(), info.name).info());
}

}  // namespace

io::Dataset open_concatenated(const std::string& name, const ViewOptions& options, ReadPath path) {
  const io::DatasetInfo first = io::Dataset(options.files.front(), name, path).info();
  const io::JoinedDimension dimension = dimension_called(options.concat, first);
  StoredTypes types;
  SameGrid require_same_grid(dimension.is_new() ? std::nullopt : std::optional(dimension.number));
  io::Dataset whole(options.files, name, dimension, path, [&](const io::DatasetInfo& each) {
    types(each);
    if (options.match == Matching::coordinates) require_same_grid(each);
    return packing_of(each, options);
  });
  whole.add_note(types.note(whole.info()));
  if (dimension.is_new())
    for (auto file = options.files.begin(); file != options.files.end(); ++file)
      if (std::ranges::count(file + 1, options.files.end(), *file) > 0)
        whole.add_note("'" + *file + "' is joined more than once.");
  for (const std::string& note : require_same_grid.notes()) whole.add_note(note);
  if (const auto pair = std::ranges::adjacent_find(options.files, std::greater());
      pair != options.files.end() && std::ranges::is_sorted(options.files, io::comes_before))
    whole.add_note("files are joined in the order of the numbers in their names: '" + *pair +
                   "' before '" + *(pair + 1) + "'.");
  return whole;
}

std::optional<io::Dataset> open_coordinate(const io::DatasetInfo& info, std::size_t dimension,
                                           const std::string& path) {
  const std::uint64_t extent = info.stored_shape[dimension];
  if (path.empty() || extent == 0) return std::nullopt;
  io::Dataset line = io::is_joined_along(info, dimension)
                         ? open_of_all(info, path, {0, info.new_dimension})
                         : io::Dataset(info.stored_file, path);
  line.take_as_unsigned();
  if (line.info().stored_shape != std::vector{extent}) return std::nullopt;
  return line;
}

std::optional<std::size_t> joined_dimension(const NamedDataset& named,
                                            const io::DatasetInfo& info) {
  if (info.files.empty() || named.names_file || !io::has_dataset(named.file, named.dataset))
    return std::nullopt;
  const std::string& path = named.dataset;
  if (!info.new_dimension.empty()) return new_dimension_of(path, info);
  const auto of_dataset = io::read_dimension_names(info)[info.concatenated_along];
  const auto is_joined = [&](const std::string& name) {
    return std::ranges::find(of_dataset, name, &io::DimensionName::name) != of_dataset.end();
  };
  const auto names = io::read_dimension_names(info.file, path);
  if (names.size() == 1 && is_joined(path.substr(path.rfind('/') + 1))) return 0;
  bool have_names = !of_dataset.empty();
  for (std::size_t d = 0; d < names.size(); ++d) {
    for (const io::DimensionName& each : names[d])
      if (is_joined(each.name)) return d;
    have_names &= !names[d].empty();
  }
  return have_names ? std::nullopt : joined_by_shape(named, info);
}

void require_same_units(const std::string& name, const std::string& first,
                        const std::string& file) {
  const io::DatasetText of_first = io::read_dataset_text(first, name);
  const io::DatasetText text = io::read_dataset_text(file, name);
  if (text.units != of_first.units || text.calendar != of_first.calendar)
    throw_other_units(name, first, of_first, file, text);
}

void require_extent(const std::string& name, std::uint64_t extent, std::uint64_t of_dataset,
                    const std::string& dataset, const std::string& file) {
  if (extent == of_dataset) return;
  throw Error("'" + name + "' does not fit dataset '" + dataset + "' in '" + file + "'",
              "they have " + std::to_string(extent) + " and " + std::to_string(of_dataset) +
                  " indices along the joined dimension",
              "Correct the file.");
}

io::Dataset open_named_beside(const NamedDataset& named, const io::DatasetInfo& info) {
  const auto dimension = joined_dimension(named, info);
  io::Dataset beside = dimension
                           ? open_of_all(info, named.dataset, {*dimension, info.new_dimension})
                           : io::Dataset(named.file, named.dataset);
  if (dimension)
    for (std::size_t i = 0; i < info.files.size(); ++i)
      require_extent(named.dataset, beside.info().file_extents[i], info.file_extents[i], info.name,
                     info.files[i]);
  beside.take_as_unsigned();
  return beside;
}

std::vector<std::string> matching_files(const std::vector<std::string>& names,
                                        const mpi::Communicator& communicator) {
  nlohmann::json files = nlohmann::json::array();
  run_on_root(communicator, [&] {
    for (const std::string& name : names)
      for (const std::string& file : io::files_called(name)) files.push_back(file);
  });
  return nlohmann::json::parse(mpi::broadcast(files.dump(), communicator))
      .get<std::vector<std::string>>();
}

}  // namespace warpfold::pipeline
