"""Chunks with few elements of each output, of which several are reduced at once."""

import math

import h5py
import numpy as np
import pytest

import support

SHAPE = (37, 50, 70)
CHUNKS = ((1, 50, 70), (1, 16, 32), (2, 20, 30), (3, 7, 70), (1, 50, 1), (1, 1, 7))
FILTERS = ({"shuffle": True, "compression": "gzip"}, {"compression": "gzip"}, {})
STATISTICS = "count,nan_count,sum,min,max,argmin,argmax"


def spread(random):
    """Doubles whose sums need several of their kind, with ties, NaNs and infinities."""
    values = np.ldexp(random.normal(size=SHAPE), random.integers(-40, 40, SHAPE))
    values[:, 10:20] = random.integers(-3, 4, (SHAPE[0], 10, SHAPE[2]))
    values[random.random(SHAPE) < 0.001] = np.nan
    values[3, 20, 33], values[4, 21, 34] = np.inf, -np.inf
    return values


def write(folder, values, name="f64", **storage):
    random = np.random.default_rng(7)
    path = support.write(folder / "in.h5", values, name, **storage)
    with h5py.File(path, "a") as file:
        file["labels"] = random.integers(0, 9, SHAPE[1:], dtype="i4")
        file["mask"] = (random.random(SHAPE[1:]) < 0.7).astype("u1")
        file["weights"] = random.integers(0, 100, SHAPE[1:]).astype("f8")
        file["factors"] = random.integers(-100, 100, SHAPE).astype("f8")
        return path, {each: file[each][...] for each in ("labels", "mask", "weights", "factors")}


def outputs(folder, path, *words, **options):
    support.run("reduce", path, "values", *words, "-o", folder / "out.h5", "--force", **options)
    with h5py.File(folder / "out.h5") as file:
        return {name.removeprefix("values_"): file[name][...] for name in file}


def same_on_threads_and_ranks(folder, path, *words):
    found = [outputs(folder, path, *words, "--threads", threads, ranks=ranks)
             for threads, ranks in ((1, None), (4, None), (2, 3))]  # fmt: skip
    for name, array in found[0].items():
        assert all(array.tobytes() == each[name].tobytes() for each in found[1:])
    return found[0]


def assert_statistics(found, columns):
    """Compares with a column of elements for each output."""
    for i, column in enumerate(columns):
        of = {name: array.reshape(-1)[i] for name, array in found.items()}
        numbers = column[~np.isnan(column)]
        assert (of["count"], of["nan_count"]) == (column.size, column.size - numbers.size)
        assert of["argmin"] == np.argmin(column) and of["argmax"] == np.argmax(column)
        if numbers.size < column.size:
            assert np.isnan(of["sum"])
            continue
        assert (of["min"], of["max"]) == (column.min(), column.max())
        assert of["sum"] == (math.fsum(column) if np.isfinite(column).all() else column.sum())


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("filters", FILTERS)
def test_along_axes(folder, chunks, filters):
    values = spread(np.random.default_rng(1))
    path, _ = write(folder, values, chunks=chunks, **filters)
    words = ("--ops", STATISTICS, "--nan", "propagate")
    found = same_on_threads_and_ranks(folder, path, "--axis", 0, *words)
    assert_statistics(found, values.reshape(SHAPE[0], -1).T)
    found = same_on_threads_and_ranks(folder, path, "--axis", "0,2", *words)
    assert_statistics(found, values.transpose(1, 0, 2).reshape(SHAPE[1], -1))


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("name", ["f32", "i16", "i64"])
def test_by_labels_and_mask(folder, chunks, name):
    values = np.random.default_rng(2).integers(-999, 999, SHAPE).astype(support.NUMPY_TYPES[name])
    path, small = write(folder, values, name, chunks=chunks, **FILTERS[0])
    words = ("--by", "labels", "--mask", "mask", "--where", "<900", "--ops", "count,sum,max,mean")
    found = same_on_threads_and_ranks(folder, path, *words)
    kept = (small["mask"] != 0) & (values < 900)
    for label in range(9):
        of_label = values[kept & (small["labels"] == label)].astype("f8")
        of = {each: found[each][label] for each in ("count", "sum", "max", "mean")}
        mean = of_label.sum() / of_label.size
        assert of == {"count": of_label.size, "sum": of_label.sum(), "max": of_label.max(),
                      "mean": found["mean"].dtype.type(mean)}  # fmt: skip


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("mask", [(), ("--mask", "mask")])
def test_along_axis_with_factors(folder, chunks, mask):
    values = np.random.default_rng(3).integers(-999, 999, SHAPE).astype("f4")
    path, small = write(folder, values, "f32", chunks=chunks, **FILTERS[0])
    kept = np.broadcast_to(small["mask"] != 0 if mask else True, SHAPE)
    products = np.where(kept, values * small["factors"], 0).sum(axis=0)
    found = same_on_threads_and_ranks(folder, path, "--axis", 0, "--times", "factors", *mask,
                                      "--ops", "sum", "--empty", 0)  # fmt: skip
    assert (next(iter(found.values())) == products).all()
    weighted = np.where(kept, values.astype("f8") * small["weights"], 0).sum()
    weights = np.where(kept, small["weights"], 0).sum()
    found = support.reduce(path, "values", "--weights", "weights", *mask, ops="mean").results
    assert found["mean"] == weighted / weights
