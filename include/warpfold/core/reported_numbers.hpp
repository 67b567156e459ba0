#pragma once

#include <string>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// Reported numbers are those of an output, or of a coordinate, that is written into no file.
struct ReportedNumbers {
  std::vector<Value> values;  ///< row-major; nothing where one is missing
  std::string units;          ///< CF's attribute; empty: none
  std::string calendar;       ///< calendar of times; empty: none
  /// The same as dates, where the units make them times; or labels that are texts, without values.
  std::vector<std::string> texts;
};

/// A reported coordinate is that of a dimension of outputs. It has neither values nor texts if the
/// file has none for the dimension.
struct ReportedCoordinate : ReportedNumbers {
  std::string name;                     ///< name of the dimension, or dim_0, dim_1, ...
  ElementType type = ElementType::f64;  ///< type of the values
};

}  // namespace warpfold
