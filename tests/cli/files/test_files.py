"""Files as users have them, and what is done with every layout, filter and type.

`HANDLED` is the table of that in inputs/README.md, which is tested to say the same.
"""

import math
import shutil
import struct
import subprocess

import h5py
import numpy as np
import pytest

import reference
import samples
import support

SHAPE = (53, 20)
CHUNKS = (10, 9)
NUMERIC = [
    (name, order)
    for name in samples.GENERATED_TYPES
    for order in (("little",) if name in ("i8", "u8", "bool") else ("little", "big"))
]
INTEGERS = [(name, order) for name, order in NUMERIC if name in support.INTEGER_TYPES]
WITHOUT_HALVES = [(name, order) for name, order in NUMERIC if name not in ("f16", "bf16", "enum")]
NUMBERS = "numbers"


def created(path, name, properties, dtype, values=None, memory=None):
    with h5py.File(path, "a") as file:
        space = h5py.h5s.create_simple(SHAPE)
        made = h5py.h5d.create(file.id, name.encode(), dtype, space, properties)
        if values is not None:
            made.write(h5py.h5s.ALL, h5py.h5s.ALL, values, memory)


def values_of(name):
    """Elements as HDF5 takes them and as doubles."""
    values = samples.typed(name, SHAPE)
    memory = {"bf16": "<u2", "bool": "i1", "enum": "<i2"}.get(
        name, "<" + support.NUMPY_TYPES.get(name, "")
    )
    return np.ascontiguousarray(values, memory), reference.to_double(name, values)


def stored(*steps, written=True):
    """Makes a dataset in `path` whose creation properties the steps set; returns its values."""

    def make(path, dataset, name, order):
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        for step in steps:
            step(properties, path.parent / f"{dataset}.raw")
        values, wide = values_of(name)
        dtype = support.file_type(name, order)
        if not written:
            created(path, dataset, properties, dtype)
            return np.zeros(SHAPE)
        created(path, dataset, properties, dtype, values, support.file_type(name))
        return wide

    return make


def whole_numbers(*steps):
    """The same of values that scaling by powers of ten keeps."""

    def make(path, dataset, name, order):
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        for step in steps:
            step(properties, path)
        values = np.arange(math.prod(SHAPE), dtype=support.NUMPY_TYPES[name]).reshape(SHAPE) % 800
        created(path, dataset, properties, support.file_type(name, order), values)
        return values.astype("f8")

    return make


def virtual(path, dataset, name, order):
    source = path.parent / "source.h5"
    wide = stored(chunked)(source, dataset, name, order)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    space = h5py.h5s.create_simple(SHAPE)
    properties.set_virtual(space, b"source.h5", dataset.encode(), space)
    created(path, dataset, properties, support.file_type(name, order))
    return wide


def chunked(properties, _):
    properties.set_chunk(CHUNKS)


def compact(properties, _):
    properties.set_layout(h5py.h5d.COMPACT)


def external(properties, raw):
    properties.set_external(str(raw).encode(), 0, h5py.h5f.UNLIMITED)


def filtered(number, *parameters):
    def step(properties, _):
        if not h5py.h5z.filter_avail(number):
            pytest.skip(f"h5py has no filter {number}")
        properties.set_filter(number, h5py.h5z.FLAG_OPTIONAL, parameters)

    return step


DEFLATE = filtered(h5py.h5z.FILTER_DEFLATE, 4)
SHUFFLE = filtered(h5py.h5z.FILTER_SHUFFLE)
FLETCHER32 = filtered(h5py.h5z.FILTER_FLETCHER32)
SCALEOFFSET = filtered(h5py.h5z.FILTER_SCALEOFFSET, 2, 0)
SCALED = filtered(h5py.h5z.FILTER_SCALEOFFSET, 0, 2)
NBIT = filtered(h5py.h5z.FILTER_NBIT)
LZF = filtered(h5py.h5z.FILTER_LZF)
SZIP = filtered(h5py.h5z.FILTER_SZIP, 4, 8)

# Layout | filters | types | path | how to make one, or several, of a type | types to test
HANDLED = [
    ("contiguous", "none", NUMBERS, "direct", [stored()], NUMERIC),
    ("contiguous, never written", "none", NUMBERS, "library", [stored(written=False)], NUMERIC),
    ("compact", "none", NUMBERS, "library", [stored(compact)], NUMERIC),
    ("external", "none", NUMBERS, "library", [stored(external)], NUMERIC),
    ("virtual", "none", NUMBERS, "direct", [virtual], NUMERIC),
    (
        "chunked", "none", NUMBERS, "direct",
        [stored(chunked), stored(chunked, written=False)],
        NUMERIC,
    ),
    (
        "chunked", "deflate, shuffle, fletcher32, any of them", NUMBERS, "chunk",
        [
            stored(chunked, DEFLATE), stored(chunked, SHUFFLE), stored(chunked, FLETCHER32),
            stored(chunked, SHUFFLE, DEFLATE, FLETCHER32),
        ],
        NUMERIC,
    ),
    # test_filters.py has the others.
    (
        "chunked", "lzf, lz4, zstd, bitshuffle, blosc, blosc2", NUMBERS, "chunk",
        [stored(chunked, LZF)],
        NUMERIC,
    ),
    ("chunked", "scale-offset", "integers", "chunk", [stored(chunked, SCALEOFFSET)], INTEGERS),
    (
        "chunked", "scale-offset", "float32, float64", "chunk", [whole_numbers(chunked, SCALED)],
        [("f32", "little"), ("f32", "big"), ("f64", "little"), ("f64", "big")],
    ),
    ("chunked", "nbit", NUMBERS, "chunk", [stored(chunked, NBIT)], WITHOUT_HALVES),
    (
        "chunked", "szip", NUMBERS, "chunk", [stored(chunked, SZIP), stored(chunked, SHUFFLE, SZIP)],
        WITHOUT_HALVES,
    ),
]  # fmt: skip


def odd(dtype, value=None):
    def make(path):
        with h5py.File(path, "w") as file:
            file.create_dataset("values", (3,), dtype, data=value)

    return make


def low_level(dtype):
    def make(path):
        with h5py.File(path, "w") as file:
            h5py.h5d.create(file.id, b"values", dtype, h5py.h5s.create_simple((3,)))

    return make


def without_source(path):
    virtual(path, "values", "i32", "little")
    (path.parent / "source.h5").unlink()


def with_unknown_filter(path):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(CHUNKS)
    properties.set_filter(32013, h5py.h5z.FLAG_OPTIONAL, (1, 2))
    with h5py.File(path, "w") as file:
        made = h5py.h5d.create(
            file.id, b"values", h5py.h5t.STD_I32LE, h5py.h5s.create_simple(SHAPE), properties
        )
        made.write_direct_chunk((0, 0), b"not zfp", 0)


# Layout | filters | types | what the error says | how to make one
REFUSED = [
    ("virtual, a source missing", "none", "any", "source.h5", without_source),
    ("chunked", "any that neither warpfold nor HDF5 and its plugins know", "any",
     "this HDF5 has no filter zfp (id 32013)", with_unknown_filter),
    ("any", "any", "complex numbers as a whole", "its type is complex", odd("<c16")),
    ("any", "any", "other compounds as a whole", "its type is compound", odd("<i4,<f8")),
    ("any", "any", "strings of fixed length", "its type is string", odd("S5")),
    ("any", "any", "strings of any length", "its type is variable-length string",
     odd(h5py.string_dtype())),
    ("any", "any", "variable length", "variable-length", odd(h5py.vlen_dtype("<i4"))),
    ("any", "any", "references", "reference", odd(h5py.ref_dtype)),
    ("any", "any", "opaque", "opaque", odd("V6")),
    ("any", "any", "bit fields of other than a byte", "bit", low_level(h5py.h5t.STD_B16LE)),
    ("any", "any", "long double", "long double", odd("<f16")),
]  # fmt: skip


def rows_of_readme():
    """The table of layouts in inputs/README.md, without its head."""
    lines = (support.ROOT / "inputs" / "README.md").read_text().splitlines()
    start = lines.index("| layout | filters | types | path |")
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return rows
        rows.append(tuple(cell.strip() for cell in line.strip("|").split("|")))


def test_readme_tells_all_of_this():
    expected = [(*row[:3], f"`{row[3]}`") for row in HANDLED]
    expected += [(*row[:3], f'refused: "{row[3]}"') for row in REFUSED]
    assert rows_of_readme() == expected


@pytest.mark.parametrize("row", HANDLED, ids=lambda row: f"{row[0]}, {row[1]}")
def test_every_layout_filter_and_type(folder, row):
    *_, path, makers, types = row
    if row[1] == "szip" and "szip" not in support.run("--config").stdout:
        pytest.skip("built without libaec")
    made = folder / "in.h5"
    expected = {}
    for number, make in enumerate(makers):
        for name, order in types[:: 1 if number == 0 else 5]:
            dataset = f"{name}-{order}-{number}"
            expected[dataset] = make(made, dataset, name, order)
    report = support.run(
        "reduce", made, "--all", "--ops", "sum,min,max", "--slab", "4K", "--json", "-", ranks=2
    ).report
    assert sorted(each["dataset"] for each in report["datasets"]) == sorted(expected)
    for each in report["datasets"]:
        values = expected[each["dataset"]]
        found = each["results"]
        context = (each["dataset"], found)
        assert found["sum"] == math.fsum(values.ravel()), context
        assert (found["min"], found["max"]) == (values.min(), values.max()), context
    last = list(expected)[-1]
    assert support.run("info", made, last, "--json", "-").report["results"]["read_path"] == path


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: f"{row[0]}, {row[2]}")
def test_what_cannot_be_read_is_refused_by_name(folder, row):
    *_, text, make = row
    make(folder / "in.h5")
    support.fail("reduce", folder / "in.h5", "values", code=1, mentions=["values", text])
    if "compound" not in text and "complex" not in text:  # all of their members are
        support.fail("reduce", folder / "in.h5", "--all", code=1, mentions=[text], ranks=2)


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("storage", [{}, {"chunks": (10, 9)}, {"chunks": (10, 9), "shuffle": True}],
                         ids=["contiguous", "chunks", "filtered"])  # fmt: skip
def test_dataset_in_another_file(folder, storage, ranks):
    """Detectors write frames to files of their own, and a master file of links to them."""
    (folder / "frames").mkdir()
    values = np.arange(1060, dtype="i4").reshape(SHAPE)
    with h5py.File(folder / "frames/1.h5", "w", userblock_size=1024) as file:
        file.create_dataset("entry/data", data=values, **storage)
    with h5py.File(folder / "links.h5", "w") as file:
        file["again"] = h5py.ExternalLink("frames/1.h5", "/entry")
    with h5py.File(folder / "master.h5", "w") as file:
        file["padding"] = np.ones(500)
        file["frame"] = h5py.ExternalLink("frames/1.h5", "entry/data")
        file["group"] = h5py.ExternalLink("frames/1.h5", "/entry")
        file["far"] = h5py.ExternalLink("links.h5", "again/data")
        file["soft"] = h5py.SoftLink("/group/data")
    master = folder / "master.h5"
    for name in ("frame", "group/data", "far", "soft"):
        report = support.reduce(master, name, ops="sum,argmax", ranks=ranks).report
        assert report["dataset"] == name
        assert report["results"] == {"sum": int(values.sum()), "argmax": 1059}
    for output in (master, folder / "frames/1.h5"):
        support.fail("scan", master, "frame", "-o", output, "--force", code=2, ranks=ranks,
                     mentions=[f"it is the input file '{output}'"])  # fmt: skip
    support.scan(master, folder / "out.h5", "frame", ranks=ranks)
    with h5py.File(folder / "out.h5") as file:
        assert np.array_equal(file["frame"], np.cumsum(values).reshape(SHAPE))


def test_virtual_dataset_in_another_file(folder):
    """Its sources are looked for where it is, not where the link is."""
    (folder / "frames").mkdir()
    wide = virtual(folder / "frames/all.h5", "values", "i32", "little")
    with h5py.File(folder / "frames/all.h5", "a") as file:
        layout = h5py.VirtualLayout(SHAPE, "i4")
        layout[...] = h5py.VirtualSource(".", "values", SHAPE)
        file.create_virtual_dataset("again", layout)
    with h5py.File(folder / "master.h5", "w") as file:
        file["frames"] = h5py.ExternalLink("frames/all.h5", "/")
    for name in ("frames/values", "frames/again"):
        assert support.reduce(folder / "master.h5", name, ops="sum").results["sum"] == wide.sum()


NETCDF = """netcdf sample {
dimensions: time = UNLIMITED ; lat = 7 ; lon = 11 ;
variables:
  byte b(time, lat, lon) ; b:_FillValue = -5b ;
  ubyte ub(time, lat, lon) ;
  short s(time, lat, lon) ; s:_DeflateLevel = 5 ; s:_Shuffle = "true" ; s:scale_factor = 0.5 ;
  ushort us(time, lat, lon) ; us:_Endianness = "big" ;
  int i(time, lat, lon) ; i:_ChunkSizes = 2, 3, 4 ; i:_Fletcher32 = "true" ;
  uint ui(lat, lon) ; ui:_Storage = "contiguous" ;
  int64 l(lat, lon) ; l:_Endianness = "big" ; l:_Storage = "contiguous" ;
  uint64 ul(lat, lon) ;
  float f(time, lat, lon) ; f:_DeflateLevel = 1 ; f:_Endianness = "big" ;
  double lat(lat) ;
  char c(lon) ;
  string name(lat) ;
data:
  b = %(small)s ; s = %(signed)s ; us = %(small)s ; i = %(signed)s ; f = %(real)s ;
  ub = %(small)s ; ui = %(few)s ; l = %(few)s ; ul = %(few)s ;
  lat = 1, 2, 3, 4.5, 5, 6, 7 ; c = "some chars" ; name = "a", "b", "c", "d", "e", "f", "g" ;
}
"""


def require_command(name):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")


def expect_as_h5py(path, *skipped):
    """Sums and extrema of every dataset but the skipped ones, which are named with a reason."""
    report = support.run(
        "reduce", path, "--all", "--raw", "--ops", "count,sum,min,max", "--json", "-", ranks=2
    ).report
    reasons = {each["dataset"]: each["skipped"] for each in report["datasets"] if "skipped" in each}
    assert set(reasons) == set(skipped)
    with h5py.File(path) as file:
        for each in report["datasets"]:
            if each["dataset"] in reasons:
                continue
            dataset, _, member = each["dataset"].partition(".")
            values = np.asarray(file[dataset][member] if member else file[dataset][...])
            found = each["results"]
            exact = math.fsum(values.flat)
            if values.dtype.kind in "iub":
                exact = sum(map(int, values.flat))
            assert found["count"] == values.size and found["sum"] == exact, each["dataset"]
            extrema = (values.min(), values.max()) if values.size else (None, None)
            assert (found["min"], found["max"]) == extrema, each["dataset"]
    return reasons


def test_netcdf(folder):
    require_command("ncgen")
    numbers = {
        "small": [value % 100 for value in range(154)],
        "signed": [value * 203 for value in range(-77, 77)],
        "real": [value / 7 for value in range(154)],
        "few": range(77),
    }
    texts = {name: ", ".join(map(str, values)) for name, values in numbers.items()}
    (folder / "sample.cdl").write_text(NETCDF % texts)
    subprocess.run(["ncgen", "-4", "-o", "sample.nc", "sample.cdl"], cwd=folder, check=True)
    reasons = expect_as_h5py(folder / "sample.nc", "c", "name", "time", "lon")
    assert "string" in reasons["c"] and "string" in reasons["name"]
    for dimension in ("time", "lon"):
        assert reasons[dimension] == "it is a dimension of netCDF's without a variable"


def test_netcdf_packed_anew(folder):
    require_command("nccopy")
    require_command("ncks")
    with h5py.File(folder / "in.h5", "w") as file:
        for name, values in {"x": np.arange(30.0), "y": np.arange(30, dtype=">i2")}.items():
            file[name] = values
            file[name].make_scale(name)
        file["z"] = np.add.outer(np.arange(30.0), np.arange(30)).astype("<f4")
        file["z"].dims[0].attach_scale(file["x"])
        file["z"].dims[1].attach_scale(file["y"])
    for command in (
        ["nccopy", "-d", "6", "-s", "-c", "x/7,y/30", "in.h5", "out.nc"],
        ["ncks", "-O", "-4", "-L", "1", "--cnk_dmn", "x,11", "in.h5", "out.nc"],
    ):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        expect_as_h5py(folder / "out.nc")


def test_matlab(folder):
    """Arrays as MATLAB's save -v7.3 stores them."""
    path = folder / "in.mat"
    text = b"MATLAB 7.3 MAT-file, Platform: GLNXA64 HDF5 schema 1.00 ."
    values = np.random.default_rng(3).random((40, 30))
    with h5py.File(path, "w", userblock_size=512) as file:
        def add(name, data, kind, **attributes):
            dtype = np.asarray(data).dtype
            chunks = (10, 30) if np.size(data) > 1000 else None
            made = file.create_dataset(
                name, data=data, dtype=dtype, chunks=chunks, compression="gzip" if chunks else None
            )
            made.attrs["MATLAB_class"] = np.bytes_(kind)
            for key, value in attributes.items():
                made.attrs[key] = value

        add("x", values, "double")
        add("flags", np.array([[1, 0, 1]], "u1"), "logical", MATLAB_int_decode=np.int32(1))
        add("word", np.frombuffer("héllo".encode("utf-16-le"), "<u2"), "char",
            MATLAB_int_decode=np.int32(2))  # fmt: skip
        add("group/single", np.float32([[1.5, 2.5]]), "single")
        add("nothing", np.array([0, 3], "<u8"), "double", MATLAB_empty=np.uint8(1))
        add("z", np.array([(1, 2)], [("real", "f8"), ("imag", "f8")]), "double")
        add("cells", np.array([file["x"].ref], h5py.ref_dtype), "cell")
    with open(path, "r+b") as file:
        file.write(text.ljust(116) + bytes(8) + struct.pack("<H", 0x0200) + b"IM")
    reasons = expect_as_h5py(path, "nothing", "cells")
    assert "empty" in reasons["nothing"]
    support.fail("reduce", path, "z", code=1, mentions=["z", "DATASET.real, DATASET.imag"])
    for name in ("nothing", "cells"):
        support.fail("reduce", path, name, code=1, mentions=[name, reasons[name]])


def test_octave(folder):
    require_command("octave-cli")
    script = (
        "x = reshape(1:12, 3, 4) / 7; s = single(x); k = int16(x * 1000); b = x > 1; n = 3.25;"
        " z = x + i; e = zeros(3, 0); m = sparse([1 0; 0 2]); c = {x, 'text', e};"
        " save('-hdf5', 'out.h5', 'x', 's', 'k', 'b', 'n', 'z', 'e', 'm', 'c');"
    )
    subprocess.run(["octave-cli", "--norc", "--eval", script], cwd=folder, check=True)
    with h5py.File(folder / "out.h5") as file:
        skipped = [f"{name}/type" for name in file] + ["e/value", "c/value/_2/value"]
        skipped += [f"c/value/_{number}/type" for number in range(3)]
    reasons = expect_as_h5py(folder / "out.h5", *skipped)
    assert reasons["e/value"] == "it is an empty array of Octave's, which stores its extents"


CDO = {
    "compressed": ["-k", "grid", "-z", "zip_6"],
    "packed": ["-b", "I16", "-pack"],
    "series": ["-b", "F64", "-duplicate,5", "-settaxis,2001-01-01,0:00,1mon"],
    "little": ["-b", "F32L"],
    "big": ["-b", "F64B"],
    "szip": ["-z", "szip"],
}


def unpacked(dataset):
    """The values of a netCDF-4 variable that are not missing."""
    stored, attributes = dataset[...], dataset.attrs
    missing = [attributes[name] for name in ("_FillValue", "missing_value") if name in attributes]
    kept = stored[~np.isin(stored, missing)]
    if "scale_factor" not in attributes:
        return kept
    return kept * attributes["scale_factor"][0] + attributes["add_offset"][0]


@pytest.mark.parametrize("kind", CDO)
def test_cdo(folder, kind):
    require_command("cdo")
    command = ["cdo", "-s", "-f", "nc4", *CDO[kind], "-setrtomiss,-200,0", "-topo,r36x18"]
    subprocess.run([*command, "out.nc"], cwd=folder, check=True, capture_output=True)
    with h5py.File(folder / "out.nc") as file:
        values = unpacked(file["topo"])
        assert values.size < file["topo"].size
    found = support.reduce(folder / "out.nc", "topo", ops="count,sum,min,max", ranks=2).results
    assert found == {
        "count": values.size, "sum": math.fsum(values), "min": values.min(), "max": values.max()
    }  # fmt: skip


FOREIGN = [
    (b"CDF\x01", "netCDF file of the classic format", "nccopy -k nc4"),
    (b"CDF\x02", "netCDF file of the 64-bit offset format", "nccopy -k nc4"),
    (b"CDF\x05", "netCDF file of the CDF-5 format", "nccopy -k nc4"),
    (b"MATLAB 5.0 MAT-file, Platform: GLNXA64", "MATLAB file of an older format", "-v7.3"),
    (b"\x0e\x03\x13\x01", "HDF4 file", "h4toh5"),
    (b"GRIB", "GRIB file", "cdo"),
    (b"\x89HDF\r\n\x1a", "not an HDF5 file", "netCDF-4"),
]


@pytest.mark.parametrize("first, name, advice", FOREIGN, ids=lambda value: str(value)[:12])
def test_formats_that_are_not_hdf5_are_named(folder, first, name, advice):
    (folder / "in.nc").write_bytes(first.ljust(2000, b"\0"))
    support.fail("reduce", folder / "in.nc", "x", code=1, mentions=[name, advice])


def test_files_of_several_parts_are_named(folder):
    with h5py.File(folder / "part%d.h5", "w", driver="family", memb_size=2048) as file:
        file["values"] = np.arange(2000)
    with h5py.File(folder / "split", "w", driver="split") as file:
        file["values"] = np.arange(2000)
    for path, driver in {"part0.h5": "family", "split-m.h5": "split"}.items():
        support.fail("reduce", folder / path, "values", code=1, mentions=[driver, "h5repart"])


def rewritten(path, old, new):
    content = path.read_bytes()
    assert content.count(old) == 1
    path.write_bytes(content.replace(old, new))


@pytest.mark.parametrize("ranks", [None, 2])
def test_formats_of_newer_hdf5_are_named(folder, ranks):
    path = support.write(folder / "in.h5", np.arange(10), "i32")
    with h5py.File(path) as file:
        place = file["values"].id.get_offset()
    address = struct.pack("<QQ", place, 40)
    rewritten(path, b"\x03\x01" + address, b"\x07\x01" + address)
    support.fail("reduce", path, "values", code=1, mentions=["values", "needs a newer HDF5"],
                 ranks=ranks)  # fmt: skip
    path = support.write(folder / "in.h5", np.arange(10), "i32")
    content = path.read_bytes()
    path.write_bytes(content[:8] + b"\x09" + content[9:])
    support.fail("reduce", path, "values", code=1, mentions=[path, "needs a newer HDF5"],
                 ranks=ranks)  # fmt: skip
