#pragma once

namespace warpfold {

/// Returns the cosine of an angle in degrees, computed to 100 bits and then rounded to the nearest
/// double; NaN of an infinite one.
double cosine_of_degrees(double degrees);

/// Returns the cosine of an angle in radians, computed to 100 bits and then rounded to the nearest
/// double. Angles of pi / 2 and more, of either sign, give 0.
double cosine_of_radians(double radians);

}  // namespace warpfold
