"""Running sums and extrema: of integers exact, of floats the true prefix, rounded once."""

import itertools
import math
import re

import h5py
import numpy as np
import pytest

import reference
import samples
import support

COUNT = 60_003
INF = math.inf
NAN = math.nan


def scanned(folder, values, name, *arguments, out=None, ranks=None, **storage):
    """The elements that a scan writes."""
    path = support.write(folder / "in.h5", values, name, **storage)
    support.scan(path, folder / "out.h5", "values", *arguments, ranks=ranks)
    return support.read(folder / "out.h5", out or support.output_type(name))


def assert_prefixes(name, outputs, values, exclusive=False):
    found = reference.to_double(name, outputs)
    assert np.array_equal(found, reference.rounded_prefixes(name, values, exclusive))


@pytest.mark.parametrize("name", support.FLOAT_TYPES)
@pytest.mark.parametrize("kind", ["uniform", "random_walk", "wide", "large_mean", "constant"])
def test_every_prefix_is_rounded_once(folder, kind, name):
    make = getattr(samples, kind)
    values = make(name, COUNT, np.random.default_rng(len(kind)))
    outputs = scanned(folder, values, name, "--slab", "32K", ranks=2)
    assert_prefixes(name, outputs, reference.to_double(name, values))


def test_long_random_walk_is_rounded_once(folder):
    values = samples.random_walk("f64", 600_003, np.random.default_rng(5))
    outputs = scanned(folder, values, "f64", "--slab", "512K", ranks=3)
    assert_prefixes("f64", outputs, values)


HOSTILE = {
    "cancelling": lambda i, u: np.choose(i % 3, [1e20, -1e20, 1e-3 * u]),
    "one_in_ten_filled": lambda i, u: np.where(np.abs(u) > 0.9, 1e37, u),
    "drifting": lambda i, u: np.ldexp(u, i // 100 % 120 - 60),
    "subnormal": lambda i, u: 1e-310 * u,
    "largest": lambda i, u: np.where(i % 2 == 0, 1.7e308, -1.6e308),
    "ties": lambda i, u: np.where(i == 0, 2.0**53, 1.0 + i % 2),
    "ties_of_f32": lambda i, u: np.where(i == 0, 2.0**24, i % 2),
    "ties_broken_far_below": lambda i, u: np.where(i == 0, 2.0**53 + 2, np.where(i == 1, 1, 1e-30)),
}  # fmt: skip


@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_data_are_rounded_once(folder, kind, ranks):
    places = np.arange(20_003)
    values = HOSTILE[kind](places, np.random.default_rng(ranks).uniform(-1, 1, places.size))
    path = support.write(folder / "in.h5", values, "f64")
    for out in support.FLOAT_TYPES:
        exclusive = ["--exclusive"] if out == "f32" else []
        support.scan(path, folder / "out.h5", "values", "--slab", "32K", "--output-type", out,
                     "--force", *exclusive, ranks=ranks)  # fmt: skip
        assert_prefixes(out, support.read(folder / "out.h5", out), values, bool(exclusive))


@pytest.mark.parametrize("name", (*support.INTEGER_TYPES, "bool", "enum"))
def test_integers_equal_the_true_prefix(folder, name):
    values = samples.typed(name, COUNT, seed=2)
    kept = np.cumsum(values, dtype="u8" if name.startswith("u") else "i8")
    assert np.array_equal(scanned(folder, values, name, "--slab", "32K", ranks=2), kept)


@pytest.mark.parametrize("name", ["i32", "f64", "f32"])
def test_exclusive_sum_starts_with_zero(folder, name):
    values = samples.typed(name, COUNT, seed=3)
    inclusive = scanned(folder, values, name)
    exclusive = scanned(folder, values, name, "--exclusive", ranks=3)
    assert exclusive[0] == 0
    assert np.array_equal(exclusive[1:], inclusive[:-1])


@pytest.mark.parametrize("operation", ["min", "max"])
@pytest.mark.parametrize("name", samples.GENERATED_TYPES)
def test_running_extrema_keep_the_type(folder, name, operation):
    values = samples.typed(name, COUNT, seed=4)
    outputs = scanned(folder, values, name, "--op", operation, "--slab", "32K", ranks=2, out=name)
    accumulate = {"min": np.minimum, "max": np.maximum}[operation].accumulate
    if name == "bf16":
        doubles = reference.to_double(name, values)
        assert np.array_equal(reference.to_double(name, outputs), accumulate(doubles))
    else:
        assert np.array_equal(outputs, accumulate(np.asarray(values, outputs.dtype)))


@pytest.mark.parametrize("operation", ["min", "max"])
@pytest.mark.parametrize("name", ["i8", "u16", "i64", "f32", "f64"])
def test_exclusive_extrema_start_with_the_identity(folder, name, operation):
    values = samples.typed(name, 5000, seed=6)
    inclusive = scanned(folder, values, name, "--op", operation, out=name)
    exclusive = scanned(folder, values, name, "--op", operation, "--exclusive", out=name)
    if name in support.INTEGER_TYPES:
        limits = np.iinfo(support.NUMPY_TYPES[name])
        identity = {"min": limits.max, "max": limits.min}[operation]
    else:
        identity = {"min": INF, "max": -INF}[operation]
    assert exclusive[0] == identity
    assert np.array_equal(exclusive[1:], inclusive[:-1])


@pytest.mark.parametrize("name", ["f64", "f32", "f16"])
def test_nan_from_there_on(folder, name):
    values = np.ones(20_000)
    values[9000] = NAN
    outputs = scanned(folder, values, name, "--slab", "32K", ranks=2)
    with np.errstate(all="ignore"):
        assert not np.isnan(outputs[:9000]).any()
    assert np.isnan(outputs[9000:]).all()
    # All the same quiet NaN.
    assert len({each.tobytes() for each in outputs[9000:]}) == 1


def test_nan_from_there_on_in_running_extrema(folder):
    values = np.arange(20_000.0)
    values[9000] = NAN
    for operation, accumulate in (("min", np.minimum), ("max", np.maximum)):
        outputs = scanned(folder, values, "f64", "--op", operation, "--slab", "32K", ranks=2)
        assert np.array_equal(outputs, accumulate.accumulate(values), equal_nan=True)


@pytest.mark.parametrize("first, second", [(INF, INF), (-INF, -INF), (INF, -INF), (-INF, INF)])
@pytest.mark.parametrize("name", ["f64", "f32"])
def test_infinities(folder, name, first, second):
    values = np.ones(12_000)
    values[3000], values[9000] = first, second
    outputs = scanned(folder, values, name, "--slab", "32K", ranks=2)
    with np.errstate(invalid="ignore"):
        expected = np.cumsum(values)
    assert np.array_equal(outputs, expected, equal_nan=True)


@pytest.mark.parametrize("name, largest", [("f64", np.finfo("f8").max), ("f32", 2.0**127)])
def test_beyond_the_largest_value_and_back(folder, name, largest):
    values = np.array([largest, largest, -largest, -largest, 1.0, -largest, -largest])
    outputs = scanned(folder, values, name)
    assert outputs.tolist() == [largest, INF, largest, 0.0, 1.0, 1.0 - largest, -INF]


def test_beyond_the_largest_value_and_back_across_slabs_and_ranks(folder):
    largest = np.finfo("f8").max
    values = np.concatenate([np.full(20_000, largest), np.full(20_000, -largest), [2.5]])
    outputs = scanned(folder, values, "f64", "--slab", "32K", ranks=3)
    assert outputs[0] == largest
    assert np.isinf(outputs[1:39_998]).all()
    assert outputs[39_998:].tolist() == [largest, 0.0, 2.5]


@pytest.mark.parametrize("name", ["f64", "f32", "f16"])
def test_zeros(folder, name):
    outputs = scanned(folder, np.full(10, -0.0), name)
    assert np.array_equal(outputs, np.zeros(10))
    assert not np.signbit(outputs).any()


def test_subnormals_are_exact(folder):
    values = samples.subnormal("f64", COUNT, np.random.default_rng(7))
    outputs = scanned(folder, values, "f64", ranks=2)
    assert reference.in_units(outputs) == reference.prefixes(values)


@pytest.mark.parametrize(
    "name, out", [("i8", "i16"), ("u8", "u32"), ("u16", "i64"), ("i32", "i32")]
)
def test_integer_output_type(folder, name, out):
    values = np.random.default_rng(8).integers(0, 2, 10_000)
    outputs = scanned(folder, values, name, "--output-type", out, out=out)
    assert outputs.dtype == np.dtype(support.NUMPY_TYPES[out])
    assert np.array_equal(outputs, np.cumsum(values))


@pytest.mark.parametrize("name, out", [("f32", "f64"), ("bf16", "f32"), ("f16", "f64")])
def test_wider_float_output_type(folder, name, out):
    values = samples.uniform(name, COUNT, np.random.default_rng(9))
    outputs = scanned(folder, values, name, "--output-type", out, out=out, ranks=2)
    assert_prefixes(out, outputs, reference.to_double(name, values))


def test_narrower_float_output_type(folder):
    values = samples.random_walk("f64", COUNT, np.random.default_rng(10))
    for out in ("f32", "bf16", "f16"):
        outputs = scanned(folder, values, "f64", "--output-type", out, out=out)
        assert_prefixes(out, outputs, values)


def test_float_output_of_integers(folder):
    values = samples.typed("i32", COUNT)
    outputs = scanned(folder, values, "i32", "--output-type", "f64", out="f64")
    exact = list(itertools.accumulate(values.tolist()))
    assert outputs.tolist() == exact


@pytest.mark.parametrize("axis", [(), ("--axis", "0")], ids=["flat", "axis"])
@pytest.mark.parametrize("elements", [1, 1024])
@pytest.mark.parametrize("out, digits", [("f32", 24), ("bf16", 8)])
def test_integers_are_rounded_once_into_narrower_floats(folder, out, digits, elements, axis):
    start = elements * 2**62
    half_unit = start // 2**digits
    to_the_middle = -(-half_unit // 2**62) * [min(half_unit, 2**62)]
    values = [2**62] * elements + to_the_middle + [1, -2, 1]
    assert sum(values) == start + half_unit
    outputs = scanned(folder, values, "i64", "--output-type", out, *axis, out=out)
    assert reference.to_double(out, outputs[-4:]).tolist() == [
        start,
        start + 2 * half_unit,
        start,
        start,
    ]


@pytest.mark.parametrize("ranks", [1, 3])
def test_overflow_names_the_first_index(folder, ranks):
    values = np.full(60_000, 2**48, "i8")  # 2^15 of them reach 2^63
    path = support.write(folder / "in.h5", values, "i64")
    arguments = ("scan", path, "values", "-o", folder / "out.h5", "--slab", "32K")
    support.fail(*arguments, code=1, mentions=["32767"], ranks=ranks)
    assert [each.name for each in folder.iterdir()] == ["in.h5"]


def test_overflow_of_a_narrow_output_type(folder):
    path = support.write(folder / "in.h5", np.ones(1000, "i1"), "i8")
    arguments = ("scan", path, "values", "-o", folder / "out.h5", "--output-type", "i8")
    support.fail(*arguments, code=1, mentions=["127"])


def test_negative_sum_overflows_an_unsigned_output(folder):
    path = support.write(folder / "in.h5", [3, -2, -2, 5], "i32")
    arguments = ("scan", path, "values", "-o", folder / "out.h5", "--output-type", "u64")
    support.fail(*arguments, code=1, mentions=["2"])


def test_a_prefix_that_comes_back_into_range_still_overflowed(folder):
    path = support.write(folder / "in.h5", [2**62, 2**62, -(2**62)], "i64")
    support.fail("scan", path, "values", "-o", folder / "out.h5", code=1, mentions=["1"])


@pytest.mark.parametrize("name", ["i64", "u64", "i8"])
def test_wrap(folder, name):
    limits = np.iinfo(support.NUMPY_TYPES[name])
    values = np.random.default_rng(11).integers(
        limits.min, limits.max, 50_000, endpoint=True, dtype=limits.dtype
    )
    arguments = ("--overflow", "wrap", "--output-type", name, "--slab", "32K")
    outputs = scanned(folder, values, name, *arguments, out=name, ranks=2)
    with np.errstate(over="ignore"):
        assert np.array_equal(outputs, np.cumsum(values, dtype=limits.dtype))


def test_report_and_last(folder):
    path = support.write(folder / "in.h5", [1, 2, 4], "u16")
    report = support.scan(path, folder / "out.h5").report
    assert report["schema"] == "warpfold.scan/1"
    assert report["results"]["output"].endswith("out.h5")
    assert report["results"]["output_dataset"].strip("/") == "values"
    assert (report["results"]["count"], report["results"]["last"]) == (3, 7)
    exclusive = support.scan(path, folder / "out.h5", "values", "--exclusive").report
    assert exclusive["results"]["last"] == 3


def test_last_equals_the_sum(folder):
    values = samples.typed("i64", COUNT)
    path = support.write(folder / "in.h5", values, "i64")
    last = support.scan(path, folder / "out.h5", ranks=2).results["last"]
    assert last == support.reduce(path, ops="sum").results["sum"]


@pytest.mark.parametrize("shape", [(0,), (4, 0)])
def test_no_elements(folder, shape):
    path = support.write(folder / "in.h5", np.zeros(shape), "f32")
    for ranks in (1, 4):
        report = support.scan(path, folder / "out.h5", ranks=ranks).report
        assert report["results"]["count"] == 0
        assert report["results"]["last"] is None
        assert support.read(folder / "out.h5", "f32").shape == shape


def test_fewer_elements_than_ranks(folder):
    assert scanned(folder, [2, 3], "u8", ranks=4).tolist() == [2, 5]


def test_scalar(folder):
    path = support.write(folder / "in.h5", np.array(7), "i32")
    support.scan(path, folder / "out.h5", ranks=2)
    assert support.read(folder / "out.h5", "i64").tolist() == 7


def test_output_keeps_shape_and_attributes_and_says_where_it_is_from(folder):
    path = support.write(folder / "in.h5", np.arange(12).reshape(3, 4), "i32")
    with h5py.File(path, "a") as file:
        file["values"].attrs["units"] = "m"
        file["values"].attrs["limits"] = [1.5, 2.5]
    support.scan(path, folder / "out.h5")
    with h5py.File(folder / "out.h5") as file:
        made = file["values"]
        assert made.shape == (3, 4)
        assert made[...].ravel().tolist() == np.cumsum(np.arange(12)).tolist()
        assert made.attrs["units"] == "m"
        assert list(made.attrs["limits"]) == [1.5, 2.5]
        said = " ".join(str(value) for value in made.attrs.values())
        assert "in.h5" in said
        assert "scan" in said


@pytest.mark.parametrize("operation", ["sum", "max"])
def test_sums_are_no_packed_elements(folder, operation):
    path = support.write(folder / "in.h5", [1, 2], "i16")
    with h5py.File(path, "a") as file:
        file["values"].attrs.update({
            "scale_factor": 0.5, "add_offset": 3.0, "_FillValue": np.int16(-1),
            "valid_range": np.int16([0, 9]), "units": "m",
        })  # fmt: skip
    packed = {"scale_factor", "add_offset", "_FillValue", "valid_range", "units"}
    for words, kept in (([], {"units"}), (["--raw"], packed if operation == "max" else set())):
        support.scan(path, folder / "out.h5", "values", "--op", operation, *words)
        with h5py.File(folder / "out.h5") as file:
            names = {each for each in file["values"].attrs if not each.startswith("warpfold_")}
        assert names == kept


def test_a_null_dataspace_has_nothing_to_scan(folder):
    with h5py.File(folder / "in.h5", "w") as file:
        file["values"] = h5py.Empty("f8")
    for words in ([], ["--chunks", "auto"], ["--offsets"]):
        support.fail("scan", folder / "in.h5", "values", "-o", folder / "out.h5", *words, code=1,
                     mentions=["null dataspace"], ranks=2)  # fmt: skip
    assert not (folder / "out.h5").exists()


def test_output_dataset_of_another_name_in_groups(folder):
    path = support.write(folder / "in.h5", [1, 2], "i32", dataset="deep/er")
    support.scan(path, f"{folder}/out.h5:/sums/running", "deep/er")
    assert support.read(folder / "out.h5", "i64", "sums/running").tolist() == [1, 3]
    support.scan(path, folder / "out.h5", "deep/er")
    assert support.read(folder / "out.h5", "i64", "deep/er").tolist() == [1, 3]


def test_force_replaces_the_output(folder):
    path = support.write(folder / "in.h5", [1, 2], "i32")
    (folder / "out.h5").write_text("something else")
    support.scan(path, folder / "out.h5", ranks=2)
    assert support.read(folder / "out.h5", "i64").tolist() == [1, 3]
    assert support.names_in(folder) == ["in.h5", "out.h5"]


@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("storage", [(), ("--deflate",)], ids=["plain", "deflate"])
@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (3, 4), (), (100, 1000)])
def test_offsets_are_all_exclusive_prefixes_and_the_total(folder, shape, storage, ranks):
    values = np.arange(math.prod(shape), dtype="i4").reshape(shape) % 9
    path = support.write(folder / "in.h5", values, "i32")
    report = support.scan(
        path, folder / "out.h5", "values", "--offsets", "--slab", "4K", *storage, ranks=ranks
    ).report
    with h5py.File(folder / "out.h5") as file:
        found, chunks = file["values"][...], file["values"].chunks
    assert found.dtype == "i8" and (chunks is not None) == bool(storage)
    assert np.array_equal(found, [0, *np.cumsum(values.astype("i8"))])
    assert report["shape"] == list(shape)
    assert report["output_shape"] == [values.size + 1]
    assert report["results"]["last"] == (int(values.sum()) if values.size else None)


def test_offsets_of_a_view_in_floats(folder):
    path = support.write(folder / "in.h5", [1.5, -2.0, 3.0, 4.25, 0.0], "f32")
    words = ("--offsets", "--select", "1:", "--where", ">0", "--output-type", "f64")
    support.scan(path, folder / "out.h5", "values", *words)
    assert list(support.read(folder / "out.h5", "f64")) == [0, 0, 3, 7.25, 7.25]
    text = support.run("scan", path, "values", "-o", folder / "o.h5", "--offsets").stdout
    assert re.search(r"output +\S+ values: f32, 6 elements", text)


@pytest.mark.parametrize("words", [("--axis", "0"), ("--op", "max")])
def test_offsets_are_sums_of_a_whole_dataset(folder, words):
    path = support.write(folder / "in.h5", [[1, 2], [3, 4]], "i32")
    options = ("scan", path, "values", "-o", folder / "out.h5", "--offsets", *words)
    support.fail(*options, code=2, mentions=["--offsets", words[0]], ranks=2)
    assert not (folder / "out.h5").exists()


def test_offsets_that_overflow_name_the_element(folder):
    path = support.write(folder / "in.h5", [100, 20, 7, 1], "i8")
    options = ("scan", path, "values", "-o", folder / "out.h5", "--offsets", "--output-type", "i8")
    support.fail(*options, code=1, mentions=["index 3"])
