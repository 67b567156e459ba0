"""Reductions along an axis in groups, beside NumPy."""

import fractions

import h5py
import numpy as np
import pytest

import support

SHAPE = (26, 7, 30)
STORAGE = {
    "contiguous": {},
    "big-endian": {"order": "big"},
    "a field a chunk": {"chunks": (1, 7, 30), "compression": "gzip", "shuffle": True},
    "chunks over groups": {"chunks": (9, 4, 11), "compression": "gzip"},
}


def reduce_groups(path, out, *arguments, ops="sum", **options):
    """Runs `reduce --groups`; returns its outputs by operation, and the report."""
    outcome = support.run("reduce", path, "values", "-o", out, "--force", "--ops", ops,
                          "--json", "-", *arguments, **options)  # fmt: skip
    with h5py.File(out, "r") as file:
        datasets = outcome.report["results"]["datasets"]
        return {op: file[each["dataset"]][()] for op, each in datasets.items()}, outcome.report


def parts(values, axis, every):
    return np.split(values, range(every, values.shape[axis], every), axis)


def exact_mean(part, axes):
    moved = np.moveaxis(part, axes, range(-len(axes), 0))
    kept = moved.shape[: -len(axes)]
    lines = moved.reshape(*kept, -1).reshape(int(np.prod(kept, dtype=int)), -1)
    sums = [sum(map(fractions.Fraction, line.tolist())) / len(line) for line in lines]
    return np.array([float(each) for each in sums]).reshape(kept)


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("every", [1, 4, 30])
def test_one_axis(tmp_path, storage, axis, every):
    random = np.random.default_rng(axis)
    values = random.standard_normal(SHAPE) * 2.0 ** random.integers(-300, 300, SHAPE)
    path = support.write(tmp_path / "in.h5", values, "f64", **STORAGE[storage])
    for ranks in (1, 3):
        found, report = reduce_groups(path, tmp_path / "out.h5", "--axis", axis, "--every", every,
                                      ops="mean,min,argmax,count", ranks=ranks)  # fmt: skip
        groups = parts(values, axis, every)
        first = np.arange(len(groups)) * every
        expected = {
            "mean": np.stack([exact_mean(part, [axis]) for part in groups], axis),
            "min": np.stack([part.min(axis) for part in groups], axis),
            "argmax": np.stack([part.argmax(axis) + each for part, each in zip(groups, first)], axis),
            "count": np.stack([np.full(part.min(axis).shape, part.shape[axis]) for part in groups],
                              axis),
        }  # fmt: skip
        for op, each in expected.items():
            assert np.array_equal(found[op], each), op
        assert report["every"] == every
        assert report["results"]["output_shape"] == list(expected["mean"].shape)


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("keepdims", [False, True])
def test_groups_are_along_the_first_axis_named(tmp_path, storage, keepdims):
    values = np.random.default_rng(3).integers(-(2**40), 2**40, SHAPE)
    path = support.write(tmp_path / "in.h5", values, "i64", **STORAGE[storage])
    for axes, words in (((2, 0), "2,0"), ((1, 2), "1,-1"), ((2, 0, 1), "-1,0,1")):
        found, report = reduce_groups(path, tmp_path / "out.h5", f"--axis={words}", "--every", 8,
                                      *["--keepdims"] * keepdims, ranks=2)  # fmt: skip
        sums = [part.sum(axes, keepdims=True) for part in parts(values, axes[0], 8)]
        expected = np.concatenate(sums, axes[0])
        if not keepdims:
            expected = expected.squeeze(tuple(axes[1:]))
        assert np.array_equal(found["sum"], expected)
        assert report["axis"] == sorted(axes)


def test_a_selection_and_conditions(tmp_path):
    values = np.random.default_rng(4).integers(-100, 100, SHAPE, dtype="i2")
    path = support.write(tmp_path / "in.h5", values, "i16", chunks=(5, 7, 8))
    found, _ = reduce_groups(path, tmp_path / "out.h5", "--select", "1:24:2, ::2",
                             "--axis", 0, "--every", 5, "--where", ">0")  # fmt: skip
    seen = values[1:24:2, ::2]
    expected = [np.where(part > 0, part, 0).sum(0, dtype="i8") for part in parts(seen, 0, 5)]
    assert np.array_equal(found["sum"], np.stack(expected))


def test_many_groups_of_few(tmp_path):
    values = np.random.default_rng(5).integers(0, 1000, 100_003, dtype="i4")
    path = support.write(tmp_path / "in.h5", values, "i32", chunks=(4096,))
    found, _ = reduce_groups(path, tmp_path / "out.h5", "--axis", 0, "--every", 7, ranks=2)
    assert np.array_equal(found["sum"], np.add.reduceat(values, range(0, values.size, 7), dtype="i8"))


@pytest.mark.parametrize("with_bounds", [False, True])
@pytest.mark.parametrize("direction", [1, -1])
def test_a_group_is_a_cell_of_the_coordinate(tmp_path, with_bounds, direction):
    times = (np.arange(10) * 3.0 + 1.5)[::direction]
    with h5py.File(tmp_path / "in.nc", "w") as file:
        file["time"] = times
        file["time"].make_scale("time")
        file["time"].attrs["units"] = "hours since 2000-01-01"
        if with_bounds:
            file["time"].attrs["bounds"] = "time_bnds"
            file["time_bnds"] = np.stack([times - 1.5, times + 1.5], -1)
        file["values"] = np.arange(20.0).reshape(10, 2)
        file["values"].dims[0].attach_scale(file["time"])
    out = tmp_path / "out.nc"
    found, _ = reduce_groups(tmp_path / "in.nc", out, "--axis", "time", "--every", 4, ops="max")
    assert np.array_equal(found["max"], [[6, 7], [14, 15], [18, 19]])
    half = 1.5 if with_bounds else 0.0
    first, last = times[[0, 4, 8]], times[[3, 7, 9]]
    bounds = np.stack([first - direction * half, last + direction * half], -1)
    with h5py.File(out, "r") as file:
        assert file["values"].dims[0][0].name == "/time"
        assert np.array_equal(file["time_bnds"][()], bounds)
        assert np.array_equal(file["time"][()], bounds.mean(-1))
        assert file["time"].attrs["bounds"] == b"time_bnds"
        assert file["time"].attrs["units"] in ("hours since 2000-01-01", b"hours since 2000-01-01")


def test_no_elements_have_no_groups(tmp_path):
    path = support.write(tmp_path / "in.h5", np.zeros((0, 3)), "f64")
    found, _ = reduce_groups(path, tmp_path / "out.h5", "--axis", 0, "--every", 4, ops="max,sum")
    assert found["max"].shape == found["sum"].shape == (0, 3)


def test_mistakes(tmp_path):
    path = support.write(tmp_path / "in.h5", np.zeros((4, 3)), "f64")
    for words, what in (
        (["--every", 4], "--every needs --axis"),
        (["--axis", 0, "--every", 0], "--every"),
        (["--axis", 0, "--every", "x"], "--every"),
    ):
        outcome = support.attempt("reduce", path, "values", "-o", tmp_path / "out.h5", *words)
        assert outcome.code == 2 and what in outcome.stderr
        assert not (tmp_path / "out.h5").exists()
