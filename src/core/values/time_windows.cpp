#include "core/values/time_windows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <regex>
#include <utility>

#include "core/base/text.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

const std::regex& date_form() {
  static const std::regex form(
      R"(([-+]?\d{4,9})(?:-(\d{1,2})(?:-(\d{1,2})(?:[tT](\d{2})(?:(\d{2})(\d{2})?)?)?)?)?)");
  return form;
}

/// Returns the first day of a month; months are counted from that of January of the year 0.
Instant month_begin(std::int64_t month, Calendar calendar) {
  const std::int64_t year = floor_div(month, 12);
  return {day_number(year, month - 12 * year + 1, 1, calendar), 0};
}

/// Returns a point in time that days and microseconds follow.
Instant later(const Instant& instant, std::int64_t days, std::int64_t microseconds) {
  const std::int64_t sum = instant.microsecond + microseconds;
  const std::int64_t more = floor_div(sum, microseconds_per_day);
  return {instant.day + days + more, sum - more * microseconds_per_day};
}

std::int64_t month_of(const CalendarTime& time, Calendar calendar) {
  return 12 * astronomical_year(time.year, calendar) + time.month - 1;
}

Instant months_later(const Instant& instant, std::int64_t months, Calendar calendar) {
  const CalendarTime time = time_of(instant, calendar);
  const std::int64_t month = month_of(time, calendar);
  const auto last_day = [&](std::int64_t of) { return month_begin(of + 1, calendar).day - 1; };
  const std::int64_t last = last_day(month + months);
  const std::int64_t same = month_begin(month + months, calendar).day + time.day - 1;
  return {instant.day == last_day(month) ? last : std::min(same, last), instant.microsecond};
}

/// Understands "6 hours", "5 days", "3 months", "10 years" and short forms; nothing else.
std::optional<WindowLength> counted_length(const std::string& text) {
  using Unit = WindowLength::Unit;
  static const std::regex form(
      R"((\d{1,6}) ?(?:(h(?:ours?)?)|(d(?:ays?)?)|(mo(?:nths?)?)|y(?:ears?)?))");
  std::smatch part;
  if (!std::regex_match(text, part, form)) return std::nullopt;
  const std::int64_t count = std::stoll(part[1]);
  if (count == 0 || (part[2].matched && 24 % count != 0)) return std::nullopt;
  if (part[2].matched) return WindowLength{Unit::hour, count};
  if (part[3].matched) return WindowLength{Unit::day, count, 0, 1};
  const std::int64_t months = part[4].matched ? 1 : 12;
  return WindowLength{Unit::month, months * count, 0, months};
}

/// Returns the window that a text most likely means, such as "10 years" for "10YS"; empty if none.
std::string likely_length(const std::string& text) {
  if (text == "daily") return "day";
  for (const std::string_view name : {"year", "season", "month", "day", "hour"})
    if (text.starts_with(name)) return std::string(name);
  static const std::regex form(R"((\d{1,6}) ?([dmwyah])[a-z]*)", std::regex::icase);
  std::smatch part;
  if (!std::regex_match(text, part, form)) return "";
  const std::int64_t count = std::stoll(part[1]);
  if (count == 0) return "";
  switch (lowered(part[2].str()).front()) {
    case 'd':
      return std::to_string(count) + " days";
    case 'm':
      return std::to_string(count) + " months";
    case 'w':
      return std::to_string(7 * count) + " days";
    case 'h':
      return count % 24 == 0 ? std::to_string(count / 24) + " days" : "";
    default:
      return std::to_string(count) + " years";
  }
}

}  // namespace

WindowLength window_length(std::string_view text) {
  using Unit = WindowLength::Unit;
  constexpr std::pair<std::string_view, WindowLength> names[] = {{"year", {Unit::month, 12}},
                                                                 {"season", {Unit::month, 3, -1}},
                                                                 {"month", {Unit::month, 1}},
                                                                 {"day", {Unit::day, 1}},
                                                                 {"hour", {Unit::hour, 1}}};
  for (const auto& [name, length] : names)
    if (text == name) return length;
  const std::string whole(text);
  if (const auto length = counted_length(whole)) return *length;
  const std::string likely = likely_length(whole);
  throw usage_error("bad `every` '" + whole + "'", "",
                    (likely.empty() ? "" : "Did you mean " + likely + "? ") +
                        "Give a number of indices, or year, season, month, day, N years, N months, "
                        "N days, or N hours, where 24 is a multiple of N.");
}

WindowLength counted_from(const Instant& first, Calendar calendar, WindowLength length) {
  if (length.origin_units == 0) return length;
  const bool days = length.unit == WindowLength::Unit::day;
  const std::int64_t at = days ? first.day : month_of(time_of(first, calendar), calendar);
  length.origin = floor_div(at, length.origin_units) * length.origin_units;
  return length;
}

bool divides_calendar(const WindowLength& length) {
  const bool may = length.origin_units == 12 || 12 % length.count == 0;
  return length.unit != WindowLength::Unit::month || length.origin_units == 0 || !may ||
         length.origin % length.count == 0;
}

TimeWindow window_at(const Instant& instant, const WindowLength& length, Calendar calendar) {
  if (length.unit == WindowLength::Unit::hour) {
    const std::int64_t size = length.count * microseconds_per_hour;
    const Instant begin{instant.day, instant.microsecond / size * size};
    return {begin, later(begin, 0, size)};
  }
  const bool days = length.unit == WindowLength::Unit::day;
  const std::int64_t at = days ? instant.day : month_of(time_of(instant, calendar), calendar);
  const std::int64_t first =
      floor_div(at - length.origin, length.count) * length.count + length.origin;
  const auto begin_of = [&](std::int64_t unit) {
    return days ? Instant{unit, 0} : month_begin(unit, calendar);
  };
  return {begin_of(first), begin_of(first + length.count)};
}

Instant step_from(const Instant& instant, const Instant& one, const Instant& next, bool forward,
                  Calendar calendar) {
  const std::int64_t days = next.day - one.day;
  const double mean_month = calendar == Calendar::days_360 ? 30 : 30.4;
  const double months = std::round(static_cast<double>(days) / mean_month);
  constexpr double most_beside = 3;  // days
  if (months >= 1 && std::fabs(static_cast<double>(days) - months * mean_month) <= most_beside) {
    const auto count = static_cast<std::int64_t>(months);
    return months_later(instant, forward ? count : -count, calendar);
  }
  constexpr std::int64_t part_of_step = 100;
  const std::int64_t rest = next.microsecond - one.microsecond;
  const std::int64_t room = (days * microseconds_per_day + rest) / part_of_step;
  return forward ? later(instant, days, rest + room) : later(instant, -days, room - rest);
}

bool is_date(std::string_view text) {
  const std::size_t dash = text.find('-', 1);
  return dash != std::string_view::npos && std::regex_match(text.begin(), text.end(), date_form());
}

TimeWindow window_of_date(const std::string& text, Calendar calendar, const std::string& problem) {
  const auto refuse = [&](const std::string& why) {
    throw usage_error(problem, why,
                      "Give dates such as 2001-03, 2001-03-15, 2001-03-15T06 or 2001-03-15T0630.");
  };
  std::smatch part;
  if (!std::regex_match(text, part, date_form())) refuse("'" + text + "' is not a date");
  const auto number = [&](std::size_t at) { return part[at].matched ? std::stoll(part[at]) : 0; };
  const std::int64_t written = number(1);
  if (written == 0 && !has_year_0(calendar)) refuse("the calendar has no year 0");
  const std::int64_t year = astronomical_year(written, calendar);
  if (!part[2].matched)
    return {month_begin(12 * year, calendar), month_begin(12 * year + 12, calendar)};
  const bool is_month = number(2) >= 1 && number(2) <= 12;
  if (is_month && !part[3].matched) {
    const std::int64_t month = 12 * year + number(2) - 1;
    return {month_begin(month, calendar), month_begin(month + 1, calendar)};
  }
  const Instant midnight{is_month ? day_number(year, number(2), number(3), calendar) : 0, 0};
  const CalendarTime there = time_of(midnight, calendar);
  if (!is_month || std::array{there.year, there.month, there.day} !=
                       std::array<std::int64_t, 3>{written, number(2), number(3)})
    refuse("the calendar has no " + text);
  if (!part[4].matched) return {midnight, {midnight.day + 1, 0}};
  if (number(4) > 23 || number(5) > 59 || number(6) > 59)
    refuse("'" + text + "' is not a time of day");
  const std::int64_t seconds = (number(4) * 60 + number(5)) * 60 + number(6);
  const Instant begin = later(midnight, 0, seconds * microseconds_per_second);
  const std::int64_t length = part[6].matched ? 1 : part[5].matched ? 60 : 3600;
  return {begin, later(begin, 0, length * microseconds_per_second)};
}

std::string zero_padded(std::int64_t number, std::size_t digits) {
  const std::string text = std::to_string(number < 0 ? -number : number);
  const std::string zeros(digits > text.size() ? digits - text.size() : 0, '0');
  return (number < 0 ? "-" : "") + zeros + text;
}

std::string date_text(const Instant& instant, Calendar calendar) {
  const CalendarTime time = time_of(instant, calendar);
  std::string text =
      zero_padded(time.year, 4) + '-' + zero_padded(time.month, 2) + '-' + zero_padded(time.day, 2);
  if (instant.microsecond == 0) return text;
  const std::int64_t seconds = instant.microsecond / microseconds_per_second;
  text += 'T' + zero_padded(time.hour, 2) + ':' + zero_padded(seconds / 60 % 60, 2) + ':' +
          zero_padded(seconds % 60, 2);
  if (const std::int64_t rest = instant.microsecond % microseconds_per_second; rest != 0) {
    text += '.' + zero_padded(rest, 6);
    text.resize(text.find_last_not_of('0') + 1);
  }
  return text;
}

}  // namespace warpfold
