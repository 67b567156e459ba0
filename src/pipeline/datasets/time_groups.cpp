#include "pipeline/datasets/time_groups.hpp"

#include <cctype>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/values/time_windows.hpp"
#include "pipeline/datasets/axis_times.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

using Times = std::vector<IndexTime>;

Times require_order(const std::vector<std::optional<IndexTime>>& read, const std::string& every,
                    const DatasetView& view) {
  const std::string problem = "cannot apply `every` '" + every + "' to '" + view.info().name + "'";
  Times times;
  for (const auto& time : read) {
    const std::string index = std::to_string(times.size());
    if (!time)
      throw Error(problem, "index " + index + " has no time",
                  "Select indices that have times, or group them by labels with `by`.");
    if (!times.empty()) {
      const IndexTime& last = times.back();
      if (!have_one_count_of_days(last.calendar, time->calendar))
        throw Error(problem, "the calendars of its files differ",
                    "Convert the files to one calendar.");
      if (time->instant < last.instant)
        throw Error(problem,
                    "its times fall: index " + index + " has " +
                        date_text(time->instant, time->calendar) + " after " +
                        date_text(last.instant, last.calendar),
                    "Sort them, or group them with `by`, which needs no order.");
    }
    times.push_back(*time);
  }
  return times;
}

struct WindowRun {
  ElementRange indices;
  TimeWindow window;
  ElementRange kept = {};  ///< from the first index whose time is kept to the last
};

std::vector<WindowRun> runs_of(const Times& times, const std::string& every, Run& run) {
  std::vector<WindowRun> runs;
  if (times.empty()) return runs;
  const IndexTime& first = times.front();
  const WindowLength length = counted_from(first.instant, first.calendar, window_length(every));
  std::vector<std::optional<IndexTime>> rounded;
  for (std::size_t index = 0; index < times.size(); ++index) {
    const IndexTime& time = times[index];
    if (runs.empty() || !runs.back().window.holds(time.instant))
      runs.push_back({{index, 0}, window_at(time.instant, length, time.calendar)});
    ++runs.back().indices.count;
    rounded.push_back(runs.back().window.holds(time.latest) ? std::nullopt : std::optional(time));
  }
  run.note(note_on_rounding(rounded, [](const IndexTime&) { return true; }));
  if (!divides_calendar(length))
    run.note("windows of " + every + " begin with " +
             date_text(runs.front().window.begin, first.calendar) +
             ", by the first time. `select` can choose another.");
  return runs;
}

/// Returns whether a further index would lie in the first window, before its times.
bool is_first_cut(const Times& times, const TimeWindow& window) {
  const Instant first = times.front().instant;
  if (times.size() == 1) return first != window.begin;
  return step_from(first, first, times[1].instant, false, times.front().calendar) >= window.begin;
}

/// Returns whether a further index would lie in the last window.
bool is_last_cut(const Times& times, const TimeWindow& window) {
  const Instant last = times.back().instant;
  if (times.size() == 1) return true;
  const Instant before = times[times.size() - 2].instant;
  return step_from(last, before, last, true, times.back().calendar) < window.end;
}

/// Names one window: "month", "window of 5 days".
std::string named(const std::string& every) {
  return (std::isdigit(static_cast<unsigned char>(every.front())) != 0 ? "window of " : "") + every;
}

void require_complete(const std::string& every, bool complete, const Times& times,
                      std::vector<WindowRun>& runs, Run& run) {
  if (runs.empty()) return;
  const bool first = runs.front().kept.count > 0 && is_first_cut(times, runs.front().window);
  const bool last = runs.back().kept.count > 0 && is_last_cut(times, runs.back().window);
  if (!first && !last) return;
  if (!complete) {
    const bool both = first && last && runs.size() > 1;
    const std::string which = both ? "first and the last " : first ? "first " : "last ";
    run.note("the " + which + named(every) + " of the times " + (both ? "are" : "is") +
             " incomplete; they go from " +
             date_text(times.front().instant, times.front().calendar) + " to " +
             date_text(times.back().instant, times.back().calendar) +
             ". Omit them with `complete`.");
    return;
  }
  if (last) runs.pop_back();
  if (first && !runs.empty()) runs.erase(runs.begin());
  if (runs.empty())
    throw Error("no " + named(every) + " of the times is complete",
                "they go from " + date_text(times.front().instant, times.front().calendar) +
                    " to " + date_text(times.back().instant, times.back().calendar),
                "Omit `complete`, or choose shorter windows.");
}

}  // namespace

AxisGroups windows_along(const std::string& every, bool complete, int dimension, DatasetView& view,
                         Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  std::vector<ElementRange> ranges;
  while_unchanged(view, communicator, [&] {
    run_on_root(communicator, [&] {
      const std::int64_t step = window_length(every).step();
      const Times times =
          require_order(times_along(dimension, view, run, every, step), every, view);
      std::vector<WindowRun> runs = runs_of(times, every, run);
      for (WindowRun& each : runs)
        each.kept = view.kept_times.within(each.indices, static_cast<std::size_t>(dimension));
      require_complete(every, complete, times, runs, run);
      for (const WindowRun& each : runs)
        if (each.kept.count > 0) ranges.push_back(each.kept);
    });
  });
  ranges = mpi::broadcast(ranges, communicator);
  AxisGroups groups{dimension, ranges.size(), {}};
  for (std::size_t group = 0; group < ranges.size(); ++group)
    groups.runs.push_back({ranges[group], group});
  return groups;
}

}  // namespace warpfold::pipeline
