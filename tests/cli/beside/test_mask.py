"""Elements left out by another dataset, beside NumPy's indexing by masks and fractions."""

import h5py
import numpy as np
import pytest

import reference
import samples
import support

SHAPE = (9, 23, 31)
STORAGE = [
    {},
    {"chunks": (1, 23, 31), "shuffle": True, "compression": "gzip"},
    {"chunks": (4, 5, 8)},
]
# Shapes of masks that NumPy broadcasts to SHAPE.
SHAPES = [SHAPE, (23, 31), (31,), (1, 23, 31), (1, 1)]


def random_mask(shape, seed=1):
    """Runs of land and sea, and lone pixels."""
    random = np.random.default_rng(seed)
    count = int(np.prod(shape))
    runs = np.repeat(random.integers(0, 2, count), random.integers(1, 200, count))[:count]
    return np.where(random.random(count) < 0.05, 1 - runs, runs).reshape(shape)


def add(path, name, data, attributes=(), **storage):
    with h5py.File(path, "a") as file:
        file.create_dataset(name, data=data, **storage)
        file[name].attrs.update(dict(attributes))
    return path


def masked_file(folder, values, mask, name="f64", **storage):
    """A file of `values` and of a mask beside them."""
    path = support.write(folder / "in.h5", values, name, **storage)
    return add(path, "mask", mask)


def expect(outcome, values, kept):
    kept = np.broadcast_to(kept, values.shape).ravel()
    true = reference.statistics(values.ravel()[kept])
    places = np.flatnonzero(kept)
    true |= {each: int(places[true[each]]) for each in ("argmin", "argmax")}
    results = outcome.results
    assert {each: results[each] for each in true} == true


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("shape", SHAPES)
def test_statistics_of_what_a_mask_leaves(folder, shape, storage):
    values = samples.typed("f64", SHAPE, seed=3)
    mask = np.ones(shape, "i2") if shape == (1, 1) else random_mask(shape) * 7
    path = masked_file(folder, values, mask, **storage)
    results = set()
    for ranks, slab in ((1, "1M"), (2, "4K"), (5, "16K")):
        outcome = support.reduce(path, "values", "--mask", "mask", "--slab", slab, ranks=ranks)
        expect(outcome, values, mask != 0)
        results.add(outcome.result_bytes)
    assert len(results) == 1
    assert outcome.report["mask"] == "mask"


@pytest.mark.parametrize("name, order", support.TYPES_IN_TURNS)
def test_masks_of_every_type_and_values_of_it(folder, name, order):
    values = np.arange(5000) % 97
    mask = samples.typed(name, 5000, seed=8)
    mask[random_mask(5000) == 0] = 0
    path = support.write(folder / "in.h5", values, "i16", chunks=(700,))
    support.write(path, mask, name, dataset="a/mask", order=order, mode="a", chunks=(999,))
    kept = reference.to_double(name, mask) != 0 if name in support.FLOAT_TYPES else mask != 0
    expect(support.reduce(path, "values", "--mask", "/a/mask", ranks=2), values, kept)
    path = support.write(folder / "values.h5", mask, name, order=order)
    bits = random_mask(5000, seed=2)
    add(path, "mask", bits.astype(bool))
    kept = bits != 0
    doubles = mask if name in support.INTEGER_TYPES else reference.to_double(name, mask)
    expect(support.reduce(path, "values", "--mask", "mask", "--slab", "4K"), doubles, kept)


def test_attributes_of_a_mask_are_applied_and_nan_is_not_zero(folder):
    values = np.arange(8.0)
    path = support.write(folder / "in.h5", values, "f64")
    for name, mask, fills, kept in (
        ("nan", np.float32([np.nan, 0, -0.0, 1, 1e-45, -1, np.inf, 0]), {}, [0, 3, 4, 5, 6]),
        ("fill", np.int8([1, -9, 0, 3, 7, -9, 7, 1]), {"_FillValue": np.int8(-9),
         "missing_value": np.int8(7)}, [0, 3, 7]),
        ("nans", np.float64([np.nan, 0, 1, 1, 0, 0, 0, 0]), {"_FillValue": np.nan}, [2, 3]),
        ("packed", np.int16([3, 0, 3, 4, 5, 6, 3, 3]), {"add_offset": -3, "valid_max": np.int16(5)},
         [1, 3, 4]),
    ):  # fmt: skip
        add(path, name, mask, fills)
        results = support.reduce(path, "values", "--mask", name).results
        assert (results["count"], results["sum"]) == (len(kept), values[kept].sum())


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("shape", [SHAPE, (23, 31), (1, 31)])
@pytest.mark.parametrize("select", ["2:7, ::3, 4:-2", "-2", "..., 5", "1:, 3", "::2, 10:11"])
def test_a_selection_takes_the_same_of_the_mask(folder, storage, shape, select):
    values = samples.typed("f32", SHAPE, seed=5)
    mask = random_mask(shape)
    path = masked_file(folder, values, mask, "f32", **storage)
    index = eval(f"np.s_[{select}]")
    outcome = support.reduce(path, "values", "--mask", "mask", "--select=" + select, ranks=2)
    expect(outcome, values[index], np.broadcast_to(mask, SHAPE)[index] != 0)


def test_conditions_fill_values_and_unpacking_count_too(folder):
    stored = samples.typed("i16", SHAPE, seed=6)
    mask = random_mask(SHAPE[1:])
    path = support.write(folder / "in.h5", stored, "i16", chunks=(2, 23, 31))
    add(path, "mask", mask)
    with h5py.File(path, "a") as file:
        file["values"].attrs.update({"scale_factor": 0.25, "_FillValue": stored[1, 2, 3]})
    values = stored * 0.25
    kept = (mask != 0) & (stored != stored[1, 2, 3]) & (values < 1000)
    words = ["--mask", "mask", "--where", "<1000"]
    expect(support.reduce(path, "values", *words, ranks=3), values, kept)


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("axis", ["0", "1", "2", "0,2", "1,2", "-3,1"])
def test_reductions_along_axes(folder, storage, axis):
    values = samples.typed("i32", SHAPE, seed=7)
    mask = random_mask(SHAPE[1:])
    mask[4, :] = 0
    path = masked_file(folder, values, mask, "i32", **storage)
    for ranks, slab in ((None, "1M"), (3, "4K")):
        support.run("reduce", path, "values", "--mask", "mask", "--axis=" + axis, "--ops",
                    "count,sum,max,argmin", "-o", folder / "out.h5", "--force", "--slab", slab,
                    ranks=ranks)  # fmt: skip
        axes = tuple(int(each) for each in axis.split(","))
        kept = np.broadcast_to(mask != 0, SHAPE)
        rows = sorted(each % 3 for each in axes)
        others = [each for each in range(3) if each not in rows]
        lines = values.transpose(others + rows).reshape(*[SHAPE[d] for d in others], -1)
        counted = kept.transpose(others + rows).reshape(lines.shape)
        least = np.where(counted, lines, np.iinfo("i4").max).argmin(-1)
        with h5py.File(folder / "out.h5") as file:
            found = {each: file[f"values_{each}"] for each in ("count", "sum", "argmin", "max")}
            assert (found["count"][...] == counted.sum(-1)).all()
            assert (found["sum"][...] == np.where(counted, lines, 0).sum(-1)).all()
            assert (found["argmin"][...] == np.where(counted.any(-1), least, -1)).all()
            most = np.where(counted, lines, np.iinfo("i4").min).max(-1)
            fill = found["max"].attrs["_FillValue"]
            assert (found["max"][...] == np.where(counted.any(-1), most, fill)).all()


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("name, operation", [("i32", "sum"), ("f32", "sum"), ("f64", "max"),
                                             ("u16", "min")])  # fmt: skip
@pytest.mark.parametrize("axis", [None, 0, 1, 2])
def test_scans(folder, storage, name, operation, axis):
    values = samples.typed(name, SHAPE, seed=9)
    mask = random_mask(SHAPE[1:])
    path = masked_file(folder, values, mask, name, **storage)
    extremes = np.finfo if name[0] == "f" else np.iinfo
    identity = 0 if operation == "sum" else (
        {"max": -np.inf, "min": np.inf} if name[0] == "f"
        else {"max": extremes(values.dtype).min, "min": extremes(values.dtype).max}
    )[operation]  # fmt: skip
    substituted = np.where(mask != 0, values, values.dtype.type(identity))
    plain = support.write(folder / "plain.h5", substituted, name)
    along = [] if axis is None else ["--axis", axis]
    outputs = []
    for source, words, ranks in ((plain, [], None), (path, ["--mask", "mask"], None),
                                 (path, ["--mask", "mask", "--slab", "4K"], 3)):  # fmt: skip
        support.scan(source, folder / "out.h5", "values", "--op", operation, *along, *words,
                     ranks=ranks)  # fmt: skip
        with h5py.File(folder / "out.h5") as file:
            outputs.append(file["values"][...])
    assert outputs[0].tobytes() == outputs[1].tobytes() == outputs[2].tobytes()
    if name == "i32" and axis is not None:
        assert (outputs[0] == np.cumsum(substituted, axis, dtype="i8")).all()


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("ranks", [None, 4])
def test_compact_and_histogram(folder, storage, ranks):
    values = samples.typed("f32", SHAPE, seed=10)
    mask = random_mask(SHAPE[1:])
    path = masked_file(folder, values, mask, "f32", **storage)
    kept = np.broadcast_to(mask != 0, SHAPE)
    support.run("compact", path, "values", "--mask", "mask", "--indices", "-o",
                folder / "out.h5", "--slab", "8K", ranks=ranks)  # fmt: skip
    with h5py.File(folder / "out.h5") as file:
        assert (file["values"][...] == values[kept]).all()
        assert (file["values_indices"][...] == np.flatnonzero(kept)).all()
    edges = [-2.0, -0.125, 0.0, 0.25, 3.0]
    report = support.run("histogram", path, "values", "--mask", "mask", "--where", "!=nan",
                         "--bins=" + ",".join(map(str, edges)), "--json", "-", ranks=ranks).report  # fmt: skip
    assert report["results"]["counts"] == np.histogram(values[kept], edges)[0].tolist()
    assert report["mask"] == "mask"
    report = support.run("histogram", path, "values", "--mask", "mask", "--bins", "5", "--json",
                         "-", ranks=ranks).report  # fmt: skip
    found = report["results"]["edges"]
    assert (found[0], found[-1]) == (values[kept].min(), values[kept].max())


def test_masks_of_another_file_for_several_datasets(folder):
    values = samples.typed("f64", SHAPE, seed=11)
    mask = random_mask(SHAPE[1:])
    path = support.write(folder / "in.h5", values, "f64")
    add(path, "other", values * 2)
    add(path, "vector", np.arange(5.0))
    masks = add(folder / "land:1.h5", "group/land", mask.astype("f4"))
    name = f"{masks}::group/land"
    report = support.run("reduce", path, "--all", "--mask", name, "--json", "-", ranks=2).report
    by_name = {each["dataset"]: each for each in report["datasets"]}
    for dataset, factor in (("values", 1), ("other", 2)):
        assert by_name[dataset]["mask"] == name
        total = sum(reference.in_units(values[:, mask != 0])) * factor
        assert by_name[dataset]["results"]["sum"] == reference.nearest(total, reference.UNITS)
    assert "(23, 31)" in by_name["vector"]["skipped"]


def test_nothing_is_left_and_nothing_is_there(folder):
    path = masked_file(folder, np.arange(12.0).reshape(3, 4), np.zeros(4, "u1"))
    results = support.reduce(path, "values", "--mask", "mask", ranks=2).results
    assert (results["count"], results["sum"], results["min"]) == (0, 0.0, None)
    add(path, "empty", np.zeros((3, 0)))
    add(path, "empty_mask", np.zeros(0))
    assert support.reduce(path, "empty", "--mask", "empty_mask").results["count"] == 0


def test_info_tells_of_a_mask(folder):
    path = masked_file(folder, np.zeros(SHAPE), random_mask(SHAPE[1:]))
    words = ["--mask", "mask", "--select", "1:, ..., :8"]
    outcome = support.run("info", path, "values", *words)
    assert "mask" in outcome.stdout and "23 x 8" in outcome.stdout
    report = support.run("info", path, "values", *words, "--json", "-", ranks=2).report
    assert report["mask"] == "mask"
    assert report["results"]["mask_shape"] == [23, 8]


def test_masks_that_can_not_be(folder):
    path = masked_file(folder, np.zeros((3, 4)), np.zeros(5, "u1"))
    add(path, "text", "land")
    add(path, "deep", np.zeros((2, 3, 4)))
    with h5py.File(path, "a") as file:
        file["null"] = h5py.Empty("f4")
    for command in ("reduce", "info"):
        for name, code, mentions in (
            ("mask", 2, ["--mask", "(5)", "(3, 4)"]), ("deep", 2, ["(2, 3, 4)"]),
            ("null", 2, ["no elements"]), ("text", 1, ["text", "string"]), ("none", 1, ["none"]),
            (folder / "gone.h5::mask", 1, ["gone.h5"]), ("", 2, ["--mask"]), ("a.h5::", 2, ["a.h5::"]),
        ):  # fmt: skip
            for ranks in (None, 2):
                support.fail(command, path, "values", "--mask", name, code=code, mentions=mentions,
                             ranks=ranks)  # fmt: skip
    support.fail("info", path, "--mask", "mask", code=2, mentions=["--mask", "none is named"])


def test_no_report_and_no_output_replaces_a_mask(folder):
    path = support.write(folder / "in.h5", np.arange(4.0), "f64")
    masks = add(folder / "masks.h5", "mask", np.ones(4, "u1"))
    with h5py.File(folder / "outer.h5", "w") as file:
        layout = h5py.VirtualLayout((4,), "u1")
        layout[...] = h5py.VirtualSource(str(masks), "mask", (4,))
        file.create_virtual_dataset("mask", layout)
    before = masks.read_bytes()
    for mask in (f"{masks}::mask", f"{folder / 'outer.h5'}::mask"):
        for option in ("--json", "--csv", "--metrics"):
            support.fail("reduce", path, "values", "--mask", mask, option, masks, code=2,
                         mentions=["masks.h5"])  # fmt: skip
        for words in (["reduce", "--axis", "0"], ["scan"], ["compact"]):
            support.fail(words[0], path, "values", *words[1:], "--mask", mask, "-o", masks,
                         "--force", code=2, mentions=["masks.h5"])  # fmt: skip
    assert masks.read_bytes() == before
