"""Places of extrema as coordinates, beside NumPy, cftime and CDO."""

import shutil
import subprocess

import cftime
import h5py
import numpy as np
import pytest

import samples
import support

UNITS = "hours since 1999-12-30 12:00:00"
TIMES = np.cumsum(np.random.default_rng(4).integers(1, 30, 24))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A file and its values: of [time][lat][lon], with coordinates that are no indices."""
    path = tmp_path_factory.mktemp("places") / "in.nc"
    values = samples.write_times(path, TIMES, UNITS, "noleap", chunks=(5, 2, 4))
    with h5py.File(path, "a") as file:
        file["lat"][...] = [60.5, 0.25, -60.5]
        file["lat"].attrs["units"] = "degrees_north"
        file["x"].attrs.update(long_name="rain", units="mm")
        file["zone"] = np.array([[0, 1, 0, 1], [2, 2, 2, 2], [0, 1, 0, 1]], "i4")
        for d, name in enumerate(("lat", "lon")):
            file["zone"].dims[d].attach_scale(file[name])
        file["all"] = np.broadcast_to(file["zone"][()], values.shape)
        for d, name in enumerate(("time", "lat", "lon")):
            file["all"].dims[d].attach_scale(file[name])
    return path, values


def reduce(path, folder, *words, **options):
    out = folder / "out.nc"
    support.run("reduce", path, "x", "--places", "coordinates", "-o", out, "--force", *words, **options)
    with h5py.File(out) as file:
        return {name: (dataset[()], dict(dataset.attrs)) for name, dataset in file.items()}


@pytest.mark.parametrize("ranks", [None, 2, 3])
def test_times_of_extrema(tmp_path, inputs, ranks):
    path, values = inputs
    found = reduce(path, tmp_path, "--axis", "time", "--ops", "argmin,max,argmax", ranks=ranks)
    for name, indices in (("x_argmin", values.argmin(0)), ("x_argmax", values.argmax(0))):
        times, attributes = found[name]
        assert times.dtype == TIMES.dtype and (times == TIMES[indices]).all()
        assert attributes["units"] == UNITS.encode() and attributes["calendar"] == b"noleap"
        extremum = name[-3:] + "imum"
        assert attributes["long_name"] == f"time of the {extremum} of rain".encode()
        assert "_FillValue" not in attributes
    assert (found["x_max"][0] == values.max(0)).all()


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("words", [("--every", "5"), ("--every", "month"), ("--by", "month")])
def test_times_of_groups(tmp_path, inputs, words, ranks):
    path, values = inputs
    dates = cftime.num2date(TIMES, UNITS, "noleap")
    groups = {"5": np.arange(24) // 5}.get(words[1])
    if groups is None:
        by = {"--every": lambda date: (date.year, date.month), "--by": lambda date: date.month}[words[0]]
        keys = [by(date) for date in dates]
        groups = np.array([sorted(set(keys)).index(key) for key in keys])
    found, _ = reduce(path, tmp_path, "--axis", "time", "--ops", "argmax", *words, ranks=ranks)["x"]
    for group in range(groups.max() + 1):
        of_group = np.where((groups == group)[:, None, None], values, -(10**9))
        assert (found[group] == TIMES[of_group.argmax(0)]).all()


def test_several_dimensions_have_a_dataset_each(tmp_path, inputs):
    path, values = inputs
    found = reduce(path, tmp_path, "--axis", "lat,lon", "--ops", "argmax")
    lat, lon = np.unravel_index(values.reshape(24, -1).argmax(1), (3, 4))
    assert (found["x_argmax_lat"][0] == np.array([60.5, 0.25, -60.5])[lat]).all()
    assert (found["x_argmax_lon"][0] == lon).all()
    assert found["x_argmax_lat"][1]["units"] == b"degrees_north"
    assert "units" not in found["x_argmax_lon"][1]


@pytest.mark.parametrize("words, of", [(("--axis", "lat,lon", "--by", "zone"), (1, 2)), (("--by", "all"), (0, 1, 2))])
@pytest.mark.parametrize("ranks", [None, 2])
def test_places_of_labels(tmp_path, inputs, words, of, ranks):
    path, values = inputs
    with h5py.File(path) as file:
        zones = file["all"][()]
        coordinates = [file[name][()] for name in ("time", "lat", "lon")]
    found = reduce(path, tmp_path, "--ops", "argmin", *words, ranks=ranks)
    for zone in range(3):
        of_zone = np.where(zones == zone, values, 10**9)
        lines = of_zone.reshape((24, -1) if len(of) == 2 else (1, -1))
        places = np.unravel_index(lines.argmin(1), [values.shape[d] for d in of])
        for d, place in zip(of, places):
            made = found["x_argmin_" + ("time", "lat", "lon")[d]][0]
            assert (made[..., zone].ravel() == coordinates[d][place]).all()


def test_missing_places(tmp_path, inputs):
    path, values = inputs
    where = ("--where", ">900000")
    found = reduce(path, tmp_path, "--axis", "time", "--ops", "argmax", *where)
    some = (values > 900000).any(0)
    assert some.any()
    times, attributes = found["x"]
    fill = attributes["_FillValue"][0]
    assert fill == -9223372036854775806
    assert (times == np.where(some, TIMES[values.argmax(0)], fill)).all()
    found = reduce(path, tmp_path, "--axis", "lat", "--ops", "argmax", *where, "--min-count", "2")
    few = (values > 900000).sum(1) < 2
    lats = np.array([60.5, 0.25, -60.5])[values.argmax(1)]
    assert np.array_equal(found["x"][0], np.where(few, np.nan, lats), equal_nan=True)
    assert np.isnan(found["x"][1]["_FillValue"]).all()


def test_printed_places_are_dates(inputs):
    path, values = inputs
    words = ("reduce", path, "x", "--axis", "time", "--ops", "argmax", "--places", "coordinates")
    found = support.run(*words, "--json", "-")
    assert found.report["places"] == "coordinates"
    numbers = TIMES[values.argmax(0)]
    dates = cftime.num2date(numbers, UNITS, "noleap")
    texts = [[each.isoformat().removesuffix("T00:00:00") for each in row] for row in dates]
    assert found.results["datasets"]["argmax"] == {
        "dtype": "i64", "units": UNITS, "calendar": "noleap", "values": numbers.tolist(), "dates": texts,
    }  # fmt: skip
    lines = support.run(*words).stdout.splitlines()[1:]
    assert [line.split()[-1] for line in lines] == ["argmax", *(each for row in texts for each in row)]


def test_what_can_not_be(tmp_path, inputs):
    path, _ = inputs
    support.write(tmp_path / "in.h5", np.zeros((3, 4)), "f64")
    words = ("--places", "coordinates", "--ops", "argmax")
    for ranks in (None, 2):
        support.fail("reduce", tmp_path / "in.h5", "values", "--axis", 0, *words, code=2,
                     mentions=["--places", "dim_0", "no coordinate"], ranks=ranks)  # fmt: skip
    support.fail("reduce", path, "x", *words, code=2, mentions=["--places", "axis"])
    support.fail("reduce", path, "x", "--by", "all", *words, code=2, mentions=["--places"])
    support.fail("reduce", path, "x", "--axis", 0, "--ops", "max", "--places", "indices", code=2,
                 mentions=["--places", "argmax"])  # fmt: skip


@pytest.mark.skipif(shutil.which("cdo") is None, reason="needs cdo")
def test_cdo_finds_the_same_times(tmp_path, inputs):
    path, values = inputs
    found = reduce(path, tmp_path, "--axis", "time", "--ops", "argmax")
    shown = subprocess.run(["cdo", "-s", "outputf,%.0f", tmp_path / "out.nc"], capture_output=True,
                           text=True, check=True).stdout  # fmt: skip
    assert [int(each) for each in shown.split()] == found["x"][0].ravel().tolist()
