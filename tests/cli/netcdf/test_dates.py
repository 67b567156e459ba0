"""Selections by dates, and dates that `info` shows, beside cftime."""

from fractions import Fraction

import cftime
import h5py
import numpy as np
import pytest

import support

CALENDARS = ("standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day")


def write(path, times, units, calendar, lat=(60.0, 30.0, 0.0)):
    values = np.arange(len(times) * len(lat), dtype="f8").reshape(len(times), len(lat))
    with h5py.File(path, "w") as file:
        file["x"] = values
        for d, (name, numbers) in enumerate({"time": times, "lat": lat}.items()):
            file[name] = np.array(numbers)
            file[name].make_scale(name)
            file["x"].dims[d].attach_scale(file[name])
        file["time"].attrs.update({"units": units, "calendar": calendar})
    return values


def selected(*words, ops="count,min,max"):
    outcome = support.run("reduce", *words, "--ops", ops, "--json", "-")
    return [outcome.report["results"][op] for op in ops.split(",")], outcome


@pytest.mark.parametrize("calendar", CALENDARS)
def test_dates_are_cftimes(tmp_path, calendar):
    units = "days since 1582-09-15 06:30:00"
    times = np.cumsum(np.random.default_rng(1).random(4000) * 0.5)
    values = write(tmp_path / "in.nc", times, units, calendar)
    dates = cftime.num2date(times, units, calendar)
    text = [f"{t.year:04}-{t.month:02}-{t.day:02}T{t.hour:02}{t.minute:02}{t.second:02}" for t in dates]
    for first, last in [("1582-10", "1582-10"), ("1583-02", "1583-02"), ("1583-02-28", "1583-03-01"),
                        ("1583-07-15T06", "1583-08"), ("1583-07-15T0630", "1583-07-17T063015"),
                        ("1582-12", "1583"), ("1584", "1584-02"), ("1584-5", "1584-5-9"),
                        ("", "1583-01"), ("1584-12-30", "")]:  # fmt: skip
        padded = [pad(first), pad(last)]
        chosen = [i for i, each in enumerate(text)
                  if (not first or each >= padded[0]) and (not last or each[: len(padded[1])] <= padded[1])]
        if not chosen:
            continue
        assert chosen == list(range(chosen[0], chosen[-1] + 1))
        part = values[chosen[0] : chosen[-1] + 1]
        dates_given = [f"{first}:{last}"] + ([first] if first == last else [])
        for each in dates_given:
            found, _ = selected(tmp_path / "in.nc", "x", "--select", f"time={each}, lat=1:")
            assert found == [part[:, 1:].size, part[:, 1:].min(), part[:, 1:].max()], each
    step = selected(tmp_path / "in.nc", "x", "--select", "time=1583-02:1583-03:5")[0][0]
    inside = [i for i, each in enumerate(text) if each[:7] in ("1583-02", "1583-03")]
    assert step == len(inside[::5]) * 3


def pad(date):
    """Writes a date as the times are written, with two digits each."""
    day, _, clock = date.partition("T")
    parts = [part.zfill(2) for part in day.split("-")]
    return "-".join(parts) + ("T" + clock if clock else "")


def test_files_of_several_units(tmp_path):
    values = [write(tmp_path / f"{year}.nc", np.arange(365.0), f"days since {year}-01-01", "noleap")
              for year in (2001, 2002)]  # fmt: skip
    files = [tmp_path / "2001.nc", tmp_path / "2002.nc"]
    values[1] += 0
    found, _ = selected(*files, "x", "--concat", "time", "--select", "time=2001-12:2002-01",
                        ops="count,sum")  # fmt: skip
    assert found == [62 * 3, values[0][334:].sum() + values[1][:31].sum()]


def test_files_of_calendars_that_count_the_same_days(tmp_path):
    files, values = [], []
    for year, calendar in ((2000, "standard"), (2001, "proleptic_gregorian"), (2002, "gregorian")):
        files.append(tmp_path / f"{year}.nc")
        values.append(write(files[-1], np.arange(365.0), f"days since {year}-01-01", calendar))
    words = ("x", "--concat", "time", "--select", "time=2001-12:2002-01")
    found, _ = selected(*files[1:], *words, ops="count,sum")
    assert found == [62 * 3, values[1][334:].sum() + values[2][:31].sum()]
    write(files[1], np.arange(365.0), "days since 2001-01-01", "noleap")
    support.fail("reduce", *files, *words, code=2, mentions=["the calendars of the files differ"])


def test_falling_times(tmp_path):
    values = write(tmp_path / "in.nc", np.arange(90.0)[::-1].copy(), "days since 2001-01-01", "noleap")
    found, _ = selected(tmp_path / "in.nc", "x", "--select", "time=2001-02", ops="count,sum")
    assert found == [28 * 3, values[31:59].sum()]


@pytest.mark.parametrize("selection, why", [
    ("time=2003-01", "selects no time; times go from 2001-01-01 to 2001-03-31"),
    ("time=2001-13", "the calendar has no 2001-13"),
    ("time=2001-02-29", "the calendar has no 2001-02-29"),
    ("time=2001-02-03T25", "is not a time of day"),
    ("time=2001-03:2001-02", "begins with the later date"),
    ("time=5:2001-02", "mixes an index with a date"),
    ("time=2001-02:3.5", "'3.5' is not a date"),
    ("time=2001-02-03T12:30", "such as '2001-03' or '2001-03-15T0630:2001-04'"),
    ("time=2001", "Write 'time=2001-01:2001-12' for the year."),
    ("lat=30", "Write 'lat=30.' for coordinates."),
    ("lat=2001-03", "cannot determine the times of '/lat'"),
])  # fmt: skip
def test_errors(tmp_path, selection, why):
    write(tmp_path / "in.nc", np.arange(90.0), "days since 2001-01-01", "noleap")
    code = 1 if selection == "lat=2001-03" else 2
    support.fail("reduce", tmp_path / "in.nc", "x", "--select", selection, code=code, mentions=[why])


def test_times_in_no_order(tmp_path):
    times = np.array([0.0, 40.0, 20.0, 45.0])
    write(tmp_path / "in.nc", times, "days since 2001-01-01", "noleap")
    support.fail("reduce", tmp_path / "in.nc", "x", "--select", "time=2001-02", code=2,
                 mentions=["selects times that are not consecutive"])  # fmt: skip


def test_info_shows_dates(tmp_path):
    times = np.array([0.0, 0.25, 400.00000578703704])
    write(tmp_path / "in.nc", times, "days since 2000-02-28", "standard")
    outcome = support.run("info", tmp_path / "in.nc", "x", "--json", "-")
    time, lat = outcome.report["results"]["dimensions"]
    assert (time["first_date"], time["last_date"]) == ("2000-02-28", "2001-04-03T00:00:00.5")
    assert "first_date" not in lat
    assert "(2000-02-28 to 2001-04-03T00:00:00.5)" in support.run("info", tmp_path / "in.nc", "x").stdout


@pytest.mark.parametrize("selection, reported", [
    ("lat=30:60", "'lat=30:60' are indices; their coordinates are 75 to 60.5. Write 'lat=30.:60.'"),
    ("lat=45", "'lat=45' is an index; its coordinate is 67.5. Write 'lat=45.'"),
    ("lat=60", ""),
    ("lat=30:", "'lat=30:' are indices; their coordinates are 75 to -90. Write 'lat=30.:'"),
    ("lat=100:200", ""),
    ("lat=0:100", ""),
    ("lat=60:45", "'lat=60:45' are indices. Write 'lat=60.:45.' for coordinates."),
    ("time=2001:2001", "'time=2001:2001' are indices. Write 'time=2001-01:2001-12' for years."),
    ("time=2001:", "'time=2001:' are indices. Write 'time=2001-01:' for years."),
    ("time=2001:2002", ""),
    ("lat=30:60:2", ""),
    ("lat=30.:60.", ""),
    ("lat=:", ""),
    ("time=3:5", ""),
    ("30:60", ""),
])  # fmt: skip
def test_notes_on_indices(tmp_path, selection, reported):
    lat = np.arange(90, -90.5, -0.5)
    write(tmp_path / "in.nc", np.arange(70.0), "days since 2001-01-01", "noleap", lat)
    _, outcome = selected(tmp_path / "in.nc", "x", "--select", selection)
    assert reported in outcome.stderr if reported else "note" not in outcome.stderr


@pytest.mark.parametrize("years, times, code, meant", [
    ("2002", 600, 2, "2002-01:2002-12"),
    ("2002:2003", 720, 0, "2002-01:2003-12"),
])  # fmt: skip
def test_notes_on_years_of_joined_files(tmp_path, years, times, code, meant):
    files = [tmp_path / f"{year}.nc" for year in (2001, 2002, 2003)]
    for path in files:
        write(path, np.arange(times) / 48.0, f"days since {path.stem}-01-01", "noleap")
    outcome = support.attempt("reduce", *files, "x", "--concat", "time", "--select", f"time={years}")
    assert outcome.code == code
    assert f"Write 'time={meant}' for" in outcome.stderr


@pytest.mark.parametrize("lat", [(60.0, 30.5, 0.0), (-2.0, 7.0, 7.5, 2.0**53), (5.0,)])
def test_nearest_coordinates(tmp_path, lat):
    """pandas, too, takes the higher index of two that are as near."""
    write(tmp_path / "in.nc", [0.0, 1.0], "days since 2001-01-01", "noleap", lat)
    for number in (60, 59.9, 45.3, 45.25, 45.2, 15.25, -1e300, 1e300, 2.5, 7.25, 7.2, -0.0):
        nearest = max(range(len(lat)), key=lambda i: (-abs(Fraction(lat[i]) - Fraction(number)), i))
        found, _ = selected(tmp_path / "in.nc", "x", "--select", f"time=0, lat=~{number}", ops="sum")
        assert found == [nearest]
    support.fail("reduce", tmp_path / "in.nc", "x", "--select", "lat=~north", code=2,
                 mentions=["neither indices nor coordinates"])  # fmt: skip
