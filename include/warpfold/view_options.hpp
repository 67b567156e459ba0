#pragma once

#include <string>
#include <vector>

namespace warpfold {

/// A view tells which elements of a dataset count, and what their values are. Everything else sees
/// a dataset of the selected shape whose elements are those values.
struct ViewOptions {
  /// A hyperslab in NumPy's notation: "10:20, ::2, -1", "..., 0", as basic indexing with positive
  /// steps understands it; empty: everything.
  std::string select;

  /// Conditions on the value, all of which an element must meet: ">0", "<=1e3", "==3", "!=nan",
  /// "finite", ... Others are left out.
  std::vector<std::string> where;

  /// Elements equal to this are left out, before unpacking: "none"; "auto": the dataset's
  /// `_FillValue` and `missing_value` attributes; or a number.
  std::string fill_value = "none";

  /// Values are stored * scale_factor + add_offset, as the CF conventions' attributes of these
  /// names say, in the types that NumPy computes in, and integers whose attribute `_Unsigned` is
  /// "true" have no sign.
  bool cf = false;
};

}  // namespace warpfold
