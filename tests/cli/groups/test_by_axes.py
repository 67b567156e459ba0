"""Labels of several axes: `--axis lat,lon --by D`, an output for each other index and label."""

import h5py
import numpy as np
import pytest

import samples
import support

SHAPE = (5, 7, 11, 3)
STATISTICS = "count,sum,mean,max,argmin,argmax"


def write(folder, values, labels, **storage):
    path = support.write(folder / "in.h5", values, "f64", **storage)
    with h5py.File(path, "a") as file:
        file["D"] = labels
        file["D"].attrs["_FillValue"] = np.int32(-9)
    return path


def rows_of(values, labels, axes, of):
    """Elements in lines: (other indices, places along axes), and their labels likewise."""
    others = [d for d in range(4) if d not in axes]
    order = others + list(axes)
    lines = values.transpose(order).reshape(*[SHAPE[d] for d in others], -1)
    spread = labels.reshape([SHAPE[d] if d in of else 1 for d in range(4)])
    return lines, np.broadcast_to(spread, SHAPE).transpose(order).reshape(lines.shape)


def outputs(folder, path, *words, by="D", **options):
    support.run("reduce", path, "values", "--by", by, *words, "-o", folder / "out.h5", "--force",
                **options)  # fmt: skip
    with h5py.File(folder / "out.h5") as file:
        return {name: file[name][...] for name in file}


@pytest.mark.parametrize("axes, of", [((1, 2), (1, 2)), ((0, 2), (0, 2)), ((1, 2, 3), (1, 3)),
                                      ((0, 1, 2, 3), (1, 2)), ((0, 1), (0, 1)), ((2, 3), (2, 3))])  # fmt: skip
@pytest.mark.parametrize("storage", [{}, {"chunks": (2, 3, 4, 2), "compression": "gzip"}])
def test_statistics_of_each_label_and_other_index(folder, axes, of, storage):
    values = np.random.default_rng(1).integers(-1000, 1000, SHAPE).astype("f8")
    labels = np.random.default_rng(2).choice([-9, 4, 7, 100], [SHAPE[d] for d in of]).astype("i4")
    path = write(folder, values, labels, **storage)
    lines, of_lines = rows_of(values, labels, axes, of)
    place = axes[0]
    name = "D@" + ",".join(map(str, of))
    found = []
    for ranks, slab in ((None, "1M"), (3, "4K")):
        support.run("reduce", path, "values", "--axis", ",".join(map(str, axes)), "--by", name,
                    "--where", "<900", "--ops", STATISTICS, "--slab", slab, "-o",
                    folder / "out.h5", "--force", ranks=ranks)  # fmt: skip
        with h5py.File(folder / "out.h5") as file:
            assert file["D"][...].tolist() == [4, 7, 100]
            found.append({each: file["values_" + each][...] for each in STATISTICS.split(",")})
    for number, label in enumerate((4, 7, 100)):
        kept = (of_lines == label) & (lines < 900)
        sums, counts = np.where(kept, lines, 0).sum(-1), kept.sum(-1)
        of_label = {each: array.take(number, place) for each, array in found[0].items()}
        assert (of_label["count"] == counts).all()
        assert (of_label["sum"] == sums).all()
        some = counts > 0
        assert (of_label["max"][some] == np.where(kept, lines, -np.inf).max(-1)[some]).all()
        for op, nothing in (("argmin", np.inf), ("argmax", -np.inf)):
            places = getattr(np.where(kept, lines, nothing), op)(-1)  # along the axes alone
            assert (of_label[op] == np.where(some, places, -1)).all()
        assert (of_label["mean"][some] == sums[some] / counts[some]).all()
    for each in found[0]:
        assert found[0][each].tobytes() == found[1][each].tobytes()


@pytest.mark.parametrize("shape", [(6, 1), (1, 6), (1, 1), (1, 1, 6)])
def test_extents_of_one(folder, shape):
    values = np.random.default_rng(4).integers(-99, 99, (3, *shape[-2:], 5)).astype("f8")
    labels = np.random.default_rng(5).integers(0, 3, shape).astype("i4")
    path = write(folder, values, labels)
    found = outputs(folder, path, "--axis", "1,2,3", "--ops", "sum", by="D@1,2")
    there = np.unique(labels)
    lines = values.reshape(3, -1, 5).sum(-1)
    assert (found["D"] == there).all()
    assert (found["values"].T == [lines[:, labels.ravel() == each].sum(1) for each in there]).all()


def test_named_dimensions_and_coordinates(folder):
    values = np.random.default_rng(3).normal(size=(4, 6, 5))
    zones = np.arange(6)[:, None] // 2 + np.zeros(5, "i4")
    path = folder / "in.h5"
    with h5py.File(path, "w") as file:
        for name, length in (("time", 4), ("lat", 6), ("lon", 5)):
            file[name] = np.arange(float(length)) * 10
            file[name].make_scale(name)
        for name, data, names in (("t", values, ("time", "lat", "lon")), ("zone", zones, ("lat", "lon"))):
            file[name] = data
            for d, each in enumerate(names):
                file[name].dims[d].attach_scale(file[each])
    report = support.run("reduce", path, "t", "--axis", "lat,lon", "--by", "zone", "--ops", "max", "-o",
                         folder / "out.h5", "--json", "-").report  # fmt: skip
    assert report["results"]["output_shape"] == [4, 3]
    with h5py.File(folder / "out.h5") as file:
        assert (file["t"][...] == values.reshape(4, 3, 10).max(-1)).all()
        assert [file["t"].dims[d][0].name for d in range(2)] == ["/time", "/zone"]
        assert file["zone"][...].tolist() == [0, 1, 2]
        assert file["t"].attrs["warpfold_by"] in (b"zone", "zone")
        assert file["time"][...].tolist() == [0, 10, 20, 30]


def test_what_can_not_be(folder):
    values = samples.typed("f64", SHAPE, seed=1)
    path = write(folder, values, np.zeros((7, 11), "i4"))
    words = [path, "values", "--by", "D", "-o", folder / "out.h5"]
    for more, mentions in (
        (["--axis", "1,3"], ["dimension 2", "not an axis"]), (["--axis", "1,2", "--ops", "median"], ["not support quantiles"]),
        (["--axis", "1,2", "--weights", "D"], ["not support --weights", "with --mask 'D == 1'"]),
        (["--axis", "1,2", "--keepdims"], ["not support --keepdims"]),
        (["--axis", "1"], ["2 dimensions", "need all of these as axes"]),
    ):  # fmt: skip
        for ranks in (None, 2):
            support.fail("reduce", *words, *more, code=2, mentions=mentions, ranks=ranks)


def test_nothing_is_there(folder):
    path = write(folder, np.zeros((0, 4, 3)), np.zeros((4, 3), "i4"))
    support.run("reduce", path, "values", "--axis", "1,2", "--by", "D", "-o", folder / "out.h5")
    with h5py.File(folder / "out.h5") as file:
        assert file["values"].shape == (0, 1)
