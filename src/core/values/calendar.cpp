#include "core/values/calendar.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace warpfold {
namespace {

constexpr std::array<std::int64_t, 13> days_before{0,   31,  59,  90,  120, 151, 181,
                                                   212, 243, 273, 304, 334, 365};

/// Years are astronomical.
bool is_leap(std::int64_t year, Calendar calendar) {
  if (calendar == Calendar::all_leap) return true;
  if (calendar == Calendar::noleap || calendar == Calendar::days_360) return false;
  if (year % 4 != 0) return false;
  if (calendar == Calendar::julian || (calendar == Calendar::mixed && year < 1582)) return true;
  return year % 100 != 0 || year % 400 == 0;
}

std::int64_t days_of_year(Calendar calendar) {
  if (calendar == Calendar::days_360) return 360;
  return calendar == Calendar::all_leap ? 366 : 365;
}

/// Julian day numbers, after E. G. Richards, Calendars, in the Explanatory Supplement to the
/// Astronomical Almanac (2013); years of any sign.
std::int64_t julian_day(std::int64_t year, std::int64_t month, std::int64_t date, bool gregorian) {
  const std::int64_t before_march = (14 - month) / 12;
  const std::int64_t y = year + 4800 - before_march;
  const std::int64_t m = month + 12 * before_march - 3;
  const std::int64_t days = date + (153 * m + 2) / 5 + 365 * y + floor_div(y, 4);
  return gregorian ? days - floor_div(y, 100) + floor_div(y, 400) - 32045 : days - 32083;
}

CalendarTime date_of_julian_day(std::int64_t number, bool gregorian) {
  std::int64_t centuries = 0;
  std::int64_t rest = number + (gregorian ? 32044 : 32082);
  if (gregorian) {
    centuries = floor_div(4 * rest + 3, 146097);
    rest -= floor_div(146097 * centuries, 4);
  }
  const std::int64_t years = floor_div(4 * rest + 3, 1461);
  const std::int64_t days = rest - floor_div(1461 * years, 4);
  const std::int64_t months = (5 * days + 2) / 153;
  CalendarTime date;
  date.day = days - (153 * months + 2) / 5 + 1;
  date.month = months + 3 - 12 * (months / 10);
  date.year = 100 * centuries + years - 4800 + months / 10;
  return date;
}

CalendarTime date_of(std::int64_t number, Calendar calendar) {
  if (calendar == Calendar::mixed || calendar == Calendar::gregorian ||
      calendar == Calendar::julian)
    return date_of_julian_day(number,
                              calendar == Calendar::gregorian ||
                                  (calendar == Calendar::mixed && number >= first_gregorian_day));
  CalendarTime date;
  date.year = floor_div(number, days_of_year(calendar));
  const std::int64_t rest = number - date.year * days_of_year(calendar);
  while (date.month < 12 && days_before_month(date.year, date.month + 1, calendar) <= rest)
    ++date.month;
  date.day = rest - days_before_month(date.year, date.month, calendar) + 1;
  return date;
}

}  // namespace

bool has_year_0(Calendar calendar) {
  return calendar != Calendar::mixed && calendar != Calendar::julian;
}

std::int64_t astronomical_year(std::int64_t year, Calendar calendar) {
  return year < 0 && !has_year_0(calendar) ? year + 1 : year;
}

std::int64_t written_year(std::int64_t astronomical, Calendar calendar) {
  return astronomical <= 0 && !has_year_0(calendar) ? astronomical - 1 : astronomical;
}

std::int64_t days_before_month(std::int64_t year, std::int64_t month, Calendar calendar) {
  if (calendar == Calendar::days_360) return (month - 1) * 30;
  const std::int64_t leap_day = month > 2 && is_leap(year, calendar) ? 1 : 0;
  return days_before[static_cast<std::size_t>(month - 1)] + leap_day;
}

std::int64_t day_number(std::int64_t year, std::int64_t month, std::int64_t date,
                        Calendar calendar) {
  switch (calendar) {
    case Calendar::mixed: {
      const bool gregorian =
          std::array{year, month, date} >= std::array<std::int64_t, 3>{1582, 10, 15};
      return julian_day(year, month, date, gregorian);
    }
    case Calendar::gregorian:
    case Calendar::julian:
      return julian_day(year, month, date, calendar == Calendar::gregorian);
    default:
      return year * days_of_year(calendar) + days_before_month(year, month, calendar) + date - 1;
  }
}

CalendarTime time_of(const Instant& instant, Calendar calendar) {
  CalendarTime time = date_of(instant.day, calendar);
  time.hour = instant.microsecond / microseconds_per_hour;
  time.day_of_year = days_before_month(time.year, time.month, calendar) + time.day;
  time.year = written_year(time.year, calendar);
  return time;
}

const PartOfTime* part_of_time(std::string_view name) {
  const PartOfTime* const found = std::ranges::find(parts_of_time, name, &PartOfTime::name);
  return found == std::end(parts_of_time) ? nullptr : found;
}

}  // namespace warpfold
