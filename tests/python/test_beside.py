"""Masks, weights, factors and labels that are arrays, against NumPy and fractions by ==."""

import os
from fractions import Fraction

import h5py
import numpy as np
import pytest
import warpfold
from exact import exact_sum

WITH_NAMES = {"time": 6, "lat": 5, "lon": 4}


@pytest.fixture
def land():
    return np.arange(20).reshape(5, 4) % 3 != 0


@pytest.fixture
def named(tmp_path, field):
    """A netCDF file whose dimensions have coordinates, opened by xarray."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    pandas = pytest.importorskip("pandas")
    times = pandas.date_range("2001-01-30", periods=6, freq="12H")
    coordinates = {"time": times, "lat": [60.0, 30, 0, -30, -60], "lon": [0.0, 90, 180, 270]}
    dataset = xarray.Dataset({"temp": (list(WITH_NAMES), field)}, coords=coordinates)
    dataset.to_netcdf(tmp_path / "named.nc")
    return tmp_path / "named.nc"


def test_masks(path, field, land):
    for mask in (land, land.astype("f4") * 7, np.asfortranarray(land), land.tolist()):
        total = warpfold.reduce(path, "temp", ops="sum", mask=mask)
        assert total == float(exact_sum(field[:, land]))
    masked = np.ma.masked_array(np.ones((5, 4)), ~land)
    assert warpfold.reduce(path, "temp", ops="count", mask=masked) == 6 * land.sum()
    every = warpfold.reduce(path, "temp", ops="max", mask=field > 0, axis="time")
    expected = np.where(field > 0, field, -np.inf).max(axis=0)
    assert np.array_equal(every, np.where(np.isinf(expected), np.nan, expected), equal_nan=True)
    assert warpfold.histogram(path, "temp", bins=3, mask=land).counts.sum() == 6 * land.sum()
    assert np.array_equal(warpfold.compact(path, "temp", mask=land), field[:, land].ravel())
    masked_scan = warpfold.scan(path, "run1/wind", mask=np.arange(6) > 2)
    assert masked_scan[-1, -1] == np.arange(24).reshape(4, 6)[:, 3:].sum()
    assert warpfold.info(path, "temp", mask=land)["mask"].endswith("::mask")


def test_weights_and_factors(path, field):
    weights = np.linspace(0.25, 2, 4)
    exact = sum(
        Fraction(float(x)) * Fraction(w) for row in field.reshape(-1, 4) for x, w in zip(row, weights)
    )
    mean = warpfold.reduce(path, "temp", ops="mean", weights=weights)
    assert mean == float(exact / sum(map(Fraction, weights)) / 30)
    assert warpfold.reduce(path, "temp", ops="sum", times=weights) == float(exact)
    squares = sum(Fraction(float(x)) ** 2 for x in field.flat)
    assert warpfold.reduce(path, "temp", ops="sum", times=field) == float(squares)
    masked = np.ma.masked_array(weights, [0, 0, 0, 1])
    assert warpfold.reduce(path, "temp", ops="count", weights=masked) == 6 * 5 * 3


def test_extents_of_1_say_where_dimensions_are(path, tmp_path):
    cube = np.arange(27.0).reshape(3, 3, 3)
    with h5py.File(tmp_path / "cube.h5", "w") as file:
        file["x"] = cube
    weights = np.array([1.0, 2, 4])
    for d, array in enumerate((weights[:, None, None], weights[:, None], weights)):
        sums = warpfold.reduce(tmp_path / "cube.h5", "x", ops="sum", weights=array)
        assert sums == (np.moveaxis(cube, d, 2) * weights).sum()


def test_labels(path, field, land):
    sums = warpfold.reduce(path, "temp", ops="sum", by=land)
    assert sums == {each: float(exact_sum(field[:, land == each])) for each in (0, 1)}
    names = np.where(land, "terre é", "sea")
    for labels in (names, names.astype(object), names.tolist()):
        sums = warpfold.reduce(path, "temp", ops="sum", by=labels)
        assert sums == {each: float(exact_sum(field[:, names == each])) for each in np.unique(names)}
    groups = np.array([5, 2, 5, 2, 2, 5])
    maxima = warpfold.reduce(path, "temp", ops="max", axis="time", by=groups)
    assert np.array_equal(maxima, [field[groups == each].max(axis=0) for each in (2, 5)])


def test_a_vector_of_one_label(tmp_path):
    with h5py.File(tmp_path / "one.h5", "w") as file:
        file["x"] = [[1.0, 2.0]]
    for labels in ([7], ["a"]):
        sums = warpfold.reduce(tmp_path / "one.h5", "x", ops="sum", axis=0, by=labels)
        assert sums.tolist() == [[1, 2]]


def test_outputs_have_labels_and_names(path, field, tmp_path, land):
    warpfold.reduce(path, "temp", ops="max", by=land * 3, output=tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5") as file:
        assert np.array_equal(file["by"], [0, 3])
        assert np.array_equal(file["temp"], [field[:, land == each].max() for each in (0, 1)])


def test_several_arrays_and_datasets(path, field, land):
    counts = warpfold.reduce(path, "temp", ops="count", mask=land, weights=np.ones(4))
    assert counts == 6 * land.sum()
    options = {"mask": land, "by": np.arange(5)[:, None] // 2}
    counts = warpfold.reduce(path, "temp", ops="count", **options)
    lines = land.sum(axis=1)
    assert counts == {0: 6 * lines[:2].sum(), 1: 6 * lines[2:4].sum(), 2: 6 * lines[4]}
    with h5py.File(path) as file:
        maxima = warpfold.reduce(file["temp"], ops="max", axis=0, by=file["group"])
        assert np.array_equal(maxima[1], field[[2, 3, 5]].max(axis=0))
    several = warpfold.reduce(path, "run*/wind", ops="count", mask=np.arange(6) > 1)
    assert several == {"run1/wind": 16, "run2/wind": 16}


def test_dataarrays_go_by_names(named, field):
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(named) as opened:
        early = opened.time.dt.dayofyear < 31
        assert warpfold.reduce(named, "temp", ops="sum", mask=early) == float(exact_sum(field[:2]))
        sums = warpfold.reduce(named, "temp", ops="sum", by=opened.time.dt.month)
        assert sums == {1: float(exact_sum(field[:4])), 2: float(exact_sum(field[4:]))}
        sums = warpfold.reduce(named, "temp", ops="sum", by=opened.lat.astype(int))
        assert list(sums) == [-60, -30, 0, 30, 60]
        assert sums[30] == float(exact_sum(field[:, 1]))
        flipped = xarray.ones_like(opened.temp[0]).isel(lat=slice(None, None, -1))
        with pytest.raises(warpfold.Error, match="coordinates 'lat' differ"):
            warpfold.reduce(named, "temp", ops="sum", mask=flipped)
        turned = opened.temp[0].T
        with pytest.raises(warpfold.Error, match="does not fit"):
            warpfold.reduce(named, "temp", ops="sum", weights=abs(turned))
        unnamed = xarray.DataArray(np.ones(5), dims="y")
        with pytest.raises(warpfold.Error, match="weights 'weights' of"):
            warpfold.reduce(named, "temp", ops="sum", weights=unnamed)


def test_coordinates_are_labels(path, field):
    xarray = pytest.importorskip("xarray")
    lines = xarray.DataArray(np.arange(5), dims="lat", coords={"lat": np.arange(5)}, name="lat")
    maxima = warpfold.reduce(path, "temp", ops="max", by=lines)
    assert maxima == {each: field[:, each].max() for each in range(5)}
    with pytest.raises(warpfold.UsageError, match="elements of datetime64"):
        warpfold.reduce(path, "temp", by=lines.assign_coords(lat=lines.lat.astype("M8[ns]")).lat)


@pytest.mark.parametrize(
    "option, array, words",
    [
        ("mask", np.ones((4, 5)), "mask 'mask' does not fit dataset 'temp'"),
        ("by", np.zeros(6, "M8[s]"), "cannot use an array as by: the array has elements of datetime"),
        ("by", np.ones((5, 4)), "by 'by'"),
        ("mask", object(), "elements of object"),
        ("weights", [[1.0], [1.0, 2.0]], "cannot use a list as weights"),
        ("times", np.ma.masked_array([1.0] * 4, True), "it is masked"),
        ("weights", -np.ones(4), "element 0 is -1"),
    ],
)
def test_errors_have_no_array(path, option, array, words):
    with pytest.raises(warpfold.Error) as caught:
        warpfold.reduce(path, "temp", ops="sum", **{option: array})
    assert words in str(caught.value) and len(str(caught.value)) < 400


def test_nothing_is_left_behind(path, tmp_path, monkeypatch, land):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    os.mkdir(tmp_path / "t")
    warpfold.reduce(path, "temp", ops="sum", mask=land, weights=np.ones(4))
    for broken in ({"ops": "sums"}, {"by": land, "axis": 7}):
        with pytest.raises(warpfold.Error):
            warpfold.reduce(path, "temp", mask=land, **broken)
    assert os.listdir(tmp_path / "t") == []


def test_a_folder_without_room(path, monkeypatch, land):
    def full(*_):
        raise warpfold.Error("cannot write", "no space left", "")

    monkeypatch.setattr("warpfold._core.write_variables", full)
    with pytest.raises(warpfold.Error, match="no space left. Set TMPDIR"):
        warpfold.reduce(path, "temp", mask=land)
