#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/filters/filter.hpp"

namespace warpfold::io {

/// Thrown for bytes that the filter to undo did not produce.
struct DamagedBytes {
  std::string why;
};

/// Thrown for a stream that more memory might hold.
struct TooLong : DamagedBytes {};

/// Frees what a C library made, as the deleter of its owner.
template <auto free>
struct FreedBy {
  void operator()(auto* object) const { free(object); }
};

/// Undoes one filter of a dataset.
class FilterStep {
 public:
  virtual ~FilterStep() = default;

  /// Returns the bytes that the filter was given: at the start of `out`, or a part of `stored`.
  /// Throws DamagedBytes; where `out` can't hold a stream of one block, TooLong.
  virtual std::span<const std::byte> undo(std::span<const std::byte> stored,
                                          std::span<std::byte> out) = 0;
};

/// Makes a step of a filter that leaves the bytes as they are.
std::unique_ptr<FilterStep> make_idle_step();

/// Makes the step; none for a filter that this build can't undo with these parameters.
std::unique_ptr<FilterStep> make_filter_step(const Filter& filter);

/// Names those of a dataset's filters that this build can't undo ("szip", "zfp"); empty if it can
/// undo all.
std::string undecodable_filters(const std::vector<Filter>& filters);

/// Lists the names of the filters that this build can undo, separated by ", ".
std::string decodable_filters();

}  // namespace warpfold::io
