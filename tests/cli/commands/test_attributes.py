"""Fill values, valid ranges and packing that a dataset's attributes tell are applied unasked."""

import h5py
import numpy as np
import pytest

import support

NAN, INF = np.nan, np.inf


def write(path, stored, attributes, **storage):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=stored, **storage).attrs.update(attributes)
    return path


def held(number, dtype):
    """An element that stands for a number, or None where none does; beside floats the nearest."""
    number, dtype = np.asarray(number)[()], dtype.newbyteorder("=")
    with np.errstate(over="ignore", invalid="ignore"):
        element = dtype.type(number) if dtype.kind == "f" else number.astype(dtype)
    if dtype.kind == "f":
        return None if np.isinf(element) and np.isfinite(number) else element
    return element if np.isfinite(number) and int(element) == number == int(number) else None


def numbers_of(attributes, name):
    numbers = np.atleast_1d(attributes.get(name, []))
    return numbers if numbers.dtype.kind in "iuf" else []


def bounds(attributes, name, dtype, count):
    """The elements that netCDF4-python makes of an attribute, or None where it ignores it."""
    converted = [held(each, dtype) for each in numbers_of(attributes, name)]
    return None if len(converted) != count or None in converted else converted


def kept(stored, attributes):
    """Which elements netCDF4-python doesn't mask; of fill values those count that can be held."""
    counts = np.ones(stored.shape, bool)
    for name in ("_FillValue", "missing_value"):
        for number in numbers_of(attributes, name):
            fill = held(number, stored.dtype)
            if fill is not None:
                counts &= ~np.isnan(stored) if fill != fill else stored != fill
    both = bounds(attributes, "valid_range", stored.dtype, 2)
    (least,) = both[:1] if both else bounds(attributes, "valid_min", stored.dtype, 1) or [None]
    (most,) = both[1:] if both else bounds(attributes, "valid_max", stored.dtype, 1) or [None]
    if least is not None:
        counts &= ~(stored < least)
    if most is not None:
        counts &= ~(stored > most)
    return counts


def compacted(path, *words, **options):
    out = path.with_name("out.h5")
    report = support.run("compact", path, "x", "-o", out, "--force", "--fill-value", "auto",
                         "--json", "-", *words, **options).report  # fmt: skip
    with h5py.File(out) as file:
        return file["x"][...], report


INTEGERS = np.array([-128, -100, -7, -1, 0, 1, 5, 99, 100, 127])
REALS = np.array([-INF, -1e20, -100.0, -0.1, -0.0, 0.1, 0.5, 5.0, 100.0, 1e20, INF, NAN])
ATTRIBUTES = [
    {"_FillValue": "own 100"},
    {"missing_value": np.int16([100, -7, 100])},
    {"missing_value": np.float64([1e20, 5, NAN])},
    {"_FillValue": "own 0", "missing_value": np.float64(-0.1)},
    {"valid_min": "own 1"},
    {"valid_max": np.float64(0.1)},
    {"valid_max": np.int32(5)},
    {"valid_min": np.int64(300), "valid_max": np.float32(99)},
    {"valid_range": np.float32([-100, 5])},
    {"valid_range": np.int32([0, 100]), "valid_min": np.int32(50), "valid_max": np.int32(-50)},
    {"valid_range": np.int32([0, 100, 5]), "valid_min": np.int32(5)},
    {"valid_range": np.float64([0.5, 1e300]), "valid_max": np.int32(5)},
    {"valid_range": np.int32([100, 5])},
    {"valid_range": np.float64([NAN, INF])},
    {"valid_min": np.int32([1, 2]), "_FillValue": "own 5"},
    {"valid_range": "0, 100", "valid_min": "1", "missing_value": "none"},
    {"valid_min": np.float64(-INF), "missing_value": np.float64(-INF)},
]


def counted(path, values, *words, ranks=None):
    """How often the datasets of a file have each of some rising values, by the program."""
    edges = ",".join(map(repr, [*values, 1e21]))
    report = support.run("histogram", path, "--all", f"--bins={edges}", *words, "--json", "-",
                         ranks=ranks).report  # fmt: skip
    return {
        each["dataset"]: [each["results"][key] for key in ("below", "counts", "above", "nan_count")]
        for each in report["datasets"]
    }


def counts_of(elements, values):
    elements = np.asarray(elements, "f8")
    counts = [int((elements == each).sum()) for each in values]
    return [int((elements == -INF).sum()), counts, int((elements == INF).sum()),
            int(np.isnan(elements).sum())]  # fmt: skip


@pytest.mark.parametrize("storage, ranks", [({}, None), ({"chunks": (40,), "compression": "gzip"}, 2)])
@pytest.mark.parametrize("dtype", ["i1", ">i2", "<i8", "u1", "<u4", "<f2", ">f4", "<f8"])
def test_what_counts_is_netcdf4_pythons(folder, dtype, storage, ranks):
    dtype = np.dtype(dtype)
    choices = {"i": INTEGERS, "u": np.abs(INTEGERS), "f": REALS}[dtype.kind]
    with np.errstate(over="ignore"):
        stored = np.random.default_rng(1).choice(choices, 150).astype(dtype)
    values = np.unique(stored[np.isfinite(stored)]).astype("f8").tolist()
    expected = {}
    with h5py.File(folder / "in.h5", "w") as file:
        for number, attributes in enumerate(ATTRIBUTES):
            own = {name: dtype.type(each.split()[1]) if str(each).startswith("own") else each
                   for name, each in attributes.items()}  # fmt: skip
            file.create_dataset(f"x{number}", data=stored, **storage).attrs.update(own)
            expected[f"x{number}"] = counts_of(stored[kept(stored, own)], values)
    assert counted(folder / "in.h5", values, ranks=ranks) == expected
    assert counted(folder / "in.h5", values, "--fill-value", "auto", ranks=ranks) == expected
    everything = dict.fromkeys(expected, counts_of(stored, values))
    for words in (["--raw"], ["--fill-value", "none"]):
        assert counted(folder / "in.h5", values, *words, ranks=ranks) == everything


def test_every_command_applies_them(folder):
    stored = np.array([[-999, 4, 32767], [7, -999, 1], [12, 3, 60]], "i2")
    attributes = {"_FillValue": np.int16(-999), "missing_value": np.float64(32767),
                  "valid_max": np.int16(50), "scale_factor": 0.5, "add_offset": 10.0}  # fmt: skip
    path = write(folder / "in.h5", stored, attributes)
    values = stored * 0.5 + 10.0
    counts = (stored != -999) & (stored != 32767) & (stored <= 50)
    results = support.reduce(path, "x", ops="count,sum,min,argmin").results
    assert results == {"count": 5, "sum": values[counts].sum(), "min": 10.5, "argmin": 5}
    report = support.run("histogram", path, "x", "--bins", "2", "--json", "-").report
    assert report["results"]["counts"] == np.histogram(values[counts], 2)[0].tolist()
    out = folder / "out.h5"
    support.scan(path, out, "x")
    with h5py.File(out) as file:
        sums = np.cumsum(np.where(counts, values, 0)).reshape(3, 3)
        assert np.array_equal(file["x"][...], sums)
    support.run("reduce", path, "x", "--axis", "0", "--ops", "count", "-o", out, "--force")
    with h5py.File(out) as file:
        assert np.array_equal(file["x"][...], counts.sum(axis=0))
    assert np.array_equal(compacted(path)[0], values[counts])
    several = support.run("reduce", path, "--all", "--ops", "count", "--json", "-").report
    assert several["datasets"][0]["results"]["count"] == 5


def test_a_fill_value_stands_in_for_all_of_them(folder):
    stored = np.array([-999, 4, 32767, 7, 60], "i2")
    attributes = {"_FillValue": np.int16(-999), "valid_max": np.int16(50), "scale_factor": 0.5}
    path = write(folder / "in.h5", stored, attributes)
    for words, total in [
        ([], 5.5), (["--fill-value", "auto"], 5.5), (["--fill-value", "7"], 15916.0),
        (["--fill-value", "none"], 15919.5), (["--raw"], 31839), (["--raw", "--fill-value", "7"], 31832),
        (["--raw", "--fill-value", "none"], 31839),
    ]:  # fmt: skip
        assert support.reduce(path, "x", *words, ops="sum").results["sum"] == total, words
    for command in (["reduce", path, "x"], ["info", path, "x"], ["reduce", path, "--all"]):
        support.fail(*command, "--raw", "--fill-value", "auto", code=2, ranks=2,
                     mentions=["--raw", "--fill-value"])  # fmt: skip


@pytest.mark.parametrize("mark, fill, valid, left_out", [
    (True, np.int8(-1), np.int8([0, -2]), [255]),
    (True, np.float64(-1), np.int16([1, 254]), [255, 0]),
    (True, np.uint8(255), np.int8([-56, 100]), range(256)),
    (True, np.int16(-200), np.int16([0, 300]), []),
    (False, np.int8(-1), np.int8([-100, 100]), [255, *range(101, 156)]),
])  # fmt: skip
def test_stored_numbers_of_unsigned_integers(folder, mark, fill, valid, left_out):
    stored = np.arange(256).astype("u1").view("i1")
    path = write(folder / "in.h5", stored, {
        "_Unsigned": "true" if mark else "false", "missing_value": fill, "valid_range": valid,
    })  # fmt: skip
    counts = ~np.isin(stored.view("u1"), list(left_out))
    found, report = compacted(path)
    assert np.array_equal(found, (stored.view("u1") if mark else stored)[counts])
    assert report["dtype"] == ("u8" if mark else "i8")
    assert np.array_equal(compacted(path, "--where", ">=0", ranks=2)[0], found[found >= 0])
    raw = support.reduce(path, "x", "--raw", ops="min,max")
    assert raw.report["dtype"] == "i8" and raw.results == {"min": -128, "max": 127}


@pytest.mark.parametrize("attributes, changed", [
    ({"scale_factor": np.float64(1)}, False), ({"add_offset": np.float32(0)}, False),
    ({"scale_factor": np.float64(1), "add_offset": np.float32(0)}, True),
])  # fmt: skip
def test_packing_that_changes_nothing(folder, attributes, changed):
    path = write(folder / "in.h5", np.float32([-0.0, 2.5]), attributes)
    report = support.reduce(path, "x", ops="min,max").report
    assert ("value_type" in report, "applied" in report) == (changed, changed)
    for words, least in ((["--select", "0"], -0.0), ([], -0.0)):
        found = support.reduce(path, "x", *words, ops="min").results["min"]
        assert found == least and np.signbit(found)


def test_reports_say_what_was_applied(folder):
    stored = np.array([[-999, 4], [7, 1]], "i2")
    path = write(folder / "in.h5", stored, {
        "_FillValue": np.int16(-999), "missing_value": np.float64([32767, 1e9]),
        "valid_range": np.int16([-500, 30000]), "scale_factor": np.float64(0.5),
        "add_offset": np.int16(-20), "valid_min": "low",
    })  # fmt: skip
    applied = {"scale_factor": 0.5, "add_offset": -20, "fill_values": [-999, 32767],
               "valid_min": -500, "valid_max": 30000}  # fmt: skip
    line = "values = stored * 0.5 - 20, without -999, 32767, valid from -500 to 30000\n"
    out = folder / "out.h5"
    for words in (["reduce", path, "x"], ["histogram", path, "x"], ["reduce", path, "x", "--axis", 0],
                  ["scan", path, "x"], ["compact", path, "x", "--where", ">0"]):  # fmt: skip
        if "--axis" in words or words[0] in ("scan", "compact"):
            words = [*words, "-o", out, "--force"]
        assert line in support.run(*words).stdout
        report = support.run(*words, "--json", "-").report
        assert report["applied"] == applied and report["value_type"] == "f64"
        assert "fill_value" not in report and "raw" not in report
    assert "values f64 = stored * 0.5 - 20, without -999, 32767, valid from -500 to 30000" in " ".join(
        support.run("info", path, "x").stdout.split()
    )
    assert support.run("info", path, "x", "--json", "-").report["applied"] == applied
    for command in ("reduce", "histogram", "info"):
        words = [command, path, "x", "x*", "--raw"]
        raw = support.run(*words, "--json", "-").report["datasets"][0]
        assert "applied" not in raw and raw["raw"] is True
        assert "stored *" not in support.run(*words).stdout
        several = [command, path, "--all"]
        assert "stored * 0.5 - 20, without" in support.run(*several).stdout
        assert support.run(*several, "--json", "-").report["datasets"][0]["applied"] == applied


@pytest.mark.parametrize("attributes, words, text, key", [
    ({"_FillValue": np.uint8(7)}, [], "values = stored, without 7\n", {"fill_values": [7]}),
    ({"_Unsigned": "true", "scale_factor": 0.5}, [], "values = unsigned(stored) * 0.5\n",
     {"unsigned": True, "scale_factor": 0.5}),
    ({"add_offset": -1.5, "valid_min": np.int8(3)}, [], "values = stored - 1.5, valid from 3 on\n",
     {"add_offset": -1.5, "valid_min": 3}),
    ({"valid_max": np.int8(3)}, ["--fill-value", "8"], "values = stored, without 8\n",
     {"fill_values": [8]}),
    ({"valid_max": np.int8(3), "missing_value": "none"}, [],
     "values = stored, valid up to 3; missing_value is ignored (its type is variable-length string)\n",
     {"valid_max": 3, "ignored": {"missing_value": "its type is variable-length string"}}),
    ({"valid_range": np.float64([0.5, 400])}, [],
     "values = stored; valid_range is ignored (i8 can't hold it)\n",
     {"ignored": {"valid_range": "i8 can't hold it"}}),
    ({"valid_range": np.int8(3), "valid_max": h5py.Empty("i1")}, [],
     "values = stored; valid_range is ignored (it has 1 value), valid_max is ignored (it has no "
     "values)\n", {"ignored": {"valid_range": "it has 1 value", "valid_max": "it has no values"}}),
    ({}, [], None, None), ({"units": "K", "missing_value": np.float64(0.5)}, [], None, None),
])  # fmt: skip
def test_forms_of_what_was_applied(folder, attributes, words, text, key):
    path = write(folder / "in.h5", np.arange(5, dtype="i1"), attributes)
    stdout = support.run("reduce", path, "x", *words).stdout
    assert (text in stdout) if text else "values =" not in stdout
    assert support.reduce(path, "x", *words).report.get("applied") == key


@pytest.mark.parametrize("attributes, mentions", [
    ({"scale_factor": "0.01"}, ["scale_factor", "string"]),
    ({"scale_factor": h5py.Empty("f8")}, ["scale_factor", "no values"]),
    ({"add_offset": [1.0, 2.0]}, ["add_offset", "2 values"]),
    ({"scale_factor": NAN}, ["scale_factor", "finite"]),
    ({"missing_value": "-999"}, ["missing_value", "'-999'"]),
    ({"_FillValue": " nan"}, ["_FillValue", "' nan'"]),
    ({"missing_value": np.arange(9, dtype="i2")}, ["missing_value", "more than 8"]),
])  # fmt: skip
def test_what_cannot_be_meant_is_refused_but_raw(folder, attributes, mentions):
    path = write(folder / "in.h5", np.arange(5, dtype="i2"), attributes)
    for command in (["reduce", path, "x"], ["info", path, "x"]):
        support.fail(*command, code=1, mentions=[*mentions, "--raw"], ranks=2)
        support.run(*command, "--raw")
    skipped = support.attempt("reduce", path, "--all")
    assert skipped.code == 1 and len(skipped.errors) == 1


UNITS = {"units": "K", "long_name": "temperature"}
PACKING = {"scale_factor": 0.5, "add_offset": 10.0, "_FillValue": np.int16(-999),
           "valid_range": np.int16([0, 50])}  # fmt: skip


def attributes_of(out, name="x"):
    with h5py.File(out) as file:
        return {key for key in file[name].attrs if not key.startswith("warpfold")}


def test_outputs_never_have_a_unit_beside_packed_sums(folder):
    stored = np.array([[-999, 4], [7, 60]], "i2")
    path = write(folder / "in.h5", stored, {**UNITS, **PACKING})
    out = folder / "out.h5"

    def after(*words):
        support.run(*words[:1], path, "x", "-o", out, "--force", *words[1:])
        return attributes_of(out)

    for words in (["scan"], ["reduce", "--axis", 0], ["reduce", "--axis", 0, "--ops", "linf"]):
        assert after(*words) == set(UNITS)
        assert after(*words, "--raw") == {"long_name"}
    assert after("reduce", "--axis", 0, "--ops", "mean") == {*UNITS, "_FillValue"}
    assert after("reduce", "--axis", 0, "--ops", "mean", "--raw") == {"long_name"}
    for words in (["compact", "--where", ">-2000"], ["scan", "--op", "max"]):
        assert after(*words) == set(UNITS)
        assert after(*words, "--raw") == {*UNITS, *PACKING}
    assert after("reduce", "--axis", 0, "--ops", "max") == {*UNITS, "_FillValue"}
    assert after("reduce", "--axis", 0, "--ops", "max", "--raw") == {*UNITS, *PACKING}
    assert after("reduce", "--axis", 0, "--ops", "max", "--raw", "--where", ">0") == {*UNITS, *PACKING}
    support.run("reduce", path, "x", "-o", out, "--force", "--axis", 0, "--ops", "max,sum", "--raw")
    assert attributes_of(out, "x_max") == {*UNITS, *PACKING}
    assert attributes_of(out, "x_sum") == {"long_name"}
    path = write(path, stored, {**UNITS, "_FillValue": np.int16(-999)})
    assert after("scan") == after("scan", "--raw") == set(UNITS)
    assert after("compact", "--fill-value", "auto") == {*UNITS, "_FillValue"}
