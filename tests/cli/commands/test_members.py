"""Members of compound elements are read as datasets are, beside h5py and NumPy."""

import h5py
import numpy as np
import pytest

import reference
import support

EVENT = np.dtype(
    [
        ("energy", "<f4"),
        ("channel", ">u2"),
        ("position", [("x", "<f8"), ("y", ">f8"), ("cell", [("row", "i1")])]),
        ("good", "?"),
        ("name", "S5"),
        ("trace", "<i2", (3,)),
        ("half", "<f2"),
        ("odd.name", "<i8"),
    ]
)
FIELDS = ["energy", "channel", "position.x", "position.y", "position.cell.row", "good", "trace",
          "half", "odd.name"]  # fmt: skip
STORAGE = {
    "contiguous": {},
    "chunked": {"chunks": (100,)},
    "filtered": {"chunks": (77,), "compression": "gzip", "shuffle": True, "fletcher32": True},
    "lzf": {"chunks": (1000,), "compression": "lzf"},
}


def events(shape=(1234,)):
    random = np.random.default_rng(5)
    made = np.frombuffer(random.bytes(int(np.prod(shape)) * EVENT.itemsize), EVENT)
    made = made.reshape(shape).copy()
    made["energy"] = random.standard_normal(shape)
    made["half"] = random.standard_normal(shape)
    for axis in "xy":
        made["position"][axis] = random.standard_normal(shape)
    made["good"] = random.random(shape) < 0.3
    made["name"] = b"event"
    return made


def member(table, field):
    if field == "odd.name":
        return table[field]
    for part in field.split("."):
        table = table[part]
    return table


def write(path, table, name="run/table", **storage):
    with h5py.File(path, "a") as file:
        file.create_dataset(name, data=table, **storage)
        file[name].attrs.update({"_FillValue": 0.0, "scale_factor": 2.0, "CLASS": "TABLE"})
    return path


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("field", FIELDS)
def test_members_are_reduced_and_scanned(folder, storage, field):
    table = events()
    path = write(folder / "in.h5", table, **STORAGE[storage])
    expected = member(table, field)
    expected = expected.astype("i1" if expected.dtype == bool else expected.dtype.newbyteorder("="))
    ranks = 2 if field in ("energy", "channel") else None
    arguments = ("--slab", "4K", "--threads", 2)
    outcome = support.reduce(path, f"run/table.{field}", *arguments, ranks=ranks)
    statistics = reference.statistics(expected)
    assert {key: outcome.results[key] for key in statistics} == statistics
    support.scan(path, folder / "out.h5", f"run/table.{field}", "--op", "max", *arguments,
                 ranks=ranks)  # fmt: skip
    with h5py.File(folder / "out.h5") as file:
        written = file[f"run/table.{field}"]
        assert np.array_equal(written[()].ravel(), np.maximum.accumulate(expected.ravel()))
        assert not {"_FillValue", "scale_factor", "CLASS"} & set(written.attrs)


def test_members_of_tables_of_several_dimensions(folder):
    table = events((20, 30))
    path = write(folder / "in.h5", table, chunks=(7, 8), compression="gzip")
    taken = table["position"]["y"][3:17:2, -5:]
    selection = ("--select", "3:17:2, -5:")
    found = support.reduce(path, "run/table.position.y", *selection, ops="min,max,count").results
    assert found == {"min": taken.min(), "max": taken.max(), "count": taken.size}
    support.run("reduce", path, "run/table.channel", "--axis", 0, "-o", folder / "out.h5", ranks=2)
    with h5py.File(folder / "out.h5") as file:
        assert np.array_equal(file["run/table.channel"][()], table["channel"].sum(0, dtype="u8"))


def test_compact_and_histogram(folder):
    table = events()
    path = write(folder / "in.h5", table, chunks=(100,))
    words = ("compact", path, "run/table.channel", "-o", folder / "out.h5", "--where", ">40000")
    support.run(*words, "--indices", ranks=2)
    taken = np.flatnonzero(table["channel"] > 40000)
    with h5py.File(folder / "out.h5") as file:
        assert np.array_equal(file["run/table.channel"][()], table["channel"][taken])
        assert np.array_equal(file["run/table.channel_indices"][()], taken)
    outcome = support.run("histogram", path, "run/table.energy", "--bins", "-1,0,1", "--json", "-")
    counts = np.histogram(table["energy"], [-1, 0, 1])[0]
    assert outcome.report["results"]["counts"] == counts.tolist()


def test_attributes_of_the_table_are_not_the_members(folder):
    path = write(folder / "in.h5", events())
    stored = support.reduce(path, "run/table.good", "--raw", ops="sum,count").results
    assert support.reduce(path, "run/table.good", ops="sum,count").results == stored


def test_outputs_have_the_coordinates_of_the_table(folder):
    path, out = folder / "in.h5", folder / "out.h5"
    table = np.zeros((4, 2), [("energy", "f8"), ("place", "i4", 3)])
    table["energy"] = np.arange(8).reshape(4, 2)
    with h5py.File(path, "w") as file:
        file["table"] = table
        file["table"].attrs["units"] = "rows"
        file["time"] = [0.0, 1.0, 31.0, 33.0]
        file["time"].attrs["units"] = "days since 2000-01-31"
        file["site"] = [5, 7]
        for d, name in enumerate(("time", "site")):
            file[name].make_scale(name)
            file["table"].dims[d].attach_scale(file[name])
    words = ("--axis", "time", "--every", "month", "--ops", "max")
    support.run("reduce", path, "table.energy", *words, "-o", out)
    with h5py.File(out) as file:
        made = file["table.energy"]
        assert made[...].tolist() == [[0, 1], [2, 3], [6, 7]]
        assert [scale[0].name for scale in made.dims] == ["/time", "/site"]
        assert file["time"][...].tolist() == [0, 1, 32]
        assert file["site"][...].tolist() == [5, 7]
        assert "units" not in made.attrs
    support.run("reduce", path, "table.place", "--axis", "site", "--ops", "max", "-o", out, "--force")
    with h5py.File(out) as file:
        assert file["table.place"].shape == (4, 3)
        assert file["table.place"].dims[0][0].name == "/time"
        assert file["time"][...].tolist() == [0, 1, 31, 33]


def test_info_all_and_patterns_list_members(folder):
    table = events()
    path = write(folder / "in.h5", table)
    write(path, table[["energy", "channel"]], name="run/other")
    write(path, np.zeros(3, "c16"), name="run/wave")
    support.write(path, [1, 2], "i32", dataset="run/plain.energy", mode="a")
    listed = support.run("info", path, "--json", "-").report["results"]["datasets"]
    reasons = {each["name"]: each["unsupported"] for each in listed}
    every = [f"run/table.{name}" for name in [*FIELDS[:6], "name", *FIELDS[6:]]]
    assert list(reasons) == ["run/other.energy", "run/other.channel", "run/plain.energy", *every,
                             "run/wave.r", "run/wave.i"]  # fmt: skip
    assert "string" in reasons["run/table.name"]
    assert not any(reasons[f"run/table.{field}"] for field in FIELDS)

    def read(*datasets):
        report = support.run("reduce", path, *datasets, "--json", "-").report
        return [each["dataset"] for each in report["datasets"] if "results" in each]

    fields = [f"run/table.{field}" for field in FIELDS]
    others = ["run/other.energy", "run/other.channel"]
    waves = ["run/wave.r", "run/wave.i"]
    assert read("--all") == [*others, "run/plain.energy", *fields, *waves]
    assert read("run/w*") == waves and read("run/*.i") == waves[1:]
    assert read("run/table.*") == read("run/t*") == fields
    assert read("r*/*.energy") == ["run/other.energy", "run/plain.energy", "run/table.energy"]
    assert read("run/table.p*.[xy]") == ["run/table.position.x", "run/table.position.y"]


def test_a_dataset_of_the_whole_name_wins(folder):
    path = write(folder / "in.h5", events(), name="table")
    with h5py.File(path, "r+") as file:
        file["table.energy"] = np.array([7, 8])
        file["v1.2/table"] = np.array([(1, 2.5)], [("a", "i4"), ("b.c", "f8")])
    assert support.reduce(path, "table.energy", ops="sum").results == {"sum": 15}
    assert support.reduce(path, "v1.2/table.a", ops="sum").results == {"sum": 1}
    assert support.reduce(path, "v1.2/table.b.c", ops="sum").results == {"sum": 2.5}


def test_bit_fields_of_a_byte_are_booleans_of_pytables(folder):
    values = np.array([1, 0, 1, 1], "u1")
    compound = h5py.h5t.create(h5py.h5t.COMPOUND, 9)
    compound.insert(b"good", 8, h5py.h5t.NATIVE_B8)
    compound.insert(b"energy", 0, h5py.h5t.IEEE_F64LE)
    records = np.zeros(4, [("energy", "<f8"), ("good", "u1")])
    records["good"] = values
    with h5py.File(folder / "in.h5", "w") as file:
        space = h5py.h5s.create_simple((4,))
        alone = h5py.h5d.create(file.id, b"alone", h5py.h5t.NATIVE_B8, space)
        alone.write(h5py.h5s.ALL, h5py.h5s.ALL, values, h5py.h5t.NATIVE_B8)
        table = h5py.h5d.create(file.id, b"table", compound, space)
        table.write(h5py.h5s.ALL, h5py.h5s.ALL, records, compound)
    for name in ("alone", "table.good"):
        found = support.reduce(folder / "in.h5", name, ops="sum,count")
        assert found.results == {"sum": 3, "count": 4}
        assert found.report["dtype"] == "u8"
        support.scan(folder / "in.h5", folder / "out.h5", name)
        with h5py.File(folder / "out.h5") as file:
            assert file[name][()].tolist() == [1, 1, 2, 3]


def test_what_was_never_written_has_the_fill_value(folder):
    kind = np.dtype([("a", "i4"), ("b", "f8")])
    with h5py.File(folder / "in.h5", "w") as file:
        file.create_dataset("table", (10,), kind, fillvalue=np.array((7, 0.5), kind), chunks=(4,))
        file.create_dataset("empty", (0,), kind, maxshape=(None,))
    assert support.reduce(folder / "in.h5", "table.b", ops="sum").results == {"sum": 5}
    assert support.reduce(folder / "in.h5", "empty.a", ops="sum").results == {"sum": 0}


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize(
    "name, mentions",
    [
        ("run/table", ["compound of 'energy'", "DATASET.MEMBER"]),
        ("run/table.gone", ["no member 'gone'", "'energy', 'channel', 'position.x'"]),
        ("run/table.position", ["compound", "DATASET.MEMBER"]),
        ("run/table.name", ["string of 5 bytes"]),
        ("run/gone.energy", ["no such dataset", "run/table"]),
        ("run/plain.energy", ["no such dataset"]),
    ],
)
def test_what_is_no_member_is_refused(folder, name, mentions, ranks):
    path = write(folder / "in.h5", events())
    support.write(path, [1, 2], "i32", dataset="run/plain", mode="a")
    support.fail("reduce", path, name, code=1, mentions=mentions, ranks=ranks)


def test_reports_never_replace_what_members_are_read_from(folder):
    kind = np.dtype([("a", "i4")])
    write(folder / "source.h5", np.zeros(3, kind), name="table")
    layout = h5py.VirtualLayout((3,), kind)
    layout[:] = h5py.VirtualSource(folder / "source.h5", "table", (3,))
    with h5py.File(folder / "in.h5", "w") as file:
        file.create_virtual_dataset("table", layout)
    words = ("reduce", folder / "in.h5", "table.a", "--ops", "sum", "--json")
    assert support.run(*words, "-").results == {"sum": 0}
    support.fail(*words, folder / "source.h5", code=2, mentions=["source.h5"])
