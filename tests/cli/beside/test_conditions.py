"""Conditions on other datasets: `--mask` and `--where` that name one, beside NumPy's indexing."""

import h5py
import numpy as np
import pytest

import reference
import samples
import support
from test_mask import add, expect

SHAPE = (9, 23, 31)
LAND = (23, 31)


@pytest.fixture(scope="module")
def values():
    return samples.typed("f64", SHAPE, seed=3)


@pytest.fixture(scope="module")
def other():
    """Numbers around 0 with some of it, NaN and infinities."""
    random = np.random.default_rng(5)
    numbers = np.round(random.normal(size=LAND), 1)
    for value in (0.0, -0.0, np.nan, np.inf, -np.inf, 0.5):
        numbers.flat[random.integers(0, numbers.size, 40)] = value
    return numbers


@pytest.fixture
def path(folder, values, other):
    return add(support.write(folder / "in.h5", values, "f64", chunks=(2, 23, 31)), "D", other)


CONDITIONS = {
    "> 0.5": lambda d: d > 0.5,
    ">=0.5": lambda d: d >= 0.5,
    " < -0.1": lambda d: d < -0.1,
    "<= 0": lambda d: d <= 0,
    "== 0": lambda d: d == 0,
    "!=0.5": lambda d: d != 0.5,
    "== nan": np.isnan,
    "!= nan": lambda d: ~np.isnan(d),
    " finite": np.isfinite,
    " inf": np.isinf,
    " nan": np.isnan,
    ">0x1p-1": lambda d: d > 0.5,
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_of_masks_and_of_where_are_the_same(path, values, other, condition):
    kept = CONDITIONS[condition](other)
    results = set()
    for option in ("--mask", "--where"):
        for name in ("D", "/D", f"{path}::D"):
            outcome = support.reduce(path, "values", f"{option}={name}{condition}", ranks=2)
            expect(outcome, values, kept)
            results.add(outcome.result_bytes)
    assert len(results) == 1


def test_a_negated_mask_keeps_zeros_alone(folder, path, values, other):
    expect(support.reduce(path, "values", "--mask", "!D"), values, other == 0)
    expect(support.reduce(path, "values", "--mask", f"!{path}::D", ranks=3), values, other == 0)
    bad = (other > 0.5).astype("u4") * 8
    add(path, "pixel_mask", bad)
    expect(support.reduce(path, "values", "--mask", "!pixel_mask"), values, bad == 0)


def test_several_conditions_must_all_hold(path, values, other):
    deep = np.arange(np.prod(SHAPE)).reshape(SHAPE) % 7
    add(path, "deep", deep)
    add(path, "line", np.arange(31) % 3)
    kept = (other < 1) & (deep != 3) & (np.arange(31) % 3 == 1) & (values > -100)
    words = ["--mask", "D < 1", "--where", "deep != 3", "--where=line==1", "--where", ">-100"]
    results = set()
    for ranks, slab in ((None, "1M"), (2, "4K"), (5, "16K")):
        outcome = support.reduce(path, "values", *words, "--slab", slab, ranks=ranks)
        expect(outcome, values, kept)
        results.add(outcome.result_bytes)
    assert len(results) == 1
    assert outcome.report["where"] == ["deep != 3", "line==1", ">-100"]


def test_what_attributes_exclude_meets_no_condition(folder):
    numbers = np.arange(8.0)
    path = support.write(folder / "in.h5", numbers, "f64")
    add(path, "D", np.int16([0, -9, 2, -9, 0, 5, 6, 7]),
        {"_FillValue": np.int16(-9), "scale_factor": 0.5})  # fmt: skip
    for words, kept in (
        (["--mask", "!D"], [0, 4]), (["--mask", "D"], [2, 5, 6, 7]), (["--mask", "D<3"], [0, 2, 4, 5]),
        (["--where", "D != 0"], [2, 5, 6, 7]), (["--where", "D==2.5"], [5]),
    ):  # fmt: skip
        results = support.reduce(path, "values", *words).results
        assert (results["count"], results["sum"]) == (len(kept), numbers[kept].sum())


def test_names_that_are_there_are_no_conditions(folder):
    numbers = np.arange(4.0)
    path = support.write(folder / "in.h5", numbers, "f64")
    for name, mask in (("a>0.5", [1, 0, 0, 0]), ("!b", [0, 1, 0, 0]), ("c@0", [0, 0, 1, 0]),
                       ("d nan", [0, 0, 0, 1])):  # fmt: skip
        add(path, name, np.int8(mask))
        for text in (name, f"{path}::{name}"):
            assert support.reduce(path, "values", "--mask", text).results["sum"] == np.argmax(mask)
    add(path, "b", np.int8([1, 1, 1, 0]))
    assert support.reduce(path, "values", "--mask", "!/b").results["sum"] == 3


def test_a_mask_that_leaves_out_more_than_it_keeps_is_noted(folder):
    path = support.write(folder / "in.h5", np.arange(10.0), "f64")
    add(path, "bad", np.uint8([1, 0, 0, 0, 0, 0, 0, 0, 0, 0]))
    add(path, "half", np.uint8([1, 0] * 5))
    add(path, "rows", np.arange(40.0).reshape(4, 10))
    for ranks in (None, 3):
        notes = support.reduce(path, "rows", "--mask", "bad", ranks=ranks).report["notes"]
        assert notes == ["--mask 'bad' skips 9 of 10 elements, more than it keeps."]
    for words in (["--mask", "!bad"], ["--mask", "half"], ["--where", "bad==1"]):
        assert support.reduce(path, "values", *words).report.get("notes", []) == []


def test_other_commands_take_them(folder, path, values, other):
    kept = np.broadcast_to(other > 0.5, SHAPE)
    words = ["--where", "D > 0.5"]
    support.run("compact", path, "values", *words, "-o", folder / "out.h5", ranks=2)
    with h5py.File(folder / "out.h5") as file:
        assert (file["values"][...] == values[kept]).all()
    support.run("scan", path, "values", "--op", "max", *words, "-o", folder / "max.h5")
    with h5py.File(folder / "max.h5") as file:
        true = np.maximum.accumulate(np.where(kept, values, -np.inf).ravel())
        assert (file["values"][...].ravel() == true).all()
    report = support.run("histogram", path, "values", *words, "--bins=-3,0,3", "--json", "-").report
    assert report["results"]["counts"] == np.histogram(values[kept], [-3, 0, 3])[0].tolist()
    support.run("reduce", path, "values", "--axis", "0", "--ops", "count", *words, "-o",
                folder / "count.h5")  # fmt: skip
    with h5py.File(folder / "count.h5") as file:
        assert (file["values"][...] == kept.sum(0)).all()
    report = support.run("info", path, "values", "--mask", "D>0.5", "--json", "-").report
    assert report["results"]["mask_shape"] == list(LAND)


def test_conditions_that_can_not_be(folder, path):
    for words, code, mentions in (
        (["--mask", "!D > 0"], 2, ["!D > 0", "'!' and a condition"]),
        (["--mask", "none > 0"], 1, ["'none'"]), (["--where", "none > 0"], 1, ["'none'"]),
        (["--mask", "> 0"], 2, ["> 0", "names no dataset"]), (["--where", "D > x"], 2, ["D > x"]),
        (["--where", ">0 <5"], 2, [">0 <5"]), (["--where", "5<3"], 2, ["5<3"]),
        (["--mask", "D < nan"], 2, ["nothing is less"]), (["--where", "D"], 2, ["'D'"]),
    ):  # fmt: skip
        for ranks in (None, 2):
            support.fail("reduce", path, "values", *words, code=code, mentions=mentions, ranks=ranks)


def test_no_report_replaces_the_file_of_a_condition(folder):
    path = support.write(folder / "in.h5", np.arange(4.0), "f64")
    masks = add(folder / "masks.h5", "mask", np.ones(4, "u1"))
    for words in (["--mask", f"!{masks}::mask"], ["--where", f"{masks}::mask > 0"]):
        support.fail("reduce", path, "values", *words, "--json", masks, code=2, mentions=["masks.h5"])
        support.fail("scan", path, "values", *words, "-o", masks, "--force", code=2,
                     mentions=["masks.h5"])  # fmt: skip


def test_sums_are_exact(folder, path, values, other):
    kept = np.broadcast_to(other == 0, SHAPE)
    total = sum(reference.in_units(values[kept]))
    found = support.reduce(path, "values", "--mask", "!D", ranks=2).results["sum"]
    assert found == reference.nearest(total, reference.UNITS)
