#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace warpfold {

/// An axis is a dimension by its number, a negative one from the last, or by its name: that of its
/// HDF5 dimension scale (netCDF-4's dimensions), or in `DIMENSION_LABELS`.
using Axis = std::variant<std::int64_t, std::string>;

}  // namespace warpfold
