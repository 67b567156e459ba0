"""Conditions on parts of times, such as `--where month==7`, beside cftime, NumPy, xarray and CDO."""

import shutil
import subprocess
import sys

import cftime
import h5py
import numpy as np
import pytest

import support
from samples import write_times

CALENDARS = ("standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day")
CONDITIONS = {
    "month==7": lambda time: time.month == 7,
    "month >= 6 ": lambda time: time.month >= 6,
    "month==11, 12,1": lambda time: time.month in (11, 12, 1),
    "month!=7,8": lambda time: time.month not in (7, 8),
    "season==JJA": lambda time: time.month in (6, 7, 8),
    "season == DJF,SON": lambda time: time.month in (12, 1, 2, 9, 10, 11),
    "season!=DJF": lambda time: time.month not in (12, 1, 2),
    "hour<18": lambda time: time.hour < 18,
    "hour>=6.5": lambda time: time.hour > 6,
    "day<=0x0a": lambda time: time.day <= 10,
    "dayofyear>59": lambda time: time.dayofyr > 59,
    "year!=1582": lambda time: time.year != 1582,
}
DAYS = "days since 1581-11-30 18:30:00"

# In a process of its own: netCDF4 and h5py may have HDF5 libraries that don't go together.
SAME_AS_XARRAY = """
import sys
import numpy as np
import xarray
data = xarray.open_dataset(sys.argv[1])["x"]
expected = data.sel(time=data.time.dt.month.isin([6, 7, 8])).groupby("time.year").max().load()
found = xarray.open_dataset(sys.argv[2])["x"]
assert np.array_equal(found["year"], expected["year"])
assert np.array_equal(found.values, expected.values)
"""


def write(path, calendar="standard", count=500, step=1.7, units=DAYS, **options):
    times = np.arange(count) * step
    return write_times(path, times, units, calendar, **options), cftime.num2date(times, units, calendar)


def kept(dates, *conditions):
    return np.array([all(CONDITIONS[each](date) for each in conditions) for date in dates])


def where(*conditions):
    return [f"--where={each}" for each in conditions]


@pytest.mark.parametrize("calendar", CALENDARS)
def test_conditions_are_cftimes(tmp_path, calendar):
    values, dates = write(tmp_path / "in.nc", calendar, chunks=(7, 3, 4))
    for ranks, condition in enumerate(CONDITIONS):
        chosen = values[kept(dates, condition)]
        assert 0 < len(chosen) < len(values)
        for option in ("--where", "--mask"):
            outcome = support.reduce(tmp_path / "in.nc", "x", f"{option}={condition}", ranks=1 + ranks % 3)
            results = outcome.results
            assert (results["count"], results["sum"]) == (chosen.size, chosen.sum())
            assert (results["min"], results["max"]) == (chosen.min(), chosen.max())


def test_several_conditions_must_all_hold(tmp_path):
    values, dates = write(tmp_path / "in.nc")
    words = ("month >= 6 ", "month!=7,8", "hour<18")
    rows = kept(dates, *words)[:, None, None] & (values > 0) & (np.arange(4) != 2)
    with h5py.File(tmp_path / "in.nc", "a") as file:
        file["other"] = np.arange(4)
    results = support.reduce(tmp_path / "in.nc", "x", *where(*words, ">0", "other@2 != 2"), ranks=2).results
    assert (results["count"], results["sum"]) == (rows.sum(), values[rows].sum())


@pytest.mark.parametrize("words", [
    ["--axis", "time"], ["--axis", "time,lon"], ["--axis", "lat"], ["--axis", "time", "--by", "year"],
    ["--axis", "time", "--every", "month"], ["--axis", "time", "--every", "10 days", "--complete"],
    ["--axis", "time", "--by", "season"], ["--axis", "time", "--every", "11"],
])  # fmt: skip
def test_it_is_the_mask_that_a_dataset_is(tmp_path, words):
    """Every option with a condition on times gives what it gives with a mask of the same indices."""
    values, dates = write(tmp_path / "in.nc", chunks=(3, 3, 2))
    with h5py.File(tmp_path / "in.nc", "a") as file:
        file["summer"] = kept(dates, "season==JJA").astype("i1")
        file["summer"].dims[0].attach_scale(file["time"])
    made = []
    for name, condition in (("a", "--where=season==JJA"), ("b", "--mask=summer")):
        support.run("reduce", tmp_path / "in.nc", "x", *words, condition, "--ops",
                    "sum,count,mean,max,argmax,median", "-o", tmp_path / f"{name}.nc", ranks=2)  # fmt: skip
        with h5py.File(tmp_path / f"{name}.nc") as file:
            made.append({key: file[key][()] for key in file if key.startswith("x_")})
    # Windows and labels of excluded times alone have no output.
    full = made[1]["x_count"].any(axis=(1, 2)) if words[2:] and words[-1] != "11" else slice(None)
    assert len(made[0]) == 6 and made[0].keys() == made[1].keys()
    for key, one in made[0].items():
        assert np.array_equal(one, made[1][key][full], equal_nan=one.dtype.kind == "f"), key


def test_other_commands(tmp_path):
    values, dates = write(tmp_path / "in.nc", chunks=(9, 3, 4))
    rows = kept(dates, "month==7")
    july = where("month==7")
    support.run("compact", tmp_path / "in.nc", "x", *july, "-o", tmp_path / "out.h5", ranks=2)
    support.run("scan", tmp_path / "in.nc", "x", *july, "-o", tmp_path / "scan.h5", ranks=2)
    with h5py.File(tmp_path / "out.h5") as file:
        assert np.array_equal(file["x"][()], values[rows].ravel())
    with h5py.File(tmp_path / "scan.h5") as file:
        expected = np.where(rows[:, None, None], values, 0).cumsum().reshape(values.shape)
        assert np.array_equal(file["x"][()], expected)
    outcome = support.run("histogram", tmp_path / "in.nc", "x", *july, "--bins", "10", "--range",
                          "-1e6,1e6", "--json", "-")  # fmt: skip
    counts = np.histogram(values[rows], 10, (-1e6, 1e6))[0]
    assert outcome.report["results"]["counts"] == counts.tolist()
    support.run("info", tmp_path / "in.nc", "x", *july)
    report = support.run("info", tmp_path / "in.nc", "x", "--mask=month==7", "--json", "-").report
    assert report["results"]["mask_shape"] == [len(dates)]


def test_a_selection(tmp_path):
    values, dates = write(tmp_path / "in.nc")
    results = support.reduce(tmp_path / "in.nc", "x", "--select", "time=31:400:3, lon=1:",
                             *where("month==7")).results  # fmt: skip
    chosen = values[31:400:3, :, 1:][kept(dates[31:400:3], "month==7")]
    assert (results["count"], results["sum"]) == (chosen.size, chosen.sum())
    for index in (int(np.argmax(kept(dates, "month==7"))), 0):
        results = support.reduce(tmp_path / "in.nc", "x", "--select", f"time={index}",
                                 *where("month==7"), ops="count,sum", ranks=2).results  # fmt: skip
        wanted = values[index] if index > 0 else values[:0]
        assert (results["count"], results["sum"]) == (wanted.size, wanted.sum())


def test_files_of_several_units_and_calendars(tmp_path):
    parts, dates = [], []
    for year, calendar in ((2000, "standard"), (2001, "proleptic_gregorian"), (2002, "standard")):
        days = np.arange(365.0) + 0.5
        units = f"days since {year}-01-01"
        parts.append(write_times(tmp_path / f"{year}.nc", days, units, calendar) + 0)
        dates.extend(cftime.num2date(days, units, calendar))
    files = [tmp_path / f"{year}.nc" for year in (2000, 2001, 2002)]
    values = np.concatenate(parts)[kept(dates, "season==JJA")]
    outcome = support.run("reduce", *files, "x", "--concat", "time", *where("season==JJA"), "--ops", "sum",
                          "--json", "-", ranks=2)  # fmt: skip
    assert outcome.results["sum"] == values.sum()


def test_missing_times_satisfy_nothing(tmp_path):
    times = np.arange(60.0)
    times[[0, 7]] = np.nan
    times[30] = 1e30
    values = write_times(tmp_path / "in.nc", times, "days since 2000-01-01", "standard", _FillValue=1e30)
    valid = np.isin(np.arange(60), [0, 7, 30], invert=True)
    for condition, rows in (("month==1", np.arange(60) < 31), ("month!=1", np.arange(60) >= 31)):
        results = support.reduce(tmp_path / "in.nc", "x", *where(condition)).results
        assert results["sum"] == values[valid & rows].sum()


def test_words_mean_times_unless_there_are_none(tmp_path):
    values, dates = write(tmp_path / "in.nc")
    with h5py.File(tmp_path / "in.nc", "a") as file:
        file["month"] = np.arange(len(dates)) % 3
        file["month"].dims[0].attach_scale(file["time"])
        file["plain"] = np.arange(6)
        file["hour"] = np.arange(6) % 2
        file["hours"] = np.arange(6) % 2
    outcome = support.reduce(tmp_path / "in.nc", "x", *where("month==2"))
    february = np.array([date.month == 2 for date in dates])
    assert outcome.results["sum"] == values[february].sum()
    assert outcome.report["notes"] == ["'month==2' means times; the dataset is './month'."]
    for name in ("./month", f"{tmp_path}/in.nc::month"):
        results = support.reduce(tmp_path / "in.nc", "x", *where(f"{name}==2")).results
        assert results["sum"] == values[2::3].sum()
    assert support.reduce(tmp_path / "in.nc", "plain", *where("hour==1")).results["sum"] == 9
    assert support.reduce(tmp_path / "in.nc", "plain", "--mask=hour").results["sum"] == 9
    assert support.reduce(tmp_path / "in.nc", "plain", *where("hours==1")).results["sum"] == 9


def test_two_dimensions_of_times(tmp_path):
    values = np.arange(40 * 60).reshape(40, 60)
    with h5py.File(tmp_path / "in.nc", "w") as file:
        file["x"] = values
        for d, (name, extent) in enumerate((("reference", 40), ("valid", 60))):
            file[name] = np.arange(float(extent))
            file[name].make_scale(name)
            file[name].attrs["units"] = "days since 2001-01-01"
            file["x"].dims[d].attach_scale(file[name])
    support.fail("reduce", tmp_path / "in.nc", "x", *where("month==1"), code=2,
                 mentions=["dimensions 0, 1 of 'x' have times", "'month@0'"])  # fmt: skip
    results = support.reduce(tmp_path / "in.nc", "x", *where("month@valid==1", "month@0==2")).results
    assert results["sum"] == values[31:, :31].sum()


def test_notes(tmp_path):
    ends = np.cumsum([31.0, 28, 31, 30, 31])
    write_times(tmp_path / "in.nc", ends, "days since 2001-01-01", "noleap")
    with h5py.File(tmp_path / "in.nc", "a") as file:
        file["cells"] = np.stack([np.concatenate([[0], ends[:-1]]), ends], 1)
        file["time"].attrs["bounds"] = "cells"
    notes = support.reduce(tmp_path / "in.nc", "x", *where("month==13"), ops="count").report["notes"]
    assert "that of index 0 counts as 2001-02-01." in notes[0]
    assert notes[1] == "no time satisfies 'month==13'."


def test_incomplete_windows_without_such_times_are_not_noted(tmp_path):
    values = write_times(tmp_path / "in.nc", np.arange(400.0), "days since 2001-01-15", "noleap")
    dates = cftime.num2date(np.arange(400), "days since 2001-01-15", "noleap")
    for condition, months, is_noted in (("season==JJA", (6, 7, 8), False), ("month==1,7", (1, 7, 1), True)):
        words = ("reduce", tmp_path / "in.nc", "x", "--axis", "time", "--every", "month", *where(condition),
                 "-o", tmp_path / "out.nc", "--force")  # fmt: skip
        noted = support.run(*words).stderr
        assert ("first month of the times is incomplete" in noted) == is_noted
        with h5py.File(tmp_path / "out.nc") as file:
            assert len(file["x"]) == len(months)
        support.run(*words, "--complete")
        whole = [(2001, month) for month in months] if not is_noted else [(2001, 7), (2002, 1)]
        with h5py.File(tmp_path / "out.nc") as file:
            chosen = [[(date.year, date.month) == each for date in dates] for each in whole]
            assert np.array_equal(file["x"][()], [values[np.array(rows)].sum(0) for rows in chosen])


def test_errors(tmp_path):
    write(tmp_path / "in.nc")
    with h5py.File(tmp_path / "in.nc", "a") as file:
        file["plain"] = np.arange(6)
    for condition, why in (
        ("month==July", "no number follows its relation. Give numbers, such as 'month==7'"),
        ("month==7,", "no number"), ("month<3,4", "no number"), ("month=7", "it begins with no relation"),
        ("month>=6 <=8", "it is more than one: each has a --where of its own"),
        ("season==summer", "there is no season 'summer'. Give seasons as DJF"),
        ("season<JJA", "seasons compare by == or !="), ("season==jja", "no season"),
        ("hour@lat<3", "'x' has no dimension with times"), ("hour@lot<3", "lot"),
    ):  # fmt: skip
        for command in ("reduce", "info"):
            support.fail(command, tmp_path / "in.nc", "x", f"--where={condition}", code=2, mentions=[why])
    support.fail("reduce", tmp_path / "in.nc", "plain", *where("hour<3"), code=2,
                 mentions=["bad --where 'hour<3': 'plain' has no dimension with times."])  # fmt: skip
    support.fail("reduce", tmp_path / "in.nc", "x", *where("time.month==7"), code=1,
                 mentions=["Did you mean --where 'month==...', of times?"])  # fmt: skip


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("words", [[], ["--axis", "time"], ["--axis", "1"], ["--select", "time=3::2"]])
def test_chunks_without_such_times_are_not_read(tmp_path, compression, words):
    times = np.arange(400.0)
    units = "days since 2001-01-01"
    values = np.random.default_rng(4).integers(0, 1000, (400, 8, 6)).astype("f8")
    write_times(tmp_path / "in.nc", times, units, "noleap")
    with h5py.File(tmp_path / "in.nc", "a") as file:
        x = file.create_dataset("y", data=values, chunks=(10, 4, 6), compression=compression)
        x.dims[0].attach_scale(file["time"])
        file["rows"] = np.repeat([0, 1], 4)
        sizes = {}
        for number in range(x.id.get_num_chunks()):
            chunk = x.id.get_chunk_info(number)
            sizes[chunk.chunk_offset[:2]] = chunk.size
    months = [date.month for date in cftime.num2date(times, units, "noleap")]
    start, step = (3, 2) if "--select" in words else (0, 1)
    seen = np.arange(start, 400, step)
    july = [index for index in seen if months[index] == 7]
    made = tmp_path / "out.nc"
    out = ["-o", made, "--force"] if "--axis" in words else []
    for conditions, rows in ((where("month==7"), (0, 4)), (where("month==7", "rows@1 == 1"), (4,))):
        needed = {(index // 10 * 10, row) for index in july for row in rows}
        outcome = support.run("reduce", tmp_path / "in.nc", "y", *words, *conditions, *out, "--ops",
                              "sum", "--json", "-", ranks=2)  # fmt: skip
        stage = outcome.report["timings"]["stages"]["read"]
        assert stage["bytes"] == sum(sizes[each] for each in needed)
        chosen = np.where(np.isin(np.arange(400), july)[:, None, None], values, 0)
        chosen[:, : min(rows)] = 0
        if not out:
            assert outcome.results["sum"] == chosen.sum()
            continue
        with h5py.File(made) as file:
            assert np.array_equal(file["y"][()], chosen.sum(0 if words[1] == "time" else 1))


def test_results_are_xarrays(tmp_path):
    write(tmp_path / "in.nc", units="days since 1999-11-20")
    support.run("reduce", tmp_path / "in.nc", "x", "--axis", "time", "--by", "year", "--ops", "max",
                *where("season==JJA"), "-o", tmp_path / "out.nc")  # fmt: skip
    subprocess.run([sys.executable, "-c", SAME_AS_XARRAY, tmp_path / "in.nc", tmp_path / "out.nc"],
                   check=True)  # fmt: skip


@pytest.mark.skipif(shutil.which("cdo") is None, reason="needs cdo")
@pytest.mark.parametrize("operator, condition", [
    ("selmon,12,1,2", "month==12,1,2"), ("selseason,JJA", "season==JJA"), ("selhour,18", "hour==18"),
    ("selyear,2000", "year==2000"), ("selday,1,2", "day<=2"),
])  # fmt: skip
def test_results_are_cdos(tmp_path, operator, condition):
    write_field(tmp_path / "in.nc")
    cdo("timsum", f"-{operator}", tmp_path / "in.nc", tmp_path / "cdo.nc")
    support.run("reduce", tmp_path / "in.nc", "x", "--axis", "time", *where(condition), "-o",
                tmp_path / "out.nc")  # fmt: skip
    with h5py.File(tmp_path / "cdo.nc") as one, h5py.File(tmp_path / "out.nc") as other:
        assert np.array_equal(one["x"][0], other["x"][()])


@pytest.mark.skipif(shutil.which("cdo") is None, reason="needs cdo")
@pytest.mark.parametrize("operator, words", [
    ("yearsum", ["--every", "year"]), ("monsum", ["--every", "month"]), ("seassum", ["--every", "season"]),
    ("yearsum", ["--by", "year,season"]), ("monsum", ["--by", "year,month"]),
])  # fmt: skip
def test_windows_and_their_bounds_are_cdos(tmp_path, operator, words):
    write_field(tmp_path / "in.nc")
    cdo(operator, "-selseason,JJA", tmp_path / "in.nc", tmp_path / "cdo.nc")
    support.run("reduce", tmp_path / "in.nc", "x", "--axis", "time", *where("season==JJA"), *words, "-o",
                tmp_path / "out.nc", ranks=2)  # fmt: skip
    with h5py.File(tmp_path / "cdo.nc") as one, h5py.File(tmp_path / "out.nc") as other:
        bounds = other[other["time"].attrs["bounds"]]
        assert np.array_equal(one["x"][()], other["x"][()])
        assert np.array_equal(one["time_bnds"][()], bounds[()])


def cdo(*words):
    subprocess.run(["cdo", "-f", "nc4", *words], check=True, capture_output=True)


def write_field(path):
    values = np.random.default_rng(2).integers(-1000, 1000, (900, 3, 4)) / 8
    with h5py.File(path, "w") as file:
        file["x"] = values
        for d, (name, numbers, unit, standard) in enumerate((
            ("time", np.arange(900) * 0.5 + 0.25, "days since 1999-11-20", "time"),
            ("lat", [-10.0, 0.0, 10.0], "degrees_north", "latitude"),
            ("lon", [0.0, 90.0, 180.0, 270.0], "degrees_east", "longitude"),
        )):  # fmt: skip
            file[name] = np.array(numbers, dtype="f8")
            file[name].make_scale(name)
            file[name].attrs.update({"units": unit, "standard_name": standard})
            file["x"].dims[d].attach_scale(file[name])
        file["time"].attrs["calendar"] = "standard"
