#include "core/values/cf_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <string_view>
#include <utility>

#include "core/base/text.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

constexpr std::int64_t second = microseconds_per_second;
constexpr std::int64_t hour = microseconds_per_hour;
constexpr std::int64_t day = microseconds_per_day;

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

bool are_of_times(const std::string& units) {
  return lowered(units).find("since") != std::string::npos;
}

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
  year = astronomical_year(year, calendar_);
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
    refuse("the time in its units '" + units + "' is not a time of day");
  day_ = day_number(year, month, date, calendar_);
  since_ = (minutes - (part[9] == "-" ? -offset : offset)) * 60 * second +
           integer(part[7]) * second + integer(fraction);
}

std::optional<CalendarTime> TimeUnits::time(double number) const {
  const auto there = instant(number);
  return there ? std::optional(time_of(*there, calendar_)) : std::nullopt;
}

std::optional<CalendarTime> TimeUnits::time(std::int64_t number) const {
  const auto there = instant(number);
  return there ? std::optional(time_of(*there, calendar_)) : std::nullopt;
}

std::optional<Instant> TimeUnits::instant(double number) const {
  const long double exact = static_cast<long double>(number) * static_cast<long double>(unit_) /
                            static_cast<long double>(parts_);
  constexpr long double limit = 9.2e18L;
  if (!(std::fabs(exact) < limit)) return std::nullopt;
  // A microsecond beside a whole second is what rounding has made of that second.
  auto rounded = static_cast<std::int64_t>(std::rint(exact));
  const std::int64_t beside = rounded - floor_div(rounded, second) * second;
  if (beside == 1) rounded = static_cast<std::int64_t>(std::floor(exact));
  if (beside == second - 1) rounded = static_cast<std::int64_t>(std::ceil(exact));
  return instant_after(rounded);
}

std::optional<Instant> TimeUnits::instant(std::int64_t number) const {
  constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  if (number > limit / unit_ || number < -(limit / unit_)) return std::nullopt;
  return instant_after(floor_div(number * unit_, parts_));
}

std::optional<double> TimeUnits::converted(double number, const TimeUnits& other) const {
  const auto microseconds = static_cast<long double>(number) * static_cast<long double>(unit_) /
                            static_cast<long double>(parts_);
  if (calendar_ != other.calendar_) {
    // From its first day on the Gregorian calendar is the mixed one's.
    const long double days = std::floor((microseconds + static_cast<long double>(since_)) /
                                        static_cast<long double>(day));
    if (!have_one_count_of_days(calendar_, other.calendar_) ||
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

Instant TimeUnits::instant_after(std::int64_t microseconds) const {
  const std::int64_t days = floor_div(microseconds, day);
  const std::int64_t rest = microseconds - days * day + since_;
  const std::int64_t more = floor_div(rest, day);
  return {day_ + days + more, rest - more * day};
}

}  // namespace warpfold
