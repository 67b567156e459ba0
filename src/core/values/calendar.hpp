#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warpfold {

inline constexpr std::int64_t microseconds_per_second = 1'000'000;
inline constexpr std::int64_t microseconds_per_hour = 3600 * microseconds_per_second;
inline constexpr std::int64_t microseconds_per_day = 24 * microseconds_per_hour;

/// The calendars of the CF conventions. The mixed one is Julian before 1582-10-15 and Gregorian
/// from then on. It and the Julian one have no year 0: year 1 follows year -1.
enum class Calendar : std::uint8_t { mixed, gregorian, julian, noleap, all_leap, days_360 };

/// The first day of the Gregorian calendar where it follows the Julian one: 1582-10-15.
inline constexpr std::int64_t first_gregorian_day = 2'299'161;

/// Returns whether the days of two calendars have the same numbers.
constexpr bool have_one_count_of_days(Calendar one, Calendar other) {
  const auto is_mixed_or_gregorian = [](Calendar calendar) {
    return calendar == Calendar::mixed || calendar == Calendar::gregorian;
  };
  return one == other || (is_mixed_or_gregorian(one) && is_mixed_or_gregorian(other));
}

/// A point in time. Days are counted from a day of the calendar: in calendars that are mixed,
/// Gregorian or Julian they are Julian day numbers.
struct Instant {
  std::int64_t day = 0;
  std::int64_t microsecond = 0;  ///< microseconds since midnight

  auto operator<=>(const Instant&) const = default;
};

/// Date and time of day in a calendar.
struct CalendarTime {
  std::int64_t year = 0;
  std::int64_t month = 1;  ///< 1 to 12
  std::int64_t day = 1;
  std::int64_t hour = 0;
  std::int64_t day_of_year = 1;  ///< 1 for January 1
};

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

bool has_year_0(Calendar calendar);

/// Turns years as they are written into astronomical ones, which have a year 0 before 1, and back.
std::int64_t astronomical_year(std::int64_t year, Calendar calendar);
std::int64_t written_year(std::int64_t astronomical, Calendar calendar);

/// Returns the days of an astronomical year before a month from 1 to 13.
std::int64_t days_before_month(std::int64_t year, std::int64_t month, Calendar calendar);

/// Returns the day of a date, whose year is astronomical.
std::int64_t day_number(std::int64_t year, std::int64_t month, std::int64_t date,
                        Calendar calendar);

CalendarTime time_of(const Instant& instant, Calendar calendar);

/// Names of seasons, sorted; the number of a season is its place among them.
inline constexpr std::array<std::string_view, 4> seasons{"DJF", "JJA", "MAM", "SON"};

/// A component of times by which they are grouped and selected, such as the month.
struct PartOfTime {
  std::string_view name;
  std::size_t digits;  ///< digits of its number in a text, at least; 0: a season, which has a name
  std::int64_t (*of)(const CalendarTime&);

  bool is_season() const { return digits == 0; }

  /// Returns the number of microseconds after which it may change.
  std::int64_t step() const {
    return name == "hour" ? microseconds_per_hour : microseconds_per_day;
  }
};

inline constexpr PartOfTime parts_of_time[] = {
    {"year", 4, [](const CalendarTime& time) { return time.year; }},
    {"month", 2, [](const CalendarTime& time) { return time.month; }},
    {"day", 2, [](const CalendarTime& time) { return time.day; }},
    {"hour", 2, [](const CalendarTime& time) { return time.hour; }},
    {"dayofyear", 3, [](const CalendarTime& time) { return time.day_of_year; }},
    {"season", 0, [](const CalendarTime& time) {
       constexpr std::int64_t of_quarter[] = {0, 2, 1, 3};
       return of_quarter[time.month % 12 / 3];
     }}};

/// Finds a part of a time by its name; null where there is none.
const PartOfTime* part_of_time(std::string_view name);

}  // namespace warpfold
