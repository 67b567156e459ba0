"""Datasets that meet are matched by what their files say of dimensions."""

import math
from fractions import Fraction

import h5py
import numpy as np
import pytest

import support

LAT = [10.0, 20.0, 30.0]
VALUES = np.arange(1.0, 7.0).reshape(2, 3)


def write(path, dims=("time", "lat"), values=VALUES, name="v", dtype="f8", attributes=(), **lines):
    """A file of one variable, of `lines` as its coordinates: numbers, or (numbers, attributes)."""
    lines = {"time": ([0.0, 1.0], {"units": "days since 2000-01-01"}), "lat": LAT, **lines}
    with h5py.File(path, "w") as file:
        variable = file.create_dataset(name, data=np.asarray(values, dtype))
        variable.attrs.update(attributes)
        for number, dim in enumerate(dims):
            if dim is None or lines.get(dim) is None:
                continue
            line, attrs = lines[dim] if isinstance(lines[dim], tuple) else (lines[dim], {})
            scale = file.create_dataset(dim, data=line)
            scale.attrs.update(attrs)
            scale.make_scale(dim)
            variable.dims[number].attach_scale(scale)
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write(tmp_path_factory.mktemp("data") / "data.h5")


def attempt(data, option, beside, *more):
    extra = ["--ops", "mean" if option == "--weights" else "sum"]
    return support.attempt(
        "reduce", data, "v", option, f"{beside}::w", *extra, *more, "--json", "-"
    )


OPTIONS = ["--mask", "--weights", "--times", "--by"]
DAYS = {"units": "days since 2000-01-01"}
DIFFERENT = {
    "flipped": ({"lat": LAT[::-1]}, "'lat' differ; index 0 has 10 in"),
    "half a cell away": ({"lat": [10.25, 20.25, 30.25]}, "'lat' differ; index 0 has 10 in"),
    "the last one": ({"lat": [10.0, 20.0, 31.0]}, "'lat' differ; index 2 has 30 in"),
    "later": ({"time": ([1.0, 2.0], DAYS)}, "'time' differ; index 0 has 0 days since"),
    "another calendar": (
        {"time": ([0.0, 1.0], {**DAYS, "calendar": "noleap"})},
        "(standard) in",
    ),
}
EQUAL = {
    "f32": {"lat": np.array([10.0, 20.0, 30.0], "f4")},
    "packed": {"lat": (np.array([100, 200, 300], "i2"), {"scale_factor": 0.1})},
    "hours": {"time": ([0.0, 24.0], {"units": "hours since 2000-01-01", "calendar": "gregorian"})},
    "another date": {"time": ([-366, -365], {"units": "days since 2001-01-01 00:00:00"})},
    "proleptic": {"time": ([0, 1], {**DAYS, "calendar": "proleptic_gregorian"})},
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("case", DIFFERENT)
def test_grids_that_differ_are_an_error_that_names_both(folder, data, option, case):
    lines, words = DIFFERENT[case]
    beside = write(folder / "beside.h5", name="w", dtype="i4", values=np.ones((2, 3)), **lines)
    outcome = attempt(data, option, beside)
    assert outcome.code == 1 and len(outcome.errors) == 1
    for word in (words, "data.h5", "beside.h5", "--match position"):
        assert word in outcome.errors[0]
    by_position = attempt(data, option, beside, "--match", "position")
    assert by_position.code == 0 and "notes" not in by_position.report


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("case", EQUAL)
def test_equal_grids_match_however_they_are_stored(folder, data, option, case):
    beside = write(
        folder / "beside.h5", name="w", dtype="i4", values=np.ones((2, 3)), **EQUAL[case]
    )
    outcome = attempt(data, option, beside)
    assert outcome.code == 0 and "notes" not in outcome.report


@pytest.mark.parametrize("option", OPTIONS)
def test_the_order_of_dimensions_counts(folder, option):
    square = np.arange(9.0).reshape(3, 3)
    data = write(folder / "data.h5", ("lat", "lon"), square, lon=LAT)
    beside = write(folder / "beside.h5", ("lon", "lat"), square, "w", "i4", lon=LAT)
    outcome = attempt(data, option, beside)
    assert outcome.code == 1 and "dimension 0 is 'lat', dimension 0 of the other is 'lon'" in (
        outcome.errors[0]
    )


@pytest.mark.parametrize("option", OPTIONS)
def test_what_only_one_has_is_noted(folder, data, option):
    beside = write(folder / "beside.h5", (None, None), np.ones((2, 3)), "w", "i4")
    notes = attempt(data, option, beside).report["notes"]
    assert notes == [
        f"{option} 'w' and 'v': only one of them has coordinates along 'time', 'lat', where they "
        "are matched by position."
    ]


def test_only_what_is_selected_is_compared(folder, data):
    beside = write(
        folder / "beside.h5", name="w", dtype="i4", values=np.ones((2, 3)), lat=[10.0, 20.0, 99.0]
    )
    outcome = attempt(data, "--mask", beside, "--select", "lat=:2")
    assert outcome.results == {"sum": float(VALUES[:, :2].sum())}


def test_lines_of_weights_and_labels_are_matched(folder, data):
    weights = write(folder / "w.h5", ("lat",), [1, 2, 3], "w", "i4", lat=LAT[::-1])
    for option in ("--weights", "--times"):
        assert "'lat' differ" in attempt(data, option, weights).errors[0]
    labels = ["--axis", "lat", "--by", f"{weights}::w", "--ops", "sum", "-o", folder / "o.h5"]
    assert "'lat' differ" in support.attempt("reduce", data, "v", *labels).errors[0]
    support.run("reduce", data, "v", *labels, "--match", "position")
    with h5py.File(folder / "o.h5") as file:
        assert np.array_equal(file["v"][()], VALUES)


CONCAT_ERRORS = {
    "latitudes": ({"lat": LAT[::-1]}, "'lat' differ"),
    "order": ({"dims": ("lat", "time"), "values": VALUES.T[:, :2]}, ""),
    "units": ({"attributes": {"units": "degC"}}, "units ('K' and 'degC') differ"),
}


@pytest.mark.parametrize("case", CONCAT_ERRORS)
def test_files_to_be_joined_have_one_grid(folder, case):
    changes, words = CONCAT_ERRORS[case]
    first = write(folder / "a.h5", attributes={"units": "K"})
    second = write(
        folder / "b.h5", **{"attributes": {"units": "K"}, "time": ([2.0, 3.0], DAYS), **changes}
    )
    outcome = support.attempt("reduce", first, second, "v", "--concat", "time")
    assert outcome.code == 1 and len(outcome.errors) == 1
    for word in (words, "a.h5", "b.h5"):
        assert word in outcome.errors[0]


def test_files_of_one_square_grid_keep_the_order_of_dimensions(folder):
    square = np.arange(9.0).reshape(3, 3)
    times = ([0.0, 1.0, 2.0], DAYS)
    first = write(folder / "a.h5", values=square, time=times)
    second = write(folder / "b.h5", ("lat", "time"), square, time=times)
    outcome = support.attempt("reduce", first, second, "v", "--concat", "time")
    assert outcome.code == 1 and "different names" in outcome.errors[0]
    position = ["--match", "position", "--ops", "sum", "--json", "-"]
    joined = support.run("reduce", first, second, "v", "--concat", "time", *position)
    assert joined.results == {"sum": 72.0}


@pytest.mark.parametrize(
    ("second", "falls"),
    [([1.0, 2.0], "which ends with 1"), ([-5.0, -4.0], "which begins with -5"), ([2.0, 3.0], None)],
)
def test_times_that_do_not_rise_from_file_to_file_are_noted(folder, second, falls):
    paths = [write(folder / "a.h5"), write(folder / "b.h5", time=(second, DAYS))]
    report = support.run("reduce", *paths, "v", "--concat", "time", "--json", "-").report
    notes = report.get("notes", [])
    assert len(notes) == (falls is not None)
    for note in notes:
        assert falls in note and "a.h5" in note and "b.h5" in note


@pytest.mark.parametrize(
    ("first", "second", "noted"),
    [
        ([1.0, 2.0], [2.0, 3.0], True),
        ([1.0, 2.0], [0.5, 3.0], True),
        ([4.0, 3.0], [2.0, 1.0], False),
        ([1.0, 2.0], [3.0, 4.0], False),
    ],
)
def test_numbers_go_on_as_the_first_file_does(folder, first, second, noted):
    paths = [write(folder / f"{name}.h5", ("lev", "lat"), lev=line)
             for name, line in (("a", first), ("b", second))]  # fmt: skip
    report = support.run("reduce", *paths, "v", "--concat", "lev", "--json", "-").report
    assert any("do not rise" in note for note in report.get("notes", [])) == noted


def test_numbers_in_names_order_the_files_of_a_pattern(folder):
    for number in (1, 2, 10, 11, 100):
        write(folder / f"p{number}.h5", values=VALUES * number, time=([number, number + 0.5], DAYS))
    out = folder / "o.h5"
    report = support.run(
        "scan", folder / "p*.h5", "v", "--concat", "time", "--axis", 0, "-o", out, "--json", "-"
    ).report
    assert [path.rpartition("/p")[2] for path in report["files"]] == [
        "1.h5", "2.h5", "10.h5", "11.h5", "100.h5"
    ]  # fmt: skip
    with h5py.File(out) as file:
        parts = np.concatenate([VALUES * number for number in (1, 2, 10, 11, 100)])
        assert np.array_equal(file["v"][()], np.cumsum(parts, 0))


def test_a_calendar_that_differs_costs_the_times(folder):
    paths = [
        write(folder / f"{calendar}.h5", time=([58.0, 59.0], {**DAYS, "calendar": calendar}))
        for calendar in ("noleap", "360_day")
    ]
    report = support.run(
        "reduce", *paths, "v", "--concat", "time", "--axis", "lat", "--ops", "sum",
        "-o", folder / "o.h5", "--json", "-",
    ).report  # fmt: skip
    with h5py.File(folder / "o.h5") as file:
        assert "time" not in file or file["time"].attrs["NAME"].startswith(b"This is a netCDF")
        assert file["v"][()].tolist() == [6.0, 15.0] * 2
    assert any("calendars of times differ" in note for note in report["notes"])


def test_cosines_of_joined_latitudes_are_those_of_each(folder):
    first = write(folder / "a.h5", lat=(LAT, {"units": "degrees_north"}))
    second = write(
        folder / "b.h5", lat=(LAT, {"units": "degrees_north"}), time=([2.0, 3.0], DAYS)
    )
    cosines = [Fraction(math.cos(math.radians(each))) for each in LAT]
    mean = sum(Fraction(v) * c for row in VALUES for v, c in zip(row, cosines)) / (2 * sum(cosines))
    found = support.run(
        "reduce", first, second, "v", "--concat", "time", "--weights", "cos:lat", "--ops", "mean",
        "--json", "-",
    ).results["mean"]  # fmt: skip
    assert abs(found - float(mean)) < 1e-15


def curvilinear(path, times, latitudes):
    netCDF4 = pytest.importorskip("netCDF4")
    with netCDF4.Dataset(path, "w") as file:
        for name, extent in (("time", None), ("y", 2), ("x", 3)):
            file.createDimension(name, extent)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        time[:] = times
        file.createVariable("lat", "f4", ("y", "x"))[:] = latitudes
        for name, dimensions in (("v", ("time", "y", "x")), ("m", ("y", "x"))):
            variable = file.createVariable(name, "i4", dimensions)
            variable.coordinates = "lat elsewhere"
            variable[:] = 1
    return path


def test_coordinates_of_two_dimensions_are_compared(folder):
    latitudes = np.arange(6.0).reshape(2, 3)
    first = curvilinear(folder / "a.nc", [0, 1], latitudes)
    same = curvilinear(folder / "b.nc", [2, 3], latitudes)
    latitudes[1, 2] = 9
    other = curvilinear(folder / "c.nc", [2, 3], latitudes)

    def count(*words):
        return support.run("reduce", *words, "--ops", "count", "--json", "-").results["count"]

    assert count(first, same, "v", "--concat", "time") == 24
    assert count(first, "v", "--mask", f"{same}::m") == 12
    assert count(first, "v", "--mask", f"{other}::m", "--select", "y=0") == 6
    assert count(first, other, "v", "--concat", "time", "--match", "position") == 24
    mentions = ("a.nc", "c.nc", "'lat'", "index 1,2 has 5", "9", "--match position")
    support.fail("reduce", first, other, "v", "--concat", "time", code=1, mentions=mentions)
    support.fail("reduce", first, "v", "--mask", f"{other}::m", code=1, mentions=mentions, ranks=3)


@pytest.mark.parametrize("named", ["lat", "/lat"])
def test_coordinates_in_a_group_above_are_compared(folder, named):
    netCDF4 = pytest.importorskip("netCDF4")
    for name, latitude in (("a.nc", 1.0), ("same.nc", 1.0), ("other.nc", 2.0)):
        with netCDF4.Dataset(folder / name, "w") as file:
            file.createDimension("y", 2)
            file.createDimension("x", 3)
            file.createVariable("lat", "f4", ("y", "x"))[:] = latitude
            group = file.createGroup("outer").createGroup("inner")
            if named == "/lat":
                group.createVariable("lat", "f4", ("y", "x"))[:] = 0
            variable = group.createVariable("v", "i4", ("y", "x"))
            variable.coordinates = named
            variable[:] = 1
    words = ("reduce", folder / "a.nc", "outer/inner/v", "--mask")
    support.run(*words, f"{folder / 'same.nc'}::outer/inner/v")
    mentions = ("'lat' differ; index 0,0 has 1 in", "a.nc' and 2 in")
    support.fail(*words, f"{folder / 'other.nc'}::outer/inner/v", code=1, mentions=mentions)
    support.run("reduce", folder / "a.nc", "outer/inner/v", "--axis", "1", "--ops", "sum", "-o",
                folder / "o.nc")  # fmt: skip
    support.run("scan", folder / "a.nc", "outer/inner/v", "-o", folder / "scan.nc")
    with netCDF4.Dataset(folder / "scan.nc") as file:
        assert (file["outer/inner/lat"][:] == 1).all()


@pytest.mark.parametrize("link", ["external", "soft", "hard"])
def test_coordinates_of_two_dimensions_are_compared_through_links(folder, link):
    latitudes = np.arange(6.0).reshape(2, 3)
    data = curvilinear(folder / "a.nc", [0, 1], latitudes)
    linked = folder / "linked.h5" if link == "external" else folder / "b.nc"
    for change, code in ((0, 0), (1, 1)):
        beside = curvilinear(folder / "b.nc", [0, 1], latitudes + change)
        with h5py.File(linked, "w" if link == "external" else "a") as file:
            group = file.create_group("elsewhere")
            if link == "external":
                group["w"] = h5py.ExternalLink("b.nc", "/v")
            else:
                group["w"] = h5py.SoftLink("/v") if link == "soft" else file["v"]
        for words in ((data, "v", "--mask", f"{linked}::elsewhere/w"),
                      (linked, "elsewhere/w", "--mask", f"{data}::v")):  # fmt: skip
            outcome = support.attempt("reduce", *words, "--ops", "sum")
            assert outcome.code == code
            assert not code or "'lat' differ; index 0,0 has" in outcome.errors[0]


def test_coordinates_called_as_a_dimension_that_they_are_not_of_are_compared(folder):
    netCDF4 = pytest.importorskip("netCDF4")
    for name, longitude in (("a.nc", 1.0), ("same.nc", 1.0), ("other.nc", 2.0)):
        with netCDF4.Dataset(folder / name, "w") as file:
            for dimension, extent in (("time", 2), ("lat", 2), ("lon", 3)):
                file.createDimension(dimension, extent)
            file.createVariable("lon", "f4", ("lat", "lon"))[:] = longitude
            variable = file.createVariable("v", "i4", ("time", "lat", "lon"))
            variable.coordinates = "lon"
            variable[:] = 1
    words = ("reduce", folder / "a.nc", "v", "--mask")
    support.run(*words, f"{folder / 'same.nc'}::v")
    mentions = ("'lon' differ; index 0,0 has 1 in",)
    support.fail(*words, f"{folder / 'other.nc'}::v", code=1, mentions=mentions)
    support.run("reduce", folder / "a.nc", "v", "--axis", "time", "-o", folder / "o.nc")
    with netCDF4.Dataset(folder / "o.nc") as file:
        assert file["v"].coordinates == "lon"
        assert file["lon"].dimensions == ("lat", "lon") and (file["lon"][:] == 1).all()


def test_labels_of_one_file_that_differ_are_an_error(folder):
    with h5py.File(folder / "in.h5", "w") as file:
        for name, labels in (("v", "ab"), ("same", "ab"), ("other", "cd")):
            file[name] = np.ones((4, 4), "i4")
            for dimension, label in zip(file[name].dims, labels):
                dimension.label = label
    words = ("reduce", folder / "in.h5", "v", "--ops", "count", "--json", "-")
    assert support.run(*words, "--mask", "same").results["count"] == 16
    support.fail(*words, "--mask", "other", code=1, mentions=("'a'", "'c'"), ranks=2)
    assert support.run(*words, "--mask", "other", "--match", "position").results["count"] == 16


def with_height(path, height, units):
    with h5py.File(path, "a") as file:
        file["height"] = height
        file["height"].attrs["units"] = units
        file["v"].attrs["coordinates"] = "height"
    return path


def test_scalar_coordinates_are_compared(folder):
    first = with_height(write(folder / "a.h5"), 2.0, "m")
    later = ([2.0, 3.0], DAYS)
    words = ("--concat", "time", "--ops", "sum")
    higher = with_height(write(folder / "b.h5", time=later), 10.0, "m")
    support.fail("reduce", first, higher, "v", *words, code=1, mentions=(
        "'height' differ; it is 2 in", "and 10 in"))  # fmt: skip
    far = with_height(write(folder / "c.h5", time=later), 2.0, "km")
    stderr = support.run("reduce", first, far, "v", *words).stderr
    assert "coordinates 'height' have equal numbers in 'm' and 'km'." in stderr


def test_units_along_the_joined_dimension_are_noted(folder):
    paths = [write(folder / f"{name}.h5", ("height", "lat"), height=([low, low + 1], {"units": units}))
             for name, low, units in (("a", 2.0, "m"), ("b", 10.0, "km"))]  # fmt: skip
    stderr = support.run("reduce", *paths, "v", "--concat", "height", "--ops", "sum").stderr
    assert "coordinates 'height' are in 'm' and 'km'." in stderr and "equal" not in stderr


@pytest.mark.parametrize("attribute", ["standard_name", "cell_methods"])
def test_files_that_say_other_things_of_a_dataset_are_noted(folder, attribute):
    first = write(folder / "a.h5", attributes={attribute: "time: mean"})
    later = ([2.0, 3.0], DAYS)
    for text, notes in (("time: maximum", 1), ("time: mean", 0)):
        second = write(folder / "b.h5", time=later, attributes={attribute: text})
        stderr = support.run("reduce", first, second, "v", "--concat", "time").stderr
        said = f"the {attribute} of 'v' is 'time: mean' in '{first}', '{text}' in '{second}'."
        assert stderr.count(said) == notes


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("option", OPTIONS)
def test_what_files_have_beside_a_dataset_is_the_same_in_all(folder, option, texts):
    if texts and option != "--by":
        return
    first = write(folder / "a.h5")
    second = write(folder / "b.h5", time=([2.0, 3.0], DAYS))
    words = ("reduce", first, second, "v", "--concat", "time", option, "m")
    numbers = [1, 2, 1], [1, 2, 2]
    for of_second, code in ((numbers[0], 0), (numbers[1], 1)):
        for path, line in ((first, numbers[0]), (second, of_second)):
            with h5py.File(path, "a") as file:
                file.pop("m", None)
                made = file.create_dataset("m", data=np.array(line, "S1" if texts else "i4"))
                made.dims[0].attach_scale(file["lat"])
        outcome = support.attempt(*words)
        assert outcome.code == code
    assert "that of" in outcome.errors[0] and "b.h5' differs" in outcome.errors[0]
    support.run(*words, "--match", "position")
    support.run(*words[:-1], f"{first}::m")
    with h5py.File(second, "a") as file:
        del file["m"]
    support.run(*words)


@pytest.mark.parametrize("option", OPTIONS)
def test_a_named_file_stands_for_itself_alone(folder, option):
    paths = [write(folder / "a.h5"), write(folder / "b.h5", time=([2.0, 3.0], DAYS))]
    for path, numbers in zip(paths, ([1, 2, 1], [1, 0, 3])):
        with h5py.File(path, "a") as file:
            file["m"] = np.array(numbers, "i4")
            file["m"].dims[0].attach_scale(file["lat"])
            file["t"] = np.array(numbers[:2], "i4")
            file["t"].dims[0].attach_scale(file["time"])
    words = ("reduce", *paths, "v", "--concat", "time")

    def results(name):
        by_default = () if option == "--by" else ("--ops", "sum")
        report = support.run(*words, *by_default, option, name, "--json", "-").report
        return report.get("labels", report["results"])

    support.fail(*words, option, "m", code=1, mentions=("that of", "b.h5' differs"))
    alone = folder / "alone.h5"
    for named, numbers in ((paths[0], [1, 2, 1]), (paths[1], [1, 0, 3])):
        write(alone)
        with h5py.File(alone, "a") as file:
            file["m"] = np.array(numbers, "i4")
            file["m"].dims[0].attach_scale(file["lat"])
        assert results(f"{named}::m") == results(f"{alone}::m")
    # Along the joined dimension a named file has too few elements.
    assert results("t")
    for named in paths:
        support.fail(*words, option, f"{named}::t", code=2, mentions=("(2)",))


def test_units_of_times_are_in_any_case(folder):
    first = write(folder / "a.h5", time=([0.0, 1.0], {"units": "Days Since 2000-01-01"}))
    beside = write(
        folder / "b.h5", name="w", dtype="i4", time=([0.0, 1.0], {"units": "DAYS SINCE 2000-01-02"})
    )
    outcome = support.attempt("reduce", first, "v", "--mask", f"{beside}::w")
    assert outcome.code == 1 and "'time' differ" in outcome.errors[0]


@pytest.mark.parametrize("option", OPTIONS)
def test_one_index_that_applies_to_several_is_noted(folder, option):
    data = write(folder / "data.h5", ("lat", "lon"), lat=[10.0, 20.0], lon=[0.0, 1.0, 2.0])
    one = np.ones((1, 3), "i4")
    for dims, notes in ((("lat", "lon"), 1), (("time", "lon"), 0)):
        beside = write(folder / "beside.h5", dims, one, "w", "i4", lat=[10.0], lon=[0.0, 1.0, 2.0],
                       time=([0.0], DAYS))  # fmt: skip
        stderr = attempt(data, option, beside).stderr
        assert stderr.count("the only index along 'lat' applies to all 2.") == notes
    data = write(folder / "data.h5", ("time", "lon"), lon=[0.0, 1.0, 2.0])
    assert attempt(data, option, beside).stderr == ""
