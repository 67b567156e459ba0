"""DataArrays from warpfold.reduce() and from the accessor, against xarray and NumPy by ==."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
import warpfold

xarray = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")

DIMS = ("time", "lat", "lon")


@pytest.fixture(scope="module")
def values():
    """Integers, and some NaN: xarray's sums of these are exact."""
    numbers = np.random.default_rng(2).integers(-999, 999, (12, 5, 4)).astype("f8")
    numbers[3, 1] = np.nan
    numbers[:, 4, 2] = np.nan
    return numbers


@pytest.fixture
def name(tmp_path, values):
    dates = np.arange("2001-01-25", "2001-02-06", dtype="M8[D]").astype("M8[ns]")
    coordinates = {"time": dates, "lat": [60.0, 30, 0, -30, -60], "lon": [0.0, 90, 180, 270]}
    attributes = {"units": "K", "long_name": "air temperature"}
    dataset = xarray.Dataset(coords=coordinates)
    for each in ("temp", "packed", "single", "filled"):
        dataset[each] = DIMS, values, attributes
    dataset["whole"] = DIMS, np.nan_to_num(values).astype("i4")
    dataset["ranged"] = DIMS, np.nan_to_num(values).astype("i2"), {"valid_min": np.int16(0)}
    dataset["moment"] = "time", dates + np.timedelta64(1, "h")
    encoding = {
        "packed": {"dtype": "i2", "scale_factor": 0.5, "add_offset": 4.0, "_FillValue": -32768},
        "single": {"dtype": "f4", "_FillValue": np.float32(1e20)},
        "filled": {"dtype": "i4", "_FillValue": -9999},
        "ranged": {"dtype": "i2", "_FillValue": 5},
        "temp": {"chunksizes": (5, 5, 4), "zlib": True, "_FillValue": None},
    }
    dataset.to_netcdf(tmp_path / "in.nc", encoding=encoding, engine="netcdf4")
    dataset[["temp"]].to_netcdf(tmp_path / "in.nc", mode="a", group="run/1", engine="netcdf4")
    return tmp_path / "in.nc"


@pytest.fixture
def data(name):
    with warnings.catch_warnings(), xarray.open_dataset(name) as opened:
        warnings.simplefilter("ignore", warpfold.DataWarning)
        yield opened


@pytest.fixture
def loaded(name):
    """The same variables in memory: xarray keeps there what it has read."""
    with xarray.open_dataset(name) as opened:
        return opened.load()


def equal(made, expected):
    """Tells whether values, names and coordinates are the same."""
    return made.equals(expected) and made.name == expected.name and made.dims == expected.dims


@pytest.mark.parametrize("variable", ["temp", "packed", "single", "filled", "whole", "ranged"])
@pytest.mark.parametrize("dim", ["time", ["lon", "time"], ("lat", "lon"), None])
def test_methods_are_those_of_xarray(data, loaded, variable, dim):
    array, numbers = data[variable], loaded[variable].astype("f8")
    for method in ("sum", "min", "max", "count", "median"):
        made = getattr(array.warpfold, method)(dim)
        assert equal(made, getattr(numbers, method)(dim)), method
    assert equal(array.warpfold.mean(dim).astype("f4"), numbers.mean(dim).astype("f4"))
    assert array._in_memory is False


def test_attributes_and_names(data, loaded):
    mean = data.temp.warpfold.mean("time")
    assert mean.attrs["units"] == "K" and mean.attrs["cell_methods"] == "time: mean"
    assert not any("tmp" in str(each) for key, each in mean.attrs.items() if key != "warpfold_input")
    assert data.temp.warpfold.var("time").attrs["units"] == "K2"
    several = data.temp.warpfold.reduce("min,max", "lat")
    assert list(several) == ["min", "max"] and equal(several["max"], loaded.temp.max("lat"))
    renamed = data.temp.rename("t").rename(lat="y")
    assert equal(renamed.warpfold.sum("y"), loaded.temp.rename("t").rename(lat="y").sum("y"))
    kept = data.temp.warpfold.max("lat", keepdims=True)
    assert kept.shape == (12, 1, 4) and np.array_equal(kept[:, 0], loaded.temp.max("lat"), True)
    quantile = data.temp.warpfold.quantile(0.25, ["time", "lon"])
    assert equal(quantile, loaded.temp.quantile(0.25, ["time", "lon"]).drop_vars("quantile"))


@pytest.mark.parametrize(
    "index",
    [
        {"time": slice(2, 9, 3)},
        {"lat": 1, "lon": slice(1, None)},
        {"time": -1},
        {"lat": slice(None, None, -1)},
        {"time": slice(8, 1, -2), "lon": [0, 2]},
        {"lat": [4, 2, 0]},
        {"time": [3], "lon": slice(-2, None)},
        {"lat": np.array([False, True, True, False, False])},
    ],
)
def test_selections(data, loaded, index):
    array, expected = data.packed.isel(index), loaded.packed.isel(index)
    for dim in array.dims:
        assert equal(array.warpfold.sum(dim), expected.sum(dim))
    assert equal(array.warpfold.max(), expected.max())
    last = array.dims[-1]
    twice, expected = (each.isel({last: slice(1, None)}) for each in (array, expected))
    assert equal(twice.warpfold.sum(last), expected.sum(last))


def test_selections_by_labels(data, loaded):
    part, expected = (
        each.temp.sel(time="2001-02", lat=slice(30, -30)).sortby("lat") for each in (data, loaded)
    )
    assert equal(part.warpfold.mean(["lat", "lon"]), expected.mean(["lat", "lon"]))
    assert equal(part.warpfold.sum("time"), expected.sum("time"))


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda array: array + 1, "NumpyIndexingAdapter|ndarray"),
        (lambda array: array.copy(data=array.values[::-1]), "no longer from a netCDF-4 file"),
        (lambda array: array.load(), "no longer from"),
        (lambda array: array.where(array > 0), "no longer from"),
        (lambda array: array.isel(time=[0, 1, 5]), "not evenly spaced"),
        (lambda array: array.isel(time=[1, 1]), "not evenly spaced"),
        (lambda array: array.T, "transposed"),
        (lambda array: array.isel(time=xarray.DataArray([[0, 2]], dims=("a", "b"))), "points"),
        (lambda array: array.expand_dims("member"), "by its file"),
        (lambda array: array[0, 0, 0], "no dimension to reduce"),
    ],
)
def test_other_arrays_are_refused(data, change, words):
    with xarray.set_options(keep_attrs=True):
        changed = change(data.temp)
    changed.encoding = dict(data.temp.encoding)
    with pytest.raises(warpfold.UsageError, match=words):
        changed.warpfold.sum()


def test_a_changed_element_is_seen(data):
    array = data.temp
    array[0, 0, 0] = 5
    with pytest.raises(warpfold.UsageError, match="no longer from"):
        array.warpfold.sum()


def test_arrays_of_dask_and_times_are_refused(name, data):
    pytest.importorskip("dask.array")
    with xarray.open_dataset(name, chunks={}) as chunked:
        with pytest.raises(warpfold.UsageError, match="chunks of dask"):
            chunked.temp.warpfold.sum()
    with pytest.raises(warpfold.UsageError, match="decode_times=False"):
        data.moment.warpfold.max()


def test_stored_numbers(name):
    with xarray.open_dataset(name, mask_and_scale=False) as stored:
        for variable in ("packed", "filled", "single"):
            made = [stored[variable].warpfold.reduce(ops, "time") for ops in ("max", "sum")]
            expected = stored[variable].astype("f8").load()
            assert np.array_equal(made[0], expected.max("time"))
            assert np.array_equal(made[1], expected.sum("time").astype(made[1].dtype))


def test_times_stay_as_they_were_opened(name):
    with xarray.open_dataset(name, decode_times=False) as opened:
        days = opened.load().moment
    with xarray.open_dataset(name, decode_times=False) as opened:
        assert opened.moment.warpfold.max("time") == days.max() and days.dtype.kind in "if"
        windows = opened.temp.warpfold.sum("time", every=6)
        assert windows.time.dtype.kind == "f"
        assert opened.moment.warpfold.mean("time").values == days.astype("f8").mean()
    with xarray.open_dataset(name) as opened:
        assert opened.temp.warpfold.sum("time", every=6).time.dtype.kind == "M"


def test_nan(data, loaded):
    sums = data.temp.warpfold.sum("time", skipna=False)
    assert equal(sums, loaded.temp.sum("time", skipna=False))
    with pytest.raises(warpfold.UsageError, match="skipna=False"):
        data.packed.warpfold.sum("time", skipna=False)


def test_a_difference_in_unpacking_is_reported(name):
    with xarray.open_dataset(name) as opened:
        if opened.packed.dtype == np.float64:
            pytest.skip("this xarray unpacks to float64")
        with pytest.warns(warpfold.DataWarning, match="unpacks 'packed' to f32, warpfold to f64"):
            opened.packed.warpfold.sum("time")


def test_default_fill_values_count_as_in_xarray(tmp_path):
    import netCDF4

    with netCDF4.Dataset(tmp_path / "in.nc", "w") as file:
        file.createDimension("x", 3)
        file.createVariable("v", "f4", ("x",))[:2] = [1, 2]
    with xarray.open_dataset(tmp_path / "in.nc") as opened:
        assert opened.v.warpfold.count() == 3
        assert opened.v.warpfold.max() == opened.v.max() > 1e36


def test_groups_of_the_file(name, values):
    with xarray.open_dataset(name, group="run/1") as opened:
        made = opened.temp.warpfold.sum("time")
        assert equal(made, opened.temp.sum("time"))


def test_the_engine_h5netcdf(name):
    pytest.importorskip("h5netcdf")
    with xarray.open_dataset(name, engine="h5netcdf") as opened:
        part = opened.packed[2:, ::2, 1]
        made = part.warpfold.max("time")
        assert equal(made, part.max("time"))


def test_arrays_beside(data, loaded):
    index = {"time": slice(3, 10, 2), "lat": slice(None, None, -1), "lon": 2}
    part, expected = data.temp.isel(index), loaded.temp.isel(index)
    north = (part.lat > 10).rename("north")
    for mask in (north, north.values):
        assert equal(part.warpfold.sum("time", mask=mask), expected.where(north).sum("time"))
        assert equal(part.warpfold.sum("lat", mask=mask), expected.where(north).sum("lat"))
    late = (np.arange(4) > 1)[:, None]
    assert equal(part.warpfold.sum("time", mask=late), expected[2:].sum("time"))
    weights = abs(part.lat) + 30
    made = part.warpfold.mean("lat", weights=weights)
    assert equal(made.astype("f4"), expected.weighted(weights).mean("lat").astype("f4"))
    positive = expected > 0
    assert equal(
        part.warpfold.sum("time", mask=positive.T), expected.where(positive).sum("time")
    )
    masked = np.ma.masked_array(np.ones(5), [1, 0, 0, 0, 1])
    assert equal(part.warpfold.sum("lat", mask=masked), expected[:, 1:4].sum("lat"))
    with pytest.raises(warpfold.UsageError, match="mask does not fit DataArray 'temp'"):
        part.warpfold.sum("lat", mask=north[::-1])
    with pytest.raises(warpfold.UsageError, match="it has dimensions"):
        part.warpfold.sum("lat", mask=north.rename(lat="y"))


def test_labels(data, loaded):
    part, expected = data.temp.isel(lat=[0, 2]), loaded.temp.isel(lat=[0, 2])
    months = part.time.dt.month
    assert equal(part.warpfold.max("time", by=months), expected.groupby(months).max("time"))
    assert equal(part.warpfold.max("time", by="month"), expected.groupby("time.month").max("time"))
    names = xarray.where(months == 1, "cold", "warm").rename("name")
    assert equal(part.warpfold.sum("time", by=names), expected.groupby(names).sum("time"))
    assert equal(part.warpfold.sum(by=months), expected.groupby(months).sum(...))
    regions = xarray.DataArray(np.arange(8).reshape(2, 4) // 3, dims=("lat", "lon"), name="region")
    made = part.warpfold.max(["lat", "lon"], by=regions)
    assert made.dims == ("time", "region") and list(made.region) == [0, 1, 2]
    assert np.array_equal(made[:, 2], np.fmax.reduce(expected.values[:, 1, 2:], axis=1), True)
    assert part.warpfold.max(["lat", "time"], by=months).dims == ("month", "lon")
    with pytest.raises(warpfold.UsageError, match="dim='time'"):
        part.warpfold.max("lat", by=months)


def test_windows(data, loaded):
    made = data.temp.warpfold.sum("time", every="month")
    assert made.dims == DIMS and made.time.dtype.kind == "M"
    assert np.array_equal(made, loaded.temp.resample(time="1MS").sum())
    with pytest.raises(warpfold.UsageError, match="reversed"):
        data.temp[::-1].warpfold.sum("time", every=5)


def test_own_options_are_refused(data):
    for option in ({"axis": 0}, {"select": "1:"}, {"output": "out.h5"}):
        with pytest.raises(warpfold.UsageError, match="cannot be given here"):
            data.temp.warpfold.sum("time", **option)
    with pytest.raises(warpfold.UsageError, match="'x' is not a dimension"):
        data.temp.warpfold.sum("x")
    with pytest.raises(TypeError, match="opps"):
        data.temp.warpfold.sum("time", opps=1)


def test_reduce_as_xarray(name, loaded, values):
    options = {"nan": "skip", "as_xarray": True}
    made = warpfold.reduce(name, "temp", ops="max", axis="time", **options)
    assert equal(made.drop_vars("time"), loaded.temp.max("time"))
    assert made.time == np.datetime64("2001-01-30T12")  # CF: the middle of the cell
    part = loaded.temp.sel(time="2001-02")
    several = warpfold.reduce(
        name, "temp", ops="sum,count", axis=["lat"], select="time=2001-02", **options
    )
    assert equal(several["sum"].rename("temp").drop_vars("lat"), part.sum("lat"))
    assert np.array_equal(several["count"], part.count("lat"))
    by = warpfold.reduce(name, "whole", ops="max", by=loaded.time.dt.month, as_xarray=True)
    assert equal(by, loaded.whole.groupby("time.month").max(...))
    grouped = warpfold.reduce(name, "run/1/temp", ops="max", axis=0, **options)
    assert np.array_equal(grouped, np.fmax.reduce(values, axis=0), equal_nan=True)
    both = warpfold.reduce(name, ["temp", "whole"], ops="max", axis=0, as_xarray=True)
    assert both["whole"].dims == ("lat", "lon")


def test_as_xarray_needs_dimensions(name):
    for options in ({}, {"axis": 0, "output": "out.h5"}):
        with pytest.raises(warpfold.UsageError, match="as_xarray needs axis or by, and no output"):
            warpfold.reduce(name, "temp", as_xarray=True, **options)
    with pytest.raises(warpfold.UsageError, match="an array is given"):
        warpfold.reduce(np.zeros(3), as_xarray=True)


@pytest.mark.parametrize(
    "imports",
    ["import warpfold, importlib.util; importlib.util.find_spec('xarray'); import xarray",
     "import warpfold, sys; assert 'xarray' not in sys.modules; import xarray",
     "import xarray, warpfold", "import warpfold, xarray as xr; from xarray import Dataset"],
)  # fmt: skip
def test_the_accessor_is_there(imports):
    script = f"{imports}\nimport xarray; xarray.DataArray.warpfold.__call__; print('there')"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.stdout == "there\n", ended.stderr
