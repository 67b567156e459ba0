#include "core/values/cf_time.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "core/numeric/special_values.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

/// Year, month, day, hour, day of the year.
using Shown = std::array<std::int64_t, 5>;

std::optional<Shown> shown(const std::optional<CalendarTime>& time) {
  if (!time) return std::nullopt;
  return Shown{time->year, time->month, time->day, time->hour, time->day_of_year};
}

template <class Number>
std::optional<Shown> shown(Number number, const std::string& units,
                           const std::string& calendar = "standard") {
  return shown(TimeUnits(units, calendar, "can't tell").time(number));
}

struct TimeCase {
  std::string units;
  std::string calendar;
  std::variant<std::int64_t, double> number;
  Shown time;
};

const TimeCase time_cases[] = {
#include "core/values/cf_time_cases.inc"
};

TEST(CfTime, IsThatOfCftime) {
  for (const TimeCase& of : time_cases)
    std::visit(
        [&](auto each) {
          EXPECT_EQ(shown(each, of.units, of.calendar), of.time)
              << each << ' ' << of.units << ", " << of.calendar;
        },
        of.number);
}

TEST(CfTime, EveryUnitHasItsNames) {
  constexpr std::int64_t day = 86400;
  const std::tuple<const char*, std::int64_t> named[] = {{"week", 2},
                                                         {"weeks", 2},
                                                         {"d", 14},
                                                         {"day", 14},
                                                         {"Days", 14},
                                                         {"h", 336},
                                                         {"hr", 336},
                                                         {"hrs", 336},
                                                         {"HOURS", 336},
                                                         {"min", 14 * 1440},
                                                         {"mins", 20160},
                                                         {"minute", 20160},
                                                         {"s", 14 * day},
                                                         {"sec", 14 * day},
                                                         {"secs", 14 * day},
                                                         {"seconds", 14 * day},
                                                         {"msec", 14'000 * day},
                                                         {"milliseconds", 14'000 * day},
                                                         {"microseconds", 14'000'000 * day}};
  for (const auto& [unit, number] : named)
    EXPECT_EQ(shown(number, std::string(unit) + " since 2001-02-20"), (Shown{2001, 3, 6, 0, 65}))
        << unit;
}

TEST(CfTime, YearsHaveTheLeapDaysOfTheirCalendar) {
  const std::tuple<const char*, int, std::int64_t> days[] = {{"proleptic_gregorian", 1500, 365},
                                                             {"standard", 1500, 366},
                                                             {"julian", 1500, 366},
                                                             {"julian", 1900, 366},
                                                             {"standard", 1900, 365},
                                                             {"standard", 2000, 366},
                                                             {"standard", 1582, 355},
                                                             {"noleap", 2000, 365},
                                                             {"365_day", 2004, 365},
                                                             {"all_leap", 1999, 366},
                                                             {"366_day", 2001, 366},
                                                             {"360_day", 2000, 360},
                                                             {"proleptic_gregorian", 2400, 366},
                                                             {"Gregorian", 2100, 365}};
  for (const auto& [calendar, year, length] : days) {
    const std::string units = "days since " + std::to_string(year) + "-01-01";
    EXPECT_EQ(shown(length, units, calendar), (Shown{year + 1, 1, 1, 0, 1})) << calendar << year;
    const auto last = shown(length - 1, units, calendar);
    ASSERT_TRUE(last);
    EXPECT_EQ((*last)[0], year) << calendar;
    EXPECT_EQ((*last)[1], 12) << calendar << ' ' << year;
  }
}

TEST(CfTime, TheGregorianCalendarFollowsTheJulianOne) {
  EXPECT_EQ(shown(std::int64_t{1}, "days since 1582-10-04"), (Shown{1582, 10, 15, 0, 288}));
  EXPECT_EQ(shown(std::int64_t{-1}, "days since 0001-01-01"), (Shown{-1, 12, 31, 0, 366}));
  EXPECT_EQ(shown(std::int64_t{-1}, "days since 0001-01-01", "proleptic_gregorian"),
            (Shown{0, 12, 31, 0, 366}));
}

TEST(CfTime, ZonesMakeItEarlierOrLater) {
  EXPECT_EQ(shown(0.0, "hours since 2000-01-01 00:00 +1:00"), (Shown{1999, 12, 31, 23, 365}));
  EXPECT_EQ(shown(0.0, "hours since 1999-12-31T23:30:00-0130"), (Shown{2000, 1, 1, 1, 1}));
  EXPECT_EQ(shown(0.0, "hours since 1992-10-8 15:15:42.5 -6:00"), (Shown{1992, 10, 8, 21, 282}));
  for (const char* zone : {"Z", " UTC", " gmt", " +00:00", " -00"})
    EXPECT_EQ(shown(0.0, std::string("hours since 2000-06-01 12:00") + zone),
              (Shown{2000, 6, 1, 12, 153}))
        << zone;
}

TEST(CfTime, ADateMayHaveAnHourAlone) {
  EXPECT_EQ(shown(1.0, "hours since 2000-2-9 06"), (Shown{2000, 2, 9, 7, 40}));
}

TEST(CfTime, AMicrosecondBesideASecondIsThatSecond) {
  const double third = 1.0 / 3;
  EXPECT_EQ(shown(third, "days since 2000-01-01"), (Shown{2000, 1, 1, 8, 1}));
  EXPECT_EQ(shown(-third, "days since 2000-01-01"), (Shown{1999, 12, 31, 16, 365}));
  EXPECT_EQ(shown(0.999'999'999'99, "days since 2000-01-01"), (Shown{2000, 1, 2, 0, 2}));
}

TEST(CfTime, ThereIsNoneOfWhatIsTooFarAway) {
  for (const double number : {quiet_nan, infinity, -infinity, 1e300, -1e14})
    EXPECT_EQ(shown(number, "days since 2000-01-01"), std::nullopt) << number;
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(shown(most, "seconds since 2000-01-01"), std::nullopt);
  EXPECT_EQ(shown(-most, "days since 2000-01-01", "360_day"), std::nullopt);
  EXPECT_TRUE(shown(most, "microseconds since 2000-01-01"));
  EXPECT_TRUE(shown(-most, "microseconds since 0001-01-01", "noleap"));
}

TEST(CfTime, NanosecondsAreCutToMicroseconds) {
  constexpr std::int64_t hour = 3'600'000'000'000;
  for (const char* unit : {"nanoseconds", "nanosecond", "ns"}) {
    const std::string units = std::string(unit) + " since 2000-02-28";
    EXPECT_EQ(shown(25 * hour, units), (Shown{2000, 2, 29, 1, 60}));
    EXPECT_EQ(shown(hour - 1, units), (Shown{2000, 2, 28, 0, 59}));
    EXPECT_EQ(shown(std::int64_t{-1}, units), (Shown{2000, 2, 27, 23, 58}));
  }
}

TEST(CfTime, MonthsAndYearsAreUnitsWhereEachHasAsManyDays) {
  EXPECT_EQ(shown(13.5, "months since 1960-01-01", "360_day"), (Shown{1961, 2, 16, 0, 46}));
  EXPECT_EQ(shown(1.2, "common_years since 2000-01-01", "noleap"), (Shown{2001, 3, 15, 0, 74}));
}

TEST(CfTime, AZoneNeedsNoSign) {
  EXPECT_EQ(shown(0.0, "seconds since 1993-01-01 00:00:00.0 0:00"), (Shown{1993, 1, 1, 0, 1}));
  EXPECT_EQ(shown(0.0, "hours since 2000-01-01 00:00 1:00"), (Shown{1999, 12, 31, 23, 365}));
}

std::optional<double> converted(double number, const std::string& units, const std::string& to,
                                const std::string& calendar = "standard",
                                const std::string& to_calendar = "standard") {
  return TimeUnits(units, calendar, "").converted(number, TimeUnits(to, to_calendar, ""));
}

TEST(CfTime, NumbersOfOtherUnitsStandForTheSameTime) {
  EXPECT_EQ(converted(1.5, "days since 2000-01-02", "hours since 2000-01-01"), 60.0);
  EXPECT_EQ(converted(90, "minutes since 2000-01-01 12:00", "days since 2000-01-01"), 0.5625);
  EXPECT_EQ(converted(0, "days since 2000-01-01 +1:00", "seconds since 2000-01-01"), -3600.0);
  EXPECT_EQ(converted(0.1, "days since 2000-01-01", "days since 2000-01-01 00:00:00"), 0.1);
  EXPECT_EQ(converted(58, "days since 2001-01-01", "days since 2001-03-01", "noleap", "365_day"),
            -1.0);
}

TEST(CfTime, CalendarsAgreeWhereTheirDaysDo) {
  const std::string modern = "days since 1900-01-01";
  EXPECT_EQ(converted(3, modern, modern, "gregorian", "proleptic_gregorian"), 3.0);
  EXPECT_EQ(converted(-200'000, modern, modern, "standard", "proleptic_gregorian"), std::nullopt);
  EXPECT_EQ(converted(3, "days since 1500-01-01", modern, "standard", "proleptic_gregorian"),
            std::nullopt);
  EXPECT_EQ(converted(3, modern, modern, "standard", "noleap"), std::nullopt);
  EXPECT_EQ(converted(3, modern, modern, "360_day", "noleap"), std::nullopt);
}

TEST(CfTime, BadUnitsAreRefused) {
  const std::tuple<const char*, const char*> refused[] = {
      {"", "standard"},
      {"days", "standard"},
      {"K", "standard"},
      {"months since 2000-01-01", "standard"},
      {"months since 2000-01-01", "noleap"},
      {"years since 2000-01-01", "360_day"},
      {"common_years since 2000-01-01", "standard"},
      {"days since 2000", "standard"},
      {"days since 2000-13-01", "standard"},
      {"days since 2000-00-01", "standard"},
      {"days since 2001-02-29", "standard"},
      {"days since 2000-02-29", "noleap"},
      {"days since 2000-01-31", "360_day"},
      {"days since 0000-01-01", "standard"},
      {"days since 2000-01-01 24:00", "standard"},
      {"days since 2000-01-01 12:60", "standard"},
      {"days since 2000-01-01 12:00:60", "standard"},
      {"days since 2000-01-01 nonsense", "standard"},
      {"days since 2000-01-01", "mayan"}};
  for (const auto& [units, calendar] : refused) {
    try {
      TimeUnits(units, calendar, "cannot determine the month");
      ADD_FAILURE() << units << ", " << calendar;
    } catch (const Error& error) {
      EXPECT_EQ(error.problem(), "cannot determine the month");
      EXPECT_FALSE(error.suggestion().empty());
    }
  }
}

}  // namespace
}  // namespace warpfold
