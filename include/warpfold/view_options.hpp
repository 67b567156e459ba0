#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warpfold/axis.hpp"

namespace warpfold {

/// Selects how indices of two datasets are paired along the dimensions that they share: by equal
/// coordinates, where differing ones are an error, or by position alone.
enum class Matching : std::uint8_t { coordinates, position };

/// A view specifies which elements of a dataset count, and what their values are. Everything else
/// sees a dataset of the selected shape whose elements are those values.
struct ViewOptions {
  /// Files that each have a part of the dataset, under the same name: what they have is one
  /// dataset, the parts one after another along dimension `concat`. The first is the file
  /// that is requested. Other extents and units must be the same. Where types or attributes differ,
  /// values are unpacked as each file has them. Empty: that file alone.
  std::vector<std::string> files;
  Axis concat = 0;  ///< the dimension along which `files` are joined

  /// A hyperslab in NumPy's notation: "10:20, ::2, -1", "..., 0", as basic indexing with positive
  /// steps understands it, or by names of dimensions: "time=10:20, lat=-30.0:30.0", whole numbers
  /// as indices, others as coordinates with both bounds included, and dates of times:
  /// "time=2001-03", "time=2001-03-15T06:2001-04"; empty: everything.
  std::string select;

  /// Conditions on the value, all of which an element must meet: ">0", "<=1e3", "==3", "!=nan",
  /// "finite", ... Others are skipped. "DATASET >0" or "FILE::DATASET >0" is a condition on the
  /// elements of another dataset, as `mask` has it.
  std::vector<std::string> where;

  /// Takes stored numbers as they are. Otherwise a dataset's attributes are applied: elements
  /// stored as `_FillValue` or `missing_value`, or outside `valid_range` or `valid_min` and
  /// `valid_max`, are skipped, integers whose `_Unsigned` is "true" have no sign, and values are
  /// stored * scale_factor + add_offset in the types that NumPy computes in.
  bool raw = false;

  /// The stored number that is skipped, in place of those that attributes specify: a number, or
  /// "none"; "auto", or empty: those that attributes specify, unless `raw`.
  std::string fill_value;

  /// A dataset whose values are not 0 where the view's count, others are skipped: "DATASET" of the
  /// same file or "FILE::DATASET"; empty: none. "!DATASET": whose values are 0; "DATASET >0.5":
  /// whose values satisfy the condition. It has the dataset's dimensions, or some of them in their
  /// order: "DATASET@0,2" or "DATASET@lat" names them; otherwise they are those of its names and
  /// extents, the last ones if they have its extents, or the only ones that have them. Leading
  /// extents of 1 are ignored. `select` takes the same part of it as of these dimensions. Its own
  /// attributes are applied; what they exclude is skipped. NaN is not 0.
  std::string mask;

  /// Matches masks, weights, factors, labels and further `files` with the dataset. `coordinates`
  /// compares names and coordinates of shared dimensions wherever both sides have them; times may
  /// have different units. A mismatch is an Error.
  Matching match = Matching::coordinates;
};

}  // namespace warpfold
