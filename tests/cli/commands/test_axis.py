"""Reductions and scans along axes, beside NumPy."""

import ctypes
import fractions
import itertools
import mmap
import os

import h5py
import numpy as np
import pytest

import support

SHAPES = [(40,), (70, 300), (15, 16, 17), (5, 1, 14, 15), (4, 6, 5, 7, 8)]
CHUNKS = {1: (16,), 2: (14, 25), 3: (2, 14, 3), 4: (2, 1, 3, 12), 5: (1, 2, 4, 2, 3)}
STORAGE = {
    "contiguous": {},
    "big-endian": {"order": "big"},
    "chunked": {"chunked": True},
    "filtered": {"chunked": True, "compression": "gzip", "shuffle": True, "fletcher32": True},
}


def axes_of(shape):
    """Every single axis, some pairs, and one as a negative number."""
    dimensions = range(len(shape))
    pairs = list(itertools.combinations(dimensions, 2))
    return [(d,) for d in dimensions] + pairs[::3] + [(-1,)]


def shapes_for(storage):
    """All where chunks are cut, some elsewhere."""
    return SHAPES if storage == "chunked" else SHAPES[1::3]


def make(folder, values, name, storage):
    options = dict(STORAGE[storage])
    if options.pop("chunked", False):
        options["chunks"] = CHUNKS[values.ndim]
    return support.write(folder / "in.h5", values, name, **options)


def reduce_axis(path, out, axes, ops="sum", *arguments, **options):
    """Runs `reduce --axis`; returns an array for each operation, and the report."""
    outcome = support.run(
        "reduce", path, "values", "--axis", ",".join(map(str, axes)), "-o", out, "--force",
        "--ops", ops, "--json", "-", *arguments, **options,
    )  # fmt: skip
    with h5py.File(out, "r") as file:
        datasets = outcome.report["results"]["datasets"]
        return {op: file[each["dataset"]][()] for op, each in datasets.items()}, outcome.report


def scan_axis(path, out, axis, *arguments, **options):
    support.scan(path, out, "values", "--axis", axis, *arguments, **options)
    with h5py.File(out, "r") as file:
        return file["values"][()]


def same(actual, expected):
    expected = np.asarray(expected)
    return (
        actual.shape == expected.shape
        and actual.dtype == expected.dtype
        and actual.tobytes() == expected.tobytes()
    )


def rounded_along(values, axis, combine):
    """combine(fractions along the axis) for each place along the others, rounded once to f64."""
    moved = np.moveaxis(values, axis, -1)
    lines = moved.reshape(-1, moved.shape[-1])
    return [combine([fractions.Fraction(x) for x in line.tolist()]) for line in lines]


def hard_values(shape, seed=5):
    """Doubles of many binary orders and both signs, which cancel."""
    random = np.random.default_rng(seed)
    values = random.standard_normal(shape) * 2.0 ** random.integers(-300, 300, shape)
    flat = values.reshape(-1)
    flat[1::3] = -flat[: flat[1::3].size * 3 : 3]
    return values


@pytest.mark.parametrize("storage", STORAGE)
def test_integers_are_reduced_as_numpy_does(folder, storage):
    for shape in shapes_for(storage):
        values = np.random.default_rng(1).integers(-1000, 1000, shape).astype("i4")
        path = make(folder, values, "i32", storage)
        for axes in axes_of(shape)[:: 1 if storage == "chunked" else 2]:
            results, report = reduce_axis(
                path, folder / "out.h5", axes, "sum,min,max,mean,count,l1", "--slab", "4K"
            )
            assert same(results["sum"], np.add.reduce(values, axes, dtype="i8"))
            assert same(results["min"], np.min(values, axes))
            assert same(results["max"], np.max(values, axes))
            assert same(results["mean"], np.mean(values, axes, dtype="f8"))
            assert same(results["l1"], np.sum(np.abs(values), axes).astype("u8"))
            assert np.all(results["count"] == values.size // results["sum"].size)
            assert report["axis"] == sorted(axis % values.ndim for axis in axes)


def test_indices_of_extrema_are_numpys(folder):
    values = np.random.default_rng(2).integers(0, 9, (6, 40, 11)).astype("u2")
    path = make(folder, values, "u16", "chunked")
    for axis in range(3):
        results, _ = reduce_axis(path, folder / "out.h5", [axis], "argmin,argmax", "--slab", "4K")
        assert same(results["argmin"], np.argmin(values, axis))
        assert same(results["argmax"], np.argmax(values, axis))


def test_indices_count_all_reduced_axes_where_chunks_are_thin(folder):
    values = np.random.default_rng(3).random((3, 8, 5))
    values[1, 3, 2] = values[1, 1, 4] = np.nan
    path = support.write(folder / "in.h5", values, "f64", chunks=(3, 8, 1))
    results, _ = reduce_axis(path, folder / "out.h5", [1, 2], "argmin,argmax")
    assert same(results["argmin"], np.argmin(values.reshape(3, -1), 1))
    assert same(results["argmax"], np.argmax(values.reshape(3, -1), 1))


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_real_numbers_are_rounded_once_whatever_the_ranks(folder, ranks):
    values = hard_values((13, 50, 9))
    path = make(folder, values, "f64", "contiguous")
    for axis in range(3):
        results, _ = reduce_axis(
            path, folder / "out.h5", [axis], "sum,mean,var", "--slab", "4K", ranks=ranks
        )
        shape = np.min(values, axis).shape
        sums = rounded_along(values, axis, lambda line: float(sum(line)))
        assert same(results["sum"], np.reshape(sums, shape))
        means = rounded_along(values, axis, lambda line: float(sum(line) / len(line)))
        assert same(results["mean"], np.reshape(means, shape))


def test_all_axes_give_what_a_flat_reduction_gives(folder):
    values = hard_values((20, 30))
    path = make(folder, values, "f64", "chunked")
    ops = "sum,mean,std,min,argmax,l1,l2,linf"
    results, _ = reduce_axis(path, folder / "out.h5", [0, 1], ops, "--slab", "4K", ranks=3)
    flat = support.reduce(path, ops=ops).results
    assert {op: value.item() for op, value in results.items()} == flat


@pytest.mark.parametrize("shape", [(3, 40000), (40000, 3), (200, 150, 4)])
def test_slabs_threads_and_ranks_change_no_bit(folder, shape):
    values = np.random.default_rng(3).standard_normal(shape).astype("f4")
    path = make(folder, values, "f32", "contiguous")
    for axis in range(len(shape)):
        bits = set()
        for arguments, ranks in [((), 1), (("--slab", "4K"), 3), (("--threads", "3"), 2)]:
            results, _ = reduce_axis(
                path, folder / "out.h5", [axis], "sum,std", *arguments, ranks=ranks
            )
            bits.add(results["sum"].tobytes() + results["std"].tobytes())
        assert len(bits) == 1
        wide = np.add.reduce(values.astype("f8"), axis)
        assert np.allclose(results["sum"], wide, rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("shape, axis", [((0, 3), 0), ((3, 0), 0), ((3, 0), 1), ((2, 0, 4), 1)])
def test_empty_axes_sum_to_zero(folder, shape, axis):
    values = np.zeros(shape, "f4")
    path = support.write(folder / "in.h5", values, "f32")
    results, _ = reduce_axis(path, folder / "out.h5", [axis], "sum,count", ranks=2)
    assert same(results["sum"], np.sum(values, axis))
    assert same(results["count"], np.zeros(np.sum(values, axis).shape, "u8"))


def test_extrema_of_nothing_are_refused(folder):
    path = support.write(folder / "in.h5", np.zeros((0, 3)), "f64")
    arguments = ["reduce", path, "values", "-o", folder / "out.h5", "--ops", "sum,max"]
    support.fail(*arguments, "--axis", 0, code=1, mentions=["no max"], ranks=2)
    assert not (folder / "out.h5").exists()
    support.run(*arguments, "--axis", 1)


def test_nan_policies(folder):
    values = np.random.default_rng(4).standard_normal((20, 30))
    values[::3, ::4] = np.nan
    values[0, 1] = np.inf
    path = make(folder, values, "f64", "contiguous")
    propagated, _ = reduce_axis(path, folder / "out.h5", [0], "min,argmin,nan_count,inf_count")
    assert same(propagated["min"], np.min(values, 0))
    assert same(propagated["argmin"], np.argmin(values, 0))
    assert same(propagated["nan_count"], np.sum(np.isnan(values), 0).astype("u8"))
    assert same(propagated["inf_count"], np.sum(np.isinf(values), 0).astype("u8"))
    skipped, _ = reduce_axis(path, folder / "out.h5", [0], "min,argmin", "--nan", "skip")
    assert same(skipped["min"], np.nanmin(values, 0))
    assert same(skipped["argmin"], np.nanargmin(values, 0))


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_sum_that_does_not_fit_names_the_first_output(folder, ranks):
    values = np.ones((50, 4000), "i8")
    values[:, [1234, 3210]] = 1 << 60
    path = support.write(folder / "in.h5", values, "i64")
    arguments = ["reduce", path, "values", "--axis", 0, "-o", folder / "out.h5", "--slab", "4K"]
    support.fail(*arguments, code=1, mentions=["output 1234", "i64"], ranks=ranks)
    assert not (folder / "out.h5").exists()
    support.run(*arguments, "--overflow", "wrap", ranks=ranks)
    with h5py.File(folder / "out.h5", "r") as file:
        assert same(file["values"][()], np.add.reduce(values, 0))


def test_sums_wrap_in_the_type_of_the_output(folder):
    values = np.random.default_rng(12).integers(-128, 128, (300, 7)).astype("i1")
    path = make(folder, values, "i8", "contiguous")
    exact = np.add.reduce(values, 0, dtype="i8")
    for out, dtype in (("i64", "i8"), ("i16", "i2"), ("u8", "u1"), ("f32", "f4")):
        words = ("--overflow", "wrap", "--output-type", out)
        results, _ = reduce_axis(path, folder / "out.h5", [0], "sum", *words)
        assert same(results["sum"], exact.astype(dtype))


def test_selected_elements_alone_are_reduced(folder):
    values = np.random.default_rng(6).integers(0, 100, (20, 30, 10)).astype("i4")
    for storage in STORAGE:
        path = make(folder, values, "i32", storage)
        results, report = reduce_axis(
            path, folder / "out.h5", [1], "sum", "--select", "3:18:2, -1, ::3", ranks=2
        )
        assert report["shape"] == [8, 4]
        assert same(results["sum"], np.add.reduce(values[3:18:2, -1, ::3], 1, dtype="i8"))


def test_elements_that_are_left_out_do_not_count(folder):
    values = np.random.default_rng(11).integers(-9, 9, (40, 60, 50)).astype("i4")
    masked = np.ma.masked_array(values, values <= 0)
    for storage in ("contiguous", "filtered"):
        path = make(folder, values, "i32", storage)
        for axis in range(3):
            arguments = ("--where", ">0", "--slab", "4K")
            out = folder / "out.h5"
            results, report = reduce_axis(path, out, [axis], "sum,count,max", *arguments, ranks=2)
            assert report["where"] == [">0"]
            assert same(results["sum"], masked.sum(axis, dtype="i8").data)
            assert same(results["count"], masked.count(axis).astype("u8"))
            assert same(results["max"], masked.max(axis).data)
            scanned = scan_axis(path, out, axis, *arguments)
            assert same(scanned, np.cumsum(np.where(values > 0, values, 0), axis, dtype="i8"))


@pytest.mark.parametrize("ranks, storage", [(None, "contiguous"), (3, "filtered")])
@pytest.mark.parametrize("name, nan", [("f32", 0x7FC00001), ("f64", 0x7FF8000000000001)])
@pytest.mark.parametrize("axis", [0, 1])
def test_nan_of_any_bits_counts_beside_fill_values(folder, axis, name, nan, ranks, storage):
    values = np.random.default_rng(13).normal(size=(70, 300)).astype(support.NUMPY_TYPES[name])
    values[:, 5:9] = values[::7, ::3] = values[20:23] = 1e20
    values[3, 5:60] = values[21, 100] = values[50, 40:] = np.nan
    values.view(f"u{values.itemsize}")[50, 50:90] = nan
    counted = values != values.dtype.type(1e20)
    path = make(folder, values, name, storage)
    arrays, _ = reduce_axis(
        path, folder / "out.h5", (axis,), "count,nan_count,sum,min,argmax", "--fill-value", "1e20",
        "--empty", "nan", ranks=ranks,
    )  # fmt: skip
    assert same(arrays["count"], counted.sum(axis, dtype="u8"))
    assert same(arrays["nan_count"], np.isnan(values).sum(axis, dtype="u8"))
    sums = [
        float(sum(map(fractions.Fraction, line[kept].tolist())))
        if kept.any() and np.isfinite(line[kept]).all() else np.nan
        for line, kept in zip(np.moveaxis(values, axis, -1), np.moveaxis(counted, axis, -1))
    ]  # fmt: skip
    assert np.array_equal(arrays["sum"], np.array(sums, values.dtype), equal_nan=True)
    lowest = np.where(counted, values, np.inf).min(axis)
    lowest[~counted.any(axis)] = np.nan
    assert np.array_equal(arrays["min"], lowest, equal_nan=True)
    places = np.where(counted, values, -np.inf).argmax(axis)
    places[~counted.any(axis)] = -1
    assert same(arrays["argmax"], places)


def test_output_names_and_attributes(folder):
    path = folder / "in.h5"
    with h5py.File(path, "w") as file:
        file["run/speed"] = np.ones((3, 4))
        file["run/speed"].attrs.update({"units": "m/s", "_FillValue": -1.0, "scale_factor": 2.0})
    support.run("reduce", path, "run/speed", "--axis", -1, "-o", folder / "one.h5")
    support.run("reduce", path, "run/speed", "--axis", 0, "--ops", "sum,argmin", "-o",
                f"{folder}/two.h5:totals")  # fmt: skip
    with h5py.File(folder / "one.h5", "r") as one, h5py.File(folder / "two.h5", "r") as two:
        attributes = dict(one["run/speed"].attrs)
        assert attributes["units"] == "m/s"
        assert attributes["warpfold_axis"] == b"1"
        assert not {"_FillValue", "scale_factor"} & set(attributes)
        assert set(two) == {"totals_sum", "totals_argmin"}
        assert "units" in two["totals_sum"].attrs
        assert two["totals_argmin"].attrs["units"] == b"1"


def test_keepdims_leaves_the_axes_with_extent_1(folder):
    values = np.arange(6 * 7 * 8.0).reshape(6, 7, 8)
    path = support.write(folder / "in.h5", values, "f64", chunks=(4, 7, 3))
    for axes in [(0,), (-1,), (0, 2), (0, 1, 2)]:
        found, report = reduce_axis(
            path, folder / "out.h5", axes, "sum,argmax", "--keepdims", ranks=2
        )
        expected = values.sum(axes, keepdims=True)
        assert same(found["sum"], expected)
        assert found["argmax"].shape == expected.shape
        assert report["results"]["output_shape"] == list(expected.shape)


def test_what_makes_no_sense_is_refused(folder):
    path = support.write(folder / "in.h5", np.zeros((4, 5, 6)), "f64")
    out = folder / "out.h5"
    reduce = ["reduce", path, "values"]
    scan = ["scan", path, "values", "-o", out]
    support.fail(*reduce, "--axis", 0, "--ops", "all", code=2, mentions=["output is missing"])
    support.fail(*reduce, "-o", out, code=2, mentions=["-o needs --axis"])
    support.fail(*reduce, "--axis", 3, "-o", out, code=2, mentions=["axis 3", "0 to 2"], ranks=2)
    support.fail(*reduce, "--axis", "1,-2", "-o", out, code=2, mentions=["twice"])
    support.fail(*reduce, "--axis", "x", "-o", out, code=2, mentions=["no dimension 'x'"])
    support.fail(*reduce, "--axis", 0, "-o", out, "--ops", "mean", "--output-type", "i8", code=2,
                 mentions=["mean", "f64"])  # fmt: skip
    support.fail(*reduce, "--axis", 0, "-o", path, "--force", code=2, mentions=["in.h5"])
    support.fail(*scan, "--axis", -4, code=2, mentions=["axis -4", "-3 to -1"], ranks=2)
    support.fail(*scan, "--axis", "0,1", code=2, mentions=["one axis"])
    assert not out.exists()


@pytest.mark.parametrize("storage", STORAGE)
def test_integers_are_scanned_as_cumsum_does(folder, storage):
    for shape in shapes_for(storage):
        values = np.random.default_rng(7).integers(-1000, 1000, shape).astype("i2")
        path = make(folder, values, "i16", storage)
        for axis in range(len(shape)):
            ranks = 2 if axis == 1 else None
            scanned = scan_axis(path, folder / "out.h5", axis, "--slab", "4K", ranks=ranks)
            assert same(scanned, np.cumsum(values, axis, dtype="i8"))


@pytest.mark.parametrize("ranks", [1, 3])
def test_real_prefixes_are_rounded_once(folder, ranks):
    values = hard_values((11, 60, 5))
    path = make(folder, values, "f64", "contiguous")
    for axis in range(3):
        scanned = scan_axis(path, folder / "out.h5", axis, "--slab", "4K", ranks=ranks)
        lines = rounded_along(
            values, axis, lambda line: [float(each) for each in itertools.accumulate(line)]
        )
        moved = np.moveaxis(values, axis, -1)
        assert same(scanned, np.moveaxis(np.reshape(lines, moved.shape), -1, axis).copy())


def test_minima_and_exclusive_scans(folder):
    values = np.random.default_rng(8).integers(-1000, 1000, (30, 40)).astype("i4")
    path = make(folder, values, "i32", "chunked")
    out = folder / "out.h5"
    assert same(scan_axis(path, out, 0, "--op", "min"), np.minimum.accumulate(values, 0))
    assert same(scan_axis(path, out, 1, "--op", "max"), np.maximum.accumulate(values, 1))
    exclusive = np.cumsum(values, 1, dtype="i8") - values
    assert same(scan_axis(path, out, -1, "--exclusive", ranks=2), exclusive)


def test_a_scan_along_an_axis_may_be_stored_in_chunks(folder):
    values = np.random.default_rng(9).integers(0, 9, (30, 40)).astype("u1")
    path = make(folder, values, "u8", "filtered")
    scanned = scan_axis(path, folder / "out.h5", 0, "--chunks", "7,8", "--deflate", ranks=2)
    assert same(scanned, np.cumsum(values, 0, dtype="u8"))


def fields(steps=24, shape=(33, 61)):
    """Fields whose sums cancel, one after another, NaN and infinities among them."""
    values = hard_values((steps, *shape), seed=11)
    values[5, 3, 7] = np.nan
    values[9, 30, 2] = np.inf
    return values


def prefixes_of(line):
    """Exact sums up to each element, rounded once; NaN and infinities as floats add them."""
    finite = (fractions.Fraction(x) if np.isfinite(x) else 0 for x in line)
    others = itertools.accumulate(0.0 if np.isfinite(x) else x for x in line)
    return [
        other if other != 0 else float(exact)
        for exact, other in zip(itertools.accumulate(finite), others)
    ]


def prefixes_along(values, axis):
    moved = np.moveaxis(values, axis, -1)
    lines = [prefixes_of(line.tolist()) for line in moved.reshape(-1, moved.shape[-1])]
    return np.ascontiguousarray(np.moveaxis(np.reshape(lines, moved.shape), -1, axis))


@pytest.mark.parametrize("chunks", [(1, 33, 61), (5, 33, 61), (1, 17, 61)])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_scan_reads_each_byte_once_whatever_the_chunks(folder, chunks, threads):
    values = fields()
    path = support.write(
        folder / "in.h5", values, "f64", chunks=chunks, compression="gzip", shuffle=True
    )
    with h5py.File(path) as file:
        stored = file["values"].id.get_storage_size()
    words = ["--axis", "0", "--threads", threads, "--slab", "4K"]
    report = support.scan(path, folder / "out.h5", "values", *words).report
    assert report["timings"]["stages"]["read"]["bytes"] == stored
    with h5py.File(folder / "out.h5") as file:
        assert same(file["values"][...], prefixes_along(values, 0))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5])
def test_ranks_share_the_lines_of_chunks_that_span_them(folder, ranks):
    values = fields()
    path = support.write(folder / "in.h5", values, "f64", chunks=(2, 33, 61), compression="gzip")
    for axis in range(3):
        scanned = scan_axis(path, folder / "out.h5", axis, "--threads", 2, ranks=ranks)
        assert same(scanned, prefixes_along(values, axis))


@pytest.mark.parametrize("threads", [1, 4])
def test_threads_share_the_steps_of_few_long_lines(folder, threads):
    values = np.random.default_rng(12).normal(size=(2, 20_000))
    values[0, 1234] = 2.0**1000
    path = support.write(folder / "in.h5", values, "f64", chunks=(2, 500), compression="gzip")
    scanned = scan_axis(path, folder / "out.h5", 1, "--threads", threads, "--slab", "16K")
    assert same(scanned, prefixes_along(values, 1))


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("axis", [0, 1])
def test_an_overflow_names_the_least_index(folder, ranks, axis):
    values = np.random.default_rng(10).integers(0, 300, (300, 400)).astype("i2")
    path = support.write(folder / "in.h5", values, "i16")
    beyond = np.cumsum(values, axis, dtype="i8") > np.iinfo("i2").max
    support.fail(
        "scan", path, "values", "--axis", axis, "-o", folder / "out.h5", "--output-type", "i16",
        "--slab", "4K", code=1, mentions=[f"index {np.flatnonzero(beyond)[0]}:", "i16"],
        ranks=ranks,
    )  # fmt: skip
    assert not (folder / "out.h5").exists()


def cached_share(path):
    """The share of a file's pages that the system's cache holds; asking reads none."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as memory:
        pages = (ctypes.c_ubyte * -(-len(memory) // mmap.PAGESIZE))()
        start = ctypes.c_char.from_buffer(memory)
        failed = ctypes.CDLL(None).mincore(ctypes.byref(start), ctypes.c_size_t(len(memory)), pages)
        del start
    assert not failed
    return sum(page & 1 for page in pages) / len(pages)


def leave_cache(path):
    """Takes a file out of the system's cache, or skips the test where that can't be seen."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        if cached_share(path) < 0.1:
            return
    except OSError:
        pass
    pytest.skip("this file system keeps its files in memory")


@pytest.mark.parametrize("cache", ["past", "through"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_reads_past_the_file_cache_or_through_it(folder, axis, cache):
    values = np.random.default_rng(11).integers(-99, 99, (40, 70, 1100)).astype("i4")
    path = make(folder, values, "i32", "contiguous")
    out = folder / "out.h5"
    arguments = ("--file-cache", cache, "--slab", "256K", "--threads", 2)
    for command in ("reduce", "scan"):
        leave_cache(path)
        if command == "reduce":
            results, _ = reduce_axis(path, out, [axis], "sum", *arguments, ranks=2)
            assert same(results["sum"], values.sum(axis, dtype="i8"))
        else:
            scanned = scan_axis(path, out, axis, *arguments, ranks=2)
            assert same(scanned, np.cumsum(values, axis, dtype="i8"))
        share = cached_share(path)
        assert share < 0.1 if cache == "past" else share > 0.9, share
