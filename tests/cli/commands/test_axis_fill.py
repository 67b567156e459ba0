"""Extrema and sums along axes where all elements of an output are left out."""

import json

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


@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8"])
def test_sums_of_nothing_are_0_and_counted_or_the_value_asked_for(folder, dtype, ranks):
    fill = 111
    values = frames(dtype, fill)
    with h5py.File(folder / "in.h5", "w") as file:
        file.create_dataset("x", data=values).attrs["_FillValue"] = values.dtype.type(fill)
    wanted = np.ma.array(values, mask=values == fill).sum(axis=0, dtype="f8")
    for words, none in (([], 0), (["--empty", "1000"], 1000)):
        run = support.run("reduce", folder / "in.h5", "x", "--axis", "0", "--ops", "sum,count",
                          "-o", folder / "out.h5", "--force", "--json", "-", *words,
                          ranks=ranks)  # fmt: skip
        notes = [note for note in json.loads(run.stdout)["notes"] if "sums" in note]
        assert notes == [note.removeprefix("warpfold: note: ") for note in run.stderr.splitlines()
                         if "sums" in note]  # fmt: skip
        assert len(notes) == 1 and " 5 of the sums" in notes[0] and "'x'" in notes[0]
        with h5py.File(folder / "out.h5") as file:
            assert np.array_equal(file["x_sum"][...], wanted.filled(none))
            assert file["x_sum"].attrs.get("_FillValue") == (none or None)
            assert "_FillValue" not in file["x_count"].attrs


def test_sums_of_labels_of_nothing_and_values_that_no_sum_holds(folder):
    with h5py.File(folder / "in.h5", "w") as file:
        file["x"] = np.array([1, -9, 2, -9], "i2")
        file["x"].attrs["_FillValue"] = np.int16(-9)
        file["label"] = np.array([1, 2, 1, 2])
    words = ["reduce", folder / "in.h5", "x", "--by", "label", "--ops", "sum", "-o"]
    run = support.run(*words, folder / "out.h5", "--empty", "-32769")
    with h5py.File(folder / "out.h5") as file:
        assert file["x"][...].tolist() == [3, -32769]
        assert file["label"][...].tolist() == [1, 2]
    assert " 1 of the sums: they are -32769." in run.stderr
    support.fail(*words, folder / "no.h5", "--empty", "0.5", code=2, mentions=["0.5"])
    assert not (folder / "no.h5").exists()


@pytest.mark.parametrize("ranks", [None, 3])
def test_extrema_that_mark_missing_ones_are_noted(folder, ranks):
    """The brightest pixels of a byte are what netCDF takes for missing ones."""
    values = np.arange(24, dtype="u1").reshape(2, 12)
    values[1, 3:5] = 255
    with h5py.File(folder / "in.h5", "w") as file:
        file["x"], file["good"] = values, np.ones((2, 12), "i1")
        file["good"][:, 7] = 0
    words = ("reduce", folder / "in.h5", "x", "--axis", "0", "--ops", "max,min,sum", "--json", "-")
    said = "2 extrema of 'x' have the value of missing ones, 255. Choose another value with --empty."
    for more, noted in ((["--mask", "good"], True), ([], False),
                        (["--mask", "good", "--empty", "200"], False)):  # fmt: skip
        notes = support.run(*words, *more, ranks=ranks).report.get("notes", [])
        assert (said in notes) == noted
