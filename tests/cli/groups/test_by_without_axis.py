"""Quantiles and products by labels of one dimension without --axis, beside NumPy and fractions."""

from fractions import Fraction

import h5py
import numpy as np
import pytest

import support

SHAPE = (13, 7, 9)
QUANTILES = {"q0.0": 0, "q10": 0.1, "median": 0.5, "q0.995": 0.995, "q1.0": 1}


def write(folder, kind, dimension, texts=False, **storage):
    """A dataset, labels of one of its dimensions, and for each element its label."""
    random = np.random.default_rng(dimension)
    values = random.normal(0, 1000, SHAPE).astype(kind)
    labels = random.choice([-7, 0, 3, 250], SHAPE[dimension]).astype("i2")
    path = support.write(folder / "in.h5", values, np.dtype(kind).kind + str(values.itemsize * 8),
                         **storage)  # fmt: skip
    with h5py.File(path, "a") as file:
        file["label"] = labels.astype("S4") if texts else labels
        file["weight"] = random.integers(0, 9, SHAPE[1:]) / 8
    spread = labels.reshape([-1 if d == dimension else 1 for d in range(3)])
    return path, values, np.broadcast_to(spread, SHAPE)


def reduce(path, dimension, *words, by="label", **options):
    return support.reduce(path, "values", "--by", f"{by}@{dimension}", *words, **options)


def by_label(outcome):
    return {each.pop("label"): each for each in outcome.report["results"]}


@pytest.mark.parametrize("dimension", [0, 1, 2])
@pytest.mark.parametrize("kind, texts, storage", [
    ("f8", False, {}), ("f4", True, {"chunks": (4, 3, 9)}), ("i4", False, {"chunks": (13, 1, 2)})])  # fmt: skip
def test_quantiles_of_labels(folder, dimension, kind, texts, storage):
    path, values, labels = write(folder, kind, dimension, texts, **storage)
    expected = {}
    for label in sorted(np.unique(labels), key=str if texts else None):
        of_label = values[labels == label].astype("f8")
        expected[str(label) if texts else label] = {
            "count": of_label.size,
            "max": of_label.max(),
            **{name: np.quantile(of_label, at) for name, at in QUANTILES.items()},
        }
    reports = set()
    for ranks, words in ((None, []), (3, ["--slab", "4K", "--quantile-memory", "8K"])):
        outcome = reduce(path, dimension, *words, ops="count,max," + ",".join(QUANTILES), ranks=ranks)
        assert by_label(outcome) == expected
        reports.add(str(outcome.report["results"]))
    assert len(reports) == 1


def test_of_floats_sums_are_doubles_as_without_quantiles(folder):
    path, _, _ = write(folder, "f4", 1)
    alone = by_label(reduce(path, 1, ops="sum,mean,std,min,argmax"))
    both = by_label(reduce(path, 1, ops="sum,mean,std,min,argmax,median"))
    assert {label: {name: of[name] for name in alone[label]} for label, of in both.items()} == alone


@pytest.mark.parametrize("dimension", [0, 2])
@pytest.mark.parametrize("kind", ["f8", "i4"])
def test_weights_and_times_by_labels(folder, dimension, kind):
    path, values, labels = write(folder, kind, dimension)
    with h5py.File(path) as file:
        weights = np.broadcast_to(file["weight"][...], SHAPE)
    weighted = by_label(reduce(path, dimension, "--weights", "weight", ops="count,sum_of_weights,sum,mean"))
    times = by_label(reduce(path, dimension, "--times", "weight", ops="sum", ranks=2))
    for label in np.unique(labels):
        pairs = [(Fraction(v.item()), Fraction(w.item()))
                 for v, w in zip(values[labels == label], weights[labels == label])]  # fmt: skip
        total, sum_of_weights = sum(v * w for v, w in pairs), sum(w for _, w in pairs)
        assert weighted[label] == {
            "count": sum(w != 0 for _, w in pairs),
            "sum_of_weights": float(sum_of_weights),
            "sum": float(total),
            "mean": float(total / sum_of_weights),
        }
        assert times[label] == {"sum": float(total)}


def test_outputs_are_those_of_all_axes(folder):
    path, _, _ = write(folder, "f4", 1)
    for words in (["--ops", "median,mean"], ["--weights", "weight", "--ops", "mean"]):
        outputs = []
        for axes in ([], ["--axis", "1,0,2"]):
            output = folder / f"{len(outputs)}.h5"
            support.run("reduce", path, "values", "--by", "label@1", *axes, *words, "-o", output, "--force")
            with h5py.File(output) as file:
                outputs.append({name: file[name][...].tobytes() for name in file})
        assert outputs[0] == outputs[1] and "label" in outputs[0]


def test_text_and_csv_have_quantiles(folder):
    path, values, labels = write(folder, "f8", 0)
    median = np.median(values[labels == 250])
    words = ("reduce", path, "values", "--by", "label", "--ops", "median")
    assert ["250", str(median)] in [row.split() for row in support.run(*words).stdout.splitlines()]
    csv = support.run(*words, "--csv", "-", "--quiet").stdout
    assert f"median[250],{median}" in csv


def test_labels_none_of_whose_elements_count(folder):
    path, values, labels = write(folder, "f8", 0)
    alone = by_label(reduce(path, 0, "--where", "<-1e9", ops="count,sum,mean,min,argmax"))
    both = by_label(reduce(path, 0, "--where", "<-1e9", ops="count,sum,mean,min,argmax,median"))
    assert list(both) == np.unique(labels).tolist()
    for label, of_label in both.items():
        assert of_label.pop("median") is None and str(of_label) == str(alone[label])
        assert of_label["argmax"] is None


@pytest.mark.parametrize("ops", ["median", "min,median"])
def test_integers_of_a_label_none_of_whose_elements_count(folder, ops):
    path, values, labels = write(folder, "i4", 0)
    alone, least, *_ = np.unique(labels)
    values[labels == least] = -(2**31) + 1  # netCDF's default fill value
    with h5py.File(path, "a") as file:
        file["values"][...] = values
        file["mask"] = (labels[:, 0, 0] != alone).astype("i1")
    words = ("--quantile-method", "lower", "--mask", "mask@0")
    for ranks in (None, 2):
        found = by_label(reduce(path, 0, *words, ops=ops, ranks=ranks))
        for label in np.unique(labels):
            median = int(np.quantile(values[labels == label], 0.5, method="lower"))
            expected = {"min": int(values[labels == label].min()), "median": median}
            assert found[label] == {
                name: None if label == alone else expected[name] for name in ops.split(",")
            }


@pytest.mark.parametrize("ops, mentions", [
    ("median", ["no quantiles by labels: the dataset holds no elements. Omit quantiles."]),
    ("max,median", ["no max by labels: the dataset holds no elements"])])  # fmt: skip
def test_quantiles_of_nothing(folder, ops, mentions):
    path = support.write(folder / "in.h5", np.zeros((0, 3), "f8"), "f64")
    with h5py.File(path, "a") as file:
        file["label"] = np.arange(3)
    words = ("reduce", path, "values", "--by", "label", "--ops", ops)
    for ranks in (None, 2):
        support.fail(*words, code=1, mentions=mentions, ranks=ranks)


def test_quantiles_of_all_elements_keep_none(folder):
    path, _, _ = write(folder, "f8", 0)
    words = ("reduce", path, "values", "--ops", "median", "--quantile-memory", "1M")
    support.fail(*words, code=2, mentions=["does not support quantiles of all elements", "Omit it."])


def test_selected_parts(folder):
    path, values, labels = write(folder, "f8", 1)
    outcome = reduce(path, 1, "--select", "3:,::2,4", ops="median")
    values, labels = values[3:, ::2, 4], labels[3:, ::2, 4]
    assert by_label(outcome) == {
        label: {"median": np.median(values[labels == label])} for label in np.unique(labels)
    }


@pytest.mark.parametrize("words, mentions", [
    (["--by", "two", "--ops", "median"], ["'two' has 2 dimensions", "one dimension with --by"]),
    (["--by", "texts", "--ops", "median"], ["'texts' has 2 dimensions", "one dimension with --by"]),
    (["--by", "two", "--weights", "weight"], ["'two' has 2 dimensions", "weights"]),
    (["--by", "month", "--ops", "median"], ["month", "needs an axis"]),
    (["--by", "label", "--ops", "median,q50"], ["median", "two names"]),
    (["--by", "label", "--ops", "median", "--weights", "weight"], ["quantiles"]),
    (["--by", "label@2", "--axis", "0"], ["'@'", "not the first axis", "--axis"]),
    (["--by", "label@0,1", "--axis", "0"], ["'@'"])])  # fmt: skip
def test_refusals(folder, words, mentions):
    path, _, _ = write(folder, "f8", 0)
    with h5py.File(path, "a") as file:
        file["two"] = np.zeros(SHAPE[1:], "i4")
        file["texts"] = np.full(SHAPE[1:], b"aa", "S2")
    support.fail("reduce", path, "values", *words, code=2, mentions=mentions)


def test_dimensions_of_labels_are_named_along_axes(folder):
    """Labels, masks and weights say which dimension is theirs."""
    values = np.random.default_rng(4).normal(size=(6, 6))
    path = support.write(folder / "in.h5", values, "f64")
    labels = np.array([1, 0, 1, 1, 0, 0])
    with h5py.File(path, "a") as file:
        file["label"] = labels
    outcome = reduce(path, 1, "--axis", "1", "--mask", "label@0", "--weights", "label@1", ops="sum")
    sums = outcome.report["results"]["datasets"]["sum"]["values"]
    expected = [[0, float(sum(map(Fraction, row[labels == 1])))] if kept else [0, 0]
                for row, kept in zip(values, labels)]  # fmt: skip
    assert sums == expected
    coordinate = outcome.report["results"]["coordinates"][1]
    assert coordinate["name"] == "label" and coordinate["values"] == [0, 1]
