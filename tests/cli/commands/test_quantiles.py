"""Quantiles beside numpy.quantile() and the sorted elements."""

import csv
import io
import itertools
import json
import math

import h5py
import numpy as np
import pytest

import reference
import samples
import support

COUNT = 20_011
METHODS = ("linear", "lower", "higher", "midpoint", "nearest")
FRACTIONS = {
    "median": 0.5, "q05": 0.05, "q25": 0.25, "q0.999": 0.999, "q0.0": 0.0, "q1.0": 1.0,
    "q0.3333": 0.3333,
}  # fmt: skip
LAYOUTS = itertools.cycle(
    [{}, {"chunks": (777,)}, {"chunks": (1000,), "compression": "gzip", "shuffle": True}]
)
RANKS = itertools.cycle([None, 2, 3, 1, 5, 4])


def quantiles(path, *arguments, ops=",".join(FRACTIONS), **options):
    return support.reduce(path, "values", *arguments, ops=ops, **options).results


def numbers(name, values):
    """Doubles, or integers so wide that NumPy's differences don't wrap."""
    if name in support.FLOAT_TYPES:
        return reference.to_double(name, values).ravel()
    return np.asarray(values).ravel().astype("u8" if name == "u64" else "i8")


def expected(values, method="linear"):
    """Returns NumPy's quantiles of numbers without NaN."""
    return {name: np.quantile(values, fraction, method=method).item()
            for name, fraction in FRACTIONS.items()}  # fmt: skip


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("name", samples.GENERATED_TYPES)
def test_every_type_and_method(folder, name, order):
    values = samples.typed(name, COUNT)
    path = support.write(folder / "in.h5", values, name, order=order, **next(LAYOUTS))
    for method in METHODS:
        words = ("--slab", "4K", "--quantile-method", method)
        found = quantiles(path, *words, ranks=next(RANKS))
        assert found == expected(numbers(name, values), method), method


@pytest.mark.parametrize("name", samples.GENERATED_TYPES)
def test_order_statistics_are_elements(folder, name):
    values = samples.typed(name, 998, seed=3)
    path = support.write(folder / "in.h5", values, name)
    ranked = np.sort(numbers(name, values)).tolist()
    found = quantiles(path, "--quantile-method", "lower", ops="q0.0,q0.1,q0.5,q0.9,q1.0")
    assert list(found.values()) == [ranked[int(997 * q)] for q in (0, 0.1, 0.5, 0.9, 1)]
    assert [type(each) for each in found.values()] == 5 * [type(ranked[0])]


@pytest.mark.parametrize("name", support.FLOAT_TYPES)
@pytest.mark.parametrize("kind", samples.HARD)
def test_hard_data(folder, kind, name):
    values = samples.hard(kind, name, COUNT)
    path = support.write(folder / "in.h5", values, name)
    wide = np.sort(numbers(name, values))
    found = quantiles(path, "--slab", "64K", "--quantile-method", "higher", ranks=next(RANKS))
    for each, fraction in FRACTIONS.items():
        assert found[each] == wide[math.ceil((len(wide) - 1) * fraction)], each


def test_64_bits_of_integers_are_exact(folder):
    random = np.random.default_rng(5)
    for name in ("i64", "u64"):
        limits = np.iinfo(support.NUMPY_TYPES[name])
        values = random.integers(limits.min, limits.max, 1001, endpoint=True, dtype=limits.dtype)
        values[:3] = limits.min, limits.max, limits.max - 1
        path = support.write(folder / "in.h5", values, name)
        ranked = np.sort(values).tolist()
        found = quantiles(path, ops="q0.0,q0.25,median,q0.999,q1.0", ranks=2)
        assert list(found.values()) == [ranked[each] for each in (0, 250, 500, 999, 1000)]


def test_close_doubles_are_distinguished(folder):
    near = (np.float64(1.5).view("i8") + np.random.default_rng(1).integers(-9, 9, 999)).view("f8")
    path = support.write(folder / "in.h5", near, "f64")
    assert quantiles(path, ranks=3) == expected(near)


def test_many_quantiles_at_once(folder):
    random = np.random.default_rng(2)
    values = random.standard_normal(5000) * np.exp2(random.integers(-300, 300, 5000))
    path = support.write(folder / "in.h5", values, "f64")
    names = [f"q{percent:02}" for percent in range(100)]
    found = quantiles(path, ops=",".join(names))
    for percent, name in enumerate(names):
        assert found[name] == np.quantile(values, float(f"0.{percent:02}")), name


@pytest.mark.parametrize("name", support.FLOAT_TYPES)
def test_nan(folder, name):
    doubles = reference.to_double(name, samples.typed(name, 3000)).copy()
    doubles[[7, 1234]] = math.nan
    stored = reference.to_bfloat16(doubles) if name == "bf16" else doubles
    path = support.write(folder / "in.h5", stored, name)
    propagated = quantiles(path, ranks=2)
    assert all(math.isnan(each) for each in propagated.values())
    assert list(propagated) == list(FRACTIONS)
    skipped = quantiles(path, "--nan", "skip", ranks=2)
    assert skipped == expected(doubles[~np.isnan(doubles)])


def test_infinities(folder):
    inf = math.inf
    for values, result in (
        ([1, 2, inf], 2), ([inf, 1], inf), ([inf] * 4, inf), ([-inf, -inf, 3, inf], -inf),
        ([-inf, inf], math.nan), ([-inf, 5, 7, inf], 6),
    ):  # fmt: skip
        path = support.write(folder / "in.h5", values, "f64")
        assert reference.same(quantiles(path, ops="median")["median"], result), values


def test_distances_beyond_all_doubles(folder):
    path = support.write(folder / "in.h5", [-1.5e308, 1.5e308], "f64")
    assert quantiles(path, ops="median,q25") == {"median": 0, "q25": -0.75e308}


def test_zeros_are_positive(folder):
    for name in ("f16", "bf16", "f32", "f64"):
        path = support.write(folder / "in.h5", np.zeros(3), name)
        path = support.write(folder / "in.h5", np.full(3, 0x8000) if name == "bf16"
                             else -np.zeros(3), name)  # fmt: skip
        for found in quantiles(path).values():
            assert found == 0 and math.copysign(1, found) == 1


@pytest.mark.parametrize("name", samples.GENERATED_TYPES)
def test_of_nothing(folder, name):
    path = support.write(folder / "in.h5", np.zeros((3, 0), "u2"), name)
    assert quantiles(path, ranks=2) == dict.fromkeys(FRACTIONS)


def test_of_nothing_but_nan(folder):
    path = support.write(folder / "in.h5", [math.nan], "f32")
    for policy in ("skip", "propagate"):
        assert math.isnan(quantiles(path, "--nan", policy, ops="median")["median"])


def test_of_a_view(folder):
    values = samples.typed("i16", (101, 60))
    path = support.write(folder / "in.h5", values, "i16", order="big", chunks=(20, 25))
    with h5py.File(path, "a") as file:
        file["values"].attrs["_FillValue"] = values[12, 7]
        file["values"].attrs["scale_factor"] = np.float32(0.01)
    seen = values[10:90:3, 5:]
    seen = seen[seen != values[12, 7]].astype("f4") * np.float32(0.01)
    seen = seen[seen > np.float32(-1.5)].astype("f8")
    words = ("--select", "10:90:3, 5:", "--where", ">-1.5")
    for ranks in (None, 3):
        assert quantiles(path, *words, ranks=ranks) == expected(seen)


def test_beside_statistics(folder):
    values = samples.typed("f32", COUNT)
    path = support.write(folder / "in.h5", values, "f32", chunks=(1000,))
    found = quantiles(path, ops="q05,mean,median,argmax,count", ranks=2)
    wide = values.astype("f8")
    statistics = reference.statistics(wide)
    assert found == {
        **{name: statistics[name] for name in ("mean", "argmax", "count")},
        "q05": np.quantile(wide, 0.05), "median": np.quantile(wide, 0.5),
    }  # fmt: skip


def test_reports(folder):
    path = support.write(folder / "in.h5", [4, 1, 2, 9], "u8")
    support.write(path, [0.5], "f64", dataset="others", mode="a")
    words = ("reduce", path, "values", "--ops", "median,max,q25,q25")
    assert support.run(*words).stdout.splitlines()[1:] == ["max     9", "median  3", "q25     1.75"]
    rows = list(csv.DictReader(io.StringIO(support.run(*words, "--csv", "-").stdout)))
    assert [(row["statistic"], row["value"]) for row in rows] == [
        ("max", "9"), ("median", "3"), ("q25", "1.75"),
    ]  # fmt: skip
    report = json.loads(support.run(*words, "--json", "-").stdout)
    assert report["results"] == {"max": 9, "median": 3.0, "q25": 1.75}
    assert report["quantile_method"] == "linear"
    assert "quantile_method" not in support.reduce(path, ops="max").report
    words = ("reduce", path, "--all", "--ops", "q0.25,mean", "--quantile-method", "lower")
    table = support.run(*words).stdout.splitlines()
    assert [line.split() for line in table if line.startswith(("dataset", "others", "values"))] == [
        ["dataset", "type", "shape", "mean", "q0.25"],
        ["others", "f64", "little-endian", "1", "0.5", "0.5"],
        ["values", "u8", "4", "4", "1"],
    ]
    entries = support.run(*words, "--json", "-").report["datasets"]
    assert [each["results"]["q0.25"] for each in entries] == [0.5, 1]
    assert {each["quantile_method"] for each in entries} == {"lower"}


@pytest.mark.parametrize("name, passes", [
    ("u8", 1), ("f16", 1), ("bf16", 1), ("i16", 1), ("f32", 2), ("i32", 2), ("f64", 4), ("u64", 4),
])  # fmt: skip
def test_passes(folder, name, passes):
    path = support.write(folder / "in.h5", samples.typed(name, 4000), name)
    quantiles(path, "--metrics", folder / "run.jsonl", ops="median")
    last = (folder / "run.jsonl").read_text().splitlines()[-1]
    assert json.loads(last)["pass"] == passes


@pytest.mark.parametrize(
    "options, mentions",
    [
        (["--ops", "q5"], ["q5", "percent", "q05", "q0.999"]),
        (["--ops", "mean,q999"], ["q999", "fraction"]),
        (["--ops", "q1.5"], ["q1.5"]),
        (["--ops", "q99.9"], ["q99.9"]),
        (["--ops", "q0.1.2"], ["q0.1.2"]),
        (["--ops", "q"], ["unknown statistic 'q'"]),
        (["--ops", "q05,"], ["comma"]),
        (["--ops", "quartile"], ["unknown statistic 'quartile'"]),
        (["--ops", "median", "--quantile-method", "hazen"], ["hazen", "linear", "nearest"]),
        (["--ops", "mean", "--quantile-method", "lower"], ["--quantile-method", "--ops"]),
    ],
)
def test_wrong_options_are_reported(folder, options, mentions):
    path = support.write(folder / "in.h5", [1, 2], "f32")
    support.fail("reduce", path, "values", *options, code=2, mentions=mentions, cwd=folder)
    assert not (folder / "out.h5").exists()
