#include "core/values/cf_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <regex>
#include <string_view>
#include <utility>

#include "core/base/text.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t hour = 3600 * second;
constexpr std::int64_t day = 24 * hour;

/// The first Julian day number of the Gregorian calendar where it follows the Julian one.
constexpr std::int64_t first_gregorian_day = 2'299'161;

constexpr std::array<std::int64_t, 13> days_before{0,   31,  59,  90,  120, 151, 181,
                                                   212, 243, 273, 304, 334, 365};

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

bool has_year_0(Calendar calendar) {
  return calendar != Calendar::mixed && calendar != Calendar::julian;
}

/// Years are astronomical below: 0 is the year before 1.
bool is_leap(std::int64_t year, Calendar calendar) {
  if (calendar == Calendar::all_leap) return true;
  if (calendar == Calendar::noleap || calendar == Calendar::days_360) return false;
  if (year % 4 != 0) return false;
  if (calendar == Calendar::julian || (calendar == Calendar::mixed && year < 1582)) return true;
  return year % 100 != 0 || year % 400 == 0;
}

/// Days of a year before a month from 1 to 13.
std::int64_t days_before_month(std::int64_t year, std::int64_t month, Calendar calendar) {
  if (calendar == Calendar::days_360) return (month - 1) * 30;
  const std::int64_t leap_day = month > 2 && is_leap(year, calendar) ? 1 : 0;
  return days_before[static_cast<std::size_t>(month - 1)] + leap_day;
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

std::optional<Calendar> calendar_called(const std::string& name) {
  constexpr std::pair<std::string_view, Calendar> names[] = {
      {"standard", Calendar::mixed},    {"gregorian", Calendar::mixed},
      {"julian", Calendar::julian},     {"proleptic_gregorian", Calendar::gregorian},
      {"noleap", Calendar::noleap},     {"365_day", Calendar::noleap},
      {"all_leap", Calendar::all_leap}, {"366_day", Calendar::all_leap},
      {"360_day", Calendar::days_360}};
  for (const auto& [each, calendar] : names)
    if (each == name) return calendar;
  return std::nullopt;
}

struct Unit {
  std::int64_t count;      ///< number of microseconds, or parts of one
  std::int64_t parts = 1;  ///< parts per microsecond
};

bool is_called(const std::string& name, std::string_view unit) {
  return name == unit || (unit.size() > 1 && name == std::string(unit) + "s");
}

std::optional<Unit> unit_called(const std::string& name, Calendar calendar) {
  if (is_called(name, "nanosecond") || is_called(name, "nanosec") || name == "ns")
    return Unit{1, 1000};
  if (is_called(name, "month") && calendar == Calendar::days_360) return Unit{30 * day};
  if (is_called(name, "common_year") && calendar == Calendar::noleap) return Unit{365 * day};
  constexpr std::pair<std::string_view, std::int64_t> names[] = {
      {"microsec", 1},         {"microsecond", 1}, {"millisec", 1000},
      {"millisecond", 1000},   {"msec", 1000},     {"s", second},
      {"sec", second},         {"second", second}, {"min", 60 * second},
      {"minute", 60 * second}, {"h", hour},        {"hr", hour},
      {"hour", hour},          {"d", day},         {"day", day},
      {"week", 7 * day}};
  for (const auto& [each, microseconds] : names)
    if (is_called(name, each)) return Unit{microseconds};
  return std::nullopt;
}

std::int64_t integer(const std::string& text) { return text.empty() ? 0 : std::stoll(text); }

}  // namespace

TimeUnits::TimeUnits(const std::string& units, const std::string& calendar,
                     const std::string& problem) {
  const auto refuse = [&](const std::string& why) {
    throw Error(problem, why,
                "Give times in weeks, days, hours, minutes or seconds since a date, 'days since "
                "2000-01-01', and in a calendar of the CF conventions. Months need the calendar "
                "360_day.");
  };
  const auto known = calendar_called(lowered(calendar));
  if (!known) refuse("its calendar is '" + calendar + "'");
  calendar_ = *known;
  static const std::regex form(
      R"(\s*([a-z_]+)\s+since\s+([-+]?\d{1,9})-(\d{1,2})-(\d{1,2}))"
      R"((?:(?:\s+|t)(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?)?)?)"
      R"((?:\s*(?:z|utc|gmt|([-+])(\d{1,2}):?(\d{2})?)|\s+(\d{1,2}):(\d{2}))?\s*)");
  std::smatch part;
  const std::string text = lowered(units.substr(0, 256));
  if (!std::regex_match(text, part, form)) refuse("its units are '" + units + "'");
  const auto unit = unit_called(part[1], calendar_);
  if (!unit) refuse("its units are '" + units + "'");
  unit_ = unit->count;
  parts_ = unit->parts;
  std::int64_t year = integer(part[2]);
  const std::int64_t month = integer(part[3]);
  const std::int64_t date = integer(part[4]);
  if (year == 0 && !has_year_0(calendar_)) refuse("its calendar has no year 0");
  if (year < 0 && !has_year_0(calendar_)) ++year;
  if (month < 1 || month > 12 || date < 1 ||
      date >
          days_before_month(year, month + 1, calendar_) - days_before_month(year, month, calendar_))
    refuse("the date in its units '" + units + "' is not in its calendar");
  std::string fraction = part[8].str().substr(0, 6);
  fraction.resize(6, '0');
  const std::int64_t minutes = integer(part[5]) * 60 + integer(part[6]);
  const std::int64_t offset =
      (integer(part[10]) + integer(part[12])) * 60 + integer(part[11]) + integer(part[13]);
  if (integer(part[5]) > 23 || integer(part[6]) > 59 || integer(part[7]) > 59)
    refuse("the time in its units '" + units + "' is not one of a clock");
  day_ = day_number(year, month, date, calendar_);
  since_ = (minutes - (part[9] == "-" ? -offset : offset)) * 60 * second +
           integer(part[7]) * second + integer(fraction);
}

std::optional<CalendarTime> TimeUnits::time(double number) const {
  const long double exact = static_cast<long double>(number) * static_cast<long double>(unit_) /
                            static_cast<long double>(parts_);
  constexpr long double limit = 9.2e18L;
  if (!(std::fabs(exact) < limit)) return std::nullopt;
  // A microsecond beside a whole second is what rounding has made of that second.
  auto rounded = static_cast<std::int64_t>(std::rint(exact));
  const std::int64_t beside = rounded - floor_div(rounded, second) * second;
  if (beside == 1) rounded = static_cast<std::int64_t>(std::floor(exact));
  if (beside == second - 1) rounded = static_cast<std::int64_t>(std::ceil(exact));
  return time_after(rounded);
}

std::optional<CalendarTime> TimeUnits::time(std::int64_t number) const {
  constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  if (number > limit / unit_ || number < -(limit / unit_)) return std::nullopt;
  return time_after(floor_div(number * unit_, parts_));
}

std::optional<double> TimeUnits::converted(double number, const TimeUnits& other) const {
  const auto microseconds = static_cast<long double>(number) * static_cast<long double>(unit_) /
                            static_cast<long double>(parts_);
  if (calendar_ != other.calendar_) {
    // From its first day on the Gregorian calendar is the mixed one's.
    const auto has_gregorian_days = [](Calendar calendar) {
      return calendar == Calendar::mixed || calendar == Calendar::gregorian;
    };
    const long double days = std::floor((microseconds + static_cast<long double>(since_)) /
                                        static_cast<long double>(day));
    if (!has_gregorian_days(calendar_) || !has_gregorian_days(other.calendar_) ||
        std::min(day_, other.day_) < first_gregorian_day ||
        static_cast<long double>(day_) + days < static_cast<long double>(first_gregorian_day))
      return std::nullopt;
  }
  if (unit_ == other.unit_ && parts_ == other.parts_ && day_ == other.day_ &&
      since_ == other.since_)
    return number;
  const auto between = static_cast<long double>(day_ - other.day_) * static_cast<long double>(day) +
                       static_cast<long double>(since_ - other.since_);
  return static_cast<double>((microseconds + between) * static_cast<long double>(other.parts_) /
                             static_cast<long double>(other.unit_));
}

std::optional<CalendarTime> TimeUnits::time_after(std::int64_t microseconds) const {
  const std::int64_t days = floor_div(microseconds, day);
  const std::int64_t rest = microseconds - days * day + since_;
  CalendarTime time = date_of(day_ + days + floor_div(rest, day), calendar_);
  time.hour = (rest - floor_div(rest, day) * day) / hour;
  time.day_of_year = days_before_month(time.year, time.month, calendar_) + time.day;
  if (time.year <= 0 && !has_year_0(calendar_)) --time.year;
  return time;
}

}  // namespace warpfold
