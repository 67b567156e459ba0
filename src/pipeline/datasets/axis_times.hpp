#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/layout/selection.hpp"
#include "core/values/calendar.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/meaning/dataset_name.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

struct IndexTime {
  Instant instant;
  Calendar calendar;
  Instant latest;  ///< that may have been rounded to it: later only for f32

  CalendarTime date() const { return time_of(instant, calendar); }
  CalendarTime latest_date() const { return time_of(latest, calendar); }
};

/// Says how many times may have been rounded down to before a change; nothing where none is.
std::string note_on_rounding(std::span<const std::optional<IndexTime>> times,
                             const std::function<bool(const IndexTime&)>& changes);

/// Takes a dataset that was opened to be read beside another.
using Opened = std::function<void(const io::Dataset&)>;

/// Reads the times of all indices of a dimension of info.stored_shape from its coordinate, at that
/// path, in the units of each file; nothing where one is missing. `opened` takes each file's. For
/// one rank. Throws an Error about `what` ("month") that can't be determined.
std::vector<std::optional<IndexTime>> read_times(const io::DatasetInfo& info, std::size_t dimension,
                                                 const std::string& coordinate,
                                                 const std::string& what, const Opened& opened);

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
/// them: `step` is the number of microseconds after which groups may change. Notes times that are
/// the ends of their bounds. For the root; throws as read_times(), and a usage Error if there is no
/// coordinate.
std::vector<std::optional<IndexTime>> times_along(int dimension, DatasetView& view, Run& run,
                                                  const std::string& what, std::int64_t step);

/// Indices along the dimension of times of a dataset that satisfy a condition.
struct KeptTimes {
  std::vector<std::uint64_t> words = {};     ///< a bit for each selected index, of Mask's order
  std::vector<std::size_t> dimensions = {};  ///< that of info.shape; none where a single index is
  std::uint64_t indices = 0;                 ///< selected ones, kept or not
  std::vector<std::string> notes = {};
};

/// Finds the times that satisfy a condition on a part of them: "month" and ">=6", "==12,1,2" or,
/// of "season", "==JJA". Indices without a time do not. Returns nothing where the condition names a
/// dataset. For one rank; throws Error, a usage Error for a condition that can't be, or where there
/// is not one dimension of times.
std::optional<KeptTimes> kept_times(const NamedCondition& condition, const io::DatasetInfo& info,
                                    const Opened& opened = {});

}  // namespace warpfold::pipeline
