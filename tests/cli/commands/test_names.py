"""Dimensions by their names, and indices by coordinates, beside h5py and NumPy."""

import h5py
import numpy as np
import pytest

import support

TIMES = np.arange(10.0, 22.0) ** 2
LATITUDES = np.linspace(90, -90, 9).astype("f4")
LEVELS = np.array([-5, 0, 3, 9007199254740993], "i8")
PACKED = np.array([0, 5, 25, 1200], "i2")


def write(path, shape=(12, 9, 4), **storage):
    """A dataset whose dimensions have scales, as netCDF-4's have, and a label."""
    values = np.random.default_rng(1).integers(-1000, 1000, shape).astype("i4")
    with h5py.File(path, "w") as file:
        data = file.create_dataset("run/values", data=values, **storage)
        for d, (name, coordinates) in enumerate(
            {"time": TIMES, "run/lat": LATITUDES, "run/level": LEVELS}.items()
        ):
            file[name] = coordinates
            file[name].make_scale(f"{name.split('/')[-1]}_name")
            data.dims[d].attach_scale(file[name])
        data.dims[2].label = "height"
    return values


def sum_of(path, select, *arguments, **options):
    outcome = support.reduce(path, "run/values", "--select", select, *arguments, **options)
    return outcome.results["sum"], outcome.report["shape"]


@pytest.mark.parametrize("storage", [{}, {"chunks": (5, 4, 3), "compression": "gzip"}])
@pytest.mark.parametrize(
    "text, taken",
    [
        ("time=2:7", np.s_[2:7]),
        ("lat = -1, time=::5", np.s_[::5, -1]),
        ("level=1:3,time=0", np.s_[0, :, 1:3]),
        ("height=-2:", np.s_[..., -2:]),
        ("time_name=3", np.s_[3]),
        ("time=144.:196.", np.s_[2:5]),
        ("time=143.9:196.1:2", np.s_[2:5:2]),
        ("time=144.", np.s_[2]),
        ("time=:1.44e2", np.s_[:3]),
        ("time=0x1.9p8:", np.s_[10:]),
        ("lat=-45.:22.5, time=1", np.s_[1, 3:7]),
        ("lat=22.5:-45.", np.s_[:, 3:7]),
        ("lat=-22.5", np.s_[:, 5]),
        ("lat=-100.:100.", np.s_[:]),
        ("level=-5.:0.", np.s_[..., :2]),
        ("level=9007199254740993.", np.s_[..., 3]),
        ("height=3.", np.s_[..., 2]),
        ("level=0.5:", np.s_[..., 2:]),
    ],
)
def test_selections_by_name_take_what_numpy_does(folder, storage, text, taken):
    values = write(folder / "in.h5", **storage)
    expected = values[taken]
    ranks = 2 if text in ("time=144.", "lat = -1, time=::5") else None
    found = sum_of(folder / "in.h5", text, ranks=ranks)
    assert found == (int(expected.sum()), list(expected.shape))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_coordinates_of_every_type(folder, kind, order):
    coordinates = np.arange(3, 103, 7).astype(order + kind)
    values = np.arange(coordinates.size)
    with h5py.File(folder / "in.h5", "w") as file:
        file["values"] = values
        file["x"] = coordinates
        file["x"].make_scale()
        file["values"].dims[0].attach_scale(file["x"])
    for low, high in ((0, 10), (17, 31), (18, 44.5), (90, 1000)):
        expected = values[(coordinates >= low) & (coordinates <= high)]
        found = support.reduce(folder / "in.h5", "values", f"--select=x={low}.0:{float(high)}")
        assert found.results["sum"] == expected.sum()
        assert found.results["count"] == expected.size


def test_packed_and_unsigned_coordinates_are_unpacked(folder):
    values = np.arange(4)
    with h5py.File(folder / "in.h5", "w") as file:
        for name, stored in (("packed", PACKED), ("unsigned", np.array([1, 90, -100, -2], "i1"))):
            file[name] = values
            file[f"{name}_x"] = stored
            file[f"{name}_x"].make_scale()
            file[name].dims[0].attach_scale(file[f"{name}_x"])
        file["packed_x"].attrs.update({"scale_factor": 0.5, "add_offset": 100.0})
        file["unsigned_x"].attrs["_Unsigned"] = "true"
    path = folder / "in.h5"
    found = support.reduce(path, "packed", "--select", "packed_x=102.5:112.5")
    assert (found.results["count"], found.results["sum"]) == (2, 3)
    found = support.reduce(path, "unsigned", "--select", "unsigned_x=100.:254.")
    assert (found.results["count"], found.results["sum"]) == (2, 5)


def test_a_coordinate_variable_has_its_own_name(folder):
    write(folder / "in.h5")
    found = support.reduce(folder / "in.h5", "run/lat", "--select", "lat=0.:45.")
    assert found.results["sum"] == 45 + 22.5


def test_datasets_behind_external_links_have_names_too(folder):
    values = write(folder / "in.h5")
    with h5py.File(folder / "master.h5", "w") as file:
        file["link"] = h5py.ExternalLink("in.h5", "/run/values")
    found = support.reduce(folder / "master.h5", "link", "--select", "time=144.:196.,lat=0")
    assert found.results["sum"] == values[2:5, 0].sum()


@pytest.mark.parametrize("ranks", [None, 2])
def test_axes_by_name(folder, ranks):
    values = write(folder / "in.h5", chunks=(5, 4, 3))
    path, out = folder / "in.h5", folder / "out.h5"
    for names, axes in (
        ("time", (0,)), ("lat,level", (1, 2)), ("height,0", (0, 2)), ("lat_name,-1", (1, 2)),
    ):  # fmt: skip
        outcome = support.run("reduce", path, "run/values", "--axis", names, "-o", out, "--force",
                              "--json", "-", ranks=ranks)  # fmt: skip
        assert outcome.report["axis"] == list(axes)
        known = [["time", "lat", "level"][axis] for axis in axes]
        assert outcome.report["axis_names"] == known
        with h5py.File(out) as file:
            written = file["run/values"]
            assert np.array_equal(written[()], values.sum(axes, dtype="i8"))
            assert written.attrs["warpfold_axis"].decode() == ",".join(map(str, axes))
            assert written.attrs["warpfold_axis_names"].decode() == ",".join(known)
    outcome = support.scan(path, out, "run/values", "--axis", "lat", ranks=ranks)
    assert (outcome.report["axis"], outcome.report["axis_name"]) == (1, "lat")
    with h5py.File(out) as file:
        assert np.array_equal(file["run/values"][()], np.cumsum(values, 1, dtype="i8"))


def test_axes_are_those_of_the_selected_array(folder):
    values = write(folder / "in.h5")
    arguments = ("-o", folder / "out.h5", "--select", "time=3")
    reduce = ("reduce", folder / "in.h5", "run/values", *arguments)
    outcome = support.run(*reduce, "--axis", "level", "--json", "-")
    assert outcome.report["axis"] == [1]
    with h5py.File(folder / "out.h5") as file:
        assert np.array_equal(file["run/values"][()], values[3].sum(1, dtype="i8"))
    support.fail(*reduce, "--axis", "time", code=2, mentions=["'time'", "'lat', 'level'"])


def test_numbers_win_over_names_and_the_plan_knows_both(folder):
    with h5py.File(folder / "in.h5", "w") as file:
        file["values"] = np.zeros((4, 5))
        file["values"].dims[0].label = "1"
        file["values"].dims[1].label = "x"
    for axis, number in (("1", 1), ("x", 1), ("-2", 0)):
        outcome = support.run("info", folder / "in.h5", "values", "--plan", "reduce", "--axis",
                              axis, "--json", "-", ranks=2)  # fmt: skip
        assert outcome.report["results"]["plan"]["axis"] == [number]


def test_info_tells_names_and_coordinates(folder):
    write(folder / "in.h5")
    outcome = support.run("info", folder / "in.h5", "run/values", "--json", "-")
    assert outcome.report["results"]["dimensions"] == [
        {"name": "time", "first": 100.0, "last": 441.0},
        {"name": "lat", "first": 90.0, "last": -90.0},
        {"name": "level", "first": -5, "last": 9007199254740993},
    ]
    text = support.run("info", folder / "in.h5", "run/values").stdout
    assert "time 100 to 441, lat 90 to -90, level -5 to 9007199254740993" in text


def odd_file(path):
    """Dimensions whose names say too little."""
    with h5py.File(path, "w") as file:
        file["values"] = np.zeros((3, 3, 3, 4, 2))
        for d, (name, data) in enumerate(
            {"twice": [1.0, 2, 3], "same": [1.0, 1, 2], "nan": [1, np.nan, 2], "short": [1.0, 2, 3]}
            .items()
        ):  # fmt: skip
            file[name] = np.array(data)
            file[name].make_scale()
            file["values"].dims[d].attach_scale(file[name])
        file["values"].dims[4].label = "bare"
        file["square"] = np.zeros((3, 3))
        file["square"].dims[0].attach_scale(file["twice"])
        file["square"].dims[1].attach_scale(file["twice"])
        file["plain"] = np.zeros(3)


@pytest.mark.parametrize(
    "dataset, text, mentions",
    [
        ("values", "tim=0", ["no dimension 'tim'", "'twice', 'same', 'nan', 'short', 'bare'"]),
        ("plain", "time=0", ["no dimension 'time'", "no names"]),
        ("square", "twice=0", ["several dimensions", "0 and 1"]),
        ("values", "twice=0, 1", ["'1' has no name"]),
        ("values", "twice=0, ...", ["'...' has no name"]),
        ("values", "twice=0, twice=1", ["'twice' is named twice"]),
        ("values", "twice=", ["'twice=' has no slice"]),
        ("values", "twice=5", ["'5' is out of bounds"]),
        ("values", "twice=::-1", ["step below 1"]),
        ("values", "twice=1.5", ["'twice=1.5'", "1 and 2"]),
        ("values", "twice=0.5", ["nearest: 1"]),
        ("values", "twice=3.5", ["nearest: 3"]),
        ("values", "twice=1:2.5", ["mixes an index with a coordinate"]),
        ("values", "twice=2.5:1.5", ["greater bound"]),
        ("values", "twice=1.2:1.8", ["selects no coordinate", "from 1 to 3"]),
        ("values", "twice=a:b", ["'twice=a:b'", "neither indices nor coordinates"]),
        ("values", "twice=1.:2.:0", ["step below 1"]),
        ("values", "twice=1.:2.:3:4", ["two colons"]),
        ("values", "same=1.", ["'/same'", "neither rise nor fall", "index 1 has 1"]),
        ("values", "nan=1.:", ["'/nan'", "neither rise nor fall", "index 1 has nan"]),
        ("values", "short=1.", ["none for each index"]),
        ("values", "bare=1.", ["a dimension that has none"]),
    ],
)
def test_wrong_names_and_coordinates_are_refused(folder, dataset, text, mentions):
    odd_file(folder / "in.h5")
    for ranks in (None, 2) if text in ("tim=0", "same=1.") else (None,):
        support.fail("reduce", folder / "in.h5", dataset, "--select", text, code=2,
                     mentions=mentions, ranks=ranks)  # fmt: skip


def test_wrong_names_of_axes_are_refused(folder):
    write(folder / "in.h5")
    for command in ("reduce", "scan"):
        words = (command, folder / "in.h5", "run/values", "-o", folder / "out.h5", "--axis")
        support.fail(*words, "lon", code=2, ranks=2,
                     mentions=["no dimension 'lon'", "'time', 'lat', 'level'"])  # fmt: skip
    support.fail(*words[:-1], "--axis", "time,lat", code=2, mentions=["one axis"])
    support.fail("reduce", *words[1:], "time,0", code=2, mentions=["axis 0 is given twice"])
    assert not (folder / "out.h5").exists()
