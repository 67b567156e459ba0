#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold {

/// The `count` selected indices along one dimension: start, start + step, ...
struct Slice {
  std::uint64_t start = 0;
  std::uint64_t count = 0;
  std::uint64_t step = 1;  ///< 1 or more
  bool dropped = false;    ///< a single index: the selected array has no such dimension

  bool operator==(const Slice&) const = default;
};

/// A hyperslab of a dataset, a slice for each of its dimensions.
using Selection = std::vector<Slice>;

/// NumPy's notation: "10:20, ::2, -1", "..., 0", as basic indexing of an array of `shape` with
/// positive steps understands it; an empty text takes everything. Throws a usage Error that says
/// what is wrong where: an index out of bounds, a step of 0 or less, too many dimensions.
Selection parse_selection(std::string_view text, std::span<const std::uint64_t> shape);

/// Makes a selection of `slices`, one for each dimension, in the notation of the parts of a text;
/// throws as if they were parts of `text`.
Selection parse_selection(std::string_view text, std::span<const std::string> slices,
                          std::span<const std::uint64_t> shape);

/// A part of a selection by names of dimensions.
struct NamedSlice {
  std::string name;
  std::string slice;  ///< as other selections' parts, or with bounds that are coordinates

  bool operator==(const NamedSlice&) const = default;
};

/// Takes "time=10:20, lat=-30.0:30.0" apart; nothing for a text that names no dimension. Throws a
/// usage Error where some parts have names and others have none, or two the same.
std::vector<NamedSlice> named_slices(std::string_view text);

/// Returns the shape of the selected array.
std::vector<std::uint64_t> selected_shape(const Selection& selection);

/// Returns whether all elements of an array of `shape` are selected and no dimension dropped.
bool takes_everything(const Selection& selection, std::span<const std::uint64_t> shape);

}  // namespace warpfold
