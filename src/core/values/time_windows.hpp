#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/values/calendar.hpp"

namespace warpfold {

/// A stretch of time, without its end.
struct TimeWindow {
  Instant begin;
  Instant end;

  bool holds(const Instant& instant) const { return begin <= instant && instant < end; }
};

/// The length of windows of time, and where they begin. Windows of hours begin at midnight, seasons
/// with December, March, June and September.
struct WindowLength {
  enum class Unit : std::uint8_t { hour, day, month };

  Unit unit = Unit::day;
  std::int64_t count = 1;   ///< units; of hours a divisor of 24
  std::int64_t origin = 0;  ///< day, or month since that of January of the year 0, that begins one

  /// The first window begins with the day, month or year of the first time: 1 (day or month) or 12
  /// (year). 0: windows begin where those of the calendar do.
  std::int64_t origin_units = 0;

  /// Returns the number of microseconds after which another window may begin.
  std::int64_t step() const {
    return unit == Unit::hour ? count * microseconds_per_hour : microseconds_per_day;
  }
};

/// Understands "year", "season", "month", "day", "6 hours", "5 days", "3 months", "10 years" and
/// short forms. Throws a usage Error for others.
WindowLength window_length(std::string_view text);

/// Lets windows of several days, months or years begin with the day, month or year of a first time.
WindowLength counted_from(const Instant& first, Calendar calendar, WindowLength length);

/// Returns false where such windows of months or years begin in others than those that divide a
/// year, or the years, evenly: 3 months in February, 10 years in 2003.
bool divides_calendar(const WindowLength& length);

/// Returns the window that holds a point in time.
TimeWindow window_at(const Instant& instant, const WindowLength& length, Calendar calendar);

/// Returns the point in time that comes before or after another, as far away as `next` is from
/// `one` where that is so many microseconds; where it is about so many months, so many months away:
/// on the last day of a month if the other is. Where it isn't months, a hundredth of the distance
/// is added: a time that was rounded to just before a window is in it.
Instant step_from(const Instant& instant, const Instant& one, const Instant& next, bool forward,
                  Calendar calendar);

/// Returns whether a text has the form of a date: "2001-03", "2001-03-15", "2001-03-15T06", or with
/// minutes and seconds behind, "2001-03-15T0630" and "2001-03-15T063015". Years have four digits or
/// more.
bool is_date(std::string_view text);

/// Returns the month, day, hour, minute or second that such a text, or a year alone, names. Throws
/// an Error with `problem` where it isn't in the calendar.
TimeWindow window_of_date(const std::string& text, Calendar calendar, const std::string& problem);

/// Writes a number with so many digits or more.
std::string zero_padded(std::int64_t number, std::size_t digits);

/// Writes a point in time as ISO 8601 does, as far as it differs from midnight: "2001-03-15",
/// "2001-03-15T06:30:00", "2001-03-15T06:30:00.25".
std::string date_text(const Instant& instant, Calendar calendar);

}  // namespace warpfold
