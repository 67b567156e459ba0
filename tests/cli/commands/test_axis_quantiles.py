"""Quantiles along axes beside numpy.quantile() and the sorted elements."""

import csv
import io
import itertools

import h5py
import numpy as np
import pytest

import reference
import samples
import support

SHAPE = (23, 9, 37)
METHODS = ("linear", "lower", "higher", "midpoint", "nearest")
FRACTIONS = {"median": 0.5, "q05": 0.05, "q0.999": 0.999, "q00": 0.0, "q1.0": 1.0, "q0.3333": 0.3333}
STORAGE = itertools.cycle([
    {}, {"chunks": (1, 9, 37), "compression": "gzip"}, {"chunks": (5, 4, 10)},
    {"chunks": (23, 2, 8), "compression": "gzip", "shuffle": True}, {"chunks": (7, 9, 1)},
])  # fmt: skip
AXES = itertools.cycle([(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
RANKS = itertools.cycle([None, 2, 3, 1, 5])
MEMORY = itertools.cycle(["1G", "64K", "200K"])


def reduced(folder, path, *words, ops=",".join(FRACTIONS), dataset="values", **options):
    """Runs `reduce`; returns its outputs by operation, and the report."""
    out = folder / "out.h5"
    report = support.run("reduce", path, dataset, "-o", out, "--force", "--ops", ops,
                         "--json", "-", *words, **options).report  # fmt: skip
    with h5py.File(out) as file:
        return {op: file[each["dataset"]][()]
                for op, each in report["results"]["datasets"].items()}, report  # fmt: skip


def numbers(name, values):
    """Doubles, or integers so wide that NumPy's differences don't wrap."""
    if name in support.FLOAT_TYPES:
        return reference.to_double(name, values)
    return np.asarray(values).astype("u8" if name == "u64" else "i8")


def to_nearest_bfloat16(doubles):
    """The bits of what each rounds to, ties to even: between it and the next one are 2^16 floats."""
    below = reference.to_bfloat16(doubles)
    low, high = (reference.to_double("bf16", each) for each in (below, below + np.uint16(1)))
    to_low, to_high = np.abs(doubles - low), np.abs(high - doubles)
    up = (to_high < to_low) | ((to_high == to_low) & (below % 2 == 1))
    return below + up.astype("u2")


def rounded(name, doubles, method):
    """Rounds as an output does: floats in their own type, integers where they are elements."""
    if name in support.FLOAT_TYPES or method not in ("linear", "midpoint"):
        own = {"bool": "i1", "enum": "i2"}.get(name, support.NUMPY_TYPES.get(name))
        return np.asarray(doubles).astype(own)
    return np.asarray(doubles, "f8")


def same(found, expected):
    return found.dtype == expected.dtype and np.array_equal(
        found, expected, equal_nan=expected.dtype.kind == "f"
    )


@pytest.mark.parametrize("name", [each for each in samples.GENERATED_TYPES if each != "bf16"])
def test_every_type_and_method(folder, name):
    values = samples.typed(name, SHAPE)
    for method, order in zip(METHODS, itertools.cycle(["little", "big"])):
        path = support.write(folder / "in.h5", values, name, order=order, **next(STORAGE))
        axes = next(AXES)
        found, report = reduced(
            folder, path, "--axis", ",".join(map(str, axes)), "--quantile-method", method,
            "--slab", "4K", "--quantile-memory", next(MEMORY), ranks=next(RANKS),
        )  # fmt: skip
        assert report["quantile_method"] == method
        for op, fraction in FRACTIONS.items():
            exact = np.quantile(numbers(name, values), fraction, axis=axes, method=method)
            assert same(found[op], rounded(name, exact, method)), (method, axes, op)


def test_bfloat16(folder):
    values = samples.typed("bf16", SHAPE)
    path = support.write(folder / "in.h5", values, "bf16", order="big")
    for axis, method in ((1, "higher"), (0, "linear")):
        out = folder / "out.h5"
        support.run("reduce", path, "values", "--axis", axis, "--ops", "q0.3", "-o", out, "--force",
                    "--quantile-method", method)  # fmt: skip
        exact = np.quantile(numbers("bf16", values), 0.3, axis=axis, method=method)
        assert np.array_equal(support.read(out, "bf16", "values"), to_nearest_bfloat16(exact))


@pytest.mark.parametrize("name", support.FLOAT_TYPES)
@pytest.mark.parametrize("kind", samples.HARD)
def test_hard_data(folder, kind, name):
    count = 40 * 501
    values = samples.hard(kind, name, count)[:count].reshape(40, 501)
    path = support.write(folder / "in.h5", values, name)
    for axis, length in ((0, 40), (1, 501)):
        reduced(folder, path, "--axis", axis, "--quantile-method", "lower", ops="q0.3333",
                ranks=next(RANKS))  # fmt: skip
        element = np.sort(numbers(name, values), axis).take(int((length - 1) * 0.3333), axis)
        found = numbers(name, support.read(folder / "out.h5", name))
        assert np.array_equal(found, element)


@pytest.mark.parametrize("name", ["i64", "u64"])
def test_64_bits_of_integers_are_exact(folder, name):
    limits = np.iinfo(support.NUMPY_TYPES[name])
    values = np.random.default_rng(5).integers(
        limits.min, limits.max, (101, 40), endpoint=True, dtype=limits.dtype
    )
    values[:3] = np.array([limits.min, limits.max, limits.max - 1], limits.dtype)[:, None]
    path = support.write(folder / "in.h5", values, name, order="big")
    found, _ = reduced(folder, path, "--axis", 0, "--quantile-method", "nearest",
                       ops="q0.0,q25,median,q0.99,q1.0", ranks=2)  # fmt: skip
    ranked = np.sort(values, 0)
    for op, place in zip(found, (0, 25, 50, 99, 100)):
        assert same(found[op], ranked[place]), op
    left = limits.max - 1
    found, _ = reduced(folder, path, "--axis", 0, "--quantile-method", "higher", "--where",
                       f"!={left}", ops="q0.99,q1.0", ranks=3)  # fmt: skip
    assert found["q1.0"].tolist() == [limits.max] * 40
    assert np.array_equal(found["q0.99"], np.sort(np.delete(values, 2, 0), 0)[99])


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("length", [1, 2, 5000, 40_001])
def test_lines_of_any_length(folder, length, axis):
    """Also such whose elements are alike, and so many quantiles that lines are sorted."""
    random = np.random.default_rng(length)
    lines = random.standard_normal((5, length)) * np.exp2(random.integers(-300, 300, (5, length)))
    lines[1] = np.float64(3.25)
    lines[2] = random.integers(0, 3, length)
    lines[3] = 1e10 + random.integers(0, 100, length)
    path = support.write(folder / "in.h5", lines if axis else lines.T, "f64")
    for every in (33, 1):
        names = [f"q{percent:02}" for percent in range(0, 100, every)]
        found, _ = reduced(folder, path, "--axis", axis, ops=",".join(names), ranks=next(RANKS))
        for name in names:
            exact = np.quantile(lines, float("0." + name[1:]), axis=1)
            assert np.array_equal(found[name], exact), name


@pytest.mark.parametrize("name", ["f32", "f64", "f16"])
def test_nan(folder, name):
    doubles = reference.to_double(name, samples.typed(name, SHAPE)).copy()
    doubles[3, 2] = doubles[4, 5, 6] = -np.nan
    doubles[:, 1, 1] = np.nan
    doubles[2, 3, 4], doubles[:, 7, 8] = np.inf, -np.inf
    path = support.write(folder / "in.h5", doubles, name, chunks=(5, 9, 20))
    ops = "q05,median,q0.999"
    # A NaN of the bits that mark what is left out, where nothing is, is one.
    found, _ = reduced(folder, path, "--axis", "0", "--quantile-method", "higher", ops=ops, ranks=3)
    skipped, _ = reduced(folder, path, "--axis", "0", "--quantile-method", "higher", "--nan", "skip",
                         ops=ops, ranks=2)  # fmt: skip
    ranked = np.sort(doubles, 0)
    any_nan = np.isnan(doubles).any(0)
    for op, fraction in (("q05", 0.05), ("median", 0.5), ("q0.999", 0.999)):
        elements = ranked[int(np.ceil(22 * fraction))]
        assert np.array_equal(found[op], np.where(any_nan, np.nan, elements), equal_nan=True)
        for at in np.ndindex(9, 37):
            line = doubles[(slice(None), *at)]
            line = np.sort(line[~np.isnan(line)])
            wanted = line[int(np.ceil((len(line) - 1) * fraction))] if len(line) else np.nan
            assert reference.same(float(skipped[op][at]), float(wanted)), at


def test_nan_of_any_bits(folder):
    bits = np.arange(0x7F800001, 0x7F800001 + 64, dtype="u4")
    values = np.stack([bits | 0x400000, bits | 0x80000000, np.arange(64, dtype="f4").view("u4")])
    path = support.write(folder / "in.h5", values.view("f4"), "f32")
    found, _ = reduced(folder, path, "--axis", 0, ops="q0.0,q1.0")
    assert np.isnan(found["q0.0"]).all() and np.isnan(found["q1.0"]).all()
    found, _ = reduced(folder, path, "--axis", 0, "--nan", "skip", ops="q0.0,q1.0")
    assert found["q0.0"].tolist() == found["q1.0"].tolist() == list(range(64))
    found, _ = reduced(folder, path, "--axis", 0, "--where", "!=7", ops="q0.0,q1.0")
    assert np.isnan(found["q0.0"]).all()


def test_zeros_are_positive(folder):
    path = support.write(folder / "in.h5", np.full((3, 4), -0.0), "f32")
    found, _ = reduced(folder, path, "--axis", 0)
    assert not any(np.signbit(each).any() or each.any() for each in found.values())


EMPTY = {"i16": -32767, "u8": 255, "i64": -9223372036854775806, "f32": np.nan, "f64": np.nan}


def of_counted(values, counts, fraction, method, empty):
    """Returns the quantiles of valid elements along axis 0."""
    outputs = np.full(values.shape[1:], empty, "f8" if values.dtype.kind == "f" else object)
    for at in np.ndindex(outputs.shape):
        line = values[(slice(None), *at)][counts[(slice(None), *at)]]
        if line.size:
            outputs[at] = np.quantile(line, fraction, method=method)
    return outputs


@pytest.mark.parametrize("method", ["linear", "lower", "nearest"])
@pytest.mark.parametrize("name", EMPTY)
def test_elements_that_are_left_out(folder, name, method):
    """Elements left out by a fill value, a condition and a mask: outputs of nothing are the fill
    value."""
    values = np.random.default_rng(6).integers(0, 50, SHAPE)
    values[:, 3] = 49
    own = support.NUMPY_TYPES[name]
    path = support.write(folder / "in.h5", values, name, **next(STORAGE))
    mask = np.random.default_rng(7).random(SHAPE[1:]) < 0.8
    support.write(path, mask, "bool", dataset="mask", mode="a")
    counts = (values != 49) & (values > 4)
    elements = method != "linear"
    interpolated = own if name in support.FLOAT_TYPES else "f8"
    for words, masked in ((["--where", ">4"], counts), (["--mask", "mask"], (values != 49) & mask)):
        found, _ = reduced(
            folder, path, "--axis", 0, "--fill-value", 49, "--quantile-method", method, *words,
            "--quantile-memory", "40K", ops="q00,median,q0.9", ranks=next(RANKS),
        )  # fmt: skip
        for op, fraction in (("q00", 0), ("median", 0.5), ("q0.9", 0.9)):
            empty = EMPTY[name] if elements else np.nan
            exact = of_counted(numbers(name, values), masked if "--mask" in words else
                               (values != 49) & (values > 4), fraction, method, empty)  # fmt: skip
            assert same(found[op], exact.astype(own if elements else interpolated)), op


def test_fill_values_of_outputs(folder):
    values = np.arange(24).reshape(4, 6).astype("i2")
    values[:, 2] = -5
    path = folder / "in.h5"
    with h5py.File(path, "w") as file:
        file["values"] = values
        file["values"].attrs["_FillValue"] = np.int16(-5)
    for words, type_name, fill in (
        (["--quantile-method", "lower"], "i2", -5),
        (["--quantile-method", "lower", "--empty", "99"], "i2", 99),
        ([], "f8", np.nan),
        (["--output-type", "f32"], "f4", np.nan),
    ):
        reduced(folder, path, "--axis", 0, *words, ops="median", ranks=2)
        with h5py.File(folder / "out.h5") as file:
            found = file["values"]
            assert found.dtype == type_name
            (written,) = found.attrs["_FillValue"]
            assert reference.same(float(written), float(fill))
            assert reference.same(float(found[2]), float(fill))
            assert found[0] == (6 if "lower" in words else 9)
    support.fail("reduce", path, "values", "--axis", 0, "--ops", "median", "-o", folder / "no.h5",
                 "--output-type", "i32", code=2, mentions=["i32"])  # fmt: skip


def test_packed_and_raw(folder):
    stored_values = np.random.default_rng(8).integers(-300, 300, SHAPE).astype(">i2")
    path = folder / "in.h5"
    with h5py.File(path, "w") as file:
        made = file.create_dataset("values", data=stored_values, chunks=(1, 9, 37), compression=3)
        made.attrs.update({"scale_factor": np.float32(0.1), "_FillValue": np.int16(7)})
    seen = stored_values.astype("f4") * np.float32(0.1)
    for ranks in (1, 3):
        found, _ = reduced(folder, path, "--axis", 0, "--quantile-method", "lower", ops="q0.9",
                           ranks=ranks)  # fmt: skip
        exact = of_counted(seen.astype("f8"), stored_values != 7, 0.9, "lower", np.nan)
        assert same(found["q0.9"], exact.astype("f4"))
        found, _ = reduced(folder, path, "--axis", "1,2", "--raw", ops="q0.9", ranks=ranks)
        assert same(found["q0.9"], np.quantile(stored_values.astype("i8"), 0.9, axis=(1, 2)))


@pytest.mark.parametrize("storage", range(5))
@pytest.mark.parametrize("keepdims", [False, True])
def test_every(folder, storage, keepdims):
    values = samples.typed("f32", SHAPE)
    path = support.write(folder / "in.h5", values, "f32", **next(STORAGE))
    for axes, words, every in (((0,), "0", 4), ((2, 0), "2,0", 8), ((1, 2), "1,2", 9)):
        found, _ = reduced(folder, path, "--axis", words, "--every", every, "--slab", "4K",
                           *["--keepdims"] * keepdims, "--quantile-memory", next(MEMORY),
                           ops="q0.25", ranks=next(RANKS))  # fmt: skip
        parts = np.split(values.astype("f8"), range(every, SHAPE[axes[0]], every), axes[0])
        exact = np.concatenate(
            [np.quantile(part, 0.25, axis=axes, keepdims=True) for part in parts], axes[0]
        )
        exact = exact if keepdims else exact.squeeze(tuple(axes[1:]))
        assert same(found["q0.25"], exact.astype("f4"))


@pytest.mark.parametrize("storage", range(5))
def test_by_labels(folder, storage):
    values = samples.typed("i32", SHAPE)
    path = support.write(folder / "in.h5", values, "i32", **next(STORAGE))
    for axis, others in ((0, ()), (2, (0,)), (1, (2,))):
        labels = np.random.default_rng(axis).integers(-2, 3, SHAPE[axis])
        support.write(folder / "labels.h5", labels, "i16", dataset="label")
        for ranks in (None, 3):
            found, _ = reduced(
                folder, path, "--axis", ",".join(map(str, (axis, *others))), "--slab", "4K",
                "--by", f"{folder}/labels.h5::label", ops="mean,median", ranks=ranks,
            )  # fmt: skip
            exact = [np.quantile(np.compress(labels == label, values, axis).astype("i8"), 0.5,
                                 axis=(axis, *others), keepdims=True)
                     for label in np.unique(labels)]  # fmt: skip
            exact = np.concatenate(exact, axis).squeeze(others)
            assert same(found["median"], exact)


def test_by_season_and_names(folder):
    path = folder / "in.nc"
    values = samples.typed("f32", (40, 5, 6))
    with h5py.File(path, "w") as file:
        for name, extent in (("time", 40), ("lat", 5), ("lon", 6)):
            file[name] = np.arange(extent, dtype="f8") * 17
            file[name].make_scale(name)
        file["time"].attrs.update(units="days since 2001-01-01", calendar="360_day")
        made = file.create_dataset("tas", data=values)
        made.attrs.update(units="K", long_name="air temperature", cell_methods="area: mean",
                          standard_name="air_temperature")  # fmt: skip
        for number, name in enumerate(("time", "lat", "lon")):
            made.dims[number].attach_scale(file[name])
    found, report = reduced(folder, path, "--axis", "time", "--by", "season",
                            ops="mean,median,q0.9", dataset="tas", ranks=2)  # fmt: skip
    months = np.arange(40) * 17 // 30 % 12
    seasons = {"DJF": (11, 0, 1), "JJA": (5, 6, 7), "MAM": (2, 3, 4), "SON": (8, 9, 10)}
    for number, chosen in enumerate(seasons.values()):
        part = values[np.isin(months, chosen)].astype("f8")
        for op, fraction in (("median", 0.5), ("q0.9", 0.9)):
            exact = np.quantile(part, fraction, axis=0).astype("f4")
            assert np.array_equal(found[op][number], exact)
    assert report["results"]["datasets"]["q0.9"] == {"dataset": "tas_q90", "dtype": "f32"}
    with h5py.File(folder / "out.h5") as file:
        assert [scale.name for scale in (file["tas_median"].dims[each][0] for each in range(3))] == [
            "/season", "/lat", "/lon",
        ]  # fmt: skip
        median, q90 = (
            {key: text.decode() if isinstance(text, bytes) else text
             for key, text in file[f"tas_{name}"].attrs.items()} for name in ("median", "q90")
        )  # fmt: skip
        assert median["units"] == q90["units"] == "K"
        assert median["cell_methods"] == "area: mean time: median"
        assert median["long_name"] == "air temperature"
        assert q90["cell_methods"] == "area: mean"
        assert q90["long_name"] == "q90 of air temperature"
        assert q90["standard_name"] == "air_temperature"


def test_of_several_files(folder):
    values = samples.typed("f64", (30, 4, 5))
    names = []
    for number, part in enumerate((values[:7], values[7:8], values[8:])):
        names.append(folder / f"part{number}.h5")
        support.write(names[-1], part, "f64", chunks=(3, 2, 5) if number == 2 else (1, 4, 5))
    for ranks in (None, 3):
        out = folder / "out.h5"
        support.run("reduce", *names, "values", "--concat", "0", "--axis", "0", "--ops", "median",
                    "-o", out, "--force", ranks=ranks)  # fmt: skip
        assert np.array_equal(support.read(out, "f64"), np.quantile(values, 0.5, axis=0))


def test_beside_statistics_and_other_datasets(folder):
    values = samples.typed("f32", SHAPE)
    path = support.write(folder / "in.h5", values, "f32", chunks=(1, 9, 37))
    support.write(path, values[:, 0], "f32", dataset="row", mode="a")
    out = folder / "out.h5"
    support.run("reduce", path, "--all", "--axis", "0", "--ops", "max,median,count,q05", "-o", out,
                ranks=2)  # fmt: skip
    support.run("reduce", path, "values", "--axis", "-1", "--ops", "median", "-o", f"{out}:more",
                "--append")  # fmt: skip
    with h5py.File(out) as file:
        for name, of in (("values", values), ("row", values[:, 0])):
            exact = np.quantile(of.astype("f8"), [0.5, 0.05], axis=0).astype("f4")
            assert np.array_equal(file[f"{name}_median"], exact[0])
            assert np.array_equal(file[f"{name}_q05"], exact[1])
            assert np.array_equal(file[f"{name}_max"], of.max(0))
            assert (file[f"{name}_count"][()] == 23).all()
        exact = np.quantile(values.astype("f8"), 0.5, axis=-1).astype("f4")
        assert np.array_equal(file["more"], exact)


def test_same_bytes_by_any_means(folder):
    values = samples.typed("f32", (64, 40, 50))
    made = set()
    for storage in ({}, {"chunks": (1, 40, 50), "compression": "gzip"}, {"chunks": (64, 3, 50)}):
        path = support.write(folder / "in.h5", values, "f32", **storage)
        for words, ranks in (
            ([], None), (["--slab", "4K", "--threads", 7], 5), (["--quantile-memory", "256"], 2),
            (["--read-path", "library"], 3), (["--quantile-memory", "100K", "--threads", 3], 1),
        ):  # fmt: skip
            out = support.outputs(folder, "reduce", path, "values", "--axis", "0", "--ops", "q0.77",
                                  *words, ranks=ranks)  # fmt: skip
            made.add(out["made"])
    exact = np.quantile(values.astype("f8"), 0.77, axis=0).astype("f4")
    assert made == {exact.tobytes()}


def test_reports(folder):
    path = support.write(folder / "in.h5", [[4, 1], [1, 9], [2, 2]], "u8")
    out = folder / "out.h5"
    words = ("reduce", path, "values", "--axis", "0", "-o", out, "--force", "--ops", "q25,max,median")
    assert support.run(*words).stdout.splitlines()[1:] == [
        f"max     {out} values_max: u8, 2 elements",
        f"q25     {out} values_q25: f64, 2 elements",
        f"median  {out} values_median: f64, 2 elements",
    ]
    rows = list(csv.DictReader(io.StringIO(support.run(*words, "--csv", "-").stdout)))
    assert [(row["statistic"], row["value"]) for row in rows] == [
        ("max", f"{out}:values_max"), ("q25", f"{out}:values_q25"),
        ("median", f"{out}:values_median"),
    ]  # fmt: skip
    with h5py.File(out) as file:
        assert file["values_median"][()].tolist() == [2, 2]
        assert file["values_q25"][()].tolist() == [1.5, 1.5]


def test_mistakes(folder):
    path = support.write(folder / "in.h5", np.zeros((100, 5)), "f64")
    support.write(path, np.zeros((0, 5)), "f64", dataset="nothing", mode="a")
    words = ("-o", folder / "out.h5")
    support.fail("reduce", path, "values", "--axis", 0, "--ops", "median,q50", *words, code=2,
                 mentions=["median", "two names"], ranks=2)  # fmt: skip
    support.fail("reduce", path, "values", "--axis", 0, "--ops", "median", "--quantile-memory", "799",
                 *words, code=1, ranks=3,
                 mentions=["800 bytes", "--quantile-memory", "--every"])  # fmt: skip
    support.fail("reduce", path, "nothing", "--axis", 0, "--ops", "median", *words, code=1,
                 mentions=["no quantiles", "no elements"], ranks=2)  # fmt: skip
    support.fail("reduce", path, "values", "--axis", 0, "--ops", "median", "--weights", "values",
                 *words, code=2, mentions=["--weights"])  # fmt: skip
    support.fail("reduce", path, "values", "--by", "values", "--ops", "median", code=2,
                 mentions=["--by"])  # fmt: skip
    for wrong in (["--ops", "median"], ["--axis", 0, "--ops", "max", *words]):
        support.fail("reduce", path, "values", *wrong, "--quantile-memory", "1M", code=2,
                     mentions=["--quantile-memory"])  # fmt: skip
    assert not (folder / "out.h5").exists()


def test_damage(folder):
    values = samples.typed("f64", (200, 300))
    path = support.write(folder / "in.h5", values, "f64", chunks=(20, 30), compression="gzip",
                         fletcher32=True)  # fmt: skip
    with h5py.File(path, "r") as file:
        chunk = file["values"].id.get_chunk_info(57)
    with open(path, "r+b") as file:
        file.seek(chunk.byte_offset + chunk.size // 2)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 255]))
    for ranks in (None, 3):
        support.fail("reduce", path, "values", "--axis", 0, "--ops", "median", "-o",
                     folder / "out.h5", "--threads", 4, code=1, ranks=ranks)  # fmt: skip
    assert not (folder / "out.h5").exists()
