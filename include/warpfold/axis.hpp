#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace warpfold {

/// A dimension, by its number (negative ones count from the last) or by its name: that of its HDF5
/// dimension scale (netCDF-4's dimensions), or in `DIMENSION_LABELS`.
using Axis = std::variant<std::int64_t, std::string>;

}  // namespace warpfold
