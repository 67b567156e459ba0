"""Statistics equal the true values, rounded once."""

import math

import numpy as np
import pytest

import reference
import samples
import support
from reference import STATISTICS, assert_results

COUNT = 50_001


@pytest.mark.parametrize("name", support.FLOAT_TYPES)
@pytest.mark.parametrize("kind", samples.HARD)
def test_hard_data(folder, kind, name):
    values = samples.hard(kind, name, COUNT)
    path = support.write(folder / "in.h5", values, name)
    found = support.reduce(path, "values", "--slab", "64K").results
    assert_results(found, reference.statistics(reference.to_double(name, values)))


@pytest.mark.parametrize("kind", samples.HARD)
def test_hard_data_on_three_ranks(folder, kind):
    values = samples.hard(kind, "f64", COUNT)
    path = support.write(folder / "in.h5", values, "f64", order="big", chunks=(1777,))
    found = support.reduce(path, "values", "--slab", "64K", ranks=3).results
    assert_results(found, reference.statistics(values))


@pytest.mark.parametrize("name", (*support.INTEGER_TYPES, "bool", "enum"))
def test_integers(folder, name):
    values = samples.typed(name, COUNT, seed=1)
    path = support.write(folder / "in.h5", values, name)
    assert_results(support.reduce(path).results, reference.statistics(values))


@pytest.mark.parametrize("name", support.INTEGER_TYPES)
def test_extreme_integers(folder, name):
    limits = np.iinfo(support.NUMPY_TYPES[name])
    values = np.array([limits.max] * 5 + [limits.min] * 2 + [limits.max], limits.dtype)
    path = support.write(folder / "in.h5", values, name)
    assert_results(support.reduce(path).results, reference.statistics(values))


@pytest.mark.parametrize("name", ["i64", "f64", "f32", "bf16"])
@pytest.mark.parametrize("ddof", [1, 3])
def test_ddof(folder, name, ddof):
    values = samples.typed(name, 1000)
    path = support.write(folder / "in.h5", values, name)
    exact = values if name == "i64" else reference.to_double(name, values)
    found = support.reduce(path, "values", "--ddof", ddof).results
    assert_results(found, reference.statistics(exact, ddof=ddof))


def test_one_element_leaves_no_degree_of_freedom(folder):
    path = support.write(folder / "in.h5", [2.5], "f64")
    assert_results(support.reduce(path).results, {"var": 0.0, "std": 0.0, "mean": 2.5})
    found = support.reduce(path, "values", "--ddof", 1).results
    assert_results(found, {"var": math.nan, "std": math.nan, "mean": 2.5})


def test_huge_terms_that_cancel_leave_the_small_one(folder):
    path = support.write(folder / "in.h5", [1e308, 1.0, -1e308], "f64")
    assert_results(support.reduce(path).results, {"sum": 1.0, "mean": 1 / 3, "l1": math.inf})


def test_sums_beyond_the_largest_double(folder):
    largest = np.finfo("f8").max
    path = support.write(folder / "in.h5", [largest, largest, largest], "f64")
    expected = {
        "sum": math.inf, "mean": largest, "var": 0.0, "std": 0.0, "l1": math.inf, "l2": math.inf,
        "linf": largest, "inf_count": 0,
    }  # fmt: skip
    assert_results(support.reduce(path).results, expected)


def test_squares_below_the_smallest_double(folder):
    values = np.array([5e-324, -5e-324, 1e-300, 3e-320])
    path = support.write(folder / "in.h5", values, "f64")
    assert_results(support.reduce(path).results, reference.statistics(values))


@pytest.mark.parametrize("name", support.FLOAT_TYPES)
def test_infinities(folder, name):
    inf = math.inf
    bits = {"bf16": lambda each: reference.to_bfloat16(each)}.get(name, np.array)

    def results(values):
        return support.reduce(support.write(folder / "in.h5", bits(values), name)).results

    nan = math.nan
    expected = {"var": nan, "std": nan, "l1": inf, "l2": inf, "linf": inf, "nan_count": 0}
    up = {**expected, "sum": inf, "mean": inf, "max": inf, "min": 1.0, "argmax": 1, "inf_count": 2}
    assert_results(results([1.0, inf, 2.0, inf]), up)
    down = {**expected, "sum": -inf, "mean": -inf, "min": -inf, "argmin": 2, "inf_count": 1}
    assert_results(results([1.0, 3.0, -inf]), down)
    both = {**expected, "sum": nan, "mean": nan, "min": -inf, "max": inf, "inf_count": 2}
    assert_results(results([-inf, 3.0, inf]), both)


@pytest.mark.parametrize("name", support.FLOAT_TYPES)
def test_nan_propagates(folder, name):
    values = samples.typed(name, 20_000)
    doubles = reference.to_double(name, values).copy()
    doubles[[7001, 12_345]] = math.nan
    as_bits = reference.to_bfloat16(doubles) if name == "bf16" else doubles
    path = support.write(folder / "in.h5", as_bits, name)
    found = support.reduce(path, "values", "--slab", "64K", ranks=2).results
    nan = dict.fromkeys(("sum", "mean", "var", "std", "min", "max", "l1", "l2", "linf"), math.nan)
    places = {"argmin": int(doubles.argmin()), "argmax": int(doubles.argmax())}
    assert places == {"argmin": 7001, "argmax": 7001}
    assert_results(found, {**nan, **places, "count": 20_000, "nan_count": 2, "inf_count": 0})


def test_nan_beside_infinities_propagates(folder):
    path = support.write(folder / "in.h5", [math.inf, math.nan, -math.inf], "f32")
    found = support.reduce(path).results
    nan = dict.fromkeys(("sum", "mean", "var", "std", "min", "max", "l1", "l2", "linf"), math.nan)
    assert_results(found, {**nan, "argmin": 1, "argmax": 1, "nan_count": 1, "inf_count": 2})


@pytest.mark.parametrize("name", support.FLOAT_TYPES)
def test_nan_skipped(folder, name):
    doubles = reference.to_double(name, samples.typed(name, 20_000)).copy()
    doubles[[0, 7001, 19_999]] = math.nan
    as_bits = reference.to_bfloat16(doubles) if name == "bf16" else doubles
    path = support.write(folder / "in.h5", as_bits, name)
    found = support.reduce(path, "values", "--nan", "skip", ranks=2).results
    expected = reference.statistics(doubles[~np.isnan(doubles)])
    expected["argmin"] = int(np.nanargmin(doubles))
    expected["argmax"] = int(np.nanargmax(doubles))
    assert_results(found, {**expected, "count": 19_997, "nan_count": 3})


def test_nothing_left_after_skipping(folder):
    path = support.write(folder / "in.h5", [math.nan, math.nan], "f64")
    found = support.reduce(path, "values", "--nan", "skip").results
    expected = dict.fromkeys(("mean", "var", "std", "min", "max"), math.nan)
    expected.update(count=0, sum=0, argmin=None, argmax=None, l1=0, l2=0, nan_count=2)
    assert_results(found, expected)


def test_ties_go_to_the_lowest_index_on_any_number_of_ranks(folder):
    values = np.tile([5, 1, 9, 1, 9, 5], 10_000)
    path = support.write(folder / "in.h5", values, "i32")
    for ranks in (1, 4):
        found = support.reduce(path, "values", "--slab", "64K", ranks=ranks).results
        assert_results(found, {"argmin": 1, "argmax": 2, "min": 1, "max": 9})


@pytest.mark.parametrize("name", support.FLOAT_TYPES)
def test_zeros_of_either_sign_tie(folder, name):
    for values in ([-0.0, 0.0, -0.0], [0.0, -0.0]):
        bits = reference.to_bfloat16(values) if name == "bf16" else np.array(values)
        path = support.write(folder / "in.h5", bits, name)
        found = support.reduce(path).results
        expected = {"argmin": 0, "argmax": 0, "min": 0.0, "max": 0.0, "sum": 0.0, "l1": 0.0}
        assert_results(found, expected)
        assert math.copysign(1, found["min"]) == math.copysign(1, values[0])
        assert math.copysign(1, found["max"]) == math.copysign(1, values[0])
        assert math.copysign(1, found["sum"]) == 1


@pytest.mark.parametrize("name", support.INTEGER_TYPES)
def test_wrapped_sum(folder, name):
    limits = np.iinfo(support.NUMPY_TYPES[name])
    values = np.full(1001, limits.max, limits.dtype)
    values[:100] = limits.min
    path = support.write(folder / "in.h5", values, name)
    found = support.reduce(path, "values", "--overflow", "wrap", ranks=2).results
    with np.errstate(over="ignore"):
        wrapped = values.sum(dtype=limits.dtype).item()
    exact = reference.statistics(values)
    assert_results(found, {**exact, "sum": wrapped})


def test_sums_past_64_bits_are_exact(folder):
    values = np.full(1000, 2**64 - 1, "u8")
    path = support.write(folder / "in.h5", values, "u64")
    outcome = support.reduce(path, "values", ops="sum,l1,max")
    exact = 1000 * (2**64 - 1)
    expected = {"sum": exact, "l1": exact, "max": 2**64 - 1}
    assert outcome.report["results"] == expected


def test_integers_are_strings_only_past_2_to_53(folder):
    path = support.write(folder / "in.h5", [2**53 - 1, 0], "i64")
    assert support.reduce(path, ops="sum").report["results"] == {"sum": 2**53 - 1}
    path = support.write(folder / "in.h5", [-(2**53), -1], "i64")
    assert support.reduce(path, ops="sum").report["results"] == {"sum": -(2**53) - 1}


@pytest.mark.parametrize("name", samples.GENERATED_TYPES)
@pytest.mark.parametrize("shape", [(0,), (3, 0, 2)])
def test_no_elements(folder, name, shape):
    path = support.write(folder / "in.h5", np.zeros(shape, "u2"), name)
    expected = dict.fromkeys(("mean", "var", "std"), math.nan)
    expected.update(dict.fromkeys(("min", "max", "argmin", "argmax")))
    expected.update(count=0, sum=0, l1=0, l2=0, linf=0, nan_count=0, inf_count=0)
    assert_results(support.reduce(path).results, expected)


def test_scalar(folder):
    path = support.write(folder / "in.h5", np.array(2.5), "f64")
    outcome = support.reduce(path, ranks=2)
    assert outcome.report["shape"] == []
    assert_results(outcome.results, {"count": 1, "sum": 2.5, "argmax": 0})


def test_fewer_elements_than_ranks(folder):
    path = support.write(folder / "in.h5", [3.0, 1.0], "f64")
    found = support.reduce(path, ranks=4).results
    assert_results(found, reference.statistics(np.array([3.0, 1.0])))


def test_all_means_every_operation_in_the_documented_order(folder):
    path = support.write(folder / "in.h5", [1, 2], "u8")
    assert tuple(support.reduce(path).report["results"]) == STATISTICS


def test_default_operations_and_chosen_ones(folder):
    path = support.write(folder / "in.h5", [1, 2], "u8")
    default = support.run("reduce", path, "values", "--json", "-").report["results"]
    assert set(default) == {"count", "sum", "min", "max", "mean", "std"}
    chosen = support.reduce(path, ops="argmax,l1").report["results"]
    assert chosen == {"argmax": 1, "l1": 3}


def test_unwritten_chunks_read_as_the_fill_value(folder):
    import h5py

    with h5py.File(folder / "in.h5", "w") as file:
        made = file.create_dataset("values", (100, 90), "i4", chunks=(16, 16), fillvalue=7)
        made[20:40, 30:50] = np.arange(400).reshape(20, 20)
        expected = reference.statistics(made[...])
    assert_results(support.reduce(folder / "in.h5", ranks=2).results, expected)


def test_edge_chunks_left_unfiltered_and_checksums(folder):
    values = samples.typed("i32", (101, 99))
    storage = {"chunks": (10, 10), "compression": "gzip", "shuffle": True, "fletcher32": True}
    path = support.write(folder / "in.h5", values, "i32", **storage)
    assert_results(support.reduce(path, ranks=2).results, reference.statistics(values))


@pytest.mark.parametrize("ranks", [None, 2])
def test_places_have_coordinates(folder, ranks):
    values = np.random.default_rng(1).permutation(60).reshape(3, 4, 5).astype("f8")
    path = support.write(folder / "in.h5", values, "f64")
    least, greatest = (list(map(int, np.unravel_index(at(), values.shape)))
                       for at in (values.argmin, values.argmax))  # fmt: skip
    report = support.reduce(path, ops="argmin,argmax", ranks=ranks).report
    assert report["results"] == {"argmin": values.argmin(), "argmax": values.argmax()}
    assert report["coordinates"] == {"argmin": least, "argmax": greatest}
    (entry,) = support.reduce(path, "v*", ops="argmax", ranks=ranks).report["datasets"]
    assert entry["coordinates"] == {"argmax": greatest}
    part = values[1:, 2]
    words = ("reduce", path, "values", "--select", "1:,2", "--ops", "argmax")
    place = np.unravel_index(part.argmax(), part.shape)
    for names in (("values",), ("v*", "values")):
        text = support.run("reduce", path, *names, *words[3:], ranks=ranks).stdout
        assert f"{part.argmax()} at [{place[0]}, {place[1]}]" in text
    for words in (("--select", "0,0"), ("--where", "<0")):
        assert "coordinates" not in support.reduce(path, "values", *words, ops="argmax").report
