"""Unpacked values of all pairs of types, beside NumPy's and netCDF4-python's."""

import itertools

import h5py
import numpy as np
import pytest

import reference
import support

STORED = ("i1", "<i2", ">i4", "<i8", "u1", ">u2", "<u4", "<u8", "<f2", ">f4", "<f8")
PACKING = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
COUNT = 300


def stored_values(dtype, bound=2**63):
    """Integers up to `bound`, or floats."""
    random = np.random.default_rng(3)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return (random.normal(size=COUNT) * 100).astype(dtype)
    limits = np.iinfo(dtype)
    low, high = max(limits.min, -bound), min(limits.max, bound)
    return random.integers(low, high, COUNT, dtype.newbyteorder("="), endpoint=True).astype(dtype)


def number(dtype, integer, real):
    return np.dtype(dtype).type(real if np.dtype(dtype).kind == "f" else integer)


def computed(dtype):
    """The type that the program computes in where NumPy would in `dtype`."""
    return f"f{max(4, dtype.itemsize)}" if dtype.kind == "f" else f"{dtype.kind}8"


def unpacked(stored, scale, offset):
    values, dtype = stored, stored.dtype
    for operate, operand in ((np.multiply, scale), (np.add, offset)):
        if operand is not None:
            dtype = np.result_type(dtype, operand.dtype)
            values = operate(values.astype(computed(dtype)), operand.astype(computed(dtype)))
    return values


def attributes(scale, offset):
    named = {"scale_factor": scale, "add_offset": offset}
    return {name: each for name, each in named.items() if each is not None}


def write(path, stored, attributes, name="x", mode="w", **storage):
    with h5py.File(path, mode) as file:
        file.create_dataset(name, data=stored, **storage).attrs.update(attributes)
    return path


def decoded(path, *words, name="x", **options):
    """Every value that isn't left out, and the report."""
    out = path.with_name("decoded.h5")
    report = support.run("compact", path, name, "-o", f"{out}:x", "--where", "!=nan",
                         "--force", "--json", "-", *words, **options).report  # fmt: skip
    with h5py.File(out) as file:
        return file["x"][...], report


def value_type(report):
    return support.NUMPY_TYPES[report.get("value_type", report["dtype"])]


@pytest.mark.parametrize("stored_type", STORED)
def test_types_are_numpys(folder, stored_type):
    stored = stored_values(stored_type)
    for scale_type, offset_type in zip((*PACKING, None), itertools.cycle((*PACKING[5:], None))):
        scale = scale_type and number(scale_type, 7, 0.1)
        offset = offset_type and number(offset_type, 100, -273.15)
        with np.errstate(over="ignore"):
            expected = unpacked(stored, scale, offset)
        path = write(folder / "in.h5", stored, attributes(scale, offset), chunks=(100,))
        found, report = decoded(path, "--slab", "4K")
        assert np.array_equal(found, expected), (scale_type, offset_type)
        assert found.dtype == expected.dtype and value_type(report) == expected.dtype.str[1:]
        if offset is None:
            continue
        found, _ = decoded(write(path, stored, attributes(None, offset)))
        assert np.array_equal(found, unpacked(stored, None, offset)), offset_type


def test_wide_elements_keep_their_digits(folder):
    for stored, scale, expected in [
        (np.int32(123456789), np.float32(0.01), 123456789 * float(np.float32(0.01))),
        (np.float64(1e300), np.float32(1), 1e300),
        (np.int64(2**62 + 1), np.int8(-1), -(2**62) - 1),
        (np.uint64(2**64 - 1), np.uint8(1), 2**64 - 1),
    ]:
        path = write(folder / "in.h5", stored, {"scale_factor": scale})
        assert support.reduce(path, "x", ops="max").results["max"] == expected


@pytest.mark.parametrize("stored_type", ["<i2", ">u4", "<i8"])
def test_integers_by_integers_stay_exact(folder, stored_type):
    stored = stored_values(stored_type, 2**40)
    scale, offset = np.int16(-300), np.int32(12345)
    values = stored.astype("i8") * scale + offset
    path = write(folder / "in.h5", stored.reshape(30, 10), attributes(scale, offset))
    threshold = int(values[7])
    kept = values[values > threshold]
    results = support.reduce(path, "x", "--where", f">{threshold}", ranks=2).results
    true = reference.statistics(kept)
    assert {each: results[each] for each in ("count", "sum", "mean", "std", "min", "max")} == {
        each: true[each] for each in ("count", "sum", "mean", "std", "min", "max")
    }
    out = folder / "out.h5"
    for words, expected in [
        ([], np.cumsum(values).reshape(30, 10)),
        (["--axis", "0"], np.cumsum(values.reshape(30, 10), axis=0)),
        (["--op", "min", "--axis", "1"], np.minimum.accumulate(values.reshape(30, 10), axis=1)),
    ]:
        support.scan(path, out, "x", *words)
        with h5py.File(out) as file:
            assert np.array_equal(file["x"][...], expected)
    support.run("reduce", path, "x", "--axis", "1", "--ops", "max", "-o", out, "--force")
    with h5py.File(out) as file:
        assert file["x"].dtype == "i8"
        assert np.array_equal(file["x"][...], values.reshape(30, 10).max(axis=1))
    counts = support.run("histogram", path, "x", "--bins", "6", "--json", "-").report
    assert counts["results"]["counts"] == np.histogram(values, 6)[0].tolist()


@pytest.mark.skipif(support.BACKEND != "cuda", reason="cores hold chunks of any size")
def test_unsigned_integers_in_chunks_that_no_gpu_holds(folder):
    stored = np.full((6000, 10_000), -1, "i2")
    path = folder / "in.h5"
    write(path, stored, {"_Unsigned": "true"}, chunks=stored.shape, compression="gzip")
    found = support.reduce(path, "x", "--device-memory", "64M", ops="min,sum").results
    assert found == {"min": 65535, "sum": 65535 * stored.size}


@pytest.mark.parametrize("mark", ["true", "True", np.bytes_("true"), "false", "yes"])
@pytest.mark.parametrize("stored_type", ["i1", ">i2", "<i8"])
def test_unsigned_integers(folder, stored_type, mark):
    stored = stored_values(stored_type).reshape(20, 15)
    is_unsigned = mark not in ("false", "yes")
    values = stored.view(stored.dtype.str.replace("i", "u")) if is_unsigned else stored
    path = folder / "in.h5"
    for packing in ({}, attributes(np.float64(0.5), None)):
        for storage in ({}, {"chunks": (7, 4), "compression": "gzip"}):
            write(path, stored, {"_Unsigned": mark, **packing}, **storage)
            expected = values * packing.get("scale_factor", 1)
            for words, ranks in (([], None), (["--read-path", "library"], 2)):
                found, report = decoded(path, *words, ranks=ranks)
                assert np.array_equal(found, expected.ravel())
            assert support.NUMPY_TYPES[report["dtype"]] == values.dtype.str[1:]
    fill = stored.min()
    write(path, stored, {"_Unsigned": mark, "_FillValue": fill})
    found, _ = decoded(path)
    assert np.array_equal(found, values[stored != fill])
    assert support.reduce(path, "x", "--raw", ops="min").results["min"] == stored.min()
    info = support.run("info", path, "x", "--json", "-").report
    fills = info["applied"]["fill_values"]
    assert fills == [int(values[stored == fill][0])]
    support.scan(path, folder / "out.h5", "x", "--fill-value", "none", "--op", "max")
    with h5py.File(folder / "out.h5") as file:
        assert np.array_equal(file["x"][...].ravel(), np.maximum.accumulate(values.ravel()))
        assert ("_Unsigned" in file["x"].attrs) == (not is_unsigned)


def test_values_are_netcdf4_pythons(folder):
    netcdf4 = pytest.importorskip("netCDF4")
    pytest.importorskip("numpy", minversion="2", reason="older ones look at values of scalars")
    path = folder / "in.nc"
    cases = {}
    for stored_type, scale_type, offset_type in itertools.product(
        ("i1", "<i2", "<i4", "<i8", "u1", "<u4", "<f4", "<f8"), ("i2", "f4", "f8", None),
        ("i4", "f4", "f8", None),
    ):  # fmt: skip
        scale = scale_type and number(scale_type, 2, 0.01)
        offset = offset_type and number(offset_type, -5, 273.15)
        name = f"{stored_type}_{scale_type}_{offset_type}".replace("<", "")
        cases[name] = attributes(scale, offset)
        if stored_type == "i1":
            cases[name]["_Unsigned"] = "true"
        write(path, stored_values(stored_type, 10_000), cases[name], name, "a")
    with netcdf4.Dataset(path) as file:
        file.set_auto_mask(False)
        for name in cases:
            theirs = np.asarray(file[name][...])
            found, _ = decoded(path, name=name)
            # NumPy wraps products of narrow integers.
            if theirs.dtype.kind == "f" or theirs.dtype.itemsize > 2:
                assert np.array_equal(found, theirs), name
            if theirs.dtype.kind == "f":
                assert found.dtype == theirs.dtype, name
