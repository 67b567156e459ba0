#pragma once

#include <string>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// Numbers of an output, or of a coordinate, that is not written to a file.
struct ReportedNumbers {
  std::vector<Value> values;  ///< row-major; empty values where one is missing
  std::string units;          ///< CF's attribute; empty: none
  std::string calendar;       ///< calendar of times; empty: none
  /// The values as dates, if they are times; or labels that are texts, without values.
  std::vector<std::string> texts;
};

/// Coordinate of a dimension of such an output. It has neither values nor texts if the file has
/// none for the dimension.
struct ReportedCoordinate : ReportedNumbers {
  std::string name;                     ///< name of the dimension, or dim_0, dim_1, ...
  ElementType type = ElementType::f64;  ///< type of the values
};

}  // namespace warpfold
