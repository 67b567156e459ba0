#pragma once

namespace warpfold {

/// Returns the cosine of an angle in degrees, computed to 100 bits and then rounded to the nearest
/// double; NaN of an infinite one.
double cosine_of_degrees(double degrees);

/// Returns the cosine of an angle in radians, of up to pi / 2 in size, likewise; 0 from there on.
double cosine_of_radians(double radians);

}  // namespace warpfold
