"""Elements left out by their value, and packed values, beside NumPy's masks and fractions."""

import math
import operator
import re

import h5py
import numpy as np
import pytest

import reference
import samples
import support

COUNT = 70_001
NAN = float("nan")
RELATIONS = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, ">": operator.gt,
}  # fmt: skip


def meets(doubles, condition):
    """Which doubles meet a condition, as NumPy compares."""
    if condition == "finite":
        return np.isfinite(doubles)
    if condition == "!=nan":
        return ~np.isnan(doubles)
    relation, number = re.match(r"([<>=!]=?)(.*)", condition).groups()
    return RELATIONS[relation](doubles, float.fromhex(number))


def true_statistics(name, values, kept):
    """The results of the kept elements; places are those among all elements."""
    doubles = values if name in support.INTEGER_TYPES else reference.to_double(name, values)
    true = reference.statistics(doubles[kept])
    places = np.flatnonzero(kept)
    return true | {each: int(places[true[each]]) for each in ("argmin", "argmax")}


def expect_kept(outcome, name, values, kept):
    true = true_statistics(name, values, kept)
    results = outcome.results
    assert {each: results[each] for each in true} == true


def cf_dataset(path, stored, attributes, **storage):
    with h5py.File(path, "w") as file:
        file.create_dataset("values", data=stored, **storage)
        for attribute, value in attributes.items():
            file["values"].attrs[attribute] = value
    return path


@pytest.mark.parametrize("name, order", support.TYPES_IN_TURNS)
def test_where_of_every_type(folder, name, order):
    values = samples.typed(name, COUNT, seed=4)
    doubles = reference.to_double(name, values)
    threshold = float(np.median(doubles))
    path = support.write(folder / "in.h5", values, name, order=order)
    conditions = [f">={threshold.hex()}", f"!={float(doubles[17]).hex()}"]
    kept = meets(doubles, conditions[0]) & meets(doubles, conditions[1])
    words = [word for each in conditions for word in ("--where", each)]
    outcome = support.reduce(path, "values", *words, "--slab", "64K", ranks=2)
    expect_kept(outcome, name, values, kept)
    assert outcome.report["where"] == conditions


@pytest.mark.parametrize(
    "storage", [{}, {"chunks": (7, 50)}, {"chunks": (64, 11), "shuffle": True, "compression": "gzip"}]
)
def test_places_are_those_of_the_array(folder, storage):
    values = samples.typed("f64", 300 * 230, seed=6).reshape(300, 230)
    path = support.write(folder / "in.h5", values, "f64", **storage)
    threshold = float(np.quantile(values, 0.9))
    kept = (values < threshold).ravel()
    results = set()
    for ranks, slab in ((1, "1M"), (2, "4K"), (3, "64K")):
        outcome = support.reduce(
            path, "values", "--where", f"<{threshold.hex()}", "--slab", slab, ranks=ranks
        )
        results.add(outcome.result_bytes)
        expect_kept(outcome, "f64", values.ravel(), kept)
    assert len(results) == 1


def test_decimals_are_rounded_beside_floats_and_exact_beside_integers(folder):
    path = support.write(folder / "in.h5", np.float32([0.1, 0.5, 0.25]), "f32")
    count = lambda condition, file=path: support.reduce(
        file, "values", "--where", condition, ops="count"
    ).results["count"]
    assert [count(f"{relation}0.1") for relation in ("==", "<=", "<", ">")] == [1, 1, 0, 2]
    assert [count(f"{relation}0x1.999999999999ap-4") for relation in ("==", "<=", ">")] == [0, 0, 3]
    assert [count(f"{relation}1e39") for relation in ("<", ">", "==")] == [3, 0, 0]
    least = support.reduce(path, "values").results["min"]
    assert count(f"=={float(least)!r}") == 1
    large = support.write(folder / "large.h5", np.int64([2**53, 2**53 + 1, 2**53 + 2]), "i64")
    assert count(">9007199254740992.5", large) == 2
    assert count("==9007199254740993", large) == 1


def test_nan_and_infinities(folder):
    values = np.array([1.0, NAN, -np.inf, 2.0, np.inf, NAN, -3.0])
    path = support.write(folder / "in.h5", values, "f64")
    results = lambda condition: support.reduce(path, "values", "--where", condition).results
    assert [results("nan")[each] for each in ("count", "nan_count")] == [2, 2]
    assert results("finite")["sum"] == 0.0
    assert results("inf")["count"] == 2
    assert results("!=nan")["max"] == np.inf
    assert results("!=nan")["argmin"] == 2
    unequal = results("!=1")
    assert [unequal["count"], unequal["nan_count"], unequal["argmin"]] == [6, 2, 1]
    assert results("<1e400")["count"] == 4


def test_nothing_is_left(folder):
    path = support.write(folder / "in.h5", np.arange(100.0), "f64")
    results = support.reduce(path, "values", "--where", ">100", "--where", "<0").results
    assert (results["count"], results["sum"], results["min"]) == (0, 0.0, None)


@pytest.mark.parametrize(
    "name, operation",
    [("i16", "sum"), ("u64", "min"), ("u64", "sum"), ("f32", "sum"), ("f32", "max"), ("f64", "sum"),
     ("f64", "min")],
)  # fmt: skip
def test_scans_count_what_is_left_out_as_identity(folder, name, operation):
    values = np.abs(samples.typed(name, COUNT, seed=9)) if name[0] == "f" else (
        samples.typed(name, COUNT, seed=9) // (1 if name == "i16" else 2**20)
    )  # fmt: skip
    kept = values > values[5]
    limits = np.finfo(values.dtype) if name[0] == "f" else np.iinfo(values.dtype)
    extreme = {"min": np.inf, "max": -np.inf} if name[0] == "f" else (
        {"min": limits.max, "max": limits.min}
    )  # fmt: skip
    identity = 0 if operation == "sum" else extreme[operation]
    masked = np.where(kept, values, values.dtype.type(identity))
    outputs = []
    for source, words in ((masked, []), (values, ["--where", f">{float(values[5]).hex()}"])):
        chunks = {"chunks": (3000,)} if words else {}
        path = support.write(folder / "in.h5", source, name, **chunks)
        support.scan(path, folder / "out.h5", "values", "--op", operation, "--slab", "16K", *words,
                     ranks=2)  # fmt: skip
        with h5py.File(folder / "out.h5") as file:
            outputs.append(file["values"][...])
    assert np.array_equal(outputs[0], outputs[1])
    if name[0] != "f" and operation == "sum":
        assert np.array_equal(outputs[1], np.cumsum(masked, dtype=outputs[1].dtype))


@pytest.mark.parametrize("scale_type", ["f4", "f8"])
@pytest.mark.parametrize("stored_type", ["<i2", ">i2", "u1", "<i8", "<f4", ">f8", "<f2"])
def test_cf_values_are_numpys(folder, stored_type, scale_type):
    random = np.random.default_rng(12)
    kind = np.dtype(stored_type).kind
    stored = (random.normal(size=(50, 70)) * 60 if kind == "f" else random.integers(
        0 if kind == "u" else -120, 120, (50, 70))).astype(stored_type)  # fmt: skip
    real = np.dtype(scale_type).type
    scale, offset = real(0.1), real(273.15)
    path = cf_dataset(folder / "in.h5", stored, {"scale_factor": scale, "add_offset": offset},
                      chunks=(16, 16))  # fmt: skip
    values_type = np.result_type(stored.dtype, scale_type)
    values = stored.astype(values_type) * scale.astype(values_type) + offset.astype(values_type)
    name = "f32" if values_type == "f4" else "f64"
    outcome = support.reduce(path, "values", "--slab", "4K", ranks=2)
    expect_kept(outcome, name, values.ravel(), np.ones(values.size, bool))
    threshold = values.ravel()[11].item()
    kept = (values >= threshold).ravel()
    outcome = support.reduce(path, "values", "--where", f">={float(threshold).hex()}")
    expect_kept(outcome, name, values.ravel(), kept)
    if outcome.report["dtype"] != name:
        assert outcome.report["value_type"] == name
    support.scan(path, folder / "out.h5", "values", "--slab", "4K", ranks=2)
    with h5py.File(folder / "out.h5") as file:
        assert file["values"].dtype == values_type
        assert "scale_factor" not in file["values"].attrs
        prefixes = reference.rounded_prefixes(name, values.ravel())
        assert file["values"][...].ravel().tolist() == prefixes


@pytest.mark.parametrize("attributes", [
    {"scale_factor": -0.25}, {"add_offset": -1e-300}, {"scale_factor": 2.0, "add_offset": -0.0},
])  # fmt: skip
def test_cf_zeros_have_numpys_sign(folder, attributes):
    stored = np.array([-0.0, 0.0])
    path = cf_dataset(folder / "in.h5", stored, attributes)
    values = stored * 1.0
    if "scale_factor" in attributes:
        values = values * attributes["scale_factor"]
    if "add_offset" in attributes:
        values = values + attributes["add_offset"]
    for place, value in enumerate(values):
        outcome = support.reduce(path, "values", "--select", place, ops="max")
        assert math.copysign(1, outcome.results["max"]) == math.copysign(1, value)


def test_conditions_that_the_shell_took(folder):
    path = support.write(folder / "in.h5", [1, 2], "i32")
    for words in (["--where", "--ops", "sum"], ["--where"]):
        support.fail("reduce", path, "values", *words, code=2, mentions=["Quote", "'>0'"], ranks=2)


def test_fill_values_are_of_stored_elements(folder):
    stored = np.array([[-999, 4, 32767], [7, -999, 1]], "i2")
    path = cf_dataset(folder / "in.h5", stored, {
        "_FillValue": np.int16([-999]), "missing_value": np.float64(32767), "scale_factor": 0.5,
    })  # fmt: skip
    sums = lambda *words: [
        support.reduce(path, "values", *words).results[each] for each in ("count", "sum", "argmax")
    ]
    assert sums() == sums("--fill-value", "auto") == [3, 6.0, 3]
    assert sums("--fill-value", "-999") == [4, 16389.5, 2]
    assert sums("--raw", "--fill-value", "-999") == [4, 32779, 2]
    assert sums("--fill-value", "none") == [6, 15390.5, 2]
    assert sums("--raw") == [6, 30781, 2]
    assert sums("--where", ">2") == [1, 3.5, 3]
    floats = cf_dataset(folder / "floats.h5", np.float32([1e20, 2.0, NAN]),
                        {"missing_value": np.float64([1e20, NAN])})  # fmt: skip
    for words in (["--fill-value", "auto"], ["--fill-value", "1e20", "--where", "!=nan"]):
        results = support.reduce(floats, "values", *words).results
        assert (results["count"], results["sum"]) == (1, 2.0)
    plain = support.write(folder / "plain.h5", np.arange(5.0), "f64")
    assert support.reduce(plain, "values", "--fill-value", "auto").results["count"] == 5
    integers = support.write(folder / "integers.h5", np.arange(5), "i32")
    support.fail("reduce", integers, "values", "--fill-value", "nan", code=2, mentions=["i32"])


def test_info_tells_what_values_count(folder):
    path = cf_dataset(folder / "in.h5", np.int16([[-999, 4], [7, 1]]), {
        "_FillValue": np.int16([-999]), "missing_value": np.float64([32767, 1e9]),
        "scale_factor": np.float32(0.5), "add_offset": np.float32(-20),
    })  # fmt: skip
    words = ["--where", ">-18", "--where", "finite"]
    report = support.run("info", path, "values", *words, "--json", "-", ranks=2).report
    assert (report["dtype"], report["value_type"]) == ("i16", "f32")
    assert report["where"] == [">-18", "finite"]
    assert report["applied"] == {
        "fill_values": [-999, 32767], "scale_factor": 0.5, "add_offset": -20
    }  # fmt: skip
    text = " ".join(support.run("info", path, "values", *words).stdout.split())
    for row in ("values f32 = stored * 0.5 - 20, without -999, 32767 counted",
                "counted values >-18 and finite"):  # fmt: skip
        assert row in text
    plain = support.write(folder / "plain.h5", np.arange(5.0), "f64")
    text = support.run("info", plain, "values", "--fill-value", "nan").stdout
    assert re.search("values +f64 = stored, without nan\n", text)
    assert not re.search("^values", support.run("info", plain, "values").stdout, re.MULTILINE)


@pytest.mark.parametrize(
    "words, code, mentions",
    [
        (["--where", ">x", "--raw"], 2, [">x"]),
        (["--fill-value", "0.5", "--raw"], 2, ["0.5", "i16"]),
        (["--fill-value", "none"], 1, ["add_offset"]),
    ],
)
def test_info_refuses_what_reduce_does(folder, words, code, mentions):
    path = cf_dataset(folder / "in.h5", np.arange(5, dtype="i2"), {"add_offset": NAN})
    support.fail("info", path, "values", *words, code=code, mentions=mentions, ranks=2)
    support.fail("info", path, *words, code=2, mentions=[words[0], "none is named"])


@pytest.mark.parametrize("text", ["=5", "", "big", "<five", "<nan", "5"])
def test_what_is_no_condition_is_refused(folder, text):
    path = support.write(folder / "in.h5", np.arange(5), "i64")
    support.fail("reduce", path, "values", "--where", text, code=2, ranks=2,
                 mentions=["<, <=, >, >=, ==, !=", "finite"])  # fmt: skip


@pytest.mark.parametrize(
    "attributes, words, code, mentions",
    [
        ({}, ["--fill-value", "0.5"], 2, ["0.5", "i16"]),
        ({}, ["--fill-value", "some"], 2, ["some", "auto", "none"]),
    ],
)
def test_what_cannot_be_meant_is_refused(folder, attributes, words, code, mentions):
    path = cf_dataset(folder / "in.h5", np.arange(5, dtype="i2"), attributes)
    support.fail("reduce", path, "values", *words, code=code, mentions=mentions, ranks=2)
