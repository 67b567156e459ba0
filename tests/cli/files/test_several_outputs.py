"""Several datasets that are written to one file in one run."""

import errno
import shutil
import subprocess

import h5py
import numpy as np
import pytest

import support

netCDF4 = pytest.importorskip("netCDF4")
pytest.importorskip("xarray")

SHAPE = (6, 4, 5)
NUMBERS = np.random.default_rng(3).integers(-99, 99, SHAPE).astype("f8")


@pytest.fixture
def path(folder):
    """A model's output: variables of a grid and coordinates of each kind."""
    with netCDF4.Dataset(folder / "in.nc", "w") as file:
        for name, extent in {"time": None, "lat": 4, "lon": 5, "bnds": 2}.items():
            file.createDimension(name, extent)

        def add(name, dtype, dimensions, values, **attributes):
            made = file.createVariable(name, dtype, dimensions, zlib=len(dimensions) == 3)
            made.setncatts(attributes)
            made[...] = values

        hours = np.arange(6) * 24.0 + 12
        add("time", "f8", ["time"], hours, units="hours since 2000-01-01", bounds="time_bnds")
        add("time_bnds", "f8", ["time", "bnds"], np.stack([hours - 12, hours + 12], 1))
        add("lat", "f4", ["lat"], [60, 20, -20, -60], units="degrees_north")
        add("lon", "f4", ["lon"], np.arange(5) * 72, units="degrees_east")
        add("area", "f8", ["lat", "lon"], np.arange(20.0).reshape(4, 5), units="m2")
        grid = ["time", "lat", "lon"]
        add("temp", "f4", grid, NUMBERS, units="K", coordinates="area")
        add("wind", "f8", grid, NUMBERS * 1e9, units="m/s", coordinates="area")
        add("rain", "i2", grid, NUMBERS, units="mm", coordinates="area")
        add("month", str, ["time"], np.array([*"abcdef"], object))
        add("height", "f8", ["lat", "lon"], np.arange(20.0).reshape(4, 5), units="m")
        file.createGroup("run").createVariable("wind", "f4", ["time", "lat"])[...] = 3
    return folder / "in.nc"


def damage(path, dataset, chunk=0):
    with h5py.File(path) as file:
        place = file[dataset].id.get_chunk_info(chunk).byte_offset
    with open(path, "r+b") as file:
        file.seek(place + 6)
        file.write(b"\xff" * 20)


def skipped(report):
    return {each["dataset"]: each["skipped"] for each in report["datasets"] if "skipped" in each}


COMMANDS = {
    "scan": ["scan"],
    "scan-axis": ["scan", "--axis", "time", "--deflate"],
    "offsets": ["scan", "--offsets", "--chunks", "17"],
    "reduce": ["reduce", "--axis", "time,lat", "--ops", "mean,max", "--keepdims"],
    "compact": ["compact", "--where", ">0", "--indices"],
}
GRID = ["temp", "rain", "wind"]


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_outputs_are_those_of_each_alone(path, folder, words):
    command, *words = words
    files = []
    for ranks in (None, 3):
        out = folder / f"several-{ranks}" / "out.nc"
        out.parent.mkdir()
        support.run(command, "../in.nc", *GRID, *words, "-o", "out.nc", "--quiet", ranks=ranks,
                    cwd=out.parent)  # fmt: skip
        files.append(out.read_bytes())
    assert files[0] == files[1]
    together = support.opened(out)
    alone = []
    for name in GRID:
        support.run(command, path, name, *words, "-o", folder / f"{name}.nc")
        alone.append(support.opened(folder / f"{name}.nc"))
    for each in alone:
        for name, variable in each.variables.items():
            assert variable.dtype == together[name].dtype
            assert np.array_equal(variable.values, together[name].values)
            names = {key for key in variable.attrs if key != "warpfold_command"}
            assert names == {key for key in together[name].attrs if key != "warpfold_command"}
            assert all(str(variable.attrs[key]) == str(together[name].attrs[key])
                       for key in names - {"warpfold_input"})  # fmt: skip
            assert set(variable.encoding) == set(together[name].encoding)
    assert set(together.variables) == {name for each in alone for name in each.variables}


@pytest.mark.parametrize("ranks", [None, 3])
def test_all_but_coordinates(path, folder, ranks):
    out = folder / "out.nc"
    report = support.run("reduce", path, "--all", "--axis", "time", "--ops", "mean", "-o", out,
                         "--json", "-", ranks=ranks).report  # fmt: skip
    assert report["schema"] == "warpfold.reduce-axis/1"
    taken = {each["dataset"]: each for each in report["datasets"] if "skipped" not in each}
    assert set(taken) == {*GRID, "run/wind"}
    assert taken["temp"]["axis"] == [0] and taken["temp"]["axis_names"] == ["time"]
    assert taken["temp"]["results"] == {
        "output": str(out), "output_shape": [4, 5],
        "datasets": {"mean": {"dataset": "temp", "dtype": "f32"}},
    }  # fmt: skip
    reasons = skipped(report)
    for name in ("time", "time_bnds", "lat", "lon", "area"):
        assert reasons[name] == "it is a coordinate of others"
    assert "string" in reasons["month"] and "bnds" in reasons
    assert "no dimension 'time'" in reasons["height"]
    with support.opened(path) as source, support.opened(out) as made:
        assert set(made.data_vars) == {*GRID, "time_bnds"}
        assert set(made.coords) == {"time", "lat", "lon", "area"}
        for name in ("lat", "lon", "area"):
            assert made[name].variable.identical(source[name].variable)
        for name in GRID:
            assert made[name].dims == ("lat", "lon")
            mean = (NUMBERS * (1e9 if name == "wind" else 1)).sum(0) / 6
            assert np.array_equal(made[name], mean.astype(made[name].dtype))
        assert made.time == 72 and list(made.time_bnds) == [0, 144]


@pytest.mark.parametrize("tool", [["ncdump", "-h"], ["cdo", "-s", "infon"]], ids=["ncdump", "cdo"])
def test_other_tools_see_one_file(path, folder, tool):
    if shutil.which(tool[0]) is None:
        pytest.skip(f"{tool[0]} is not here")
    support.run("scan", path, *GRID, "--axis", "time", "-o", folder / "out.nc")
    done = subprocess.run([*tool, folder / "out.nc"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if tool[0] == "cdo":
        assert all(done.stdout.count(name) == SHAPE[0] for name in GRID)
        return
    for name in GRID:
        assert f" {name}(time, lat, lon) ;" in done.stdout
    for name in ("time", "lat", "lon", "area"):
        assert done.stdout.count(f" {name}(") == 1 and f"{name}_2" not in done.stdout


def test_groups_have_coordinates_of_their_own(path, folder):
    support.run("scan", path, "run/*", "temp", "-o", folder / "out.nc")
    assert support.opened(folder / "out.nc", group="run").wind.dims == ("time", "lat")
    assert support.opened(folder / "out.nc").temp.dims == ("time", "lat", "lon")


def test_coordinates_that_differ_get_numbers(folder):
    """Coordinates have the same values, but another unit, other bounds or another length."""
    path = folder / "in.nc"
    with netCDF4.Dataset(path, "w") as file:
        for number, (days, unit) in enumerate([(4, "days"), (4, "hours"), (6, "hours")]):
            name = f"x{number}"
            group = file.createGroup(f"g{number}")
            group.createDimension("t", days)
            group.createVariable("t", "f8", ["t"])[...] = np.arange(days)
            group["t"].units = f"{unit} since 2000-01-01"
            group.createVariable(name, "f8", ["t"])[...] = np.arange(days) + number
    with h5py.File(path, "a") as file:
        for number in range(3):
            file.move(f"g{number}/x{number}", f"x{number}")
    support.run("scan", path, "x0", "x1", "x2", "-o", folder / "out.nc")
    made = support.opened(folder / "out.nc")
    assert [made[f"x{number}"].dims for number in range(3)] == [("t",), ("t_2",), ("t_3",)]
    assert [made[name].units[:4] for name in ("t", "t_2", "t_3")] == ["days", "hour", "hour"]


DAMAGED = {
    "scan": ["scan"],
    "deflate": ["scan", "--deflate"],
    "axis": ["reduce", "--axis", "0", "--ops", "sum,max"],
    "compact": ["compact", "--where", ">=0", "--indices"],
}


@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("words", DAMAGED.values(), ids=DAMAGED)
def test_nothing_of_a_damaged_one_is_left(folder, words, ranks):
    path, out = folder / "in.h5", folder / "out.h5"
    with h5py.File(path, "w") as file:
        for name, elements in {"a": 1000, "b": 300_000, "c": 1000}.items():
            file.create_dataset(name, data=np.arange(float(elements)).reshape(2, -1),
                                chunks=(1, elements // 10), compression="gzip")  # fmt: skip
    command, *options = words
    named = [command, path, "a", "c", *options, "--quiet", "-o"]
    support.run(*named, out)
    before = support.stored_bytes(out)
    size = out.stat().st_size
    out.unlink()
    damage(path, "b", 8)
    outcome = support.attempt(command, path, "?", *options, "-o", out, "--json", "-", ranks=ranks)
    assert outcome.code == 1 and "cannot read 1 of 3" in outcome.errors[0]
    assert "chunk" in skipped(outcome.report)["b"]
    assert support.stored_bytes(out) == before
    assert out.stat().st_size < size + 4096
    support.fail(command, path, "a", "b", *options, "-o", folder / "new.h5", code=1,
                 mentions=["'b'", "chunk"], ranks=ranks)  # fmt: skip
    assert support.names_in(folder) == ["in.h5", "out.h5"]


@pytest.mark.parametrize("ranks", [None, 2])
def test_a_full_disk_leaves_nothing(folder, fault, ranks):
    path = folder / "in.h5"
    for name in ("a", "b"):
        support.write(path, np.arange(1 << 18), "i32", name, mode="a")
    support.run("scan", path, "a", "b", "-o", folder / "out.h5")
    with h5py.File(folder / "out.h5") as file:
        byte = file["b"].id.get_offset() + 1_000_000
    (folder / "out.h5").unlink()
    prefix = fault("pwrite", ".out.h5.warpfold-", f"error {errno.ENOSPC}", byte=byte)
    support.fail("scan", path, "?", "-o", folder / "out.h5", code=1, ranks=ranks, prefix=prefix,
                 mentions=["cannot write", "space"])  # fmt: skip
    assert fault.count() > 0
    assert support.names_in(folder) == ["in.h5"]


@pytest.mark.parametrize("ranks", [None, 2])
def test_options_that_cannot_be(path, folder, ranks):
    out = folder / "out.h5"
    options = {"ranks": ranks, "code": 2}
    for words in (["scan"], ["compact", "--where", ">0"], ["reduce", "--axis", "0"]):
        words = [words[0], path, *words[1:]]
        for names in (["temp", "wind"], ["--all"], ["?e*"]):
            support.fail(*words, *names, "-o", f"{out}:x", mentions=["'x'", "datasets"], **options)
    support.fail("reduce", path, "--all", "--axis", "9", "-o", out, mentions=["axis 9"], **options)
    support.fail("reduce", path, "temp", "run/wind", "--axis", "2", "-o", out,
                 mentions=["axis 2"], **options)  # fmt: skip
    support.fail("scan", path, "-o", out, mentions=["DATASET is required"], **options)
    support.fail("scan", path, "l*", "-o", out, mentions=["coordinate"], ranks=ranks, code=1)
    support.fail("scan", path, "temp", "gone", "-o", out, mentions=["gone"], ranks=ranks, code=1)
    assert support.names_in(folder) == ["in.nc"]


def test_one_match_may_have_a_name(path, folder):
    support.run("scan", path, "t?mp", "-o", f"{folder / 'out.nc'}:x")
    assert "x" in support.stored_bytes(folder / "out.nc")


def test_outputs_of_one_name(folder):
    path, out = folder / "in.h5", folder / "out.h5"
    for name in ("x", "x_indices"):
        support.write(path, [1, -2], "i32", name, mode="a")
    for names in (["x", "x_indices"], ["x_indices", "x"]):
        support.fail("compact", path, *names, "--where", ">0", "--indices", "-o", out, code=2,
                     mentions=["two outputs", "'x_indices'"])  # fmt: skip
    assert support.names_in(folder) == ["in.h5"]


def test_no_shape_is_no_failure(folder):
    path = support.write(folder / "in.h5", [1, 2], "i32", "a")
    with h5py.File(path, "a") as file:
        file["b"] = h5py.Empty("f4")
        file["c"] = np.zeros((3, 0))
    report = support.run("scan", path, "--all", "-o", folder / "out.h5", "--json", "-").report
    assert "null dataspace" in skipped(report)["b"]
    assert list(support.stored_bytes(folder / "out.h5")) == ["a", "c"]
    words = ["--all", "--axis", -1, "--ops", "max", "-o", folder / "max.h5", "--json", "-"]
    report = support.run("reduce", path, *words).report
    assert "no max" in skipped(report)["c"] and support.read(folder / "max.h5", "i32", "a") == 2


def test_every_form_of_report(path, folder):
    words = ["scan", path, *GRID, "month*", "-o", folder / "out.nc", "--csv", folder / "out.csv",
             "--metrics", folder / "metrics"]  # fmt: skip
    text = support.run(*words, "--timings").stdout
    head, _, *rows = text.splitlines()
    assert "3 of 4 datasets" in head
    assert [row.split()[0] for row in rows[:3]] == GRID and "skipped month: " in text
    rows = (folder / "out.csv").read_text().splitlines()
    assert [row.split(",")[2] for row in rows[1:]] == [*np.repeat(GRID, 2), "month"]


@pytest.mark.parametrize("words", [("reduce", "--axis", "0"), ("scan",)])
def test_many_outputs_of_a_file_are_synced_once(folder, fault, words):
    path = folder / "in.h5"
    with h5py.File(path, "w") as file:
        for number in range(20):
            file[f"d{number}"] = np.arange(6.0).reshape(2, 3)
    for of, syncs in ((".tmp", 1), (folder, 2)):  # the file; it and its folder
        prefix = fault("fsync", of, "delay 0")
        output = folder / f"out{syncs}.h5"
        support.run(words[0], path, "--all", *words[1:], "-o", output, prefix=prefix)
        assert fault.count() == syncs
