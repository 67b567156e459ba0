#!/usr/bin/env python3
"""Writes cf_time_cases.inc: numbers, units and calendars, and the times that cftime makes of them.

Usage: make_cf_time_cases.py > cf_time_cases.inc
"""

import random

import cftime

CALENDARS = ["standard", "gregorian", "proleptic_gregorian", "julian", "noleap", "365_day",
             "all_leap", "366_day", "360_day"]  # fmt: skip
DAY = 86400
UNITS = {"days": DAY, "hours": 3600, "minutes": 60, "seconds": 1, "milliseconds": 1e-3,
         "microseconds": 1e-6}  # fmt: skip
DATES = ["2000-01-01", "1582-10-4 23:59:59.5", "1970-1-1T12:30:15Z", "1850-02-28 00:00 -03:30",
         "0001-01-01 00:00:00 +05:00", "1999-12-31 23:30 +0100", "2400-2-29 06:00", "-0044-03-15",
         "1900-03-01 00:00:0.0 UTC"]  # fmt: skip
NUMBERS = 5  # of each date in each calendar
LEAST_YEAR, MOST_YEAR = -4000, 9000


def numbers(generator, seconds):
    for day in (-1, 0, 1, 30, 31, 58, 59, 60, 364, 365, 366, 577_736, 577_737):
        yield day * DAY / seconds
        yield int((day * DAY - 1) // seconds)
    for _ in range(8):
        yield generator.uniform(-1_500_000, 2_000_000) * DAY / seconds
        yield int(generator.uniform(-100_000, 200_000) * DAY / seconds)


def cases(generator):
    for calendar in CALENDARS:
        for date in DATES:
            if date.startswith("2400-2-29") and calendar in ("noleap", "365_day"):
                continue
            unit = generator.choice(list(UNITS))
            for number in generator.sample(list(numbers(generator, UNITS[unit])), NUMBERS):
                if isinstance(number, float) and number.is_integer() and abs(number) > 2**53:
                    continue
                yield number, f"{unit} since {date}", calendar


def main():
    print("// Made by make_cf_time_cases.py; not to be edited.")
    for number, units, calendar in cases(random.Random(20250115)):
        try:
            time = cftime.num2date(number, units, calendar)
        except (ValueError, OverflowError):
            continue
        if not LEAST_YEAR < time.year < MOST_YEAR:
            continue
        spelled = f"INT64_C({number})" if isinstance(number, int) else number.hex()
        print(f'{{"{units}", "{calendar}", {spelled},')
        print(f" {{{time.year}, {time.month}, {time.day}, {time.hour}, {time.dayofyr}}}}},")


if __name__ == "__main__":
    main()
