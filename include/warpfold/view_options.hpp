#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warpfold/axis.hpp"

namespace warpfold {

/// Pairing of two datasets' indices along shared dimensions: by position, with coordinates that
/// must agree, or by position alone.
enum class Matching : std::uint8_t { coordinates, position };

/// Selection of a dataset's elements, and their decoding into values. Commands process a dataset of
/// the selected shape whose elements are these values.
struct ViewOptions {
  /// Files that each have a part of the dataset, under the same name. The parts follow one another
  /// along dimension `concat`. The first file is the one passed to the function. Other extents and
  /// units must be the same. If types or attributes differ, values are unpacked by each file's own
  /// attributes. Empty: that file alone.
  std::vector<std::string> files;
  /// Dimension along which `files` are joined. "new:NAME" is a new first one, NAME, that each file
  /// is one index of: then all extents must be the same.
  Axis concat = 0;

  /// A hyperslab in the notation of NumPy's basic indexing, with positive steps: "10:20, ::2, -1",
  /// "..., 0". Or by names of dimensions, "time=10:20, lat=-30.0:30.0": whole numbers are indices,
  /// others coordinates with both bounds included, and "lat=~46.2" the nearest one. Or by dates,
  /// "time=2001-03", "time=2001-03-15T06:2001-04", or by a text, "station=ulm". Empty: everything.
  std::string select;

  /// Conditions that the values must satisfy, all of them: ">0", "<=1e3", "==3", "!=nan", "finite",
  /// ... Other elements are skipped. "DATASET >0" or "FILE::DATASET >0" is a condition on another
  /// dataset's elements, as for `mask`. "month ==12,1,2", "season ==JJA" and the like are
  /// conditions on the times of the only dimension that has times, or "month@time ==7" of a named
  /// one: `year`, `season`, `month`, `day`, `dayofyear` or `hour`, with one or several values after
  /// == and !=.
  std::vector<std::string> where;

  /// Use the stored numbers. Otherwise the dataset's attributes are applied: elements stored as
  /// `_FillValue` or `missing_value`, or outside `valid_range` or `valid_min` and `valid_max`, are
  /// skipped; integers whose `_Unsigned` is "true" are unsigned; values are
  /// stored * scale_factor + add_offset, in the types that NumPy computes in.
  bool raw = false;

  /// Stored number that is skipped instead of those that attributes specify: a number or "none".
  /// "auto" or empty: those that attributes specify, unless `raw`.
  std::string fill_value;

  /// Mask: "DATASET" of the same file or "FILE::DATASET". Elements where it is 0 are skipped; with
  /// "!DATASET" those where it is not 0; with "DATASET >0.5" those where it does not satisfy the
  /// condition. NaN is not 0. Empty: none. It has the dataset's dimensions, or some of them in
  /// their order. "DATASET@0,2" or "DATASET@lat" names these; otherwise they are found by names and
  /// extents, else the last ones if they have its extents, else the only ones that have them.
  /// Leading extents of 1 are ignored. `select` selects the same part of the mask. Its own
  /// attributes are applied: elements that they exclude are skipped.
  std::string mask;

  /// Matching of masks, weights, factors, labels and further `files` with the dataset.
  /// `coordinates` compares names and coordinates of shared dimensions if both sides have them;
  /// times may have different units. A mismatch is an Error.
  Matching match = Matching::coordinates;
};

}  // namespace warpfold
