#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/layout/selection.hpp"
#include "core/values/calendar.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

struct IndexTime {
  Instant instant;
  Calendar calendar;

  CalendarTime date() const { return time_of(instant, calendar); }
};

/// Reads the times of all indices of a dimension of info.stored_shape from its coordinate, at that
/// path, in the units of each file; nothing where one is missing. `opened` takes each file's. For
/// one rank. Throws an Error about `what` ("month") that can't be determined.
std::vector<std::optional<IndexTime>> read_times(
    const io::DatasetInfo& info, std::size_t dimension, const std::string& coordinate,
    const std::string& what, const std::function<void(const io::Dataset&)>& opened);

/// A dimension of info.shape as it is stored.
struct SelectedDimension {
  std::size_t stored;  ///< its number in info.stored_shape
  Slice slice;         ///< its indices

  /// Keeps, of what all stored indices have, that of those selected.
  template <class Each>
  std::vector<Each> of(std::vector<Each> all) const {
    for (std::uint64_t i = 0; i < slice.count; ++i)
      all[i] = std::move(all[slice.start + i * slice.step]);
    all.resize(slice.count);
    return all;
  }
};

SelectedDimension selected_dimension(const io::DatasetInfo& info, int dimension);

/// Reads the times of the selected indices along a dimension of a view, whose `by` or `every` needs
/// them. For the root; throws as read_times(), and a usage Error if there is no coordinate.
std::vector<std::optional<IndexTime>> times_along(int dimension, DatasetView& view, Run& run,
                                                  const std::string& what);

}  // namespace warpfold::pipeline
