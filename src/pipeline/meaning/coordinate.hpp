#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/layout/selection.hpp"
#include "core/values/cf_time.hpp"
#include "core/values/decoding.hpp"
#include "io/dataset/dataset.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::pipeline {

/// The coordinate of a dimension: a number for each of its indices, unpacked. For one rank.
class Coordinate {
 public:
  /// Takes what open_coordinate() gives. Throws Error.
  explicit Coordinate(io::Dataset dataset);

  std::uint64_t size() const { return dataset_.info().elements; }

  ElementType value_type() const { return decoding_.value_type(dataset_.info().format.type); }

  /// Returns the value of an index.
  Value at(std::uint64_t index);

  /// Returns all values, 64-bit integers rounded.
  std::vector<double> numbers();

  /// Returns whether values rise, from one to the next, or fall. Throws a usage Error where they do
  /// neither throughout.
  bool rises();

  /// Returns an index, or that before it if its value is nearer to a number. `behind` may be 0 or
  /// size().
  std::uint64_t nearer(std::uint64_t behind, double number);

  /// Returns the indices of the values that a filter of value_type() selects, a range of them.
  ElementRange selected(const ValueFilter& filter);

 private:
  template <class Use>
  void for_each(ElementRange indices, const Use& use);

  io::Dataset dataset_;
  Decoding decoding_;
};

/// Writes the date that a number stands for; empty where it is too far away, or there is none.
std::string date_of(const Value& value, const TimeUnits& units);

/// Writes a coordinate for a message: the shortest decimal that it is.
std::string coordinate_text(const Value& value);

}  // namespace warpfold::pipeline
