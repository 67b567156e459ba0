"""Groups along an axis that have many short runs of indices, beside NumPy and fractions."""

from fractions import Fraction

import h5py
import numpy as np
import pytest

import samples
import support

STORAGE = [{}, {"chunks": (700, 2)}, {"chunks": (500, 3), "compression": "gzip", "shuffle": True}]


def write(folder, values, labels, **storage):
    path = support.write(folder / "in.h5", values, np.dtype(values.dtype).kind + str(values.itemsize * 8),
                         **storage)  # fmt: skip
    with h5py.File(path, "a") as file:
        file["label"] = labels
        if labels.dtype.kind == "i":
            file["label"].attrs["_FillValue"] = labels.dtype.type(-1)
    return path


def outputs(folder, path, *words, ops="count,sum,mean,var,min,max", **options):
    support.run("reduce", path, "values", "--ops", ops, *words, "-o", folder / "out.h5", "--force",
                **options)  # fmt: skip
    with h5py.File(folder / "out.h5") as file:
        return {name.removeprefix("values_"): file[name][...] for name in file if name.startswith("values")}


def exact(values):
    """Statistics of the elements of each column."""
    columns = [[Fraction(x.item()) for x in column] for column in values.T]
    counts = [len(column) for column in columns]
    means = [sum(column) / len(column) for column in columns]
    squares = [sum(x * x for x in column) / len(column) for column in columns]
    return {"count": counts, "sum": [float(sum(column)) for column in columns],
            "mean": [float(mean) for mean in means],
            "var": [float(square - mean**2) for square, mean in zip(squares, means)],
            "min": values.min(0).tolist(), "max": values.max(0).tolist()}  # fmt: skip


@pytest.mark.parametrize("kind, texts", [("f8", False), ("i4", True)])
@pytest.mark.parametrize("storage", STORAGE)
def test_labels_along_the_first_axis(folder, storage, kind, texts):
    values = samples.typed({"f8": "f64", "i4": "i32"}[kind], (3000, 3), seed=1)
    labels = np.random.default_rng(2).integers(-1, 20, 3000)
    names = np.where(labels < 0, "", np.char.add("halo", np.char.zfill(labels.astype(str), 2))).astype("S6")
    path = write(folder, values, names if texts else labels, **storage)
    found = []
    for ranks, slab in ((None, "1M"), (3, "4K"), (2, "16K")):
        found.append(outputs(folder, path, "--axis", "0", "--by", "label", "--slab", slab, ranks=ranks))
        assert {name: each.tobytes() for name, each in found[0].items()} == {
            name: each.tobytes() for name, each in found[-1].items()
        }
    for label in range(20):
        expected = exact(values[labels == label])
        assert {name: found[0][name][label].tolist() for name in expected} == expected


def test_other_axes_and_kept_dimensions(folder):
    values = np.random.default_rng(3).normal(size=(4, 1500, 2, 3))
    labels = np.random.default_rng(4).integers(0, 5, 1500)
    path = write(folder, values, labels)
    found = outputs(folder, path, "--axis", "1,3", "--by", "label", ops="sum,max", ranks=2)
    kept = outputs(folder, path, "--axis", "1,3", "--by", "label", "--keepdims", ops="sum,max")
    for label in range(5):
        of_label = values[:, labels == label].transpose(0, 2, 1, 3).reshape(8, -1)
        sums = [float(sum(map(Fraction, row))) for row in of_label.tolist()]
        assert found["sum"][:, label].ravel().tolist() == sums
        assert (found["max"][:, label].ravel() == of_label.max(1)).all()
    assert kept["sum"].shape == (4, 5, 2, 1) and kept["sum"].tobytes() == found["sum"].tobytes()


@pytest.mark.parametrize("storage", [{"chunks": (100, 1)}, {"chunks": (100, 1), "compression": "gzip"}])
def test_few_labels_among_many_indices(folder, fault, storage):
    """Less than 1 % of the indices have a label: elements between these are not read."""
    values = samples.typed("i32", (90000, 1), seed=8)
    labels = np.full(90000, -1)
    labels[30000:30300] = np.arange(300) % 2
    path = write(folder, values, labels, **storage)
    words = ["reduce", path, "values", "--axis", "0", "--by", "label", "--ops", "sum,max"]
    prefix = fault("pread", "in.h5", "delay 0")
    words += ["--slab", "4K", "--threads", "1", "--json", "-"]
    results = support.run(*words, prefix=prefix).results["datasets"]
    expected = [values[labels == label] for label in range(2)]
    assert results["sum"]["values"] == [[float(each.sum(dtype="i8"))] for each in expected]
    assert results["max"]["values"] == [[int(each.max())] for each in expected]
    # Cores read 4 KiB at once, GPUs each index: fewer than all parts of 4 KiB, and than all chunks.
    assert fault.count() < (values.nbytes // 4096 if support.BACKEND == "cpu" else values.size // 100)


def test_what_is_left_out_and_missing(folder):
    values = np.random.default_rng(5).normal(size=(2000, 2)).astype("f4")
    values[::7, 0] = np.nan
    labels = np.arange(2000) % 300
    path = write(folder, values, labels)
    words = ["--axis", "0", "--by", "label", "--where", "<0.5", "--nan", "skip", "--min-count", "4"]
    found = outputs(folder, path, *words, ops="count,max,sum")
    for label in range(300):
        for column in range(2):
            kept = [x for x in values[labels == label, column] if x < 0.5]
            assert found["count"][label, column] == len(kept)
            few = len(kept) < 4
            for name, true in (("max", max(kept, default=0)), ("sum", float(sum(map(Fraction, map(float, kept)))))):
                got = found[name][label, column]
                assert np.isnan(got) if few else got == np.float32(true)


def test_hours_of_few_elements(folder):
    """Each hour of the day recurs: places along the axis stay, which labels of all have not."""
    values = np.random.default_rng(6).integers(-99, 99, 24 * 40).astype("i2")
    path = folder / "in.h5"
    with h5py.File(path, "w") as file:
        file["time"] = np.arange(values.size)
        file["time"].attrs["units"] = "hours since 2001-02-03"
        file["time"].make_scale("time")
        file.create_dataset("values", data=values, chunks=(96,), compression="gzip")
        file["values"].dims[0].attach_scale(file["time"])
    found = outputs(folder, path, "--axis", "time", "--by", "hour", ops="sum,argmax", ranks=2)
    alone = outputs(folder, path, "--axis", "time", "--by", "hour", ops="sum")
    days = values.reshape(40, 24)
    assert (found["sum"] == days.sum(0, "i8")).all() and (alone["values"] == days.sum(0, "i8")).all()
    assert (found["argmax"] == days.argmax(0) * 24 + np.arange(24)).all()


def test_windows_of_few_elements(folder):
    values = np.random.default_rng(7).normal(size=(3001, 3))
    path = write(folder, values, np.zeros(3001, "i4"))
    found = outputs(folder, path, "--axis", "0", "--every", "5", ops="sum,min", ranks=3)
    for window in range(601):
        part = values[5 * window : 5 * window + 5]
        assert found["sum"][window].tolist() == [float(sum(map(Fraction, c))) for c in part.T.tolist()]
        assert (found["min"][window] == part.min(0)).all()
