#include "pipeline/datasets/shared_dimensions.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/text.hpp"
#include "core/layout/hyperslab.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

using Dimensions = std::vector<std::size_t>;
using Names = std::vector<io::DimensionName>;

std::string text_of(std::span<const std::uint64_t> shape) {
  std::string text(1, '(');
  text += joined(shape, ", ");
  return text += ')';
}

/// Returns the extents of the first part of datasets that were concatenated.
std::span<const std::uint64_t> first_shape(const io::DatasetInfo& info) {
  return info.parts ? info.parts->infos.front().stored_shape : info.stored_shape;
}

/// Finds the dimensions of a dataset that are those of one beside it, behind leading ones that are
/// ignored. Where both were concatenated, their first parts' extents count, as of single files.
class DimensionFinder {
 public:
  DimensionFinder(const std::string& option, const io::DatasetInfo& beside,
                  const io::DatasetInfo& dataset)
      : option_(option),
        beside_(beside),
        dataset_(dataset),
        shape_(beside.files.empty() ? beside.stored_shape : first_shape(beside)),
        other_shape_(beside.files.empty() ? dataset.stored_shape : first_shape(dataset)) {
    if (shape_.empty() && beside.elements == 0)
      refuse("it has no elements",
             "Name a dataset of the same shape, or of some of its dimensions.");
  }

  Dimensions find(std::span<const Axis> named, Matching matching, bool prefers_name) const {
    Dimensions found = find_in_shapes(named, matching, prefers_name);
    if (!beside_.files.empty()) require_joined(found);
    return found;
  }

 private:
  Dimensions find_in_shapes(std::span<const Axis> named, Matching matching,
                            bool prefers_name) const {
    if (!named.empty()) return those(named);
    const std::optional<Dimensions> last = last_ones();
    const bool goes_by_name = prefers_name && shape_.size() == 1;
    const bool by_position = matching == Matching::position && beside_.files.empty();
    if (last && by_position && !goes_by_name) return *last;
    if (shape_.empty() || other_shape_.empty()) return last ? *last : only_ones();
    const Grid grid(dataset_);
    const Grid of_beside(beside_);
    const auto same = same_names(grid, of_beside);
    if (last && !goes_by_name && (!same || same->size() <= last->size()) &&
        have_same_names(grid, of_beside, *last))
      return without_twins(grid, of_beside, *last);
    if (same) return without_twins(grid, of_beside, *same);
    return last ? *last : only_ones();
  }

  /// Requires that both go on from file to file along the same dimension.
  void require_joined(const Dimensions& found) const {
    const std::size_t leading = shape_.size() - found.size();
    const auto along = std::ranges::find(found, dataset_.concatenated_along);
    if (leading + static_cast<std::size_t>(along - found.begin()) != beside_.concatenated_along)
      refuse("its files follow one another along dimension " +
                 std::to_string(beside_.concatenated_along) + ", which is not dimension " +
                 std::to_string(dataset_.concatenated_along) + " of '" + dataset_.name + "'",
             "Name the dimensions after '@', or the file.");
  }

  [[noreturn]] void refuse(const std::string& why, const std::string& advice) const {
    throw usage_error(
        "`" + option_ + "` '" + beside_.name + "' does not fit dataset '" + dataset_.name + "'",
        why, advice);
  }

  std::uint64_t leading_ones() const {
    return static_cast<std::uint64_t>(
        std::ranges::find_if(shape_, [](auto extent) { return extent != 1; }) - shape_.begin());
  }

  Dimensions those(std::span<const Axis> named) const {
    Dimensions dimensions;
    std::vector<std::uint64_t> extents;
    for (const Axis& axis : named) {
      dimensions.push_back(named_dimension(axis, dataset_).number);
      extents.push_back(other_shape_[dimensions.back()]);
    }
    if (std::ranges::adjacent_find(dimensions, std::ranges::greater_equal{}) != dimensions.end())
      refuse("dimensions after '@' do not rise", "Name each once, in the dataset's order.");
    const std::size_t leading = shape_.size() - std::min(shape_.size(), extents.size());
    if (leading > leading_ones() || !std::ranges::equal(shape_.subspan(leading), extents))
      refuse(text_of(shape_) + " are not the extents " + text_of(extents) +
                 " of the dimensions after '@'",
             "Name a dataset with these extents, or other dimensions.");
    return dimensions;
  }

  /// Returns the last ones, as many as have the extents, if that is all but leading ones of 1.
  std::optional<Dimensions> last_ones() const {
    const auto [of_beside, of_other] =
        std::mismatch(shape_.rbegin(), shape_.rend(), other_shape_.rbegin(), other_shape_.rend());
    const auto common = static_cast<std::size_t>(of_beside - shape_.rbegin());
    if (shape_.size() - common > leading_ones()) return std::nullopt;
    Dimensions dimensions;
    for (std::size_t d = other_shape_.size() - common; d < other_shape_.size(); ++d)
      dimensions.push_back(d);
    return dimensions;
  }

  /// Returns a dimension's names; a line may be a coordinate, which is called as its dimension.
  Names names_of(const Grid& grid, std::size_t dimension) const {
    Names names = grid.names(dimension);
    if (shape_.size() == 1) names.push_back({beside_.name.substr(beside_.name.rfind('/') + 1), ""});
    return names;
  }

  static bool is_called(const Names& some, const Names& names) {
    return std::ranges::any_of(names, [&](const io::DimensionName& each) {
      return std::ranges::find(some, each.name, &io::DimensionName::name) != some.end();
    });
  }

  /// Returns whether each of the last dimensions has the same name on both sides.
  bool have_same_names(const Grid& grid, const Grid& of_beside, const Dimensions& last) const {
    const std::size_t leading = shape_.size() - last.size();
    for (std::size_t d = 0; d < last.size(); ++d)
      if (!is_called(grid.names(last[d]), names_of(of_beside, leading + d))) return false;
    return true;
  }

  /// Returns dimensions, none of which goes by a name that another of the same extent has, too.
  Dimensions without_twins(const Grid& grid, const Grid& of_beside, Dimensions found) const {
    const std::size_t leading = shape_.size() - found.size();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Names names = names_of(of_beside, leading + i);
      for (std::size_t d = 0; d < other_shape_.size(); ++d)
        if (std::ranges::find(found, d) == found.end() &&
            other_shape_[d] == other_shape_[found[i]] && is_called(grid.names(found[i]), names) &&
            is_called(grid.names(d), names))
          refuse("dimensions " + std::to_string(std::min(d, found[i])) + " and " +
                     std::to_string(std::max(d, found[i])) + " have the name '" +
                     grid.shown_name(d) + "'",
                 advice_to_name(found));
    }
    return found;
  }

  std::string advice_to_name(const Dimensions& dimensions) const {
    return "Name the dimensions behind it, such as '" + beside_.name + "@" +
           joined(dimensions, ",") + "'.";
  }

  /// Returns the dimensions of the same names and extents, in their order.
  std::optional<Dimensions> same_names(const Grid& grid, const Grid& of_beside) const {
    Dimensions dimensions;
    std::size_t next = 0;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      const Names names = names_of(of_beside, d);
      std::size_t found = next;
      while (found < other_shape_.size() &&
             !(other_shape_[found] == shape_[d] && is_called(grid.names(found), names)))
        ++found;
      if (found < other_shape_.size()) {
        dimensions.push_back(found);
        next = found + 1;
      } else if (d >= leading_ones() || !dimensions.empty()) {
        return std::nullopt;
      }
    }
    return dimensions.empty() ? std::nullopt : std::optional(dimensions);
  }

  /// Returns the only dimensions that have the extents, in their order.
  Dimensions only_ones() const {
    const auto extents = shape_.subspan(leading_ones());
    Dimensions dimensions;
    for (std::size_t d = 0; d < other_shape_.size() && dimensions.size() < extents.size(); ++d)
      if (other_shape_[d] == extents[dimensions.size()]) dimensions.push_back(d);
    if (extents.empty() || dimensions.size() < extents.size())
      refuse(text_of(shape_) + " is not the shape of the last dimensions of " +
                 text_of(other_shape_) + ", nor of others in their order",
             "Name a dataset of the same shape, or of some of its dimensions.");
    Dimensions from_last;
    for (std::size_t d = other_shape_.size(); d-- > 0 && from_last.size() < extents.size();)
      if (other_shape_[d] == extents[extents.size() - 1 - from_last.size()]) from_last.push_back(d);
    if (!std::equal(dimensions.begin(), dimensions.end(), from_last.rbegin(), from_last.rend()))
      refuse(text_of(shape_) + " are the extents of several dimensions of " +
                 text_of(other_shape_) + ", as " + joined(dimensions, ",") + " and " +
                 joined(Dimensions(from_last.rbegin(), from_last.rend()), ","),
             advice_to_name(dimensions));
    return dimensions;
  }

  const std::string& option_;
  const io::DatasetInfo& beside_;
  const io::DatasetInfo& dataset_;
  std::span<const std::uint64_t> shape_;
  std::span<const std::uint64_t> other_shape_;
};

}  // namespace

SharedPart shared_part(const NamedDataset& named, const io::DatasetInfo& beside,
                       const io::DatasetInfo& dataset, Matching matching, bool prefers_name) {
  // Other dimensions are those of a file.
  const bool is_new = !beside.new_dimension.empty() && beside.parts && dataset.parts;
  const auto of_file = [&](const io::DatasetInfo& whole) -> const io::DatasetInfo& {
    return is_new ? whole.parts->infos.front() : whole;
  };
  const Dimensions found = DimensionFinder(named.option, of_file(beside), of_file(dataset))
                               .find(named.dimensions, matching, prefers_name);
  const Selection of_dataset = io::selection_of(dataset);
  SharedPart part;
  const auto add = [&](std::size_t d) {
    part.dimensions.push_back({d, part.selection.size(), of_dataset[d]});
    part.selection.push_back(of_dataset[d]);
  };
  const std::size_t first = is_new ? 1 : 0;
  if (is_new) add(0);
  part.selection.resize(beside.stored_shape.size() - found.size(), Slice{0, 1, 1, true});
  for (const std::size_t d : found) add(d + first);
  return part;
}

std::string match_beside(const NamedDataset& named, const io::DatasetInfo& beside,
                         const io::DatasetInfo& dataset, Matching matching,
                         const std::vector<SharedDimension>& dimensions) {
  if (matching == Matching::position) return "";
  if (!named.names_file && beside.files.empty()) require_same_in(dataset.files, beside);
  Grid grid(dataset);
  Grid other(beside);
  const std::string described = "`" + named.option + "` '" + beside.name + "'";
  const std::string note = require_match(grid, other, dimensions,
                                         described + " of '" + beside.file + "' does not fit '" +
                                             dataset.name + "' of '" + dataset.file + "'");
  return note.empty() ? "" : described + " and '" + dataset.name + "': " + note;
}

std::vector<std::size_t> shared_with_view(const SharedPart& part, const io::DatasetInfo& dataset) {
  const Selection selection = io::selection_of(dataset);
  Dimensions dimensions;
  for (const SharedDimension& each : part.dimensions) {
    if (each.indices.dropped) continue;
    const auto before = selection.begin() + static_cast<std::ptrdiff_t>(each.one);
    dimensions.push_back(static_cast<std::size_t>(std::count_if(
        selection.begin(), before, [](const Slice& slice) { return !slice.dropped; })));
  }
  return dimensions;
}

SharedDataset shared_dataset(const NamedDataset& named, io::Dataset beside,
                             const io::DatasetInfo& dataset, Matching matching, bool prefers_name) {
  const SharedPart part = shared_part(named, beside.info(), dataset, matching, prefers_name);
  beside.add_note(match_beside(named, beside.info(), dataset, matching, part.dimensions));
  beside.select(part.selection);
  return {std::move(beside), shared_with_view(part, dataset)};
}

std::vector<std::size_t> dimensions_of_root(std::span<const std::size_t> dimensions,
                                            const mpi::Communicator& communicator) {
  std::uint64_t bits = 0;
  for (const std::size_t d : dimensions) bits |= std::uint64_t{1} << d;
  bits = mpi::broadcast(bits, communicator);
  Dimensions shared;
  for (std::size_t d = 0; bits >> d != 0; ++d)
    if ((bits >> d & 1) != 0) shared.push_back(d);
  return shared;
}

std::uint64_t DimensionRange::stride(std::span<const std::uint64_t> shape) const {
  return std::max<std::uint64_t>(1, product(shape.subspan(end)));
}

std::uint64_t DimensionRange::elements(std::span<const std::uint64_t> shape) const {
  return product(shape.subspan(first, end - first));
}

DimensionRange range_of(std::span<const std::size_t> dimensions,
                        std::span<const std::uint64_t> shape) {
  if (dimensions.empty()) return {shape.size(), shape.size()};
  return {dimensions.front(), dimensions.back() + 1};
}

}  // namespace warpfold::pipeline
