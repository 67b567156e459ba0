"""Datasets in memory, compared with what h5py and xarray read."""

import h5py
import numpy as np
import pytest
import warpfold
from read_samples import SHAPE, TYPES, datasets_of, make_file, same, values_of


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    name = tmp_path_factory.mktemp("read") / "in.h5"
    make_file(name)
    return name


@pytest.mark.parametrize("options", [{}, {"slab": "4K"}, {"read_path": "library"}, {"threads": 1}])
def test_whole_datasets_are_as_h5py_reads_them(samples, options):
    with h5py.File(samples) as file:
        for dataset in datasets_of(samples):
            if options.get("read_path") == "library" and "/" in dataset and "gzip" not in dataset:
                continue
            read = warpfold.read(samples, dataset, **options)
            assert same(read, file[dataset][()]), dataset


@pytest.mark.parametrize(
    "select",
    [np.s_[3:20:4, ::3, 5:6], np.s_[7], np.s_[..., -1], np.s_[22:, 4:5], np.s_[:, 3, ::30]],
)
@pytest.mark.parametrize("slab", [None, "4K"])
def test_selections(samples, select, slab):
    with h5py.File(samples) as file:
        for dataset in datasets_of(samples):
            if file[dataset].shape == SHAPE:
                read = warpfold.read(samples, dataset, select=select, slab=slab)
                assert same(read, file[dataset][select]), dataset


def test_members(samples):
    with h5py.File(samples) as file:
        for member in ("x", "n"):
            read = warpfold.read(samples, f"points.{member}")
            assert same(read, file["points"][()][member])
            assert same(
                warpfold.read(samples, f"points.{member}", select=np.s_[1::2, 2]),
                file["points"][1::2, 2][member],
            )


def test_arrays_are_the_callers(samples):
    array = warpfold.read(samples, "row")
    assert array.flags.owndata or array.base is not None
    assert array.flags.writeable and array.flags.c_contiguous
    array[:] = 0
    assert np.any(warpfold.read(samples, "row"))


def test_nan_keeps_its_bits(tmp_path):
    for dtype in ("f2", "f4", "f8"):
        bits = np.full(9000, -1, dtype.replace("f", "i"))
        bits[1::2] = np.array(np.nan, dtype).view(bits.dtype) + 1
        with h5py.File(tmp_path / "nan.h5", "w") as file:
            file["x"] = bits.view(dtype)
        assert np.array_equal(warpfold.read(tmp_path / "nan.h5", "x").view(bits.dtype), bits)


def packed_file(tmp_path):
    name = tmp_path / "packed.nc"
    stored = values_of(">i2", (30, 40))
    stored[::7, 3] = -999
    with h5py.File(name, "w") as file:
        file.create_dataset("t", data=stored, chunks=(4, 40), compression="gzip", shuffle=True)
        file["t"].attrs.update(scale_factor=0.01, add_offset=np.float64(273.15))
        file["t"].attrs["_FillValue"] = np.array([-999], ">i2")
        values = values_of("f4", (30, 40))
        values[5, ::3] = 1e20
        file.create_dataset("w", data=values, chunks=(30, 7))
        file["w"].attrs["_FillValue"] = np.array([1e20], "f4")
        file["n"] = stored
        file["n"].attrs["_FillValue"] = np.array([-999], ">i2")
        file["n"].attrs["valid_range"] = np.array([-30000, 30000], ">i2")
        for d, dimension in enumerate(("y", "x")):
            file[dimension] = np.arange((30, 40)[d], dtype="i4")
            file[dimension].make_scale(dimension)
            for variable in "twn":
                file[variable].dims[d].attach_scale(file[dimension])
    return name, stored, values


def test_values_are_unpacked_as_xarray_does(tmp_path):
    xarray = pytest.importorskip("xarray")
    name, stored, values = packed_file(tmp_path)
    read = warpfold.read(name, "t")
    scaled = np.where(stored == -999, np.nan, stored * 0.01 + 273.15)
    assert read.dtype == np.float64 and np.array_equal(read, scaled, equal_nan=True)
    with xarray.open_dataset(name, engine="h5netcdf" if has("h5netcdf") else None) as data:
        assert np.array_equal(np.isnan(read), np.isnan(data["t"].values))
        weights = data["w"].values
    assert np.array_equal(warpfold.read(name, "w"), weights, equal_nan=True)
    assert np.isnan(weights[5, 0]) and weights[5, 1] == values[5, 1]


def has(module):
    import importlib.util

    return importlib.util.find_spec(module) is not None


def test_missing_integers_are_the_fill_value(tmp_path):
    name, stored, _ = packed_file(tmp_path)
    valid = (stored >= -30000) & (stored <= 30000)
    assert same(warpfold.read(name, "n"), np.where(valid, stored, -999).astype(">i2"))
    assert same(warpfold.read(name, "n", raw=True), stored)
    assert same(warpfold.read(name, "t", raw=True), stored)
    zeros = np.where(valid & (stored != -999), stored, 0).astype("i2")
    assert same(warpfold.read(name, "n", empty=0), zeros)
    with pytest.raises(warpfold.UsageError, match="70000"):
        warpfold.read(name, "n", empty=70000)


def test_conditions_and_masks(tmp_path):
    name, stored, values = packed_file(tmp_path)
    kept = warpfold.read(name, "w", where=[">0", "<1e10"])
    assert np.array_equal(
        kept, np.where((values > 0) & (values < 1e10), values, np.nan), equal_nan=True
    )
    counted = warpfold.read(name, "n", raw=True, where=">5", empty=-1)
    assert same(counted, np.where(stored > 5, stored, -1).astype("i2"))
    assert same(
        warpfold.read(name, "n", raw=True, where=">5"),
        np.where(stored > 5, stored, -999).astype("i2"),
    )
    unfilled = warpfold.read(name, "y", where=">5")  # netCDF's default stands for what is left out
    assert same(unfilled, np.where(np.arange(30) > 5, np.arange(30), -2147483647).astype("i4"))
    masked = warpfold.read(name, "w", raw=True, mask="n > 100", empty="-2", slab="4K")
    assert same(masked, np.where((stored > 100) & valid_of(stored), values, np.float32(-2)))


def valid_of(stored):
    return (stored >= -30000) & (stored <= 30000) & (stored != -999)


def test_several_datasets_and_files(samples, tmp_path):
    read = warpfold.read(samples, ["<f4/gzip", "row"])
    with h5py.File(samples) as file:
        assert list(read) == ["<f4/gzip", "row"]
        assert all(same(array, file[name][()]) for name, array in read.items())
        parts = [file["<i8/gzip"][:9], file["<i8/gzip"][9:]]
        for i, part in enumerate(parts):
            with h5py.File(tmp_path / f"{i}.h5", "w") as out:
                out.create_dataset("x", data=part, chunks=(2, 5, 31), compression="gzip")
        files = [tmp_path / "0.h5", tmp_path / "1.h5"]
        whole = file["<i8/gzip"][()]
    assert same(warpfold.read(files, "x", concat=0), whole)
    assert same(warpfold.read(files, "x", concat=0, select=np.s_[5:15:3]), whole[5:15:3])


def test_dates(tmp_path):
    name = tmp_path / "days.nc"
    with h5py.File(name, "w") as file:
        file["time"] = np.arange(90.0)
        file["time"].make_scale("time")
        file["time"].attrs["units"] = "days since 2001-01-01"
        file["x"] = np.arange(180, dtype="f4").reshape(90, 2)
        file["x"].dims[0].attach_scale(file["time"])
    values = np.arange(180, dtype="f4").reshape(90, 2)
    assert same(warpfold.read(name, "x", select="time=2001-02"), values[31:59])
    for part, expected in (
        ("2001-02", values[31:59]),
        (np.datetime64("2001-02"), values[31:59]),
        (slice("2001-02", "2001-03-02", 2), values[31:61:2]),
        (slice(3.0, 7.5), values[3:8]),
        (np.float64(3), values[3]),
        (slice(None, 5), values[:5]),
        (-2, values[-2]),
    ):
        assert same(warpfold.read(name, "x", select={"time": part}), expected)


def test_what_is_too_large_is_refused_before_it_is_read(tmp_path):
    with h5py.File(tmp_path / "huge.h5", "w") as file:
        file.create_dataset("x", (2**30, 2**20), "f8", chunks=(2**10, 2**10))
    with pytest.raises(warpfold.Error, match="bytes, and there are"):
        warpfold.read(tmp_path / "huge.h5", "x")
    assert np.array_equal(
        warpfold.read(tmp_path / "huge.h5", "x", select=np.s_[:2, -3:]), np.zeros((2, 3))
    )


def test_mistakes(samples):
    with pytest.raises(warpfold.UsageError, match="device"):
        warpfold.read(samples, "row", device="gpu")
    with pytest.raises(warpfold.UsageError, match="backend"):
        warpfold.read(samples, "row", device="cpu", backend="cuda")
    with pytest.raises(warpfold.UsageError, match="backend"):
        warpfold.read(samples, "row", device="cuda", backend="cpu")
    with pytest.raises(warpfold.Error, match="no"):
        warpfold.read(samples, "missing")
    with pytest.raises(TypeError, match="output"):
        warpfold.read(samples, "row", output="out.h5")


def test_progress_and_notes(samples):
    seen = []
    warpfold.read(samples, "row", progress=seen.append)
    assert seen and seen[-1].done == seen[-1].total == 400000


def test_types_are_those_of_the_table(samples):
    for dtype in TYPES:
        read = warpfold.read(samples, f"{np.dtype(dtype).str}/gzip", select="0")
        assert read.dtype == np.dtype(dtype).newbyteorder("=") and read.shape == SHAPE[1:]
