#include "pipeline/datasets/concatenation.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/values/value_filters.hpp"
#include "io/dataset/dataset_text.hpp"
#include "io/files/file_names.hpp"
#include "pipeline/datasets/interpretation.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

bool equal(const Value& a, const Value& b) { return a == b || (is_nan(a) && is_nan(b)); }

/// Says which attributes make other values of stored numbers; nothing where none do.
std::string difference(const Interpretation& one, const Interpretation& other, ElementType stored) {
  const AppliedAttributes& a = one.applied;
  const AppliedAttributes& b = other.applied;
  if (a.scale_factor != b.scale_factor || a.add_offset != b.add_offset ||
      one.decoding.value_type(stored) != other.decoding.value_type(stored))
    return "scale_factor or add_offset";
  if (!std::ranges::equal(a.fill_values, b.fill_values, equal))
    return "_FillValue or missing_value";
  const bool same_range = a.valid_min == b.valid_min && a.valid_max == b.valid_max;
  return same_range ? "" : "valid_range, valid_min or valid_max";
}

[[noreturn]] void throw_different(const io::DatasetInfo& first, const io::DatasetInfo& other,
                                  const std::string& attributes, const std::string& suggestion) {
  throw Error(
      "cannot concatenate '" + first.name + "' of '" + first.file + "' and '" + other.file + "'",
      "their attributes " + attributes + " differ", suggestion);
}

/// Requires that stored numbers mean the same in all files.
class SameMeaning {
 public:
  explicit SameMeaning(const ViewOptions& options) : options_(options) {}

  void operator()(io::DatasetInfo info) {
    if (!options_.raw) io::take_as_unsigned(info);
    Interpretation meaning = interpret(info, options_);
    if (!first_) {
      first_.emplace(std::move(info), std::move(meaning));
      return;
    }
    const std::string what = difference(first_->second, meaning, first_->first.format.type);
    if (!what.empty())
      throw_different(first_->first, info, what,
                      "Make files whose numbers are stored alike, unpacked ones for example, or "
                      "take them as they are with `raw`.");
  }

 private:
  const ViewOptions& options_;
  std::optional<std::pair<io::DatasetInfo, Interpretation>> first_;
};

io::Dataset open_line(const io::DatasetInfo& info, std::size_t dimension, const std::string& path) {
  if (info.files.empty() || dimension != info.concatenated_along)
    return io::Dataset(info.stored_file, path);
  ViewOptions unpacked;
  unpacked.fill_value = "none";
  SameMeaning require_same_meaning(unpacked);
  std::optional<std::string> units;
  return io::Dataset(info.files, path, 0, ReadPath::automatic, [&](const io::DatasetInfo& each) {
    require_same_meaning(each);
    const auto unit = io::read_dataset_text(each.file, each.name).units;
    if (each.file == info.file) units = unit;
    if (unit != units)
      throw Error(
          "cannot concatenate '" + path + "' of '" + info.file + "' and '" + each.file + "'",
          "their units differ: '" + units.value_or("") + "' and '" + unit.value_or("") + "'",
          "Select indices, or make files of the same units: 'cdo setreftime' does.");
  });
}

}  // namespace

io::Dataset open_concatenated(const std::string& name, const ViewOptions& options, ReadPath path) {
  const io::DatasetInfo first = io::Dataset(options.files.front(), name, path).info();
  const std::size_t dimension = named_dimension(options.concat, first).number;
  SameMeaning require_same_meaning(options);
  return io::Dataset(options.files, name, dimension, path, std::ref(require_same_meaning));
}

std::optional<io::Dataset> open_coordinate(const io::DatasetInfo& info, std::size_t dimension,
                                           const std::string& path) {
  const std::uint64_t extent = info.stored_shape[dimension];
  if (path.empty() || extent == 0) return std::nullopt;
  io::Dataset line = open_line(info, dimension, path);
  line.take_as_unsigned();
  if (line.info().stored_shape != std::vector{extent}) return std::nullopt;
  return line;
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
