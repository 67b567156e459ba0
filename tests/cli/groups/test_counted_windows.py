"""Reductions by windows of several days, months and years, beside cftime, xarray and CDO."""

import datetime
import functools
import itertools
import shutil
import subprocess
import sys

import cftime
import h5py
import numpy as np
import pytest

import support
from samples import write_times
from test_windows import (
    CALENDARS, assert_same_as, cdo, check_windows, reduce, write_field, write_years,
)  # fmt: skip

# In a process of its own: netCDF4 and h5py may have HDF5 libraries that don't go together.
SAME_AS_XARRAY = """
import sys
import numpy as np
import xarray
for given, made, frequency in zip(*[iter(sys.argv[1:])] * 3):
    data = xarray.open_dataset(given, decode_timedelta=False)["x"]
    expected = data.resample(time=frequency).max()
    expected = expected.isel(time=data.resample(time=frequency).count().values[:, 0, 0] > 0)
    found = xarray.open_dataset(made, decode_timedelta=False)["x"]
    assert np.array_equal(found.values, expected.values), made
"""


def number_of(date, first, every):
    """Returns the number of the window of a date, counted from that of the first."""
    count, unit = int(every.split()[0]), every.split()[1][:-1]
    if unit == "day":
        midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
        return (date - midnight) // datetime.timedelta(days=count)

    def months(time):
        year = time.year if time.has_year_zero or time.year > 0 else time.year + 1
        return 12 * year + time.month - 1 if unit == "month" else year

    return (months(date) - months(first)) // count


def slices(dates, every):
    ends = [0]
    for _, group in itertools.groupby(number_of(date, dates[0], every) for date in dates):
        ends.append(ends[-1] + len(list(group)))
    return [slice(*each) for each in itertools.pairwise(ends)]


@pytest.mark.parametrize("calendar", CALENDARS)
@pytest.mark.parametrize("dtype, units, step", [
    ("f8", "days since 1581-11-30 18:30:00 +02:30", 3.7),
    ("i4", "hours since 1582-08-01", 300),
    ("f8", "days since -13-12-30T23:59:59.5Z", 37),
    (">i8", "seconds since 1999-12-30", 4_000_000),
])  # fmt: skip
def test_windows_are_cftimes(tmp_path, calendar, dtype, units, step):
    random = np.random.default_rng(5)
    times = np.cumsum(1 + random.random(200) * step * 2).astype(dtype)
    windows = ["1 days", "5 days", "73 days", "2 months", "3 months", "5 months", "1 years",
               "7 years", "10 years"]  # fmt: skip
    slices_of = {every: functools.partial(slices, every=every) for every in windows}
    check_windows(tmp_path, times, units, calendar, slices_of)


def test_windows_are_xarrays(tmp_path):
    times = np.cumsum(np.random.default_rng(3).integers(1, 400, 300)).astype(float)
    times[150:] += 4000
    words = []
    for calendar in ("standard", "noleap", "360_day"):
        for unit in ("hours", "days"):
            write_times(tmp_path / f"{unit}.{calendar}.nc", times, f"{unit} since 1999-11-20 07:00", calendar)
        for every, frequency in [("5 days", "5D"), ("30d", "30D"), ("2 months", "2MS"), ("3mo", "3MS"),
                                 ("2y", "2YS"), ("10 years", "10YS")]:  # fmt: skip
            given = tmp_path / f"{'hours' if 'd' in every else 'days'}.{calendar}.nc"
            made = tmp_path / f"{frequency}.{calendar}.nc"
            reduce(given, made, every, ops="max", ranks=2)
            words += [given, made, frequency]
    subprocess.run([sys.executable, "-c", SAME_AS_XARRAY, *words], check=True)


@pytest.mark.skipif(shutil.which("cdo") is None, reason="needs cdo")
@pytest.mark.parametrize("every, steps, times", [
    ("5 days", 5, np.arange(0, 400.0)),
    ("5d", 20, np.arange(0, 100, 0.25)),
    ("10 years", 10, np.arange(40) * 365.0 + 180),
])  # fmt: skip
def test_outputs_are_cdos(tmp_path, every, steps, times):
    """Data without gaps, whose windows have so many times each."""
    write_field(tmp_path / "in.nc", times, "days since 2003-01-01", "noleap")
    cdo("-f", "nc4", f"timselsum,{steps}", tmp_path / "in.nc", tmp_path / "cdo.nc")
    assert_same_as(tmp_path / "cdo.nc", *reduce(tmp_path / "in.nc", tmp_path / "out.nc", every)[:3])


def test_joined_files_and_a_selection(tmp_path):
    files, values, dates = write_years(tmp_path, (2003, 2004, 2005))
    for every, begin in (("5 days", None), ("2 years", "2003"), ("3 months", "2003-05")):
        chosen = slice(130, None) if every == "3 months" else slice(None)
        words = ("--concat", "time", "--select", f"time={chosen.start or 0}:")
        found, *_, outcome = reduce(files, tmp_path / "out.nc", every, *words, ranks=2)
        expected = slices(dates[chosen], every)
        assert np.array_equal(found, [values[chosen][each].sum(0) for each in expected])
        said = f"windows of {every} begin with {begin}"
        assert (said in outcome.stderr) == (begin is not None), outcome.stderr


@pytest.mark.parametrize("times, every, cut", [
    (np.arange(0, 50.0), "5 days", (0, 0)),
    (np.arange(0, 52.0), "5 days", (0, 1)),
    (np.arange(0.25, 50, 0.25), "5 days", (1, 0)),
    (np.arange(0, 365 * 20.0), "10 years", (0, 0)),
    (np.arange(100, 365 * 20.0), "10 years", (1, 0)),
    (np.arange(0, 365 * 25.0), "10 years", (0, 1)),
    (np.arange(0, 59.0), "2 months", (0, 0)),
    (np.arange(31, 59.0), "2 months", (0, 1)),
])  # fmt: skip
def test_incomplete_windows(tmp_path, times, every, cut):
    units = "days since 2001-01-01"
    values = write_times(tmp_path / "in.nc", times, units, "noleap")
    expected = slices(cftime.num2date(times, units, "noleap"), every)
    *_, outcome = reduce(tmp_path / "in.nc", tmp_path / "out.nc", every)
    said = f"window of {every} of the times is incomplete; they go from"
    assert (said in outcome.stderr) == any(cut)
    whole = expected[cut[0] : len(expected) - cut[1]]
    if not whole:
        support.fail("reduce", tmp_path / "in.nc", "x", "--axis", "time", "--every", every,
                     "--complete", "-o", tmp_path / "none.nc", code=1,
                     mentions=[f"no window of {every} of the times is complete"])  # fmt: skip
        return
    found, *_ = reduce(tmp_path / "in.nc", tmp_path / "out.nc", every, "--complete", ranks=3)
    assert np.array_equal(found, [values[each].sum(0) for each in whole])


@pytest.mark.parametrize("every, advice", [
    ("0 days", ""), ("5D", "5 days"), ("3m", "3 months"), ("10YS", "10 years"), ("2 weeks", "14 days"),
    ("48h", "2 days"), ("5 dayz", "5 days"), ("1.5 days", ""), ("-5 days", ""), ("9999999 days", ""),
])  # fmt: skip
def test_errors(tmp_path, every, advice):
    write_times(tmp_path / "in.nc", np.arange(3.0), "days since 2001-01-01", "standard")
    said = support.fail("reduce", tmp_path / "in.nc", "x", "--axis", "time", f"--every={every}", code=2,
                        mentions=[f"bad --every '{every}'", "N days"])  # fmt: skip
    assert (f"Did you mean {advice}?" in said.stderr) if advice else ("Did you" not in said.stderr)


def test_it_is_reported(tmp_path):
    write_times(tmp_path / "in.nc", np.arange(30.0), "days since 2001-01-01", "standard")
    for every in ("5d", "5 days", "1mo", "2 years"):
        *_, outcome = reduce(tmp_path / "in.nc", tmp_path / "out.nc", every, "--json", "-")
        assert outcome.report["every"] == every
        with h5py.File(tmp_path / "out.nc") as file:
            assert file["x"].attrs["warpfold_every"] in (every, every.encode())
