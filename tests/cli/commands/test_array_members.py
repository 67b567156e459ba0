"""Arrays in elements are dimensions, and parts of complex numbers are datasets; beside h5py, NumPy,
pandas and PyTables."""

import fractions
import math

import h5py
import numpy as np
import pytest

import reference
import support

ROW = np.dtype(
    [
        ("id", "<i4"),
        ("block", ">f8", (4,)),
        ("grid", "<i2", (2, 3)),
        ("points", [("x", "<f4"), ("v", ">f8", (2,)), ("z", "<c8")], (3,)),
        ("flags", "?", (5,)),
        ("z", "<c16"),
        ("waves", ">c8", (2,)),
    ]
)
STORAGE = {
    "contiguous": {},
    "chunked": {"chunks": (100,)},
    "filtered": {"chunks": (77,), "compression": "gzip", "shuffle": True, "fletcher32": True},
    "lzf": {"chunks": (600,), "compression": "lzf"},
}


def eighths(random, shape):
    """Numbers whose sums are exact."""
    return random.integers(-(10**6), 10**6, shape) / 8


def rows(count=641):
    random = np.random.default_rng(48)
    made = np.zeros(count, ROW)
    made["id"] = np.arange(count)
    for name in ("block", "grid", "flags"):
        made[name] = random.integers(-99, 99, made[name].shape) / (8 if name == "block" else 1)
    for place in (made["points"]["x"], made["points"]["v"]):
        place[...] = eighths(random, place.shape)
    for place in (made["points"]["z"], made["z"], made["waves"]):
        place[...] = eighths(random, place.shape) + 1j * eighths(random, place.shape)
    return made


def absolute(values):
    """Absolute values rounded once, from fractions."""
    def one(value):
        parts = [float(value.real), float(value.imag)]
        if not all(map(math.isfinite, parts)):
            return math.inf if any(map(math.isinf, parts)) else math.nan
        return reference.nearest_root(sum(fractions.Fraction(part) ** 2 for part in parts))

    return np.array([one(value) for value in values.ravel()]).reshape(values.shape)


MEMBERS = {
    "block": lambda table: table["block"],
    "grid": lambda table: table["grid"],
    "points.x": lambda table: table["points"]["x"],
    "points.v": lambda table: table["points"]["v"],
    "points.z.r": lambda table: table["points"]["z"].real,
    "points.z.i": lambda table: table["points"]["z"].imag,
    "points.z.abs": lambda table: absolute(table["points"]["z"]),
    "flags": lambda table: table["flags"].astype("i1"),
    "z.r": lambda table: table["z"].real,
    "z.i": lambda table: table["z"].imag,
    "z.abs": lambda table: absolute(table["z"]),
    "waves.i": lambda table: table["waves"].imag,
    "waves.abs": lambda table: absolute(table["waves"]),
}


def native(values):
    return values.astype(values.dtype.newbyteorder("="))


def write(path, table, name="table", **storage):
    with h5py.File(path, "a") as file:
        file.create_dataset(name, data=table, **storage)
    return path


def read(path, name):
    with h5py.File(path) as file:
        return file[name][...]


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("member", MEMBERS)
def test_reduced_and_scanned(folder, member, storage):
    table = rows()
    path = write(folder / "in.h5", table, **STORAGE[storage])
    expected = native(MEMBERS[member](table))
    arguments = ("--slab", "4K", "--threads", 2)
    ranks = 3 if member in ("grid", "z.abs") else None
    outcome = support.reduce(path, f"table.{member}", *arguments, ranks=ranks)
    assert outcome.report["shape"] == list(expected.shape)
    statistics = reference.statistics(expected)
    assert {key: outcome.results[key] for key in statistics} == statistics
    support.scan(path, folder / "out.h5", f"table.{member}", "--op", "max", *arguments, ranks=ranks)
    largest = np.maximum.accumulate(expected.ravel()).reshape(expected.shape)
    assert np.array_equal(read(folder / "out.h5", f"table.{member}"), largest)


SELECTIONS = [
    ("block", "3:50:4, 1:3", np.s_[3:50:4, 1:3]),
    ("block", "..., -1", np.s_[..., -1]),
    ("block", "-7", np.s_[-7]),
    ("grid", "100:, 1, ::2", np.s_[100:, 1, ::2]),
    ("points.v", "::3, 1:, 0", np.s_[::3, 1:, 0]),
    ("points.z.i", ":, 2", np.s_[:, 2]),
    ("points.z.abs", "5:9, ::2", np.s_[5:9, ::2]),
    ("waves.abs", "11, 1", np.s_[11, 1]),
]


@pytest.mark.parametrize("member, text, taken", SELECTIONS)
@pytest.mark.parametrize("storage", ["contiguous", "filtered"])
def test_selected(folder, storage, member, text, taken):
    table = rows()
    path = write(folder / "in.h5", table, **STORAGE[storage])
    expected = native(MEMBERS[member](table)[taken])
    outcome = support.reduce(path, f"table.{member}", "--select", text, ranks=2)
    statistics = reference.statistics(expected)
    assert {key: outcome.results[key] for key in statistics} == statistics
    words = (path, f"table.{member}", "--select", text, "--where", ">=-1e9", "--slab", "4K")
    support.run("compact", *words, "-o", folder / "out.h5")
    assert np.array_equal(read(folder / "out.h5", f"table.{member}"), expected.ravel())


@pytest.mark.parametrize("member", ["block", "grid", "points.v", "waves.i"])
@pytest.mark.parametrize("axis", [0, -1])
def test_along_axes(folder, member, axis):
    table = rows()
    path = write(folder / "in.h5", table, chunks=(77,))
    expected = native(MEMBERS[member](table))
    words = (path, f"table.{member}", "--axis", axis, "--slab", "4K")
    support.run("reduce", *words, "--ops", "sum", "-o", folder / "sums.h5", ranks=2)
    wide = expected.astype("i8" if expected.dtype.kind == "i" else "f8")
    assert np.array_equal(read(folder / "sums.h5", f"table.{member}"), wide.sum(axis))
    support.run("reduce", *words, "--ops", "median", "-o", folder / "middle.h5")
    assert np.array_equal(read(folder / "middle.h5", f"table.{member}"), np.median(wide, axis))
    support.scan(path, folder / "out.h5", f"table.{member}", "--axis", axis, ranks=2)
    prefixes = read(folder / "out.h5", f"table.{member}")
    assert np.array_equal(prefixes, wide.cumsum(axis).astype(prefixes.dtype))


def test_masks_weights_labels_and_bins(folder):
    table = rows()
    path = write(folder / "in.h5", table, chunks=(77,), compression="gzip")
    block = native(table["block"])
    keep = np.random.default_rng(1).random(len(table)) < 0.4
    labels = np.arange(len(table)) % 3
    weights = np.array([1, 2, 0, 4.0])
    with h5py.File(path, "a") as file:
        file["keep"] = keep
        file["weights"] = weights
        file["labels"] = labels
    found = support.reduce(path, "table.block", "--mask", "keep@0", ops="sum,count").results
    assert found == {"sum": block[keep].sum(), "count": 4 * keep.sum()}
    found = support.reduce(path, "table.block", "--weights", "weights@1", ops="mean").results
    total = sum(fractions.Fraction(x) for x in (block * weights).ravel())
    assert found["mean"] == float(total / fractions.Fraction(7 * len(table)))
    outcome = support.run("histogram", path, "table.block", "--bins", "-20,0,20", "--json", "-")
    assert outcome.results["counts"] == np.histogram(block, [-20, 0, 20])[0].tolist()
    support.run("reduce", path, "table.block", "--by", "labels@0", "--ops", "sum",
                "-o", folder / "out.h5", ranks=2)  # fmt: skip
    sums = [block[labels == label].sum() for label in range(3)]
    assert read(folder / "out.h5", "table.block").tolist() == sums


def test_arrays_are_whole_elements(folder):
    """Datasets of arrays, as PyTables' EArray of shaped atoms; also a scalar one."""
    random = np.random.default_rng(2)
    values = eighths(random, (53, 2, 3))
    array = h5py.h5t.array_create(h5py.h5t.IEEE_F64BE, (2, 3))
    memory = h5py.h5t.array_create(h5py.h5t.NATIVE_DOUBLE, (2, 3))
    filtered = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    filtered.set_chunk((7,))
    filtered.set_shuffle()
    filtered.set_deflate(4)
    every = h5py.h5s.ALL
    with h5py.File(folder / "in.h5", "w") as file:
        for name, space, properties in [
            (b"contiguous", h5py.h5s.create_simple((53,)), None),
            (b"chunked", h5py.h5s.create_simple((53,)), filtered),
            (b"scalar", h5py.h5s.create(h5py.h5s.SCALAR), None),
            (b"never", h5py.h5s.create_simple((53,)), filtered),
        ]:
            made = h5py.h5d.create(file.id, name, array, space, properties)
            if name != b"never":
                made.write(every, every, values if b"c" == name[:1] else values[0], memory)
        file["contiguous"].attrs["_FillValue"] = values[0, 0, 0]
    for name, expected in [("contiguous", values), ("chunked", values), ("scalar", values[0]),
                           ("never", 0 * values)]:  # fmt: skip
        outcome = support.reduce(folder / "in.h5", name, "--raw", ops="sum,max,count", ranks=2)
        assert outcome.report["shape"] == list(expected.shape)
        assert outcome.results == {
            "sum": expected.sum(), "max": expected.max(), "count": expected.size,
        }  # fmt: skip
    taken = values[values != values[0, 0, 0]]
    assert support.reduce(folder / "in.h5", "contiguous", ops="sum").results == {"sum": taken.sum()}
    support.run("reduce", folder / "in.h5", "chunked", "--axis", "0,2", "--ops", "max",
                "-o", folder / "out.h5")  # fmt: skip
    assert np.array_equal(read(folder / "out.h5", "chunked"), values.max((0, 2)))


def test_names_are_those_of_the_dataset(folder):
    values = np.arange(18.0).reshape(6, 3)
    array = h5py.h5t.array_create(h5py.h5t.NATIVE_DOUBLE, (3,))
    with h5py.File(folder / "in.h5", "w") as file:
        file["x"] = np.arange(6) * 10.0
        file["x"].make_scale("x")
        made = h5py.h5d.create(file.id, b"array", array, h5py.h5s.create_simple((6,)))
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, values, array)
        file["array"].dims[0].attach_scale(file["x"])
    found = support.reduce(folder / "in.h5", "array", "--select", "x=10.0:30.0", ops="sum").results
    assert found == {"sum": values[1:4].sum()}
    for axis, sums, dims in [(1, values.sum(1), ("x",)), ("x", values.sum(0), ("phony_dim_1",))]:
        support.run("reduce", folder / "in.h5", "array", "--axis", axis, "--ops", "sum",
                    "-o", folder / "out.h5", "--force")  # fmt: skip
        with h5py.File(folder / "out.h5") as file:
            assert np.array_equal(file["array"], sums)
            assert tuple(each[0].name.strip("/") for each in file["array"].dims) == dims


def test_parts_of_several_files_and_virtual_datasets(folder):
    table = rows()
    parts = [write(folder / "a.h5", table[:200], chunks=(50,)), write(folder / "b.h5", table[200:])]
    for member in ("block", "waves.abs"):
        expected = native(MEMBERS[member](table))
        support.run("reduce", *parts, f"table.{member}", "--concat", 0, "--ops", "max", "--axis", 0,
                    "-o", folder / "out.h5", "--force", ranks=2)  # fmt: skip
        assert np.array_equal(read(folder / "out.h5", f"table.{member}"), expected.max(0))
    layout = h5py.VirtualLayout((len(table),), ROW)
    layout[:200] = h5py.VirtualSource(parts[0], "table", (200,))
    layout[200:] = h5py.VirtualSource(parts[1], "table", (len(table) - 200,))
    with h5py.File(folder / "in.h5", "w") as file:
        file.create_virtual_dataset("table", layout)
    found = support.reduce(folder / "in.h5", "table.points.v", ops="sum").results
    assert found == {"sum": table["points"]["v"].sum()}


def test_large_arrays_are_read_in_part(folder):
    values = np.arange(3 * 10**6, dtype="<i8").reshape(3, 10**6)
    table = np.zeros(3, [("a", "i1"), ("line", "<i8", (10**6,))])
    table["line"] = values
    path = write(folder / "in.h5", table)
    found = support.reduce(path, "table.line", "--slab", "1M", ops="sum,argmax", ranks=2).results
    assert found == {"sum": int(values.sum()), "argmax": values.size - 1}
    found = support.reduce(path, "table.line", "--select", ":, 5::1000", ops="sum").results
    assert found == {"sum": int(values[:, 5::1000].sum())}


def test_info_lists_members_with_shapes(folder):
    path = write(folder / "in.h5", rows(10))
    listed = support.run("info", path, "--json", "-").results["datasets"]
    assert all(each["unsupported"] == "" for each in listed)
    assert [(each["name"], each["stored_type"], each["shape"]) for each in listed] == [
        ("table.id", "int32", [10]),
        ("table.block", "float64 big-endian", [10, 4]),
        ("table.grid", "int16", [10, 2, 3]),
        ("table.points.x", "float32", [10, 3]),
        ("table.points.v", "float64 big-endian", [10, 3, 2]),
        ("table.points.z.r", "float32 (real part)", [10, 3]),
        ("table.points.z.i", "float32 (imaginary part)", [10, 3]),
        ("table.flags", "bool", [10, 5]),
        ("table.z.r", "float64 (real part)", [10]),
        ("table.z.i", "float64 (imaginary part)", [10]),
        ("table.waves.r", "float32 big-endian (real part)", [10, 2]),
        ("table.waves.i", "float32 big-endian (imaginary part)", [10, 2]),
    ]
    one = support.run("info", path, "table.waves.abs", "--json", "-").report
    assert one["results"]["stored_type"] == "float32 big-endian (absolute value)"
    assert (one["dtype"], one["shape"]) == ("f64", [10, 2])
    report = support.run("reduce", path, "--all", "--ops", "count", "--json", "-").report
    assert [each["dataset"] for each in report["datasets"]] == [each["name"] for each in listed]


SPECIAL = [0, -0.0, 5e-324, 3e-310, 1e-200, 1.0, 3.0, 4.0, -1e200, 1.7e308, math.inf, math.nan]


@pytest.mark.parametrize("kind", ["<c16", ">c8", "real and imag", "<i2"])
def test_absolute_values_are_rounded_once(folder, kind):
    random = np.random.default_rng(7)
    real, imaginary = (each.ravel() for each in np.meshgrid(SPECIAL, SPECIAL))
    scales = 2.0 ** random.integers(-30, 30, (2, 2000))
    real, imaginary = (
        np.concatenate([part, random.standard_normal(2000) * scale])
        for part, scale in zip((real, imaginary), scales)
    )
    # Halfway between two doubles: five times an odd number of 52 bits is a double and a half.
    odd = random.integers(2**50, 2**53 // 3, 500) | 1
    real, imaginary = np.append(real, 3.0 * odd), np.append(imaginary, 4.0 * odd)
    with np.errstate(all="ignore"):
        if kind == "<i2":
            pairs = np.zeros(real.size, [("r", kind), ("i", kind)])
            pairs["r"], pairs["i"] = random.integers(-(2**15), 2**15, (2, real.size))
        elif kind == "real and imag":
            pairs = np.zeros(real.size, [("real", ">f8"), ("imag", ">f8")])
            pairs["real"], pairs["imag"] = real, imaginary
        else:
            pairs = np.zeros(real.size, kind)
            pairs.real, pairs.imag = real, imaginary
    path = write(folder / "in.h5", pairs, "z", chunks=(999,))
    names = pairs.dtype.names
    parts = [pairs[name] for name in names] if names else [pairs.real, pairs.imag]
    expected = absolute(np.array([complex(*each) for each in zip(*map(np.ndarray.tolist, parts))]))
    table = np.zeros(pairs.size, [("one", pairs.dtype, (1,))])
    table["one"][:, 0] = pairs
    write(path, table, "lines")
    support.scan(path, folder / "out.h5", "lines.one.abs", "--axis", 1)
    found = read(folder / "out.h5", "lines.one.abs")[:, 0]
    assert np.array_equal(found, expected, equal_nan=True)
    results = support.reduce(path, "z.abs", "--where", "<=1e200", ops="sum,count").results
    taken = expected[expected <= 1e200]
    assert results == {"sum": math.fsum(taken), "count": taken.size}


def one_byte_float(exponent_bits, mantissa_bits, bias):
    made = h5py.h5t.IEEE_F32LE.copy()
    made.set_fields(7, mantissa_bits, exponent_bits, 0, mantissa_bits)
    made.set_size(1)
    made.set_ebias(bias)
    return made


def value_of_byte(byte, exponent_bits, mantissa_bits, bias):
    """As the Open Compute Project defines both."""
    sign = -1 if byte & 128 else 1
    exponent = (byte & 127) >> mantissa_bits
    mantissa = byte & ((1 << mantissa_bits) - 1)
    top = (1 << exponent_bits) - 1
    if exponent == top and mantissa_bits == 2:
        return math.nan if mantissa else sign * math.inf
    if exponent == top and mantissa == 7:
        return math.nan
    unit = math.ldexp(sign, max(exponent, 1) - bias - mantissa_bits)
    return unit * (mantissa + ((1 << mantissa_bits) if exponent else 0))


@pytest.mark.parametrize("fields", [(4, 3, 7), (5, 2, 15)], ids=["E4M3", "E5M2"])
@pytest.mark.parametrize("chunked", [False, True])
def test_floats_of_a_byte(folder, fields, chunked):
    order = np.random.default_rng(4).permutation(256).astype("u1")
    expected = np.array([value_of_byte(int(byte), *fields) for byte in order])
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_layout(h5py.h5d.CHUNKED if chunked else h5py.h5d.CONTIGUOUS)
    if chunked:
        properties.set_chunk((100, 1))
        properties.set_deflate(1)
    kind = one_byte_float(*fields)
    row = h5py.h5t.create(h5py.h5t.COMPOUND, 5)
    row.insert(b"x", 1, h5py.h5t.array_create(kind, (4,)))
    every = h5py.h5s.ALL
    with h5py.File(folder / "in.h5", "w") as file:
        made = h5py.h5d.create(file.id, b"x", kind, h5py.h5s.create_simple((256, 1)), properties)
        made.write(every, every, order.reshape(256, 1), kind)
        rows = np.zeros(64, np.dtype({"names": ["x"], "formats": [("u1", (4,))], "offsets": [1],
                                      "itemsize": 5}))  # fmt: skip
        rows["x"] = order.reshape(64, 4)
        made = h5py.h5d.create(file.id, b"rows", row, h5py.h5s.create_simple((64,)))
        made.write(every, every, rows, row)
    support.scan(folder / "in.h5", folder / "out.h5", "x", "--axis", 1)
    assert np.array_equal(read(folder / "out.h5", "x").ravel(), expected, equal_nan=True)
    words = ("--where", ">=-1e6", "-o", folder / "row.h5")
    support.run("compact", folder / "in.h5", "rows.x", *words, "--where", "<=1e6")
    taken = expected[np.isfinite(expected)]
    assert np.array_equal(read(folder / "row.h5", "rows.x"), taken)


@pytest.mark.parametrize(
    "name, mentions",
    [
        ("z", ["complex (compound of r and i)", "DATASET.r, DATASET.i or DATASET.abs"]),
        ("table.waves", ["complex", "DATASET.abs"]),
        ("table.block.abs", ["no member 'block.abs'"]),
        ("table.z.real", ["no member 'z.real'", "'z.r'"]),
        ("whole.abs", ["integers of 64 bits"]),
        ("unequal.abs", ["no member 'abs'"]),
        ("long.r", ["long double"]),
        ("many", ["40 dimensions", "32"]),
    ],
)
def test_what_is_no_part_is_refused(folder, name, mentions):
    path = write(folder / "in.h5", rows(5))
    write(path, np.zeros(3, "c16"), "z")
    write(path, np.zeros(3, [("r", "i8"), ("i", "i8")]), "whole")
    write(path, np.zeros(3, [("r", "f8"), ("i", "f4")]), "unequal")
    write(path, np.zeros(3, "c32"), "long")
    many = h5py.h5t.array_create(h5py.h5t.IEEE_F64LE, (1,) * 20)
    with h5py.File(path, "a") as file:
        h5py.h5d.create(file.id, b"many", many, h5py.h5s.create_simple((1,) * 20))
    support.fail("reduce", path, name, code=1, mentions=mentions)


def test_tables_of_pandas(folder):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("tables")
    random = np.random.default_rng(9)
    names = ["east", "north", "up"]
    frame = pandas.DataFrame(eighths(random, (500, 3)), columns=names)
    frame["count"] = random.integers(0, 9, 500)
    frame["name"] = "text"
    frame.to_hdf(folder / "in.h5", "frame", format="table", complib="zlib", complevel=5)
    path, block = folder / "in.h5", "frame/table.values_block_0"
    words = ("--axis", 0, "--ops", "mean,max", "-o", folder / "out.h5")
    support.run("reduce", path, block, *words, ranks=2)
    values = frame[names].to_numpy()
    with h5py.File(folder / "out.h5") as file:
        assert np.array_equal(file[f"{block}_max"], values.max(0))
        exact = [float(sum(map(fractions.Fraction, column)) / 500) for column in values.T]
        assert file[f"{block}_mean"][...].tolist() == exact
    found = support.reduce(path, block, "--select", "10:20, 1", ops="sum").results
    assert found == {"sum": frame["north"][10:20].sum()}
    found = support.reduce(path, "frame/table.values_block_1", ops="sum").results
    assert found == {"sum": int(frame["count"].sum())}


def test_tables_of_pytables(folder):
    tables = pytest.importorskip("tables")
    random = np.random.default_rng(10)

    class Row(tables.IsDescription):
        vector = tables.Float64Col(shape=(2, 3))
        mask = tables.BoolCol(shape=(4,))
        time = tables.Time64Col(shape=(2,))
        wave = tables.ComplexCol(itemsize=16, shape=(2,))

    made = np.zeros(300, tables.dtype_from_descr(Row))
    made["vector"] = eighths(random, (300, 2, 3))
    made["mask"] = random.random((300, 4)) < 0.5
    made["time"] = np.arange(600).reshape(300, 2) + 0.5
    made["wave"] = eighths(random, (300, 2)) + 1j * eighths(random, (300, 2))
    with tables.open_file(folder / "in.h5", "w") as file:
        filters = tables.Filters(5, "zlib", shuffle=True)
        file.create_table("/", "table", made, filters=filters)
        atom = tables.Float32Atom(shape=(5,))
        array = file.create_earray("/", "array", atom, (0, 7), filters=filters)
        items = eighths(random, (20, 7, 5)).astype("f4")
        array.append(items)
        file.create_array("/", "waves", made["wave"])
    expected = {
        "table.vector": made["vector"], "table.mask": made["mask"].astype("u1"),
        "table.time": made["time"], "table.wave.r": made["wave"].real,
        "table.wave.abs": absolute(made["wave"]), "array": items, "waves.i": made["wave"].imag,
    }  # fmt: skip
    for name, values in expected.items():
        outcome = support.reduce(folder / "in.h5", name, "--raw", ops="all", ranks=2)
        assert outcome.report["shape"] == list(values.shape)
        statistics = reference.statistics(values)
        assert {key: outcome.results[key] for key in statistics} == statistics
