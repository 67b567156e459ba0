"""Masks, weights, factors and labels of any dimensions of a dataset, beside NumPy and fractions."""

import itertools
from fractions import Fraction

import h5py
import numpy as np
import pytest

import samples
import support
from test_labels import expect as expect_labels
from test_labels import random_labels, true_by_label
from test_mask import add, expect, random_mask

SHAPE = (5, 7, 11, 3)
SUBSETS = [each for n in range(1, 4) for each in itertools.combinations(range(4), n)]
STORAGE = [{}, {"chunks": (2, 3, 4, 3), "compression": "gzip"}, {"chunks": (1, 7, 11, 1)}]


def extents(dimensions, shape=SHAPE):
    return tuple(shape[d] for d in dimensions)


def spread(array, dimensions, shape=SHAPE):
    """Returns what NumPy broadcasts along the dimensions that an array lacks."""
    kept = [shape[d] if d in dimensions else 1 for d in range(len(shape))]
    return np.broadcast_to(array.reshape(kept), shape)


def name_of(dimensions, explicit):
    return "D@" + ",".join(map(str, dimensions)) if explicit else "D"


@pytest.mark.parametrize("dimensions", SUBSETS)
def test_masks(folder, dimensions):
    values = samples.typed("f32", SHAPE, seed=3)
    mask = random_mask(extents(dimensions), seed=sum(dimensions))
    mask.flat[0] = 1
    results = set()
    for storage, ranks, slab in zip(STORAGE, (None, 2, 5), ("1M", "4K", "4K")):
        path = add(support.write(folder / "in.h5", values, "f32", **storage), "D", mask)
        name = name_of(dimensions, ranks == 2)
        outcome = support.reduce(path, "values", "--mask", name, "--slab", slab, ranks=ranks)
        expect(outcome, values, spread(mask, dimensions) != 0)
        results.add(outcome.result_bytes)
        support.run("compact", path, "values", "--mask", name, "-o", folder / "out.h5", "--force")
        with h5py.File(folder / "out.h5") as file:
            assert (file["values"][...] == values[spread(mask, dimensions) != 0]).all()
        support.run("reduce", path, "values", "--axis", "0,2", "--mask", name, "--ops", "count,max",
                    "-o", folder / "out.h5", "--force", "--empty=-7", ranks=ranks)  # fmt: skip
        kept = spread(mask, dimensions) != 0
        with h5py.File(folder / "out.h5") as file:
            assert (file["values_count"][...] == kept.sum((0, 2))).all()
            most = np.where(kept, values, -np.inf).max((0, 2))
            assert (file["values_max"][...] == np.where(kept.any((0, 2)), most, -7)).all()
    assert len(results) == 1


@pytest.mark.parametrize("dimensions", SUBSETS)
@pytest.mark.parametrize("option", ["--weights", "--times"])
def test_factors(folder, option, dimensions):
    values = np.random.default_rng(1).integers(-1000, 1000, SHAPE).astype("f4")
    factors = np.random.default_rng(2).integers(0, 9, extents(dimensions)).astype("f8") / 8
    path = add(support.write(folder / "in.h5", values, "f32", chunks=STORAGE[1]["chunks"]), "D",
               factors)  # fmt: skip
    products = values.astype("f8") * spread(factors, dimensions)
    results = set()
    for ranks, slab, explicit in ((None, "1M", False), (3, "4K", True)):
        name = name_of(dimensions, explicit)
        outcome = support.reduce(path, "values", option, name, "--slab", slab, ops="sum", ranks=ranks)
        assert outcome.results["sum"] == products.sum()
        results.add(outcome.result_bytes)
        support.run("reduce", path, "values", option, name, "--axis", "0,1", "--ops", "sum", "-o",
                    folder / "out.h5", "--force", ranks=ranks)  # fmt: skip
        with h5py.File(folder / "out.h5") as file:
            assert (file["values"][...] == products.sum((0, 1))).all()
    assert len(results) == 1


@pytest.mark.parametrize("dimensions", SUBSETS)
def test_labels(folder, dimensions):
    values = samples.typed("f64", SHAPE, seed=4)
    labels = random_labels(extents(dimensions), np.arange(-3, 6))
    true = true_by_label(values, spread(labels, dimensions))
    results = set()
    for storage, ranks, slab in zip(STORAGE, (None, 2, 3), ("1M", "4K", "4K")):
        path = add(support.write(folder / "in.h5", values, "f64", **storage), "D", labels)
        outcome = support.reduce(path, "values", "--by", name_of(dimensions, ranks == 2), "--slab",
                                 slab, ops="count,sum,mean,var,min,max,argmin,argmax", ranks=ranks)  # fmt: skip
        expect_labels(outcome, true)
        results.add(str(outcome.report["results"]))
    assert len(results) == 1


def test_texts_as_labels(folder):
    values = samples.typed("f64", (40, 3), seed=4)
    names = np.random.default_rng(1).choice(["gas", "star", ""], 40)
    path = support.write(folder / "in.h5", values, "f64")
    add(path, "D", names.astype("S"))
    found = support.reduce(path, "values", "--by", "D", ops="count,max").report["results"]
    assert found == [
        {"label": each, "count": 3 * int((names == each).sum()), "max": values[names == each].max()}
        for each in ("gas", "star")
    ]


SELECTIONS = ["1:4, ::2, 3:, :", "2, ..., 1", ":, 5, 2:9:3, :", "-1, 0, :, 1:", "..., 2"]


@pytest.mark.parametrize("select", SELECTIONS)
@pytest.mark.parametrize("dimensions", [(0,), (1,), (0, 2), (1, 3), (0, 1)])
def test_a_selection_takes_the_same_of_all(folder, dimensions, select):
    values = np.random.default_rng(1).integers(-1000, 1000, SHAPE)
    beside = np.random.default_rng(2).integers(0, 4, extents(dimensions))
    beside.flat[::2] = 1
    path = add(support.write(folder / "in.h5", values, "i32", chunks=(2, 3, 4, 3)), "D", beside)
    index = eval(f"np.s_[{select}]")
    part, of_beside = values[index], spread(beside, dimensions)[index]
    words = [path, "values", "--select=" + select]
    expect(support.reduce(*words, "--mask", "D", ranks=2), part, of_beside != 0)
    found = support.reduce(*words, "--weights", "D", ops="sum,sum_of_weights").results
    assert found == {"sum": float((part * of_beside).sum()), "sum_of_weights": float(of_beside.sum())}
    outcome = support.reduce(*words, "--by", "D", ops="count,sum,min,argmin", ranks=2)
    true = true_by_label(part, of_beside)
    expect_labels(outcome, {label: {each: of[each] for each in ("count", "sum", "min", "argmin")}
                            for label, of in true.items()})  # fmt: skip


def test_the_centre_of_mass(folder):
    random = np.random.default_rng(3)
    positions, masses = random.normal(size=(500, 3)), random.random(500)
    path = add(support.write(folder / "in.h5", positions, "f64", chunks=(60, 3)), "Masses", masses)
    support.run("reduce", path, "values", "--axis", "0", "--weights", "Masses", "--ops", "mean",
                "-o", folder / "out.h5", ranks=2)  # fmt: skip
    total = sum(map(Fraction, masses))
    true = [
        float(sum(Fraction(x) * Fraction(m) for x, m in zip(positions[:, d], masses)) / total)
        for d in range(3)
    ]
    with h5py.File(folder / "out.h5") as file:
        assert file["values"][...].tolist() == true


def test_integers_beyond_doubles_as_factors(folder):
    values = np.array([[[3, 5]], [[7, 11]]])
    factors = np.array([[2**53 + 1, 1], [2**60 + 3, 5]])
    path = add(support.write(folder / "in.h5", np.repeat(values, 3, 1), "i64"), "D", factors)
    total = int((np.repeat(values, 3, 1).astype(object) * factors[:, None, :].astype(object)).sum())
    assert support.reduce(path, "values", "--times", "D", ops="sum").results["sum"] == float(total)


def named_file(path, values, names, **beside):
    """A file of values with named dimensions, and of others: (array, names)."""
    with h5py.File(path, "w") as file:
        stored = file.create_dataset("values", data=values)
        for d, name in enumerate(names):
            stored.dims[d].label = name
        for name, (data, its_names) in beside.items():
            stored = file.create_dataset(name, data=data)
            for d, each in enumerate(its_names):
                stored.dims[d].label = each
    return path


def test_names_decide(folder):
    values = samples.typed("f64", (6, 6, 4), seed=1)
    mask = np.arange(6) % 2
    plane = random_mask((6, 4), seed=2)
    path = named_file(folder / "in.h5", values, ["time", "y", "x"], t=(mask, ["time"]), y=(mask, ["y"]),
                      tx=(plane, ["time", "x"]), yx=(plane, ["y", "x"]))  # fmt: skip
    for name, dimensions in (("t", (0,)), ("y", (1,)), ("tx", (0, 2)), ("yx", (1, 2))):
        data = mask if len(dimensions) == 1 else plane
        kept = spread(data, dimensions, values.shape) != 0
        expect(support.reduce(path, "values", "--mask", name), values, kept)
        true = true_by_label(values, kept * 1)
        outcome = support.reduce(path, "values", "--by", name, ops="count,sum,max")
        expect_labels(outcome, {label: {each: of[each] for each in ("count", "sum", "max")}
                                for label, of in true.items()})  # fmt: skip
    expect(support.reduce(path, "values", "--mask", "t@time"), values,
           spread(mask, (0,), values.shape) != 0)  # fmt: skip
    other = named_file(folder / "other.h5", mask, ["time"])
    name = f"{other}::values"
    expect(support.reduce(path, "values", "--mask", name), values,
           spread(mask, (0,), values.shape) != 0)  # fmt: skip
    support.fail("reduce", path, "values", "--mask", name + "@y", code=1,
                 mentions=["different names"])  # fmt: skip
    expect(support.reduce(path, "values", "--mask", name + "@y", "--match", "position"), values,
           spread(mask, (1,), values.shape) != 0)  # fmt: skip


def test_what_does_not_fit_or_fits_twice(folder):
    values = np.zeros((4, 4, 3))
    path = add(support.write(folder / "in.h5", values, "f64"), "D", np.arange(4))
    add(path, "other", np.ones(5))
    for option in ("--mask", "--weights", "--times", "--by"):
        for name, mentions in (
            ("D", ["several dimensions", "D@0"]), ("other", ["(5)", "(4, 4, 3)"]),
            ("D@2", ["(4)", "(3)"]), ("D@1,0", ["rise"]), ("D@0,1", ["(4)", "(4, 4)"]),
            ("D@7", ["no dimension 7"]), ("D@", ["'@'"]), ("D@lat", ["lat"]),
        ):  # fmt: skip
            for ranks in (None, 2):
                support.fail("reduce", path, "values", option, name, code=2, mentions=mentions,
                             ranks=ranks)  # fmt: skip
    for d in (0, 1):
        found = support.reduce(path, "values", "--weights", f"D@{d}", ops="sum_of_weights").results
        assert found == {"sum_of_weights": 72.0}


@pytest.mark.parametrize("option", ["--mask", "--weights", "--times", "--by"])
def test_a_name_of_two_dimensions_decides_nothing(folder, option):
    values = np.arange(9.0).reshape(3, 3)
    line, square = np.array([0, 0, 1]), np.ones((3, 3), "i4")
    path = named_file(folder / "in.h5", values, ["x", "x"], D=(line, ["x"]), all=(square, ["x", "x"]))
    words = (path, "values", "--ops", "sum", "--json", "-")
    support.fail("reduce", *words, option, "D", code=2, mentions=["0 and 1", "'x'", "D@"])
    found = [support.run("reduce", *words, option, name).report["results"]
             for name in ("D@0", "D@1", "all")]  # fmt: skip
    sums = [each[-1]["sum"] if option == "--by" else each["sum"] for each in found]
    assert sums == [6 + 7 + 8, 2 + 5 + 8, 36]


def test_masks_of_different_dimensions_combine(folder):
    values = samples.typed("i32", SHAPE, seed=3)
    random = np.random.default_rng(9)
    masks = {each: random.random(extents(each)) < 0.7 for each in [(0,), (2,), (1, 3), (0, 2)]}
    path = support.write(folder / "in.h5", values, "i32", chunks=(2, 3, 4, 3))
    for number, (dimensions, mask) in enumerate(masks.items()):
        add(path, f"m{number}", mask)
    for chosen in itertools.permutations(range(4), 2):
        pair = [list(masks.items())[each] for each in chosen]
        kept = np.logical_and(*(spread(mask, dimensions) != 0 for dimensions, mask in pair))
        words = ["--mask", f"m{chosen[0]}", "--where", f"m{chosen[1]} != 0"]
        expect(support.reduce(path, "values", *words, ranks=2), values, kept)


def test_a_dimension_goes_by_its_name_before_an_unnamed_one_of_its_extent(folder):
    path, values = folder / "in.h5", np.arange(16.0).reshape(4, 4)
    with h5py.File(path, "w") as file:
        file["values"] = values
        file["time"] = [1.0, 0, 0, 0]
        file["time"].make_scale("time")
        file["m"] = [1, 0, 0, 0]
        for name in ("values", "m"):
            file[name].dims[0].attach_scale(file["time"])
    for words in (["--mask", "m"], ["--where", "time > 0"], ["--times", "m"], ["--weights", "time"]):
        found = support.run("reduce", path, "values", *words, "--ops", "sum", "--json", "-").results
        assert found["sum"] == values[0].sum()
    found = support.run("reduce", path, "values", "--by", "m", "--ops", "sum", "--json", "-").results
    assert [each["sum"] for each in found] == [values[1:].sum(), values[0].sum()]


def write_parts(folder, lengths, make):
    """Files of `values`, and of what make(length, random) adds, none of whose dimensions have names."""
    random, files, parts = np.random.default_rng(4), [], []
    for number, length in enumerate(lengths):
        others = {"values": random.integers(-99, 99, (length, 6, 7)), **make(length, random)}
        files.append(folder / f"part{number}.h5")
        parts.append(others)
        with h5py.File(files[-1], "w") as file:
            for name, data in others.items():
                file[name] = data
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return [*files, "values", "--concat", "0"], whole


@pytest.mark.parametrize("lengths", [(3, 4, 5), (3, 4), (2, 0, 5), (0, 5), (4, 4)])
def test_parts_without_names_follow_one_another_as_their_dataset(folder, lengths):
    """Sums of the lengths are extents of other dimensions, too."""
    words, whole = write_parts(folder, lengths, lambda n, random: {
        "m": random.integers(0, 2, (n, 6, 7)), "m1": random.integers(0, 3, (n, 6)),
        "w": random.integers(0, 9, n).astype("f8"),
        "t": random.choice([b"a", b"bc"], n), "c": random.choice([b"x", b"y"], (n, 2)),
    })  # fmt: skip
    values = whole["values"]
    expected = {
        ("--mask", "m"): values[whole["m"] != 0].sum(),
        ("--where", "m1 == 1"): values[whole["m1"] == 1].sum(),
        ("--mask", "!w@0"): values[whole["w"] == 0].sum(),
        ("--times", "w"): (values * whole["w"][:, None, None]).sum(),
        ("--weights", "w"): (values * whole["w"][:, None, None]).sum(),
    }
    for (option, name), total in expected.items():
        for ranks in (None, 3):
            found = support.run("reduce", *words, option, name, "--ops", "sum", "--json", "-",
                                ranks=ranks)  # fmt: skip
            assert found.results["sum"] == total
    whole["c"] = np.array([b"".join(row) for row in whole["c"]])
    for name in ("m1", "t", "c"):
        labels = whole[name]
        found = support.run("reduce", *words, "--by", name, "--ops", "sum", "--json", "-").results
        wanted = [values[labels == label].sum() for label in np.unique(labels)]
        assert [each["sum"] for each in found] == wanted


def test_parts_without_names_fit_as_those_of_one_file(folder):
    words, whole = write_parts(folder, (6, 5), lambda n, random: {"w": np.arange(float(n))})
    support.fail("reduce", *words, "--weights", "w", code=2, mentions=["several", "'w@0'"])
    found = support.run("reduce", *words, "--times", "w@0", "--ops", "sum", "--json", "-").results
    assert found["sum"] == (whole["values"] * whole["w"][:, None, None]).sum()
    for lengths, others, code, mentions in (
        ((3, 4), lambda n, random: {"m": np.ones((3, 6, 7))}, 1, ["3 and 4", "part1.h5"]),
        ((3, 4), lambda n, random: {"m": np.ones((7 - n, 6, 7))}, 2, ["(4, 6, 7)"]),
        ((7, 7), lambda n, random: {"m": random.random(7)}, 1, ["differs", "'m@0'"]),
        ((1, 1), lambda n, random: {"m": random.random(1)}, 1, ["differs", "'m@0'"]),
    ):
        words, whole = write_parts(folder, lengths, others)
        support.fail("reduce", *words, "--mask", "m", code=code, mentions=mentions)
    words, whole = write_parts(folder, (3, 4), lambda n, random: {})
    with h5py.File(words[0], "r+") as file:
        file["all"] = np.arange(7) % 2
    found = support.run("reduce", *words, "--mask", "all@0", "--ops", "sum", "--json", "-").results
    assert found["sum"] == whole["values"][1::2].sum()


def test_parts_go_by_names_also_where_positions_match(folder):
    files, values, masks = [folder / "0.h5", folder / "1.h5"], [], []
    for path, length in zip(files, (4, 3)):
        values.append(np.arange(length * 4.0).reshape(length, 4))
        masks.append(np.arange(length) % 2)
        with h5py.File(path, "w") as file:
            file["values"], file["m"], file["time"] = values[-1], masks[-1], np.arange(length)
            file["time"].make_scale("time")
            for name in ("values", "m"):
                file[name].dims[0].attach_scale(file["time"])
    for match in ("position", "coordinates"):
        found = support.run("reduce", *files, "values", "--concat", "time", "--mask", "m", "--match",
                            match, "--ops", "sum", "--json", "-").results  # fmt: skip
        assert found["sum"] == np.concatenate(values)[np.concatenate(masks) != 0].sum()


@pytest.mark.parametrize("dimensions", [(0,), (0, 2), (0, 1), (1, 2), (0, 1, 2)])
def test_files_of_one_index_each(folder, dimensions):
    """As files of one time each have flags of that time: names count before extents of 1."""
    shape, names = (5, 3, 4), ("time", "level", "lat")
    values = np.random.default_rng(3).integers(-50, 50, shape).astype("f4")
    there = np.random.default_rng(4).integers(0, 3, extents(dimensions, shape)).astype("i4")
    files = [folder / f"{i}.h5" for i in range(5)]
    for i, path in enumerate(files):
        with h5py.File(path, "w") as file:
            for name, extent in zip(names, (1, *shape[1:])):
                file[name] = np.arange(extent) + (i if name == "time" else 0.0)
                file[name].make_scale(name)
            file["x"] = values[i : i + 1]
            file["D"] = there[i : i + 1] if 0 in dimensions else there
            for dataset, axes in (("x", (0, 1, 2)), ("D", dimensions)):
                for d, axis in enumerate(axes):
                    file[dataset].dims[d].attach_scale(file[names[axis]])
    spread_there = spread(there, dimensions, shape)
    joined = ("reduce", *files, "x", "--concat", "time", "--ops", "count,sum", "--json", "-")
    kept = {"--mask": spread_there != 0, "--where": spread_there == 1}
    for option, chosen in kept.items():
        word = "D" if option == "--mask" else "D==1"
        assert support.run(*joined, option, word, ranks=2).results == {
            "count": chosen.sum(), "sum": values[chosen].sum()
        }  # fmt: skip
    outcome = support.run(*joined, "--weights", "D")
    assert outcome.results["sum"] == (values * spread_there).sum()
    for each in support.run(*joined, "--by", "D").results:
        chosen = spread_there == each["label"]
        assert (each["count"], each["sum"]) == (chosen.sum(), values[chosen].sum())
