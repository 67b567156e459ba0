"""Reductions along an axis by parts of times and by labels, beside cftime, xarray and NumPy."""

import shutil
import subprocess
import sys

import cftime
import h5py
import numpy as np
import pytest

import samples
import support
from samples import write_times

CALENDARS = ("standard", "gregorian", "proleptic_gregorian", "julian", "noleap", "365_day",
             "all_leap", "366_day", "360_day")  # fmt: skip
PARTS = {
    "year": lambda time: time.year,
    "season": lambda time: ("DJF", "MAM", "JJA", "SON")[time.month % 12 // 3],
    "month": lambda time: time.month,
    "day": lambda time: time.day,
    "dayofyear": lambda time: time.dayofyr,
    "hour": lambda time: time.hour,
}
SHAPE = samples.GRID

# In a process of its own: netCDF4 and h5py may have HDF5 libraries that don't go together.
SAME_AS_XARRAY = """
import sys
import numpy as np
import xarray
folder, *parts = sys.argv[1:]
for part in parts:
    expected = xarray.open_dataset(f"{folder}/in.nc")["x"].groupby(f"time.{part}").max().load()
    found = xarray.open_dataset(f"{folder}/{part}.nc")["x"]
    assert found.dims == expected.dims == (part, "lat", "lon")
    assert np.array_equal(found[part].values.astype(str), expected[part].values.astype(str))
    assert np.array_equal(found.values, expected.values)
"""


def reduce(path, out, by, *words, axis="time", **options):
    support.run("reduce", path, "x", "--axis", axis, "--by", by, "-o", out, "--force",
                *words, **options)  # fmt: skip
    with h5py.File(out) as file:
        name = by.split("/")[-1].split(":")[-1]
        labels = file[name][()]
        assert name in {scale.name.strip("/") for dim in file["x"].dims for scale in dim.values()}
        return file["x"][()], labels.astype(str) if labels.dtype.kind == "O" else labels


def sums(values, labels):
    """Returns the sums by label, of labels that are not None."""
    known = sorted({each for each in labels if each is not None})
    rows = [np.array([label == each for label in labels]) for each in known]
    return np.stack([values[each].sum(0) for each in rows]), known


@pytest.mark.parametrize("calendar", CALENDARS)
@pytest.mark.parametrize("dtype, units", [
    ("f8", "days since 1581-11-30 18:30:00 +02:30"),
    ("i4", "hours since 1582-10-01"),
    ("f4", "hours since -3-12-30T23:59:59.5Z"),
    (">i8", "seconds since 1999-12-30"),
    ("i2", "minutes since 1900-02-28 23:00"),
])  # fmt: skip
def test_times_are_cftimes(tmp_path, calendar, dtype, units):
    random = np.random.default_rng(7)
    step = {"i4": 5, "i2": 200, ">i8": 40_000}.get(dtype, 3.7)
    times = (np.cumsum(random.random(150) * step * 2) - 20 * step).astype(dtype)
    values = write_times(tmp_path / "in.nc", times, units, calendar, chunks=(7, *SHAPE))
    dates = cftime.num2date(times.astype(times.dtype.newbyteorder("=")), units, calendar)
    for ranks, (part, of) in enumerate(PARTS.items()):
        found, labels = reduce(tmp_path / "in.nc", tmp_path / "out.nc", part, ranks=1 + ranks % 5)
        expected, known = sums(values, [of(each) for each in dates])
        assert labels.tolist() == known
        assert np.array_equal(found, expected)


def test_outputs_are_xarrays(tmp_path):
    times = np.arange(900) * 17.0
    write_times(tmp_path / "in.nc", times, "hours since 1999-11-20", "standard")
    for part in PARTS:
        reduce(tmp_path / "in.nc", tmp_path / f"{part}.nc", part, "--ops", "max", ranks=2)
    subprocess.run([sys.executable, "-c", SAME_AS_XARRAY, tmp_path, *PARTS], check=True)


def test_labels_of_any_integers(tmp_path):
    values = write_times(tmp_path / "in.nc", np.arange(40), "days since 2000-01-01", "standard")
    labels = np.random.default_rng(2).integers(-3, 4, 40).astype(">i2")
    labels[[5, 9]] = -99
    with h5py.File(tmp_path / "in.nc", "a") as file:
        file["month"] = labels
        file["month"].attrs["_FillValue"] = np.int16(-99)
    with h5py.File(tmp_path / "labels.h5", "w") as file:
        file["g/kind"] = labels.astype("u8")
        file["g/kind"].attrs["_FillValue"] = np.array(-99).astype("u8")
    listed = [None if each == -99 else int(each) for each in labels]
    expected, known = sums(values, listed)
    for by in ("./month", f"{tmp_path}/labels.h5::g/kind"):
        found, labels = reduce(tmp_path / "in.nc", tmp_path / "out.nc", by, ranks=3)
        rows = {int(np.int64(each)) if by[0] == "." else int(np.uint64(each).astype("i8")): row
                for each, row in zip(labels, found)}  # fmt: skip
        assert sorted(rows) == known and np.all(labels[:-1] < labels[1:])
        assert np.array_equal(np.stack([rows[each] for each in known]), expected)
    assert reduce(tmp_path / "in.nc", tmp_path / "out.nc", "month")[1].tolist() == [1, 2]


def test_options_of_every(tmp_path):
    values = write_times(tmp_path / "in.nc", np.arange(100.0), "days since 2001-01-01", "noleap")
    with h5py.File(tmp_path / "in.nc", "a") as file:
        file["other"] = values.transpose(1, 0, 2)
        file["other"].dims[1].attach_scale(file["time"])
    dates = cftime.num2date(np.arange(100), "days since 2001-01-01", "noleap")
    months = [each.month for each in dates][5:90:3]
    seen = np.where(values > 0, values, 0)[5:90:3]
    found, labels = reduce(tmp_path / "in.nc", tmp_path / "out.nc", "month", "--keepdims",
                           "--select", "time=5:90:3", "--where", ">0", axis="time,2")  # fmt: skip
    expected, known = sums(seen, months)
    assert labels.tolist() == known
    assert np.array_equal(found, expected.sum(-1, keepdims=True))


def test_missing_times_are_in_no_group(tmp_path):
    times = np.arange(60.0)
    times[[0, 7]] = np.nan
    times[30] = 1e30
    values = write_times(tmp_path / "in.nc", times, "days since 2000-01-01", "standard",
                         _FillValue=1e30)  # fmt: skip
    dates = [None if each != each or each == 1e30 else
             cftime.num2date(each, "days since 2000-01-01").month for each in times]  # fmt: skip
    found, labels = reduce(tmp_path / "in.nc", tmp_path / "out.nc", "month", ranks=2)
    expected, known = sums(values, dates)
    assert labels.tolist() == known and np.array_equal(found, expected)


def test_times_of_several_files(tmp_path):
    parts = [write_times(tmp_path / f"part{year}.nc", np.arange(0, 365, 9),
                         f"days since {year}-01-01", "noleap") for year in (2001, 2002)]  # fmt: skip
    out = tmp_path / "out.nc"
    support.run("reduce", tmp_path / "part2001.nc", tmp_path / "part2002.nc", "x", "--concat", "0",
                "--axis", "0", "--by", "year", "-o", out, ranks=2)  # fmt: skip
    with h5py.File(out) as file:
        assert file["year"][()].tolist() == [2001, 2002]
        assert np.array_equal(file["x"][()], np.stack([each.sum(0) for each in parts]))


def test_mistakes(tmp_path):
    path = tmp_path / "in.nc"
    write_times(path, np.arange(4), "days since 2000-02-30", "standard")
    with h5py.File(path, "a") as file:
        file["short"] = np.arange(3)
        file["real"] = np.arange(4.0)
    for words, what in (
        (["--axis", "0", "--by", "month"], "not in its calendar"),
        (["--axis", "1", "--by", "month"], "has no units"),
        (["--axis", "0", "--by", "short"], "3 elements"),
        (["--axis", "0", "--by", "real"], "neither integers nor texts"),
        (["--axis", "0", "--by", "missing"], "missing"),
        (["--axis", "0", "--by", "x"], "3 dimensions"),
        (["--axis", "0", "--by", "short", "--every", "2"], "both"),
        (["--by", "month"], "needs an axis"),
    ):
        outcome = support.attempt("reduce", path, "x", "-o", tmp_path / "out.nc", *words, ranks=2)
        assert outcome.code in (1, 2) and what in outcome.stderr, outcome.stderr
        assert not (tmp_path / "out.nc").exists()


@pytest.mark.parametrize("calendar", ["standard", "360_day", "julian"])
@pytest.mark.parametrize("by", ["year,month", "month,day", "season,year", "year,season", "day,hour",
                                "year,dayofyear", "year,month,day,hour"])  # fmt: skip
def test_several_parts_of_times(tmp_path, calendar, by):
    times = np.cumsum(np.random.default_rng(5).random(200) * 9)
    times[20] = np.nan
    values = write_times(tmp_path / "in.nc", times, "days since 1998-11-20", calendar)
    dates = [None if np.isnan(each) else cftime.num2date(each, "days since 1998-11-20", calendar)
             for each in times]  # fmt: skip
    digits = {"year": 4, "dayofyear": 3, "season": 0}
    labels = [each and "-".join(str(PARTS[part](each)).zfill(digits.get(part, 2))
                                for part in by.split(",")) for each in dates]  # fmt: skip
    report = support.run("reduce", tmp_path / "in.nc", "x", "--axis", "time", "--by", by, "-o",
                         tmp_path / "out.nc", "--json", "-", ranks=3).report  # fmt: skip
    notes = [note for note in report.get("notes", []) if note.startswith("December is in the DJF")]
    assert len(notes) == ({"year", "season"} <= set(by.split(",")))
    with h5py.File(tmp_path / "out.nc") as file:
        found, shown = file["x"][()], file[by.replace(",", "_")].asstr()[()]
    expected, known = sums(values, labels)
    assert shown.tolist() == known
    assert np.array_equal(found, expected)


def test_labels_of_years_keep_a_time_axis(tmp_path):
    """As windows of months have it, with the labels beside it."""
    netCDF4 = pytest.importorskip("netCDF4")
    times = np.cumsum(np.random.default_rng(6).random(200) * 9)
    write_times(tmp_path / "in.nc", times, "days since 1998-11-20", "standard")
    for name, words in (("by", ("--by", "year,month")), ("every", ("--every", "month"))):
        support.run("reduce", tmp_path / "in.nc", "x", "--axis", "time", *words, "--ops", "mean,max",
                    "-o", tmp_path / f"{name}.nc", ranks=2)  # fmt: skip
    months = [cftime.num2date(each, "days since 1998-11-20").strftime("%Y-%m") for each in times]
    with netCDF4.Dataset(tmp_path / "by.nc") as by, netCDF4.Dataset(tmp_path / "every.nc") as every:
        for name in ("x_mean", "x_max", "time", every["time"].bounds):
            assert by[name].dimensions == every[name].dimensions
            assert np.array_equal(by[name][:], every[name][:])
        assert by["x_max"].cell_methods == every["x_max"].cell_methods
        labels = by["year_month"]
        assert labels.dimensions == ("time", "string7")
        assert labels[:].tolist() == sorted(set(months))
    if shutil.which("cdo"):
        dates = [subprocess.run(["cdo", "-s", "showtimestamp", tmp_path / f"{name}.nc"],
                                capture_output=True, text=True, check=True).stdout
                 for name in ("by", "every")]  # fmt: skip
        assert dates[0] == dates[1] and "1998-11" in dates[0]
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(tmp_path / "by.nc") as data:
        assert data["year_month"].values.astype(str).tolist() == sorted(set(months))
