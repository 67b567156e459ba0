#include "pipeline/meaning/coordinate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/text.hpp"
#include "core/values/byte_order.hpp"
#include "core/values/ordered_key.hpp"
#include "core/values/time_windows.hpp"
#include "core/values/value_element.hpp"
#include "pipeline/meaning/interpretation.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t elements_at_once = 1 << 16;

}  // namespace

Coordinate::Coordinate(io::Dataset dataset) : dataset_(std::move(dataset)) {
  decoding_ = interpret(dataset_.info(), {}).decoding;
}

/// Calls use(index, value, whether it is no fill value) for each of the indices.
template <class Use>
void Coordinate::for_each(ElementRange indices, const Use& use) {
  const ElementFormat format = dataset_.info().format;
  std::vector<std::byte> bytes;
  for (std::uint64_t first = indices.first; first < indices.end(); first += elements_at_once) {
    const std::uint64_t count = std::min(elements_at_once, indices.end() - first);
    bytes.resize(count * size_of(format.type));
    dataset_.read({first, count}, bytes);
    visit_element_type(format.type, [&](auto element) {
      visit_value_of<decltype(element)>(decoding_.unpacking, [&](auto value) {
        for (std::uint64_t i = 0; i < count; ++i) {
          std::memcpy(static_cast<void*>(&element), bytes.data() + i * sizeof(element),
                      sizeof(element));
          if (format.order != native_byte_order) element = byte_swapped(element);
          const bool is_there = decode(decoding_, element, value);
          use(first + i, value, is_there);
        }
      });
    });
  }
}

Value Coordinate::at(std::uint64_t index) {
  Value found;
  for_each({index, 1}, [&](std::uint64_t, auto value, bool) {
    found = value_of_bits(value_bits(value), value_type());
  });
  return found;
}

std::vector<double> Coordinate::numbers() {
  std::vector<double> numbers;
  for_each({0, size()}, [&](std::uint64_t, auto value, bool is_there) {
    numbers.push_back(is_there ? widened(value) : std::numeric_limits<double>::quiet_NaN());
  });
  return numbers;
}

bool Coordinate::rises() {
  bool rises = true;
  std::uint64_t previous = 0;
  for_each({0, size()}, [&](std::uint64_t index, auto value, bool is_there) {
    const std::uint64_t key = ordered_key(value);
    if (index == 1) rises = key > previous;
    const bool ordered = index == 0 || (rises ? key > previous : key < previous);
    if (!is_there)
      throw usage_error("cannot select by the coordinates '" + dataset_.info().name + "'",
                        "index " + std::to_string(index) + " has a fill value",
                        "Select indices, whole numbers without a point.");
    if (!ordered || widened(value) != widened(value))
      throw usage_error("cannot select by the coordinates '" + dataset_.info().name + "'",
                        "they neither rise nor fall throughout; index " + std::to_string(index) +
                            " has " + coordinate_text(at(index)),
                        "Select indices, whole numbers without a point.");
    previous = key;
  });
  return rises;
}

std::uint64_t Coordinate::nearer(std::uint64_t behind, double number) {
  const auto distance = [&](std::uint64_t index) {
    return std::fabs(element_of<double>(at(index)) - number);
  };
  const bool is_before =
      behind > 0 && (behind == size() || distance(behind - 1) < distance(behind));
  return is_before ? behind - 1 : behind;
}

ElementRange Coordinate::selected(const ValueFilter& filter) {
  ElementRange found{0, 0};
  for_each({0, size()}, [&](std::uint64_t index, auto value, bool) {
    if (!filter.selects(value)) return;
    if (found.count == 0) found.first = index;
    found.count = index - found.first + 1;
  });
  return found;
}

std::string date_of(const Value& value, const TimeUnits& units) {
  std::optional<Instant> instant;
  if (const auto* real = std::get_if<double>(&value))
    instant = units.instant(*real);
  else if (const auto* integer = std::get_if<int128>(&value);
           integer != nullptr && *integer <= std::numeric_limits<std::int64_t>::max())
    instant = units.instant(static_cast<std::int64_t>(*integer));
  return instant ? date_text(*instant, units.calendar()) : "";
}

std::string coordinate_text(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return shortest_decimal(*real);
  return to_string(std::get<int128>(value));
}

}  // namespace warpfold::pipeline
