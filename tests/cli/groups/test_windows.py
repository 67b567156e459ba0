"""Reductions along an axis by windows of time, beside cftime, NumPy and CDO."""

import functools
import itertools
import shutil
import subprocess
from fractions import Fraction

import cftime
import h5py
import numpy as np
import pytest

import samples
import support
from samples import write_times

CALENDARS = ("standard", "gregorian", "proleptic_gregorian", "julian", "noleap", "365_day",
             "all_leap", "366_day", "360_day")  # fmt: skip
SHAPE = samples.GRID

WINDOWS = {
    "year": lambda time: time.year,
    "season": lambda time: time.month % 12 // 3,
    "month": lambda time: (time.year, time.month),
    "day": lambda time: (time.year, time.month, time.day),
    "6 hours": lambda time: (time.year, time.month, time.day, time.hour // 6),
    "8h": lambda time: (time.year, time.month, time.day, time.hour // 8),
    "12hours": lambda time: (time.year, time.month, time.day, time.hour // 12),
}


def windows(dates, every):
    """Returns the slices of dates that follow one another in one window."""
    ends = [0]
    for _, group in itertools.groupby(dates, WINDOWS[every]):
        ends.append(ends[-1] + len(list(group)))
    return [slice(*each) for each in itertools.pairwise(ends)]


def reduce(inputs, out, every, *words, ops="sum", **options):
    names = inputs if isinstance(inputs, list) else [inputs]
    outcome = support.run("reduce", *names, "x", "--axis", "time", "--every", every, "--ops", ops,
                          "-o", out, "--force", *words, **options)  # fmt: skip
    with h5py.File(out) as file:
        bounds = file[file["time"].attrs["bounds"]][()] if "bounds" in file["time"].attrs else None
        return file["x"][()], file["time"][()], bounds, outcome


def write_years(folder, years):
    """A file of days for each year, whose times are counted from its begin; returns the files, and
    the values and dates of all."""
    files, parts, dates = [], [], []
    for year in years:
        days = np.arange(366.0 if year % 4 == 0 else 365.0)
        units = f"days since {year}-01-01"
        files.append(folder / f"{year}.nc")
        parts.append(write_times(files[-1], days, units, "standard"))
        dates.extend(cftime.num2date(days, units, "standard"))
    return files, np.concatenate(parts), dates


def assert_same_as(path, found, middles, bounds):
    with h5py.File(path) as file:
        assert np.array_equal(found, file["x"][()])
        assert np.array_equal(middles, file["time"][()])
        assert np.array_equal(bounds, file["time_bnds"][()])


def check_windows(folder, times, units, calendar, slices_of):
    """Compares windows with those that slices_of[window](dates) returns, by ranks that differ."""
    values = write_times(folder / "in.nc", times, units, calendar, chunks=(7, 3, 4))
    times = times.astype(times.dtype.newbyteorder("="))
    dates = cftime.num2date(times, units, calendar)
    for ranks, (every, slices) in enumerate(slices_of.items()):
        expected = slices(dates)
        found, middles, bounds, _ = reduce(folder / "in.nc", folder / "out.nc", every,
                                           ranks=1 + ranks % 4)  # fmt: skip
        assert np.array_equal(found, [values[each].sum(0) for each in expected])
        ends = np.array([(times[each][0], times[each][-1]) for each in expected], dtype="f8")
        if bounds is None:
            assert len(expected) == len(times) and np.array_equal(middles, times)
            assert np.array_equal(ends[:, 0], ends[:, 1]) and np.array_equal(middles, ends[:, 0])
        else:
            assert np.array_equal(bounds, ends) and np.array_equal(middles, ends.mean(1))


@pytest.mark.parametrize("calendar", CALENDARS)
@pytest.mark.parametrize("dtype, units, step", [
    ("f8", "days since 1581-11-30 18:30:00 +02:30", 0.37),
    ("i4", "hours since 1582-08-01", 5),
    ("f8", "days since -3-12-30T23:59:59.5Z", 3.7),
    (">i8", "seconds since 1999-12-30", 40_000),
])  # fmt: skip
def test_windows_are_cftimes(tmp_path, calendar, dtype, units, step):
    random = np.random.default_rng(3)
    times = np.cumsum(1 + random.random(300) * step * 2).astype(dtype)
    slices_of = {every: functools.partial(windows, every=every) for every in WINDOWS}
    check_windows(tmp_path, times, units, calendar, slices_of)


def test_every_option_along_with_it(tmp_path):
    times = np.arange(1000.0)
    values = write_times(tmp_path / "in.nc", times, "days since 2001-01-15", "noleap")
    chosen = slice(40, 900, 3)
    dates = cftime.num2date(times, "days since 2001-01-15", "noleap")[chosen]
    found, _, _, outcome = reduce(tmp_path / "in.nc", tmp_path / "out.nc", "month", "--select",
                                  "time=40:900:3", "--where", ">0", "--json", "-")  # fmt: skip
    seen = np.where(values > 0, values, 0)[chosen]
    assert np.array_equal(found, [seen[each].sum(0) for each in windows(dates, "month")])
    assert outcome.report["every"] == "month"
    found, *_ = reduce(tmp_path / "in.nc", tmp_path / "q.nc", "season", ops="median")
    all_dates = cftime.num2date(times, "days since 2001-01-15", "noleap")
    expected = [np.median(values[each], axis=0) for each in windows(all_dates, "season")]
    assert np.array_equal(found, expected)


def test_files_of_several_units(tmp_path):
    files, values, dates = write_years(tmp_path, (2000, 2001, 2002))
    for every in ("season", "month", "year"):
        found, middles, bounds, _ = reduce(files, tmp_path / "out.nc", every, "--concat", "time",
                                           ranks=2)  # fmt: skip
        expected = windows(dates, every)
        assert np.array_equal(found, [values[each].sum(0) for each in expected])
        assert np.array_equal(bounds, [(each.start, each.stop - 1) for each in expected])


@pytest.mark.skipif(shutil.which("cdo") is None, reason="needs cdo")
@pytest.mark.parametrize("calendar", ["standard", "proleptic_gregorian", "noleap", "360_day"])
@pytest.mark.parametrize("every, operator", [
    ("month", "mon"), ("season", "seas"), ("year", "year"), ("day", "day"),
])  # fmt: skip
def test_outputs_are_cdos(tmp_path, calendar, every, operator):
    times = np.arange(0, 800, 0.5) + 0.25
    write_field(tmp_path / "in.nc", times, "days since 2000-11-10", calendar)
    cdo("-f", "nc4", f"{operator}sum", tmp_path / "in.nc", tmp_path / "cdo.nc")
    assert_same_as(tmp_path / "cdo.nc", *reduce(tmp_path / "in.nc", tmp_path / "out.nc", every)[:3])
    dates = [cdo("-s", "showtimestamp", tmp_path / f"{name}.nc") for name in ("cdo", "out")]
    assert dates[0] == dates[1]
    cdo("diffn", tmp_path / "cdo.nc", tmp_path / "out.nc")


@pytest.mark.skipif(shutil.which("cdo") is None, reason="needs cdo")
def test_anomalies_by_cdo(tmp_path):
    times = np.arange(1200.0)
    write_field(tmp_path / "in.nc", times, "days since 2000-01-01", "standard")
    reduce(tmp_path / "in.nc", tmp_path / "months.nc", "month", ops="mean")
    with h5py.File(tmp_path / "months.nc") as file:
        methods = file["x"].attrs["cell_methods"]
        assert (methods.decode() if isinstance(methods, bytes) else methods) == "time: mean"
        months = file["x"][()]
    cdo("ymonmean", tmp_path / "months.nc", tmp_path / "clim.nc")
    cdo("-f", "nc4", "ymonsub", tmp_path / "months.nc", tmp_path / "clim.nc", tmp_path / "anom.nc")
    with h5py.File(tmp_path / "anom.nc") as file:
        found = file["x"][()]
    expected = months - np.stack([months[k % 12 :: 12].mean(0) for k in range(len(months))])
    assert np.allclose(found, expected, rtol=0, atol=1e-6)


def write_field(path, times, units, calendar):
    """Writes what CDO takes for a field: values that f64 sums exactly."""
    values = np.random.default_rng(2).integers(-1000, 1000, (len(times), 3, 4)) / 8
    with h5py.File(path, "w") as file:
        coordinates = {
            "time": (times, units, "time"),
            "lat": ([-10.0, 0.0, 10.0], "degrees_north", "latitude"),
            "lon": ([0.0, 90.0, 180.0, 270.0], "degrees_east", "longitude"),
        }
        file["x"] = values
        file["x"].attrs["cell_methods"] = ""
        del file["x"].attrs["cell_methods"]
        for d, (name, (numbers, unit, standard_name)) in enumerate(coordinates.items()):
            file[name] = np.array(numbers, dtype="f8")
            file[name].make_scale(name)
            file[name].attrs.update({"units": unit, "standard_name": standard_name})
            file["x"].dims[d].attach_scale(file[name])
        file["time"].attrs["calendar"] = calendar
    return values


def cdo(*words):
    return subprocess.run(["cdo", *map(str, words)], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("times, units, every, cut", [
    (np.arange(0, 424.0), "days since 2001-01-01", "month", (0, 0)),
    (np.arange(0, 420.0), "days since 2001-01-01", "month", (0, 1)),
    (np.arange(3, 424.0), "days since 2001-01-01", "month", (1, 0)),
    (np.arange(3, 427.0), "days since 2001-01-01", "month", (1, 1)),
    (np.arange(0.5, 424.0), "days since 2001-01-01", "month", (0, 0)),
    (np.arange(1, 49.0), "hours since 2001-01-01", "day", (1, 1)),
    (np.arange(0, 48.0), "hours since 2001-01-01", "day", (0, 0)),
    (np.arange(0, 48.0, 5), "hours since 2001-01-01", "12 hours", (0, 0)),
    (np.arange(0, 36.0), "months since 2001-01-01", "year", (0, 0)),
    (np.arange(0, 36.0), "months since 2000-12-01", "season", (0, 0)),
    (np.arange(0, 36.0) + 0.5, "months since 2001-01-01", "season", (1, 1)),
    ((np.arange(0, 240) / 24).astype("f4"), "days since 2001-01-01", "day", (0, 0)),
    ((np.arange(0, 239) / 24).astype("f4"), "days since 2001-01-01", "day", (0, 1)),
    ((np.arange(1, 240) / 24).astype("f4"), "days since 2001-01-01", "day", (1, 0)),
])  # fmt: skip
def test_incomplete_windows(tmp_path, times, units, every, cut):
    calendar = "360_day" if units.startswith("months") else "noleap"
    values = write_times(tmp_path / "in.nc", times, units, calendar)
    expected = windows(cftime.num2date(times, units, calendar), every if every != "12 hours" else
                       "12hours")  # fmt: skip
    found, *_, outcome = reduce(tmp_path / "in.nc", tmp_path / "out.nc", every)
    assert np.array_equal(found, [values[each].sum(0) for each in expected])
    assert ("incomplete; they go from" in outcome.stderr) == any(cut)
    found, _, bounds, outcome = reduce(tmp_path / "in.nc", tmp_path / "out.nc", every, "--complete",
                                       ranks=3)  # fmt: skip
    whole = expected[cut[0] : len(expected) - cut[1]]
    assert np.array_equal(found, [values[each].sum(0) for each in whole])
    assert np.array_equal(bounds, [(times[each][0], times[each][-1]) for each in whole])
    assert "incomplete" not in outcome.stderr


@pytest.mark.parametrize("stamp", ["first", "middle", "last"])
def test_months_are_complete_in_any_calendar(tmp_path, stamp):
    """Monthly means whose times are at the begin, in the middle or at the end of months."""
    starts = np.arange("2000-12", "2004-03", dtype="M8[M]").astype("M8[D]")
    times = (starts - np.datetime64("2000-01-01")).astype(float)
    lengths = np.diff(times)
    shift = {"first": 0 * lengths, "middle": lengths / 2, "last": lengths - 1}[stamp]
    write_times(tmp_path / "in.nc", times[:-1] + shift, "days since 2000-01-01", "standard")
    found, *_, outcome = reduce(tmp_path / "in.nc", tmp_path / "out.nc", "season", ops="count")
    assert found[:, 0, 0].tolist() == [3] * 12 + [2]
    assert "the last season of the times is incomplete" in outcome.stderr
    found, *_ = reduce(tmp_path / "in.nc", tmp_path / "out.nc", "season", "--complete", ops="count")
    assert found[:, 0, 0].tolist() == [3] * 12


def with_bounds(path, bounds):
    with h5py.File(path, "a") as file:
        file["cells"] = bounds
        file["time"].attrs["bounds"] = "cells"


def test_times_at_the_end_of_their_bounds_are_noted(tmp_path):
    """As CESM has them: the mean of January has the time of the first of February."""
    path = tmp_path / "in.nc"
    ends = np.cumsum([31.0, 28, 31, 30, 31])
    begins = np.concatenate([[0], ends[:-1]])
    write_times(path, ends, "days since 2001-01-01", "noleap")
    with_bounds(path, np.stack([begins, ends], 1))
    words = ("reduce", path, "x", "--axis", "time", "-o", tmp_path / "out.nc", "--force")
    said = "are the ends of their bounds: that of index 0 counts as 2001-02-01."
    for groups in (["--every", "month"], ["--by", "season"], ["--by", "year,month"]):
        assert said in support.run(*words, *groups, "--ops", "mean").stderr
    write_times(path, begins, "days since 2001-01-01", "noleap")
    with_bounds(path, np.stack([begins, ends], 1))
    assert "bounds" not in support.run(*words, "--every", "month", "--ops", "mean").stderr
    hours = np.array([6.0, 12, 18])
    write_times(path, hours, "hours since 2001-01-01", "noleap")
    with_bounds(path, np.stack([hours - 6, hours], 1))
    said = "are the ends of their bounds: that of index {} counts as 2001-01-01T{}:00:00."
    for groups, index, hour in ((["--every", "12 hours"], 1, "12"), (["--by", "day,hour"], 0, "06"),
                                (["--where", "hour>6"], 0, "06")):  # fmt: skip
        assert said.format(index, hour) in support.run(*words, *groups, "--ops", "mean").stderr
    assert "bounds" not in support.run(*words, "--every", "day", "--ops", "mean").stderr


@pytest.mark.parametrize("words, units, number", [
    (["--axis", "time", "--by", "hour"], "days", lambda hour: hour // 1),
    (["--axis", "time", "--every", "3 hours"], "days", lambda hour: hour // 3),
    (["--axis", "time", "--every", "2 hours"], "days", lambda hour: hour // 2),
    (["--axis", "time", "--every", "day"], "seconds", lambda hour: hour // 24),
    (["--where", "hour<6"], "days", lambda hour: hour % 24 < 6),
    (["--where", "hour<5"], "days", lambda hour: hour % 24 < 5),
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_times_that_f32_rounds_to_before_a_change_are_noted(tmp_path, words, units, number, dtype):
    """An hour is no number of f32 days: a third of the hours of a day are rounded down."""
    steps = np.arange(24.0 * 9) + (876576 if units == "seconds" else 0)
    length = {"days": Fraction(1, 24), "seconds": 3600}[units]
    times = np.array([float(length * int(step)) for step in steps], dtype)
    write_times(tmp_path / "in.nc", times, f"{units} since 1900-01-01", "standard")
    out = ["-o", tmp_path / "out.nc"] if "--axis" in words else []
    outcome = support.run("reduce", tmp_path / "in.nc", "x", *words, "--ops", "count", *out)
    rounded = 0
    for time in times if dtype == "f4" else ():
        following = np.nextafter(time, np.float32(np.inf))
        latest = (Fraction(float(time)) + Fraction(float(following))) / 2
        rounded += number(Fraction(float(time)) / length) != number(latest / length)
    said = f"{rounded} times may count as earlier than they are, as f32 rounds them"
    assert (said in outcome.stderr) == ("as f32" in outcome.stderr) == (rounded > 0)
    assert (rounded > 0) == (dtype == "f4" and "3 hours" not in words and "hour<6" not in words)


@pytest.mark.parametrize("axis", ["time", "time,lat"])
def test_no_window_is_left(tmp_path, axis):
    write_times(tmp_path / "in.nc", np.arange(9.0), "days since 2001-01-01", "standard")
    outcome = support.run("reduce", tmp_path / "in.nc", "x", "--axis", axis, "--every", "day", "--where",
                          "year==1999", "--ops", "mean", "-o", tmp_path / "out.nc")  # fmt: skip
    assert "no time satisfies 'year==1999'" in outcome.stderr
    with h5py.File(tmp_path / "out.nc") as file:
        assert file["x"].shape[0] == 0
        assert file["time"].shape == (0,)
        assert file["x"].dims[0][0] == file["time"]


def test_errors(tmp_path):
    path = tmp_path / "in.nc"
    write_times(path, np.array([0.0, 40.0, 20.0]), "days since 2001-01-01", "standard")
    words = ("reduce", path, "x", "-o", tmp_path / "out.nc")
    month = ("--every", "month")
    support.fail(*words, "--axis", "time", *month, code=1,
                 mentions=["its times fall: index 2 has 2001-01-21 after 2001-02-10"])  # fmt: skip
    support.fail(*words, "--axis", "lat", *month, code=2, mentions=["'/lat' has no units"])
    support.fail(*words, "--axis", "time", *month, "--by", "month", code=2, mentions=["both --by"])
    for every in ("5 hours", "0 hours", "48 hours", "weeks", "month2", ""):
        support.fail(*words, "--axis", "time", "--every", every, code=2,
                     mentions=[f"bad --every '{every}'"])  # fmt: skip
    support.fail(*words, "--axis", "time", "--every", 2, "--complete", code=2,
                 mentions=["--complete needs windows of time"])  # fmt: skip
    support.fail("reduce", path, "x", "--complete", code=2, mentions=["--complete needs --axis"])
    write_times(path, np.array([0.0, np.nan, 20.0]), "days since 2001-01-01", "standard")
    support.fail(*words, "--axis", "time", *month, code=1, mentions=["index 1 has no time"])
    write_times(path, np.array([3.0, 5.0]), "days since 2001-01-01", "standard")
    support.fail(*words, "--axis", "time", *month, "--complete", code=1,
                 mentions=["no month of the times is complete",
                           "they go from 2001-01-04 to 2001-01-06"])  # fmt: skip


@pytest.mark.parametrize("nan", ["propagate", "skip"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_outputs_of_few_elements_are_missing(tmp_path, nan, ranks):
    times = np.arange(120.0)
    values = write_field(tmp_path / "in.nc", times, "days since 2001-01-01", "noleap")
    values[np.random.default_rng(4).random(values.shape) < 0.3] = np.nan
    with h5py.File(tmp_path / "in.nc", "a") as file:
        file["x"][...] = values
        file["x"].attrs["_FillValue"] = np.nan
    dates = cftime.num2date(times, "days since 2001-01-01", "noleap")
    parts = [values[each] for each in windows(dates, "month")]
    counts = np.array([np.isfinite(each).sum(0) for each in parts])
    ops = "count,sum,mean,min,argmax,l1,median"
    outcome = support.run("reduce", tmp_path / "in.nc", "x", "--axis", "time", "--every", "month",
                          "--ops", ops, "--min-count", 21, "--nan", nan, "-o", tmp_path / "out.nc",
                          "--force", "--json", "-", ranks=ranks)  # fmt: skip
    assert outcome.report["min_count"] == 21
    few = counts < 21
    assert 0 < few.sum() < few.size
    expected = {"count": counts, "sum": np.array([np.nansum(each, 0) for each in parts]),
                "min": np.array([np.nanmin(each, 0) for each in parts]),
                "l1": np.array([np.nansum(abs(each), 0) for each in parts]),
                "median": np.array([np.nanmedian(each, 0) for each in parts])}  # fmt: skip
    with h5py.File(tmp_path / "out.nc") as file:
        for op, wanted in expected.items():
            found = file[f"x_{op}"][()]
            assert np.array_equal(found, wanted if op == "count" else np.where(few, np.nan, wanted),
                                  equal_nan=True), op  # fmt: skip
            if op != "count":
                assert np.isnan(file[f"x_{op}"].attrs["_FillValue"]).all()
        assert np.array_equal(file["x_argmax"][()] == -1, few)
        assert np.array_equal(np.isnan(file["x_mean"][()]), few)


@pytest.mark.parametrize("empty, value", [(None, -2147483647), (7, 7)])
def test_integers_of_few_elements_are_missing(tmp_path, empty, value):
    values = np.arange(60, dtype="i4").reshape(10, 6)
    values[:7, 2] = 0
    path = support.write(tmp_path / "in.h5", values, "i32")
    words = ["--empty", empty] if empty is not None else []
    support.run("reduce", path, "values", "--axis", 0, "--ops", "sum,max,mean", "--where", "!=0",
                "--min-count", 4, "-o", tmp_path / "out.h5", *words)  # fmt: skip
    with h5py.File(tmp_path / "out.h5") as file:
        for op, wanted, missing in (("max", values.max(0), value),
                                    ("sum", values.sum(0), 7 if empty else -9223372036854775806)):  # fmt: skip
            wanted = wanted.astype(file[f"values_{op}"].dtype)
            wanted[2] = missing
            assert np.array_equal(file[f"values_{op}"][()], wanted)
            assert file[f"values_{op}"].attrs["_FillValue"] == missing
        assert np.isnan(file["values_mean"][2]) and not np.isnan(file["values_mean"][3])
