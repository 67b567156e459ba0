"""Files as one dataset, each packed in its own way, compared with what NumPy unpacks of each."""

from fractions import Fraction

import h5py
import numpy as np
import pytest

import reference
import support

DAYS = "days since 2000-01-01"
GZIP = {"compression": "gzip", "shuffle": True}
STORAGE = {
    "contiguous": [{}] * 3,
    "chunks that meet": [{"chunks": (4, 3)}] * 3,
    "filtered chunks that meet": [{"chunks": (4, 3), **GZIP}] * 3,
    "chunks that don't meet": [{"chunks": (5, 4), **GZIP}] * 3,
    "each another way": [{"chunks": (4, 3), **GZIP}, {}, {"chunks": (3, 7)}],
}
# The type, the scale and the offset of each file, and the type of all values.
PACKINGS = {
    "scales": ([("i2", 0.01, 270.0), ("i2", 0.013, 265.5), ("i2", -0.02, 280.25)], "f8"),
    "single scales": ([("i2", np.float32(k / 7), np.float32(k)) for k in (1, 2, 3)], "f4"),
    "one without": ([("i2", 0.5, 3.0), ("f4", None, None), ("i4", None, None)], "f8"),
    "byte orders": ([("i2", 0.5, 3.0), (">i2", 0.5, 3.0), ("u1", 0.25, None)], "f8"),
    "whole scales": (
        [("i2", np.int32(3), np.int32(-7)), ("u2", np.int8(2), None), ("i8", None, None)], "i8"
    ),
}  # fmt: skip
NOT_PACKED = {
    "integers": ([("i2", None, None)] * 3, "i8"),
    "floats": ([("f4", None, None)] * 3, "f4"),
    "big-endian doubles": ([(">f8", None, None)] * 3, "f8"),
}
EXTENTS = (8, 12, 5)


def unpacked(stored, scale, offset):
    if isinstance(scale, np.integer):
        stored = stored.astype("i8")
    values = stored if scale is None else stored * scale
    return values if offset is None else values + offset


def write(path, stored, first, scale=None, offset=None, fill=None, units=DAYS, **storage):
    """A file of some days, with coordinates as netCDF-4's."""
    with h5py.File(path, "w") as file:
        file["time"] = np.arange(first, first + len(stored), dtype="f8")
        file["time"].attrs["units"] = units
        file["x"] = np.arange(stored.shape[1], dtype="f8") / 2
        made = file.create_dataset("v", data=stored, **storage)
        for name, value in (("scale_factor", scale), ("add_offset", offset), ("_FillValue", fill)):
            if value is not None:
                made.attrs[name] = value
        for d, name in enumerate(("time", "x")):
            file[name].make_scale(name)
            made.dims[d].attach_scale(file[name])
    return path


def stored_part(kind, extent, seed):
    random = np.random.default_rng(seed)
    kind = np.dtype(kind)
    if kind.kind == "f":
        return random.normal(size=(extent, 7)).astype(kind)
    most = min(np.iinfo(kind).max, 30000)
    return random.integers(0, most, (extent, 7)).astype(kind)


def write_files(folder, packings, storage, fills=(None,) * 3):
    """The files, their values and which of them count."""
    paths, values, kept = [], [], []
    for i, ((kind, scale, offset), extent) in enumerate(zip(packings, EXTENTS)):
        stored = stored_part(kind, extent, i)
        fill = None
        if fills[i] is not None:
            fill = np.dtype(kind).type(fills[i])
            stored[i::3, i::2] = fill
        first = sum(EXTENTS[:i])
        path = folder / f"{i}.nc"
        paths.append(write(path, stored, first, scale, offset, fill, **storage[i]))
        values.append(unpacked(stored, scale, offset))
        kept.append(stored != fill if fill is not None else np.ones(stored.shape, bool))
    return paths, values, np.concatenate(kept)


def reduce(paths, *words, ops="count,sum,min,max,mean,var,argmax", **options):
    return support.run(
        "reduce", *paths, "v", "--concat", "time", "--ops", ops, "--json", "-", *words, **options
    )


def along(folder, paths, *words, name="v", **options):
    out = folder / "out.nc"
    support.run(
        "reduce", *paths, "v", "--concat", "time", *words, "-o", out, "--force", **options
    )  # fmt: skip
    with h5py.File(out) as file:
        return file[name][...]


def exact_sum(values):
    total = sum(map(Fraction, values.ravel().tolist()), Fraction(0))
    return int(total) if values.dtype.kind in "iu" else float(total)


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("packing", PACKINGS)
def test_each_file_unpacks_its_own(folder, packing, storage):
    packings, kind = PACKINGS[packing]
    paths, parts, _ = write_files(folder, packings, STORAGE[storage])
    values = np.concatenate([part.astype(kind) for part in parts])
    true = reference.statistics(values)
    seen = set()
    for ranks, slab in ((None, "1M"), (3, "4K")):
        outcome = reduce(paths, "--slab", slab, ranks=ranks)
        assert {each: true[each] for each in outcome.results} == outcome.results
        seen.add(outcome.result_bytes)
    assert len(seen) == 1
    assert outcome.report["applied"] == {"of_each_file": True}
    assert outcome.report["dtype"] == f"{kind[0]}{8 * int(kind[1])}"


@pytest.mark.parametrize("packing", ("scales", "one without", "whole scales", *NOT_PACKED))
@pytest.mark.parametrize("storage", ("contiguous", "filtered chunks that meet", "each another way"))
def test_what_each_file_leaves_out(folder, packing, storage):
    packings, kind = {**PACKINGS, **NOT_PACKED}[packing]
    paths, parts, kept = write_files(folder, packings, STORAGE[storage], (7, 11, 0))
    values = np.concatenate([part.astype(kind) for part in parts])
    results = reduce(paths, ops="count,sum,min,argmin", ranks=2).results
    assert results["count"] == kept.sum()
    assert results["sum"] == exact_sum(values[kept])
    assert results["min"] == values[kept].min()
    assert results["argmin"] == np.where(kept, values, values.max()).argmin()
    by_columns = along(folder, paths, "--axis", "time", "--ops", "sum", "--slab", "4K", ranks=2)
    true = [exact_sum(values[kept[:, i], i]) for i in range(7)]
    assert by_columns.tolist() == np.array(true, by_columns.dtype).tolist()
    counts = along(folder, paths, "--axis", "x", "--ops", "count")
    assert counts.tolist() == kept.sum(1).tolist()


@pytest.mark.parametrize("storage", ("contiguous", "filtered chunks that meet"))
def test_commands_see_values(folder, storage):
    paths, parts, kept = write_files(folder, PACKINGS["scales"][0], STORAGE[storage], (7, None, 3))
    values = np.concatenate(parts)
    words = (*paths, "v", "--concat", "time")
    where = kept & (values > 300)
    outcome = support.run("histogram", *words, "--bins", "9", "--range", "260,600", "--json", "-")
    counted = np.histogram(values[kept], 9, (260, 600))[0]
    assert outcome.results["counts"] == counted.tolist()
    out = folder / "out.h5"
    for ranks in (None, 2):
        support.run(
            "compact", *words, "--where", ">300", "--indices", "-o", out, "--force", ranks=ranks
        )
        with h5py.File(out) as file:
            assert file["v"][...].tolist() == values[where].tolist()
            assert "scale_factor" not in file["v"].attrs
        support.run("scan", *words, "--axis", "time", "-o", out, "--force", ranks=ranks)
        with h5py.File(out) as file:
            last = file["v"][-1].tolist()
        assert last == [exact_sum(values[kept[:, i], i]) for i in range(7)]
        support.run("scan", *words, "-o", out, "--force", ranks=ranks)
        with h5py.File(out) as file:
            assert file["v"][-1, -1] == exact_sum(values[kept])
    medians = along(folder, paths, "--axis", "time", "--ops", "median")
    assert medians.tolist() == [float(np.median(values[kept[:, i], i])) for i in range(7)]
    by_day = along(folder, paths, "--axis", "time", "--by", "day", "--ops", "max")
    assert np.array_equal(by_day, np.where(kept, values, np.nan), equal_nan=True)
    windows = along(folder, paths, "--axis", "time", "--every", "5", "--ops", "sum")
    assert windows[1].tolist() == [exact_sum(values[5:10, i][kept[5:10, i]]) for i in range(7)]
    select = support.run(
        "reduce", *words, "--select", "time=6.:20.:3, x=2:", "--ops", "sum", "--json", "-"
    )
    assert select.results["sum"] == exact_sum(values[6:21:3, 2:][kept[6:21:3, 2:]])


def test_chunks_that_files_lack_are_their_fill_values(folder):
    paths = []
    for i, (fill, scale) in enumerate(((7, 0.5), (9, 0.25))):
        paths.append(folder / f"{i}.h5")
        with h5py.File(paths[-1], "w") as file:
            made = file.create_dataset("v", (8, 6), "i2", chunks=(2, 3), fillvalue=fill)
            made.attrs["scale_factor"] = scale
            made[2:4] = 1
            if i:
                made.attrs["_FillValue"] = np.int16(fill)
    words = ("reduce", *paths, "v", "--concat", "0", "--ops", "sum,count", "--json", "-")
    outcome = support.run(*words, ranks=2)
    assert outcome.results == {"sum": 36 * 3.5 + 12 * 0.5 + 12 * 0.25, "count": 60}


def test_a_value_that_stands_for_others_is_an_error(folder):
    stored = np.ones((3, 7), "f8")
    rarest = np.nextafter(-np.finfo("f8").max, 0)
    paths = [write(folder / f"{i}.nc", stored, 3 * i, fill=float(i)) for i in range(2)]
    assert reduce(paths, ops="count").results["count"] == 21
    stored[1, 1] = rarest
    write(folder / "0.nc", stored, 0, fill=0.0)
    support.fail(
        "reduce", *paths, "v", "--concat", "time", code=1, ranks=2,
        mentions=("0.nc", "--fill-value"),
    )  # fmt: skip


def test_types_that_none_holds_are_an_error(folder):
    paths = [
        write(folder / f"{kind}.nc", np.ones((3, 7), kind), 0, np.int8(2) if kind == "i8" else None)
        for kind in ("i8", "f4")
    ]
    support.fail(
        "reduce", *paths, "v", "--concat", "time", code=1, ranks=2,
        mentions=("i8.nc", "f4.nc", "i64", "f32"),
    )  # fmt: skip


def test_info_and_raw(folder):
    paths, parts, _ = write_files(folder, PACKINGS["one without"][0], STORAGE["contiguous"])
    outcome = reduce(paths)
    assert any("int16" in each and "float32" in each for each in outcome.report["notes"])
    info = support.run("info", *paths, "v", "--concat", "time", "--json", "-").report
    assert info["applied"] == {"of_each_file": True}
    words = ("reduce", *paths, "v", "--concat", "time", "--raw")
    support.fail(*words, code=1, mentions=("types", "int16", "float32"))
    with h5py.File(paths[0]) as file:
        stored = file["v"][...]
    write(paths[1], stored, EXTENTS[0], 7.0)
    assert reduce(paths[:2], "--raw", ops="sum").results["sum"] == 2 * exact_sum(stored)


UNITS = (DAYS, "hours since 2000-01-09", "days since 2000-01-13")


@pytest.mark.parametrize("units", ((DAYS,) * 3, UNITS))
def test_the_joined_coordinate(folder, units):
    """Times of several units are those of the first file."""
    packings = PACKINGS["scales"][0]
    paths, numbers, values = [], [], []
    for i, ((kind, scale, offset), extent) in enumerate(zip(packings, EXTENTS)):
        stored = stored_part(kind, extent, i)
        first = sum(EXTENTS[:i]) if units[i] == DAYS else 0
        paths.append(write(folder / f"{i}.nc", stored, first, scale, offset, units=units[i]))
        values.append(unpacked(stored, scale, offset))
        steps = np.arange(first, first + extent)
        numbers.append({0: steps, 1: 8 + steps / 24, 2: 12 + steps}[UNITS.index(units[i])])
    values, numbers = np.concatenate(values), np.concatenate(numbers)
    for ranks in (None, 2):
        made = along(
            folder, paths, "--axis", "time", "--times", "time", "--ops", "sum", ranks=ranks
        )
        true = [
            float(sum(Fraction(v) * Fraction(t) for v, t in zip(column, numbers)))
            for column in values.T.tolist()
        ]
        assert made.tolist() == true
    chosen = (numbers >= 8) & (numbers <= 13)
    words = ("--select", "time=8.:13.", "--times", "time")
    assert reduce(paths, *words, ops="count").results["count"] == chosen.sum() * 7


def test_masks_and_weights_of_each_file(folder):
    paths, parts, _ = write_files(folder, PACKINGS["scales"][0], STORAGE["contiguous"])
    good, weights = [], []
    for i, path in enumerate(paths):
        random = np.random.default_rng(10 + i)
        good.append(random.integers(0, 2, parts[i].shape).astype("u1"))
        weights.append(random.integers(1, 9, len(parts[i])).astype("f8"))
        with h5py.File(path, "a") as file:
            file["good"], file["w"] = good[-1], weights[-1]
            for name in ("good", "w"):
                file[name].dims[0].attach_scale(file["time"])
            file["good"].dims[1].attach_scale(file["x"])
    values, good, weights = map(np.concatenate, (parts, good, weights))
    masked = reduce(paths, "--mask", "good", ops="count,sum", ranks=2).results
    assert masked == {"count": int(good.sum()), "sum": exact_sum(values[good > 0])}
    weighed = reduce(paths, "--weights", "w", ops="sum").results["sum"]
    products = [
        Fraction(v) * Fraction(w)
        for row, w in zip(values.tolist(), weights.tolist())
        for v in row
    ]
    assert weighed == float(sum(products))


def test_record_dimensions_stay_unlimited(folder):
    netCDF4 = pytest.importorskip("netCDF4")
    for i in range(2):
        with netCDF4.Dataset(folder / f"{i}.nc", "w") as file:
            file.createDimension("time", None)
            file.createDimension("x", 3)
            time = file.createVariable("time", "f8", ("time",))
            time.units = DAYS
            time[:] = np.arange(4) + 4 * i
            v = file.createVariable("v", "i2", ("time", "x"), fill_value=np.int16(-1), zlib=True)
            v.set_auto_maskandscale(False)
            v.scale_factor = 0.5 + i
            v[:] = np.arange(12).reshape(4, 3)
    paths = [folder / "0.nc", folder / "1.nc"]
    sums = along(folder, paths, "--axis", "x", "--ops", "sum")
    assert sums.tolist() == [s * k for k in (0.5, 1.5) for s in (3, 12, 21, 30)]
    with netCDF4.Dataset(folder / "out.nc") as file:
        assert file.dimensions["time"].isunlimited()
        assert file["time"][:].tolist() == list(range(8))


@pytest.mark.parametrize("packings", [
    [(1.0, None, None), (2.0, None, None)], [(None, None, None), (2.0, None, None)],
    [(1.0, None, 3), (1.0, None, 4)], [(1.0, 2.0, None), (1.0, None, None)],
])  # fmt: skip
def test_stored_numbers_of_several_packings_have_no_attributes_of_one(folder, packings):
    stored = np.arange(6, dtype="i2").reshape(2, 3)
    paths = [
        write(folder / f"{i}.nc", stored, 2 * i, scale, offset, fill)
        for i, (scale, offset, fill) in enumerate(packings)
    ]
    for of, notes in ((paths, 1), ([paths[0]] * 2, 0)):
        words = (*of, "v", "--concat", "time", "--raw", "-o", folder / "o.nc", "--force")
        for command in (["reduce", "--axis", "time", "--ops", "max"], ["compact", "--where", ">3"],
                        ["scan", "--axis", "time", "--op", "max"]):  # fmt: skip
            outcome = support.run(command[0], *words, *command[1:])
            assert outcome.stderr.count("outputs of stored numbers have no attributes") == notes
            with h5py.File(folder / "o.nc") as file:
                kept = {"scale_factor", "add_offset"} & set(file["v"].attrs)
                scale, offset, _ = packings[0]
                there = {"scale_factor": scale, "add_offset": offset}
                assert kept == {name for name, each in there.items() if each is not None and not notes}


def write_beside(folder, extents, units=("m", "m"), dimension="time"):
    """Two files of 3 times and 3 longitudes, each with a line of numbers along one of these."""
    paths = [folder / f"{i}.h5" for i in range(2)]
    for path, extent, unit in zip(paths, extents, units):
        with h5py.File(path, "w") as file:
            file["v"] = np.ones((3, 3))
            file["line"] = np.arange(extent)
            file["v"].dims[0].label, file["v"].dims[1].label = "time", "lon"
            file["line"].dims[0].label = dimension
            file["line"].attrs["units"] = unit
    return paths


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("words", [
    ("--axis", "time", "--by", "line"), ("--by", "line"), ("--weights", "line"),
    ("--times", "line"), ("--where", "line > 1"),
])  # fmt: skip
def test_lines_of_other_extents_than_their_files(folder, words, ranks):
    """The extents of both files are together those of the dataset."""
    paths = write_beside(folder, (4, 2))
    support.fail("reduce", *paths, "v", "--concat", "time", *words, code=1, ranks=ranks,
                 mentions=["line", paths[0], "4 and 3"])  # fmt: skip


@pytest.mark.parametrize("words", [("--axis", "time"), ()])
def test_labels_of_other_units(folder, words):
    paths = write_beside(folder, (3, 3), ("m", "km"))
    support.fail("reduce", *paths, "v", "--concat", "time", "--by", "line", *words, code=1,
                 mentions=[*paths, "'m'", "'km'"])  # fmt: skip


def test_labels_of_another_dimension_are_not_joined(folder):
    """Three longitudes in each of two files are as many as the times of both."""
    paths = write_beside(folder, (3, 3), dimension="lon")
    words = ("v", "--concat", "time", "--by", "line", "--ops", "count")
    support.fail("reduce", *paths, *words, "--axis", "time", code=1, mentions=["time", "lon", "line"])
    report = support.run("reduce", *paths, *words, "--axis", "lon", "--json", "-").report
    assert report["results"]["datasets"]["count"]["values"] == [[1, 1, 1]] * 6
