"""Names and coordinates of outputs' dimensions, as netCDF's tools see them."""

import shutil
import subprocess

import cftime
import h5py
import numpy as np
import pytest

import support

netCDF4 = pytest.importorskip("netCDF4")
xarray = pytest.importorskip("xarray")

HOURS = np.arange(6) * 24.0 + 12
TEXTS = {"units", "calendar", "standard_name", "axis", "grid_mapping_name"}


def write_input(path):
    """A netCDF-4 file with each kind of coordinate that CF knows."""
    with netCDF4.Dataset(path, "w") as file:
        for name, extent in {"time": None, "lat": 4, "lon": 5, "bnds": 2, "band": 3}.items():
            file.createDimension(name, extent)

        def add(name, dtype, dimensions, values, **attributes):
            endian = "big" if dtype == ">f4" else "native"
            made = file.createVariable(name, dtype, dimensions, endian=endian)
            made.setncatts(attributes)
            made[...] = values

        add("time", "f8", ["time"], HOURS, units="hours since 2000-01-01", calendar="standard",
            standard_name="time", axis="T", bounds="time_bnds")  # fmt: skip
        add("time_bnds", "f8", ["time", "bnds"], np.stack([HOURS - 12, HOURS + 12], 1))
        add("lat", ">f4", ["lat"], [60, 20, -20, -60], units="degrees_north")
        add("lon", "i4", ["lon"], np.arange(5) * 72, units="degrees_east", actual_range=[0, 288])
        add("area", "f8", ["lat", "lon"], np.arange(20.0).reshape(4, 5), units="m2")
        add("height", "f8", [], 2.0, units="m", axis="Z")
        add("month", str, ["time"], np.array([*"abcdef"], object), long_name="letter")
        add("crs", "i4", [], 7, grid_mapping_name="latitude_longitude")
        add("temp", "f4", ["time", "lat", "lon"], np.arange(120.0).reshape(6, 4, 5) % 31,
            units="K", coordinates="area height month", grid_mapping="crs")  # fmt: skip
        add("spectrum", "f4", ["band", "lat"], np.arange(12.0).reshape(3, 4))
        file.createGroup("run").createVariable("wind", "f4", ["lat", "lon"])[...] = 3
    return path


@pytest.fixture
def path(folder):
    return write_input(folder / "in.nc")


def only_coordinates(array):
    return xarray.Dataset(coords=array.coords)


def tool(*words):
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not here")
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


KEPT = {
    "all": ("...", {}),
    "parts": ("1:4, ::2, :", {"time": slice(1, 4), "lat": slice(None, None, 2)}),
    "indices": ("2, :, -1", {"time": 2, "lon": -1}),
    "single": ("1:2, :, 4:", {"time": slice(1, 2), "lon": slice(4, None)}),
    "nothing": ("3:3", {"time": slice(3, 3)}),
}


@pytest.mark.parametrize("storage", [(), ("--deflate",)], ids=["plain", "deflate"])
@pytest.mark.parametrize("kept", KEPT)
def test_scans_have_the_coordinates_of_what_is_selected(folder, path, kept, storage):
    select, indices = KEPT[kept]
    support.run("scan", path, "temp", "--select", select, "-o", folder / "out.nc", *storage)
    expected = support.opened(path)["temp"].isel(indices)
    found = support.opened(folder / "out.nc")["temp"]
    assert found.dims == expected.dims
    coordinates = only_coordinates(expected)
    if "lon" in indices:
        del coordinates["lon"].attrs["actual_range"]
    assert only_coordinates(found).identical(coordinates)
    for name in set(coordinates.coords) - {"month"}:
        assert found[name].dtype == coordinates[name].dtype


def test_bounds_go_with_their_coordinates(folder, path):
    support.run("scan", path, "temp", "--select", "::2, 0, :", "-o", folder / "out.nc")
    found = support.opened(folder / "out.nc")
    assert found["time_bnds"].dims == ("time", "bnds")
    assert found["time"].attrs["bounds"] == "time_bnds"
    assert np.array_equal(found["time_bnds"], support.opened(path)["time_bnds"][::2])
    assert "bnds" not in found.coords


def dimensions_in(path):
    with netCDF4.Dataset(path) as file:
        return {name: each.dimensions for name, each in file.variables.items()}


def test_netcdf4_python_sees_names(folder, path):
    out = folder / "out.nc"
    support.run("reduce", path, "temp", "--axis", 0, "--ops", "mean,argmax", "-o", out)
    names = dimensions_in(out)
    assert names["temp_mean"] == names["temp_argmax"] == ("lat", "lon")
    assert names["area"] == ("lat", "lon")
    assert names["time"] == names["crs"] == ()
    assert "month" not in names
    with netCDF4.Dataset(out) as file:
        assert file["temp_argmax"].coordinates == "area height time"
        assert file["temp_argmax"].grid_mapping == "crs"
        assert int(file["crs"][...]) == 7
        assert file["crs"].grid_mapping_name == "latitude_longitude"


def test_dimensions_without_variables_keep_their_names(folder, path):
    out = folder / "out.nc"
    support.run("scan", path, "spectrum", "--select", "1:", "-o", out)
    assert dimensions_in(out) == {"lat": ("lat",), "spectrum": ("band", "lat")}
    with netCDF4.Dataset(out) as file:
        assert len(file.dimensions["band"]) == 2
    support.run("reduce", path, "spectrum", "--axis", 0, "-o", out, "--force")
    assert dimensions_in(out) == {"lat": ("lat",), "spectrum": ("lat",)}
    support.run("reduce", path, "spectrum", "--axis", 0, "--keepdims", "-o", out, "--force")
    assert dimensions_in(out) == {"lat": ("lat",), "spectrum": ("band", "lat")}


def cell(path, name):
    """The value of a coordinate, its bounds, and the types of both."""
    found = support.opened(path)
    bounds = found[found[name].attrs["bounds"]]
    assert found[name].size == 1 and bounds.dims[-1] == "bnds"
    assert found[name].dtype == bounds.dtype
    return found[name].values.ravel()[0], bounds.values.ravel().tolist()


@pytest.mark.parametrize("keep", [(), ("--keepdims",)], ids=["scalar", "keepdims"])
def test_reduced_dimensions_become_a_cell(folder, path, keep):
    out = folder / "out.nc"
    support.run("reduce", path, "temp", "--axis", "0,1,2", "--ops", "mean", "-o", out, *keep)
    assert cell(out, "time") == (72, [0, 144])
    assert cell(out, "lat") == (0, [60, -60])
    assert cell(out, "lon") == (144, [0, 288])
    found = support.opened(out)
    extent = 1 if keep else 0
    for name in ("time", "lat", "lon"):
        assert found[name].ndim == extent and name in found["temp"].coords
        kept = {key: text for key, text in support.opened(path)[name].attrs.items() if key in TEXTS}
        bounds = {"bounds": f"{name}_bnds"}
        assert found[name].attrs == kept | bounds
    assert found["lat"].dtype == "f4" and found["lon"].dtype == "f8"
    assert found["temp"].ndim == 3 * extent


def test_cells_are_of_what_is_selected(folder, path):
    support.run("reduce", path, "temp", "--select", "1:6:2, 1:, 2:3", "--axis", "0,1,2", "-o",
                folder / "out.nc")  # fmt: skip
    assert cell(folder / "out.nc", "time") == (84, [24, 144])
    assert cell(folder / "out.nc", "lat") == (-20, [20, -60])
    found = support.opened(folder / "out.nc")["temp"]
    assert found["lon"].values == 144 and "bounds" not in found["lon"].attrs
    assert set(found.coords) == {"time", "lat", "lon", "height"}


@pytest.mark.parametrize("values, bounds, expected", [
    ([3, 2, 1], [[2.5, 3.5], [1.5, 2.5], [0.5, 1.5]], (2, [3.5, 0.5])),
    ([1, 2, 3], [[1.5, 0.5], [2.5, 1.5], [3.5, 2.5]], (2, [0.5, 3.5])),
    ([1, 2, 3], [[0.5, 1.5], [1.5, 2.5], [2.5, np.nan]], (2, [1, 3])),
    ([1, 2, 2], None, None),
    ([1, 3, 2], None, None),
    ([1, np.nan, 3], None, None),
    ([1, 2, np.inf], None, None),
])  # fmt: skip
def test_cells_need_a_monotonic_coordinate(folder, values, bounds, expected):
    with netCDF4.Dataset(folder / "in.nc", "w") as file:
        file.createDimension("x", 3)
        file.createDimension("nv", 2)
        file.createVariable("x", "f8", ["x"])[:] = values
        if bounds:
            file["x"].bounds = "edges"
            file.createVariable("edges", "f8", ["x", "nv"])[:] = bounds
        file.createVariable("v", "f8", ["x"])[:] = 1
    words = ("reduce", folder / "in.nc", "v", "--axis", 0)
    for more in ((), ("--every", 2)):
        said = "outputs lack the coordinate 'x': it neither rises nor falls throughout."
        is_said = said in support.run(*words, *more).stderr
        assert is_said == (expected is None and bool(more))
    support.run(*words, "-o", folder / "out.nc")
    found = support.opened(folder / "out.nc")
    if expected is None:
        assert set(found.variables) == {"v"}
    else:
        name = found["x"].attrs["bounds"]
        assert (found["x"].values, found[name].values.tolist()) == expected
        assert name == ("x_bnds" if bounds is None or np.isnan(bounds).any() else "edges")


@pytest.mark.parametrize("dtype, width, expected", [
    ("f8", 3601, "f8"), ("i4", 3601, "f8"), ("f8", 4096, "f4"), ("i4", 0, "f4"),
])  # fmt: skip
def test_cells_have_the_bounds_of_the_input_exactly(folder, dtype, width, expected):
    times = np.array([0, 1 << 27, 1 << 28])
    bounds = np.stack([times, times + width], 1)
    with netCDF4.Dataset(folder / "in.nc", "w") as file:
        file.createDimension("time", 3)
        file.createDimension("nv", 2)
        file.createVariable("time", "f4", ["time"])[:] = times
        file["time"].bounds = "time_bnds"
        file.createVariable("time_bnds", dtype, ["time", "nv"])[:] = bounds
        file.createVariable("v", "f8", ["time"])[:] = 1
    words = ("--axis", "time", "--every", 2, "-o", folder / "out.nc")
    support.run("reduce", folder / "in.nc", "v", *words)
    found = support.opened(folder / "out.nc")
    assert found["time_bnds"].values.tolist() == [[0, bounds[1, 1]], bounds[2].tolist()]
    # A single element stays where it is in its bounds.
    assert found["time"].values.tolist() == [bounds[1, 1] / 2, times[2]]
    assert found["time"].dtype == expected and found["time_bnds"].dtype == expected


@pytest.mark.parametrize("units, bounds, expected, note", [
    ("hours since 2000-01-01", [[0, 24], [24, 48], [48, 96]], (1, [0, 2]), "their units"),
    ("days since 2000-01-01 00:00:00", [[0, 1], [1, 2], [2, 4]], (2, [0, 4]), ""),
    (None, [[0, 1], [1, 2], [2, 4]], (2, [0, 4]), ""),
    (None, [[0, 0], [0, 1 - 1e-7], [1, 2]], (1, [0, 2]), ""),
    (None, [[0, 1], [1, 2], [3, 4]], (1, [0, 2]), "they do not contain its values"),
    ("m", [[0, 1], [1, 2], [2, 4]], (1, [0, 2]), "their units"),
])  # fmt: skip
def test_bounds_that_contradict_their_coordinate_make_no_cells(folder, units, bounds, expected, note):
    with netCDF4.Dataset(folder / "in.nc", "w") as file:
        file.createDimension("time", 3)
        file.createDimension("bnds", 2)
        file.createVariable("time", "f8", ["time"])[:] = [0, 1, 2]
        file["time"].setncatts({"units": "days since 2000-01-01", "bounds": "edges"})
        file.createVariable("edges", "f8", ["time", "bnds"])[:] = bounds
        if units:
            file["edges"].units = units
        file.createVariable("v", "f8", ["time"])[:] = 1
    outcome = support.run("reduce", folder / "in.nc", "v", "--axis", 0, "-o", folder / "out.nc")
    assert cell(folder / "out.nc", "time") == expected
    assert ("lack the bounds of 'time'" in outcome.stderr) == bool(note) and note in outcome.stderr


@pytest.mark.parametrize("packing, dtype", [({}, "u1"), ({}, "u2"), ({"scale_factor": 0.5, "add_offset": 1.0}, "u2")])
def test_coordinates_marked_as_unsigned(folder, packing, dtype):
    """As formats have them whose integers all have a sign."""
    stored = (np.arange(12) * 20 + (0 if dtype == "u1" else 40000)).astype(dtype)
    times = stored * packing.get("scale_factor", 1.0) + packing.get("add_offset", 0.0)
    files = [folder / "0.nc", folder / "1.nc"]
    for path, part in zip(files, np.split(stored, 2)):
        with netCDF4.Dataset(path, "w") as file:
            file.createDimension("time", None)
            time = file.createVariable("time", dtype.replace("u", "i"), ("time",), fill_value=-1)
            time.set_auto_maskandscale(False)
            time.setncatts({"units": "days since 2000-01-01", "_Unsigned": "true", **packing})
            time[:] = part.view(time.dtype)
            file.createVariable("x", "f4", ("time",))[:] = range(6)
    dates = cftime.num2date(times, "days since 2000-01-01")
    years = np.array([each.year for each in dates])
    bounds = [times[years == year][[0, -1]].tolist() for year in sorted(set(years))]
    words = ("reduce", *files, "x", "--concat", "time", "--ops", "count", "--axis", "time", "--every", "year")
    support.run(*words, "-o", folder / "out.nc")
    with netCDF4.Dataset(folder / "out.nc") as file:
        assert file["time_bnds"][:].tolist() == bounds
        assert file["time"][:].tolist() == [sum(each) / 2 for each in bounds]
        assert "_Unsigned" not in file["time"].ncattrs()
    (coordinate,) = support.run(*words, "--json", "-").results["coordinates"]
    assert coordinate["values"] == [sum(each) / 2 for each in bounds]
    words = ("reduce", *files, "x", "--concat", "time", "--ops", "count", "--axis", "time", "--every", "1")
    (coordinate,) = support.run(*words, "--json", "-").results["coordinates"]
    assert coordinate["values"] == times.tolist()


def test_cells_lack_bounds_that_are_missing(folder):
    with netCDF4.Dataset(folder / "in.nc", "w") as file:
        file.createDimension("time", 3)
        file.createDimension("bnds", 2)
        time = file.createVariable("time", "f8", ("time",))
        time.setncatts({"units": "days since 2000-01-01", "bounds": "time_bnds"})
        time[:] = [0, 1, 2]
        file.createVariable("time_bnds", "f8", ("time", "bnds"))[:2] = [[0, 1], [1, 2]]
        file.createVariable("x", "f4", ("time",))[:] = range(3)
    outcome = support.run("reduce", folder / "in.nc", "x", "--axis", "time", "-o", folder / "out.nc")
    assert "outputs lack the bounds of 'time': some are missing." in outcome.stderr
    with netCDF4.Dataset(folder / "out.nc") as file:
        assert file["time_bnds"][:].tolist() == [0, 2]


def test_cells_of_files_of_several_types(folder):
    for number, (dtype, times) in enumerate((("f4", [0, 0.5]), ("f8", [1, 2.1]))):
        with netCDF4.Dataset(folder / f"in{number}.nc", "w") as file:
            file.createDimension("time", 2)
            file.createVariable("time", dtype, ["time"])[:] = times
            file["time"].units = "days since 2000-01-01"
            file.createVariable("v", "f8", ["time"])[:] = 1
    words = ("--concat", "time", "--axis", "time", "-o", folder / "out.nc")
    support.run("reduce", folder / "in0.nc", folder / "in1.nc", "v", *words)
    assert cell(folder / "out.nc", "time") == (1.05, [0, 2.1])


def test_compacted_elements_keep_what_they_have_in_common(folder, path):
    support.run("compact", path, "temp", "--select", 2, "--where", ">3", "-o", folder / "out.nc")
    found = support.opened(folder / "out.nc")["temp"]
    assert set(found.coords) == {"time", "height", "month"}
    assert (found["time"].values, found["month"].values) == (60, "c")


def test_other_groups_and_names(folder, path):
    support.run("scan", path, "run/wind", "-o", folder / "a.nc")
    assert support.opened(folder / "a.nc", group="run")["wind"].dims == ("lat", "lon")
    support.run("scan", path, "run/wind", "-o", f"{folder}/b.nc:speed")
    found = support.opened(folder / "b.nc")["speed"]
    assert found.dims == ("lat", "lon") and found["lat"].values.tolist() == [60, 20, -20, -60]


def test_outputs_of_one_file_share_what_is_the_same(folder, path):
    out = folder / "out.nc"
    for dataset, name, select in (
        ("temp", "a", "..."), ("temp", "b", "..."), ("temp", "c", ":, 1:"), ("spectrum", "d", ":"),
        ("temp", "a", "..."),
    ):  # fmt: skip
        support.run("scan", path, dataset, "--select", select, "-o", f"{out}:{name}", "--force")
    names = dimensions_in(out)
    assert names["a"] == names["b"] == ("time", "lat", "lon")
    assert names["c"] == ("time", "lat_2", "lon")
    assert names["d"] == ("band", "lat")
    found = support.opened(out)
    assert found["lat_2"].values.tolist() == [20, -20, -60]
    assert found["c"].coords["area_2"].dims == ("lat_2", "lon")
    with h5py.File(out) as file:
        attached = {file[reference].name for reference, _ in file["lat"].attrs["REFERENCE_LIST"]}
        assert attached == {"/a", "/b", "/d", "/area"}
    support.fail("scan", path, "temp", "-o", f"{out}:lat", "--force", code=1,
                 mentions=["'lat' is a dimension of other datasets in it"])  # fmt: skip


def test_ncdump_and_cdo(folder, path):
    out = folder / "out.nc"
    support.run("reduce", path, "temp", "--axis", 0, "--ops", "mean,max", "-o", out)
    header = [line.strip() for line in tool("ncdump", "-h", out).splitlines()]
    for line in ("lat = 4 ;", "lon = 5 ;", "float temp_mean(lat, lon) ;", "double time ;",
                 'temp_max:coordinates = "area height time" ;', 'time:bounds = "time_bnds" ;'):
        assert line in header  # fmt: skip
    assert tool("cdo", "-s", "showname", out).split() == ["temp_mean", "temp_max"]
    assert tool("cdo", "-s", "showtimestamp", out).split() == ["2000-01-04T00:00:00"]
    grid = tool("cdo", "-s", "griddes", out).splitlines()
    values = {line.split()[0]: line.split("=")[1].split() for line in grid if "=" in line}
    assert values["gridtype"] == ["lonlat"]
    assert (values["xsize"], values["ysize"]) == (["5"], ["4"])
    assert [float(each) for each in (*values["yfirst"], *values["yinc"])] == [60, -40]
    support.run("scan", path, "temp", "--axis", 0, "-o", out, "--force")
    assert tool("cdo", "-s", "showtimestamp", out).split() == [
        f"2000-01-0{day}T12:00:00" for day in range(1, 7)
    ]


def test_outputs_are_inputs(folder, path):
    support.run("reduce", path, "temp", "--axis", 0, "-o", folder / "a.nc")
    support.run("reduce", folder / "a.nc", "temp", "--axis", 0, "-o", folder / "b.nc")
    found = support.opened(folder / "b.nc")
    assert found["temp"].dims == ("lon",)
    assert set(found["temp"].coords) == {"lon", "lat", "time", "height"}
    assert found["time_bnds"].values.tolist() == [0, 144]
    assert found["lat_bnds"].values.tolist() == [60, -60]
    assert found["time_bnds"].dims == found["lat_bnds"].dims == ("bnds",)


def test_what_cdo_makes(folder):
    made = folder / "cdo.nc"
    tool("cdo", "-s", "-f", "nc4", "-settaxis,2000-01-15,00:00,1month", "-duplicate,3", "-topo,r8x4", made)
    support.run("reduce", made, "topo", "--axis", 0, "--ops", "mean", "-o", folder / "out.nc")
    tool("cdo", "-s", "timmean", made, folder / "peer.nc")
    found, peer = support.opened(folder / "out.nc"), support.opened(folder / "peer.nc")
    for name in ("lat", "lon"):
        assert found[name].variable.identical(peer[name].variable)
    assert found["time"].values == support.opened(made)["time"].values[[0, -1]].mean()


def wrong_length(file):
    del file["x"]
    file["x"] = np.arange(2.0)


def of_compounds(file):
    del file["x"]
    file["x"] = np.zeros(3, [("a", "f4"), ("b", "i4")])


def of_references(file):
    del file["x"]
    file["x"] = np.array([file.ref] * 3, h5py.ref_dtype)


def of_two_dimensions(file):
    del file["x"]
    file["x"] = np.zeros((3, 3))


def in_a_missing_file(file):
    del file["x"]
    file.create_dataset("x", (3,), "f8", external=[("missing.raw", 0, 24)])


def of_a_missing_source(file):
    del file["x"]
    layout = h5py.VirtualLayout((3,), "f8")
    layout[:] = h5py.VirtualSource("missing.h5", "x", (3,))
    file.create_virtual_dataset("x", layout)


def null(file):
    del file["x"]
    file["x"] = h5py.Empty("f8")


NAMES_ALONE = [wrong_length, of_compounds, of_references, of_two_dimensions, in_a_missing_file,
               of_a_missing_source, null]  # fmt: skip


@pytest.mark.parametrize("odd", NAMES_ALONE)
def test_a_scale_without_values_to_take_gives_the_name_alone(folder, odd):
    with h5py.File(folder / "in.h5", "w") as file:
        file["values"] = np.arange(12.0).reshape(3, 4)
        file["x"] = np.arange(3.0)
        odd(file)
        file["x"].make_scale("x")
        file["values"].dims[0].attach_scale(file["x"])
    for command, words, expected in (
        ("scan", (), ("x", "phony_dim_1")),
        ("reduce", ("--axis", 1), ("x",)),
        ("reduce", ("--axis", 0), ("phony_dim_1",)),
    ):
        support.run(command, folder / "in.h5", "values", *words, "-o", folder / "out.h5",
                    "--force", ranks=2)  # fmt: skip
        assert dimensions_in(folder / "out.h5") == {"values": expected}


def test_a_file_without_scales_gets_none(folder):
    with h5py.File(folder / "in.h5", "w") as file:
        file["values"] = np.arange(12.0).reshape(3, 4)
        file["values"].attrs["coordinates"] = "x"
        file["x"] = np.arange(3.0)
    for command, words in (("scan", ()), ("reduce", ("--axis", 0)), ("compact", ("--where", ">3"))):
        support.run(command, folder / "in.h5", "values", *words, "-o", folder / "out.h5",
                    "--force")  # fmt: skip
        with h5py.File(folder / "out.h5") as file:
            assert list(file) == ["values"]
            assert file["values"].attrs["coordinates"] == "x"
            assert "DIMENSION_LIST" not in file["values"].attrs


def test_several_scales_of_a_dimension(folder):
    with h5py.File(folder / "in.h5", "w") as file:
        file["values"] = np.arange(12.0).reshape(3, 4)
        for name, values in {"x": [1, 2, 4], "label": np.array([b"a", b"b", b"c"])}.items():
            file[name] = values
            file[name].make_scale(name)
            file["values"].dims[0].attach_scale(file[name])
    support.run("scan", folder / "in.h5", "values", "--select", "1:", "-o", folder / "out.h5")
    with h5py.File(folder / "out.h5") as file:
        scales = file["values"].dims[0]
        assert [each.name for each in scales.values()] == ["/x", "/label"]
        assert scales[0][...].tolist() == [2, 4] and scales[1][...].tolist() == [b"b", b"c"]


def test_names_that_lead_in_circles(folder, path):
    with netCDF4.Dataset(path, "a") as file:
        file["temp"].coordinates = "temp area lat /area ./height ../area month time_bnds"
        file["area"].bounds = "area"
        file["time"].bounds = "time"
        file["lat"].bounds = "temp"
        file["height"].coordinates = "temp"
    support.run("scan", path, "temp", "-o", folder / "out.nc")
    found = support.opened(folder / "out.nc")
    assert found["temp"].dims == ("time", "lat", "lon")
    assert {"area", "month", "height"} < set(found["temp"].coords)
    assert np.array_equal(found["area"], support.opened(path)["area"])


def test_names_of_nothing(folder, path):
    with netCDF4.Dataset(path, "a") as file:
        file["temp"].coordinates = "nowhere height / . .. :"
        file["temp"].grid_mapping = "nothing: lat lon"
        file["lat"].bounds = "nowhere"
    support.run("scan", path, "temp", "-o", folder / "out.nc")
    with netCDF4.Dataset(folder / "out.nc") as file:
        assert file["temp"].coordinates == "height"
        assert "grid_mapping" not in file["temp"].ncattrs()
        assert "bounds" not in file["lat"].ncattrs()
        assert set(file.variables) == {"time", "time_bnds", "lat", "lon", "height", "temp"}


def test_damaged_lists_of_scales(folder):
    for stored in (np.arange(2), "x", h5py.Empty("i4"), None):
        with h5py.File(folder / "in.h5", "w") as file:
            file["values"] = np.arange(12.0).reshape(3, 4)
            references = np.array([file.ref, file.ref], h5py.ref_dtype)
            file["values"].attrs["DIMENSION_LIST"] = references if stored is None else stored
        support.run("scan", folder / "in.h5", "values", "-o", folder / "out.h5", "--force")
        assert list(support.stored_bytes(folder / "out.h5")) == ["values"]


def test_a_removed_scale(folder):
    with h5py.File(folder / "in.h5", "w") as file:
        file["values"] = np.arange(12.0).reshape(3, 4)
        for number, name in enumerate("xy"):
            file[name] = np.arange(float(file["values"].shape[number]))
            file[name].make_scale(name)
            file["values"].dims[number].attach_scale(file[name])
        del file["x"]
    support.run("scan", folder / "in.h5", "values", "-o", folder / "out.h5")
    with h5py.File(folder / "out.h5") as file:
        assert [each[0].name for each in file["values"].dims] == ["/phony_dim_0", "/y"]


UNITS = {
    "var": "K2", "count": "1", "argmin": "1", "argmax": "1", "nan_count": "1", "inf_count": "1",
}  # fmt: skip
METHODS = {
    "sum": "sum", "mean": "mean", "var": "variance", "std": "standard_deviation",
    "min": "minimum", "max": "maximum", "linf": "maximum_absolute_value",
}  # fmt: skip
UNNAMED = {"var", "l1", "l2", "count", "argmin", "argmax", "nan_count", "inf_count"}


@pytest.mark.parametrize("axes, names", [("0", "time: "), ("1,2", "lat: lon: ")])
def test_units_and_cell_methods_follow_the_operation(folder, path, axes, names):
    with netCDF4.Dataset(path, "a") as file:
        file["temp"].setncatts(
            {"cell_methods": "height: point", "standard_name": "air_temperature",
             "long_name": "temperature", "comment": "kept"}
        )  # fmt: skip
    support.run("reduce", path, "temp", "--axis", axes, "--ops", "all", "-o", folder / "out.nc",
                ranks=2)  # fmt: skip
    with netCDF4.Dataset(folder / "out.nc") as file:
        made = {name[5:]: each for name, each in file.variables.items() if name.startswith("temp_")}
        assert len(made) == 14
        for operation, variable in made.items():
            text = {name: variable.getncattr(name) for name in variable.ncattrs()}
            assert text["units"] == UNITS.get(operation, "K")
            counts = UNITS.get(operation) == "1"
            assert text.get("comment") == (None if counts else "kept")
            method = METHODS.get(operation)
            appended = f"height: point {names}{method}" if method else "height: point"
            assert text.get("cell_methods") == (None if counts else appended)
            assert ("standard_name" in text) == (operation not in UNNAMED)
            assert (text["long_name"] == "temperature") == (operation not in UNNAMED)
            assert text["long_name"].endswith("temperature")
    if axes == "0":
        shown = tool("cdo", "-s", "showunit", folder / "out.nc").split()
        assert shown == [UNITS.get(operation, "K") for operation in made]


def test_running_sums_have_no_standard_name(folder, path):
    with netCDF4.Dataset(path, "a") as file:
        file["temp"].standard_name = "air_temperature"
    for operation in ("sum", "max"):
        support.run("scan", path, "temp", "--op", operation, "-o", folder / "out.nc", "--force")
        attributes = support.opened(folder / "out.nc")["temp"].attrs
        assert ("standard_name" in attributes) == (operation == "max")
        assert attributes["units"] == "K"


def test_missing_values_are_marked(folder, path):
    support.run("reduce", path, "temp", "--axis", 0, "--ops", "count,sum,mean,var,std,max",
                "--where", ">15", "-o", folder / "out.nc")  # fmt: skip
    with netCDF4.Dataset(folder / "out.nc") as file:
        filled = {
            name for name, each in file.variables.items()
            if "_FillValue" in each.ncattrs() and np.isnan(each.getncattr("_FillValue"))
        }  # fmt: skip
    assert filled == {"temp_mean", "temp_var", "temp_std", "temp_max"}


def test_nothing_is_said_that_the_input_does_not_say(folder):
    path = support.write(folder / "in.h5", np.ones((3, 4)), "f64")
    support.run("reduce", path, "values", "--axis", 0, "--ops", "all", "-o", folder / "out.h5")
    with h5py.File(folder / "out.h5") as file:
        for each in file.values():
            assert all(name.startswith("warpfold_") for name in each.attrs)


@pytest.mark.parametrize("ranks", [None, 3])
def test_what_is_left_of_all_dimensions_has_a_name(folder, path, ranks):
    out = folder / "out.nc"
    above = ("compact", path, "temp", "--where", ">3", "--indices", "--append", "-o", out)
    support.run(*above, ranks=ranks)
    support.run(*above[:-1], f"{out}:none", "--select", "3:3", ranks=ranks)
    support.run("scan", path, "temp", "--offsets", "--append", "-o", f"{out}:run/temp", ranks=ranks)
    made = support.opened(out)
    kept = int((support.opened(path).temp > 3).sum())
    assert {name: dict(each.sizes) for name, each in made.data_vars.items()} == {
        "temp": {"temp_kept": kept}, "temp_indices": {"temp_kept": kept},
        "none": {"none_kept": 0}, "none_indices": {"none_kept": 0},
    }  # fmt: skip
    assert dict(support.opened(out, group="run").temp.sizes) == {"temp_offsets": 121}
    assert "float temp(temp_kept) ;" in tool("ncdump", "-h", out)


def test_dimensions_of_extent_1_are_as_cdo_has_them(folder, path):
    """It warns of coordinates of dimensions that are gone."""
    if shutil.which("cdo") is None:
        pytest.skip("cdo is not here")

    def warnings(file):
        done = subprocess.run(["cdo", "-s", "infon", file], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return {line for line in done.stderr.splitlines() if "Warning" in line}

    for axes in ("time", "lat", "time,lat,lon"):
        words = ("--axis", axes, "--keepdims", "--force", "-o", folder / "out.nc")
        support.run("reduce", path, "temp", "--ops", "mean,max", *words)
        assert warnings(folder / "out.nc") <= warnings(path)
