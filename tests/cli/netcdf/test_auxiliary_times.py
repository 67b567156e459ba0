"""Times that attribute `coordinates` names, of dimensions without a variable, as in WRF's files."""

import math

import cftime
import numpy as np
import pytest

import support

netCDF4 = pytest.importorskip("netCDF4")

HOURS, ROWS, COLUMNS = 60, 3, 4
UNITS = "minutes since 2005-08-27 21:00:00"
# Numbers of calendar days, which have 3, 24, 24 and 9 hours.
DAYS = np.searchsorted((3, 27, 51), np.arange(HOURS), "right")


def wrf(path, first=0, count=HOURS, moving=False, others=()):
    """Hours of a model; the nest moves by a row's step each hour, or stays."""
    hours = np.arange(first, first + count)
    with netCDF4.Dataset(path, "w") as file:
        for name, extent in (("Time", None), ("south_north", ROWS), ("west_east", COLUMNS)):
            file.createDimension(name, extent)
        grid = ("Time", "south_north", "west_east")
        file.createVariable("XTIME", "f4", ("Time",)).units = UNITS
        file["XTIME"][:] = hours * 60.0
        rows = np.arange(ROWS)[None, :, None] + (hours if moving else 0 * hours)[:, None, None]
        file.createVariable("XLAT", "f4", grid)[:] = np.broadcast_to(rows, (count, ROWS, COLUMNS))
        file.createVariable("XLONG", "f4", grid)[:] = np.broadcast_to(
            np.arange(COLUMNS), (count, ROWS, COLUMNS)
        )
        for name in others:
            file.createVariable(name, "f4", ("Time",)).units = UNITS
            file[name][:] = hours
        file.createVariable("T2", "f4", grid)[:] = values()[first : first + count]
        file["T2"].coordinates = " ".join(("XLONG", "XLAT", "XTIME", *others))
    return path


def values():
    return np.random.default_rng(3).normal(280, 9, (HOURS, ROWS, COLUMNS)).astype("f4")


def means(of_group):
    """Means of the hours for which it is true, rounded once to f32."""
    data = values()[of_group].astype("f8")
    return np.array([[math.fsum(column) / len(data) for column in row] for row in data.transpose(1, 2, 0)], "f4")


@pytest.mark.parametrize("parts", [1, 3])
def test_windows(folder, parts):
    cuts = [HOURS * i // parts for i in range(parts + 1)]
    files = [wrf(folder / f"{i}.nc", begin, end - begin) for i, (begin, end) in enumerate(zip(cuts, cuts[1:]))]
    words = ("--concat", "Time") if parts > 1 else ()
    support.run("reduce", *files, "T2", *words, "--axis", "Time", "--every", "day", "--ops", "mean",
                "-o", folder / "out.nc", ranks=2)  # fmt: skip
    with netCDF4.Dataset(folder / "out.nc") as file:
        assert file["T2"].dimensions == ("Time", "south_north", "west_east")
        assert set(file["T2"].coordinates.split()) == {"XLONG", "XLAT", "XTIME"}
        assert file["XTIME"].units == UNITS and file["XTIME"].bounds == "XTIME_bnds"
        bounds = [[hours[0] * 60, hours[-1] * 60] for hours in (np.flatnonzero(DAYS == day) for day in range(4))]
        assert file["XTIME_bnds"][:].tolist() == bounds
        assert file["XTIME"][:].tolist() == [(first + last) / 2 for first, last in bounds]
        assert file["XLAT"].dimensions == ("south_north", "west_east")
        assert file["XLAT"][:].tolist() == [[row] * COLUMNS for row in range(ROWS)]
        for day in range(4):
            assert (file["T2"][day] == means(DAYS == day)).all()


def test_groups_and_whole_dimension(folder):
    wrf(folder / "in.nc")
    for words, name in ((("--by", "hour"), "by.nc"), ((), "all.nc")):
        support.run("reduce", folder / "in.nc", "T2", "--axis", "Time", *words, "--ops", "mean",
                    "-o", folder / name)  # fmt: skip
    hours = (np.arange(HOURS) + 21) % 24
    with netCDF4.Dataset(folder / "by.nc") as file:
        assert file["hour"][:].tolist() == list(range(24))
        for hour in range(24):
            assert (file["T2"][hour] == means(hours == hour)).all()
        assert file["XLAT"].dimensions == ("south_north", "west_east")
        assert file["XLAT"][:].tolist() == [[row] * COLUMNS for row in range(ROWS)]
        assert {"XLONG", "XLAT"} < set(file["T2"].coordinates.split())
    with netCDF4.Dataset(folder / "all.nc") as file:
        assert file["XTIME"].dimensions == ()
        assert file["XTIME_bnds"][:].tolist() == [0, (HOURS - 1) * 60]
        assert (file["T2"][:] == means(DAYS >= 0)).all()


@pytest.mark.parametrize("name", ["Time", "XTIME"])
def test_dates_select(folder, name):
    wrf(folder / "in.nc")
    outcome = support.run("reduce", folder / "in.nc", "T2", "--ops", "count,max", "--select",
                          f"{name}=2005-08-29", "--json", "-")  # fmt: skip
    chosen = values()[DAYS == 2]
    assert outcome.results == {"count": chosen.size, "max": chosen.max()}


def test_info_shows_them(folder):
    report = support.run("info", wrf(folder / "in.nc"), "T2", "--json", "-").report
    time = report["results"]["dimensions"][0]
    assert (time["name"], time["first"], time["last"]) == ("Time", 0, (HOURS - 1) * 60)
    assert (time["first_date"], time["last_date"]) == ("2005-08-27T21:00:00", "2005-08-30T08:00:00")


def test_coordinates_that_move_are_named(folder):
    wrf(folder / "in.nc", moving=True)
    outcome = support.run("reduce", folder / "in.nc", "T2", "--axis", "Time", "--ops", "mean", "-o",
                          folder / "out.nc")  # fmt: skip
    assert "outputs lack the coordinate 'XLAT': it varies along a dimension that is reduced." in outcome.stderr
    with netCDF4.Dataset(folder / "out.nc") as file:
        assert "XLAT" not in file.variables
        assert file["XLONG"][:].tolist() == [list(range(COLUMNS))] * ROWS


def test_several_times_are_ambiguous(folder):
    wrf(folder / "in.nc", others=("forecast_reference_time",))
    outcome = support.attempt("reduce", folder / "in.nc", "T2", "--axis", "Time", "--every", "day", "--ops",
                              "mean", "-o", folder / "out.nc")  # fmt: skip
    assert outcome.code == 2
    assert "dimension 0 of 'T2' has no coordinate with times" in outcome.stderr
    assert not (folder / "out.nc").exists()


def test_a_dimensions_own_times_come_first(folder):
    with netCDF4.Dataset(folder / "in.nc", "w") as file:
        file.createDimension("time", 4)
        for name, steps in (("time", [0, 31, 59, 90]), ("valid", [31, 59, 90, 120])):
            file.createVariable(name, "f8", ("time",)).units = "days since 2001-01-01"
            file[name][:] = steps
        file.createVariable("x", "f4", ("time",))[:] = [1, 2, 3, 4]
        file["x"].coordinates = "valid"
    outcome = support.run("reduce", folder / "in.nc", "x", "--select", "time=2001-01", "--json", "-")
    assert outcome.results["sum"] == 1


def test_observations(folder):
    """A series of CF's discrete samplings: no dimension has a variable of its name."""
    days = [3, 40, 41, 75, 100]
    with netCDF4.Dataset(folder / "in.nc", "w") as file:
        file.createDimension("obs", len(days))
        file.createVariable("time", "f8", ("obs",)).units = "days since 2001-01-01"
        file["time"][:] = days
        file.createVariable("temperature", "f4", ("obs",))[:] = [1, 2, 4, 8, 16]
        file.createVariable("lat", "f4", ("obs",))[:] = [10, 10, 20, 20, 30]
        file.createVariable("depth", "f4", ("obs",))[:] = 5
        file["temperature"].coordinates = "time lat depth"
    outcome = support.run("reduce", folder / "in.nc", "temperature", "--axis", "obs", "--every", "month",
                          "-o", folder / "out.nc")  # fmt: skip
    assert "outputs lack the coordinate 'lat': it varies along a dimension that is reduced." in outcome.stderr
    with netCDF4.Dataset(folder / "out.nc") as file:
        assert file["temperature"][:].tolist() == [1, 6, 8, 16]
        assert file["time"].dimensions == ("obs",)
        assert file["depth"].dimensions == () and file["depth"][...] == 5
        assert set(file["temperature"].coordinates.split()) == {"time", "depth"}
        assert file["time_bnds"][:].tolist() == [[3, 3], [40, 41], [75, 75], [100, 100]]


@pytest.mark.parametrize("words, minutes", [
    (["--axis", "Time,1,2", "--every", "day"], None),
    (["--axis", "1,2", "--select", "Time=5:9"], [300, 360, 420, 480]),
])  # fmt: skip
def test_printed_results_have_the_times(folder, words, minutes):
    wrf(folder / "in.nc")
    outcome = support.run("reduce", folder / "in.nc", "T2", "--ops", "max", *words, "--json", "-")
    (coordinate,) = outcome.results["coordinates"]
    if minutes is None:
        bounds = [np.flatnonzero(DAYS == day)[[0, -1]] * 60 for day in range(4)]
        minutes = [float(first + last) / 2 for first, last in bounds]
    assert (coordinate["name"], coordinate["values"]) == ("Time", minutes)
    assert coordinate["units"] == UNITS
    dates = cftime.num2date(minutes, UNITS)
    assert [each[:16] for each in coordinate["dates"]] == [
        f"{each:%Y-%m-%dT%H:%M}" if each.hour or each.minute else f"{each:%Y-%m-%d}" for each in dates
    ]


def test_flags_share_the_dimension_of_observations(folder):
    """Times of it that attribute `coordinates` gives to the observations alone."""
    with netCDF4.Dataset(folder / "in.nc", "w") as file:
        file.createDimension("obs", 4)
        for name, values in (("time", [0, 1, 2, 3]), ("x", [1, 2, 4, 8]), ("flag", [1, 0, 1, 0])):
            file.createVariable(name, "i4", ("obs",))[:] = values
        file["time"].units = "days since 2001-01-01"
        file["x"].coordinates = "time"
    outcome = support.run("reduce", folder / "in.nc", "x", "--where", "flag==1", "--json", "-")
    assert outcome.results["sum"] == 5
    assert "note" not in outcome.stderr
