#pragma once

namespace warpfold {

/// Returns the cosine of an angle in degrees, computed to 100 bits and then rounded to the nearest
/// double; NaN of an infinite one.
double cosine_of_degrees(double degrees);

}  // namespace warpfold
