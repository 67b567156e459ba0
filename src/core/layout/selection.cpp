#include "core/layout/selection.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "core/base/text.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

using Shape = std::span<const std::uint64_t>;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// A whole number; beyond 63 bits the greatest or least, which no index exceeds.
std::optional<std::int64_t> parse_number(std::string_view text) {
  constexpr std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  std::int64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const int digit = c - '0';
    number = number > (maximum - digit) / 10 ? maximum : number * 10 + digit;
  }
  return negative ? -number : number;
}

std::string shape_text(Shape shape) { return shape.empty() ? "a scalar" : joined(shape, " x "); }

/// Takes a selection's text apart for one shape.
class SelectionParser {
 public:
  SelectionParser(std::string_view text, Shape shape) : text_(trimmed(text)), shape_(shape) {}

  Selection parse() const { return parse(listed()); }

  Selection parse(const std::vector<std::string_view>& parts) const {
    const auto dots = std::ranges::find(parts, "...");
    const auto before = static_cast<std::size_t>(dots - parts.begin());
    const std::size_t given = parts.size() - (dots == parts.end() ? 0 : 1);
    if (given > shape_.size())
      refuse("it has " + std::to_string(given) + (given == 1 ? " index" : " indices") +
             ", but the dataset is " + shape_text(shape_));
    Selection selection;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      const std::size_t behind = shape_.size() - d;
      if (d < std::min(before, given))
        selection.push_back(slice(parts[d], d));
      else if (behind <= given - std::min(before, given))
        selection.push_back(slice(parts[parts.size() - behind], d));
      else
        selection.push_back({0, shape_[d], 1, false});
    }
    return selection;
  }

  /// Its parts' names and slices; nothing where none has a name.
  std::vector<NamedSlice> named() const {
    if (text_.find('=') == std::string_view::npos) return {};
    std::vector<NamedSlice> slices;
    for (const std::string_view part : listed()) {
      const std::size_t sign = part.rfind('=');
      if (sign == std::string_view::npos) refuse(part, "has no name, although others have one");
      const std::string name(trimmed(part.substr(0, sign)));
      if (std::ranges::find(slices, name, &NamedSlice::name) != slices.end())
        refuse("'" + name + "' is named twice");
      const std::string_view slice = trimmed(part.substr(sign + 1));
      if (slice.empty() || slice == "...") refuse(part, "has no slice or index after its name");
      slices.push_back({name, std::string(slice)});
    }
    return slices;
  }

 private:
  [[noreturn]] void refuse(std::string why) const {
    throw usage_error("bad selection '" + std::string(text_) + "'", std::move(why),
                      "Give slices and indices in NumPy's notation, such as '10:20, ::2, -1'.");
  }

  [[noreturn]] void refuse(std::string_view part, std::string why) const {
    refuse("'" + std::string(part) + "' " + std::move(why));
  }

  /// Its parts; one comma may follow the last.
  std::vector<std::string_view> listed() const {
    if (text_.empty()) return {};
    if (text_.find_first_of("[](){}") != std::string_view::npos)
      refuse("lists and arrays of indices are not supported, nor are brackets");
    std::vector<std::string_view> parts = split(text_, ',');
    if (parts.size() > 1 && parts.back().empty()) parts.pop_back();
    if (std::ranges::count(parts, "...") > 1) refuse("it has more than one '...'");
    return parts;
  }

  Slice slice(std::string_view part, std::size_t dimension) const {
    const std::uint64_t extent = shape_[dimension];
    const std::vector<std::string_view> bounds = split(part, ':');
    if (bounds.size() == 1) return index(part, dimension);
    if (bounds.size() > 3) refuse(part, "has more than two colons");
    std::array<std::optional<std::int64_t>, 3> numbers;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      if (bounds[i].empty()) continue;
      numbers[i] = parse_number(bounds[i]);
      if (!numbers[i]) refuse(part, "is neither a slice nor an index");
    }
    const std::int64_t step = numbers[2].value_or(1);
    if (step <= 0) refuse(part, "has a step below 1, and elements are taken in rising order");
    const std::uint64_t start = bound(numbers[0].value_or(0), extent);
    const std::uint64_t stop = numbers[1] ? bound(*numbers[1], extent) : extent;
    return made(start, stop, static_cast<std::uint64_t>(step));
  }

  /// One that takes at most one index has step 1.
  static Slice made(std::uint64_t start, std::uint64_t stop, std::uint64_t step) {
    if (start >= stop) return {0, 0, 1, false};
    const std::uint64_t count = (stop - start - 1) / step + 1;
    return {start, count, count == 1 ? 1 : step, false};
  }

  Slice index(std::string_view part, std::size_t dimension) const {
    const std::optional<std::int64_t> number = parse_number(part);
    if (!number) {
      if (part == "None" || part.ends_with("newaxis"))
        refuse(part, "would add a dimension, which a selection cannot");
      if (part.empty()) refuse("a slice or an index is missing next to a comma");
      refuse(part, "is neither a slice nor an index");
    }
    const std::uint64_t extent = shape_[dimension];
    const std::uint64_t magnitude = static_cast<std::uint64_t>(*number < 0 ? -*number : *number);
    if (*number < 0 ? magnitude > extent : magnitude >= extent)
      refuse(part, "is out of bounds for dimension " + std::to_string(dimension) + " of " +
                       std::to_string(extent) + " elements");
    return {*number < 0 ? extent - magnitude : magnitude, 1, 1, true};
  }

  /// A slice's bound, which counts from the end where it is negative, within the dimension.
  static std::uint64_t bound(std::int64_t number, std::uint64_t extent) {
    if (number >= 0) return std::min(static_cast<std::uint64_t>(number), extent);
    return extent - std::min(static_cast<std::uint64_t>(-number), extent);
  }

  std::string_view text_;
  Shape shape_;
};

}  // namespace

Selection parse_selection(std::string_view text, Shape shape) {
  return SelectionParser(text, shape).parse();
}

Selection parse_selection(std::string_view text, std::span<const std::string> slices, Shape shape) {
  return SelectionParser(text, shape).parse({slices.begin(), slices.end()});
}

std::vector<NamedSlice> named_slices(std::string_view text) {
  return SelectionParser(text, {}).named();
}

std::vector<std::uint64_t> selected_shape(const Selection& selection) {
  std::vector<std::uint64_t> shape;
  for (const Slice& slice : selection)
    if (!slice.dropped) shape.push_back(slice.count);
  return shape;
}

bool takes_everything(const Selection& selection, Shape shape) {
  for (std::size_t d = 0; d < selection.size(); ++d)
    if (selection[d].dropped || selection[d].count != shape[d]) return false;
  return true;
}

}  // namespace warpfold
