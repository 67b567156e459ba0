"""Extrema along axes where all elements of an output are left out: they are the fill value."""

import h5py
import numpy as np
import pytest

import support

DEFAULTS = {
    "i1": -127, "i2": -32767, "i4": -2147483647, "i8": -9223372036854775806,
    "u1": 255, "u2": 65535, "u4": 4294967295, "u8": 18446744073709551614,
    "f4": np.nan, "f8": np.nan,
}  # fmt: skip
OPERATIONS = ("max", "min", "argmax", "mean", "count")


def frames(dtype, fill):
    """Frames of a detector whose second row of pixels has no values."""
    values = np.random.default_rng(1).integers(1, 100, (6, 4, 5)).astype(dtype)
    values[:, 1] = fill
    values[2, 3, 3] = fill
    return values


def reduced(folder, values, attributes, *words, ranks=None, **storage):
    """Each output, and those of its attributes that aren't warpfold's."""
    with h5py.File(folder / "in.h5", "w") as file:
        file.create_dataset("x", data=values, **storage).attrs.update(attributes)
    out = folder / "out.h5"
    support.run("reduce", folder / "in.h5", "x", "--axis", "0", "--ops", ",".join(OPERATIONS),
                "-o", out, "--force", *words, ranks=ranks)  # fmt: skip
    with h5py.File(out) as file:
        return {
            name: (file[f"x_{name}"][...], {key: value
                                            for key, value in file[f"x_{name}"].attrs.items()
                                            if not key.startswith("warpfold")})
            for name in OPERATIONS
        }  # fmt: skip


def expect(found, values, masked, fill):
    """NumPy's, of a masked array, with `fill` in extrema of nothing."""
    seen = np.ma.array(values, mask=masked)
    for name in ("max", "min"):
        elements, attributes = found[name]
        assert elements.dtype == values.dtype
        assert np.array_equal(elements, getattr(seen, name)(axis=0).filled(fill),
                              equal_nan=values.dtype.kind == "f")  # fmt: skip
        (written,) = attributes["_FillValue"]
        assert written.dtype == values.dtype
        assert written == fill or (np.isnan(written) and np.isnan(fill))
    assert np.array_equal(found["count"][0], (~masked).sum(axis=0))
    indices = np.where(masked.all(axis=0), -1, seen.argmax(axis=0))
    assert np.array_equal(found["argmax"][0], indices)
    for name in ("argmax", "count"):
        assert "_FillValue" not in found[name][1]
    assert np.isnan(found["mean"][1]["_FillValue"])
    assert np.isnan(found["mean"][0][1]).all()


@pytest.mark.parametrize("ranks, storage", [(None, {}), (3, {"chunks": (2, 3, 5)})])
@pytest.mark.parametrize("dtype", DEFAULTS)
def test_masked_pixels_are_netcdfs_fill_value(folder, dtype, ranks, storage):
    fill = 100
    values = frames(dtype, fill)
    found = reduced(folder, values, {}, "--fill-value", fill, ranks=ranks, **storage)
    expect(found, values, values == fill, np.dtype(dtype).type(DEFAULTS[dtype]))
    found = reduced(folder, values, {}, "--where", "<100", ranks=ranks, **storage)
    expect(found, values, values == fill, np.dtype(dtype).type(DEFAULTS[dtype]))


@pytest.mark.parametrize("dtype", [">i2", "u4", "<f4", ">f8"])
def test_the_inputs_fill_value_or_the_one_asked_for(folder, dtype):
    fill = 111
    values = frames(dtype, fill)
    native = values.astype(values.dtype.newbyteorder("="))
    attributes = {"_FillValue": values.dtype.type(fill), "units": "counts"}
    found = reduced(folder, values, attributes)
    expect(found, native, native == fill, fill)
    assert found["max"][1]["units"] == "counts"
    for words in (["--empty", "7"], ["--empty", "0x7"]):
        expect(reduced(folder, values, attributes, *words), native,
               native == fill, 7)  # fmt: skip
    support.fail("reduce", folder / "in.h5", "x", "--axis", "0", "--ops", "max", "-o",
                 folder / "no.h5", "--empty", "many", code=2,
                 mentions=["many"], ranks=2)  # fmt: skip
    if dtype in (">i2", "u4"):
        for value in ("0.5", "nan"):
            support.fail("reduce", folder / "in.h5", "x", "--axis", "0", "--ops", "max", "-o",
                         folder / "no.h5", "--empty", value, code=2, mentions=[value])  # fmt: skip
    assert not (folder / "no.h5").exists()
    support.fail("reduce", folder / "in.h5", "x", "--empty", "1", code=2, mentions=["--axis"])


def test_nan_that_is_skipped(folder):
    values = frames("f4", np.nan)
    found = reduced(folder, values, {"_FillValue": np.float32(1e20)}, "--nan", "skip")
    expect(found, values, np.isnan(values), np.float32(1e20))


def test_unpacked_values_have_no_stored_fill_value(folder):
    stored = frames("i2", -999)
    attributes = {"_FillValue": np.int16(-999), "scale_factor": np.float32(0.5)}
    found = reduced(folder, stored, attributes)
    expect(found, stored * np.float32(0.5), stored == -999, np.float32(np.nan))


def test_no_fill_value_where_nothing_can_be_left_out(folder):
    for values in (frames("i4", 3), frames("f8", np.nan)):
        found = reduced(folder, values, {"_FillValue": values.dtype.type(3)}, "--fill-value", "none")
        assert np.array_equal(found["max"][0], values.max(axis=0), equal_nan=True)
        assert "_FillValue" not in found["max"][1]
