#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/values/calendar.hpp"

namespace warpfold {

/// Returns whether an attribute has units of times, "days since 2000-01-01" and the like, in any
/// case.
bool are_of_times(const std::string& units);

/// Turns numbers into times as the CF conventions have it: so many units since a date of a
/// calendar. Times are whole microseconds, of which cftime for Python makes the same.
class TimeUnits {
 public:
  /// Understands attributes: "days since 2000-01-01 06:00:00 +1:00", and "noleap", in any case;
  /// units of weeks down to nanoseconds, months of 30 days in a year of 360, and common years where
  /// each has 365 days. Throws an Error that begins with `problem`.
  TimeUnits(const std::string& units, const std::string& calendar, const std::string& problem);

  /// Returns the time of a number; none of NaN, and of one that is too large for 64 bits of
  /// microseconds.
  std::optional<CalendarTime> time(double number) const;
  std::optional<CalendarTime> time(std::int64_t number) const;

  /// Returns the point in time of a number; nothing if time() returns nothing.
  std::optional<Instant> instant(double number) const;
  std::optional<Instant> instant(std::int64_t number) const;

  Calendar calendar() const { return calendar_; }

  /// Returns the number that stands for the same time in other units; none where the calendars
  /// differ at that time.
  std::optional<double> converted(double number, const TimeUnits& other) const;

  bool operator==(const TimeUnits&) const = default;

 private:
  Instant instant_after(std::int64_t microseconds) const;

  Calendar calendar_ = Calendar::mixed;
  std::int64_t unit_ = 1;   ///< microseconds, or parts of one
  std::int64_t parts_ = 1;  ///< parts per microsecond that unit_ counts
  std::int64_t day_ = 0;    ///< day of the date, counted in the calendar
  std::int64_t since_ = 0;  ///< microseconds of that day
};

}  // namespace warpfold
