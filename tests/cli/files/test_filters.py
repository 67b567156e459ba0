"""Compressed chunks that independent encoders made, for filters that HDF5 itself need not know."""

import h5py
import numpy as np
import pytest

import support

encoders = pytest.importorskip("encoders")

CHUNK = 3000
ELEMENTS = 10_000
FILTERS = encoders.FILTERS
OPTIONAL = encoders.OPTIONAL


def require_decoder(name):
    config = support.run("--config").stdout
    known = next(line for line in config.splitlines() if line.startswith("filters"))
    for word in set(name.split()) - {"array"}:
        if word not in known.replace(",", "").split():
            pytest.skip(f"built without {word}")


def write_chunks(path, values, name):
    """A dataset whose chunks are encoded here; every third skips the filter."""
    number, parameters, encode = FILTERS[name]
    size = values.dtype.itemsize
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((CHUNK,))
    properties.set_filter(number, OPTIONAL, parameters(size))
    padded = np.zeros(-(-ELEMENTS // CHUNK) * CHUNK, values.dtype)
    padded[:ELEMENTS] = values
    with h5py.File(path, "w") as file:
        space = h5py.h5s.create_simple((ELEMENTS,))
        made = h5py.h5d.create(
            file.id, b"values", h5py.h5t.py_create(values.dtype), space, properties
        )
        for place, first in enumerate(range(0, ELEMENTS, CHUNK)):
            raw = padded[first : first + CHUNK].tobytes()
            skipped = place % 3 == 2
            made.write_direct_chunk((first,), raw if skipped else encode(raw, size), int(skipped))
    return path


def some_values(dtype):
    random = np.random.default_rng(5)
    smooth = np.cumsum(random.integers(-3, 4, ELEMENTS))
    return np.where(np.arange(ELEMENTS) % 500 < 100, random.integers(0, 250, ELEMENTS), smooth % 99
                    ).astype(dtype)  # fmt: skip


def expect_same_by_library(path, values, folder):
    """Read by HDF5, which has warpfold's decoders, directly and through a virtual dataset."""
    layout = h5py.VirtualLayout(values.shape, values.dtype)
    layout[...] = h5py.VirtualSource(path.name, "values", values.shape)
    with h5py.File(folder / "virtual.h5", "w") as file:
        file.create_virtual_dataset("values", layout)
    for words in ((path, "values", "--read-path", "library"), (folder / "virtual.h5", "values")):
        results = support.reduce(*words, ranks=2).results
        assert results["sum"] == int(values.astype("i8").sum())
        assert (results["argmin"], results["argmax"]) == (values.argmin(), values.argmax())
    support.scan(folder / "virtual.h5", folder / "out.h5", "values", "--op", "max")
    with h5py.File(folder / "out.h5") as file:
        assert np.array_equal(file["values"][...], np.maximum.accumulate(values))


def expect_sums(path, values):
    for ranks in (None, 3):
        found = support.reduce(path, "values", "--read-path", "chunk", ranks=ranks).results
        assert found["sum"] == int(values.astype("i8").sum())
        assert (found["min"], found["max"]) == (values.min(), values.max())
        assert (found["argmin"], found["argmax"]) == (values.argmin(), values.argmax())


@pytest.mark.parametrize("dtype", ["u1", "<i2", ">i4", "<u8"])
@pytest.mark.parametrize("name", FILTERS)
def test_reduce(folder, name, dtype):
    require_decoder(name)
    values = some_values(dtype)
    expect_sums(write_chunks(folder / "in.h5", values, name), values)


@pytest.mark.parametrize("name", FILTERS)
def test_scan(folder, name):
    require_decoder(name)
    values = some_values("<i4")
    path = write_chunks(folder / "in.h5", values, name)
    support.scan(path, folder / "out.h5", "values", ranks=2)
    assert np.array_equal(support.read(folder / "out.h5", "i64"), np.cumsum(values.astype("i8")))


@pytest.mark.parametrize("shuffle", [False, True])
def test_lzf_of_h5py(folder, shuffle):
    values = some_values("<i4")
    with h5py.File(folder / "in.h5", "w") as file:
        file.create_dataset(
            "values", data=values, chunks=(CHUNK,), compression="lzf", shuffle=shuffle
        )
    expect_sums(folder / "in.h5", values)
    expect_same_by_library(folder / "in.h5", values, folder)


@pytest.mark.parametrize("compressor", ["blosc:blosclz", "blosc:lz4", "blosc:zlib", "blosc:zstd",
                                        "blosc2:lz4"])  # fmt: skip
@pytest.mark.parametrize("others", [{}, {"bitshuffle": True}, {"shuffle": False, "fletcher32": True}])
def test_chunks_of_pytables(folder, compressor, others):
    require_decoder(compressor.split(":")[0])
    tables = pytest.importorskip("tables")
    values = some_values("<i4")
    try:
        filters = tables.Filters(complevel=5, complib=compressor, **others)
    except ValueError:
        pytest.skip(f"PyTables lacks {compressor}")
    with tables.open_file(folder / "in.h5", "w") as file:
        file.create_carray("/", "values", obj=values, chunkshape=(CHUNK,), filters=filters)
    expect_sums(folder / "in.h5", values)
    expect_same_by_library(folder / "in.h5", values, folder)


SCALED = [
    ("<i4", 0), (">i2", 0), ("<u8", 0), ("<u2", 11), ("i1", 0), ("<f4", 0), ("<f4", 2), (">f8", 3),
    ("<f8", 1),
]  # fmt: skip


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("dtype, scale", SCALED)
def test_scale_offset_of_h5py(folder, dtype, scale, compression):
    values = (some_values(dtype) * (1 if scale == 0 else 0.37)).astype(dtype)
    with h5py.File(folder / "in.h5", "w") as file:
        made = file.create_dataset(
            "values", data=values, chunks=(CHUNK,), scaleoffset=scale, compression=compression,
            fillvalue=values[7],
        )  # fmt: skip
        assert made.scaleoffset is not None
    with h5py.File(folder / "in.h5") as file:
        kept = file["values"][...]
    expect_copied(folder, kept)


def expect_copied(folder, kept):
    """All elements in the bits that h5py reads, by warpfold's threads and by the HDF5 library."""
    for path in ("chunk", "library"):
        support.run("compact", folder / "in.h5", "values", "--where", ">-1e300", "--read-path", path,
                    "--threads", "2", "-o", folder / "out.h5", "--force")  # fmt: skip
        with h5py.File(folder / "out.h5") as file:
            assert file["values"][...].tobytes() == kept.astype(file["values"].dtype).tobytes()


@pytest.mark.parametrize("dtype", ["u1", "<i2", ">i4", "<f4", ">f8", "<i8"])
@pytest.mark.parametrize("others", [{}, {"shuffle": True}, {"fletcher32": True}])
@pytest.mark.parametrize("option", [("nn", 8), ("ec", 32), ("nn", 4)])
def test_szip_of_h5py(folder, dtype, others, option):
    require_decoder("szip")
    values = some_values(dtype)
    with h5py.File(folder / "in.h5", "w") as file:
        file.create_dataset("values", data=values, chunks=(CHUNK,), compression="szip",
                            compression_opts=option, **others)  # fmt: skip
    expect_copied(folder, values)


NARROW = [("i4", 12, 0), ("i2", 9, 3), ("u8", 33, 20), ("u1", 8, 0), ("i8", 57, 7)]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("integer, bits, offset", NARROW)
def test_nbit_of_integers(folder, integer, bits, offset, order):
    if h5py.version.hdf5_version_tuple >= (2, 0, 0):
        pytest.skip("this h5py's HDF5 does not open its own integers narrower than their bytes")
    values = some_values(integer) - (100 if integer[0] == "i" else 0)
    narrow_type = h5py.h5t.py_create(np.dtype(order + integer)).copy()
    narrow_type.set_precision(bits)
    narrow_type.set_offset(offset)
    write_nbit(folder / "in.h5", narrow_type, values.astype("=" + integer))
    expect_copied(folder, values)


def write_nbit(path, narrow_type, values):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((CHUNK,))
    properties.set_filter(h5py.h5z.FILTER_NBIT)
    with h5py.File(path, "w") as file:
        made = h5py.h5d.create(
            file.id, b"values", narrow_type, h5py.h5s.create_simple(values.shape), properties
        )
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, values)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("size, exponent, mantissa", [(4, 8, 9), (4, 8, 13), (8, 11, 9), (8, 11, 21)])
def test_nbit_of_floats(folder, size, exponent, mantissa, order):
    """Floats that lack last bits of the mantissa, as simulations of galaxies are stored."""
    narrow_type = h5py.h5t.py_create(np.dtype(f"{order}f{size}")).copy()
    narrow_type.set_fields(mantissa + exponent, mantissa, exponent, 0, mantissa)
    narrow_type.set_precision(1 + exponent + mantissa)
    values = some_values("<i4") / 16 - 3
    write_nbit(folder / "in.h5", narrow_type, values.astype(f"f{size}"))
    kept = np.empty(ELEMENTS, f"f{size}")
    with h5py.File(folder / "in.h5") as file:
        file["values"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, kept)
    expect_copied(folder, kept)


@pytest.mark.parametrize("name", FILTERS)
def test_the_library_undoes_them_too(folder, name):
    require_decoder(name)
    values = some_values("<i4")
    expect_same_by_library(write_chunks(folder / "in.h5", values, name), values, folder)


def test_a_virtual_dataset_over_an_unknown_filter(folder):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((10,))
    properties.set_filter(32013, OPTIONAL, (1, 2))
    with h5py.File(folder / "in.h5", "w") as file:
        made = h5py.h5d.create(
            file.id, b"values", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((10,)), properties
        )
        made.write_direct_chunk((0,), b"not zfp", 0)
        layout = h5py.VirtualLayout((10,), "<i4")
        layout[...] = h5py.VirtualSource(".", "values", (10,))
        file.create_virtual_dataset("virtual", layout)
    support.fail("reduce", folder / "in.h5", "virtual", code=1, mentions=["zfp (id 32013)"],
                 ranks=2)  # fmt: skip


@pytest.mark.parametrize("name", FILTERS)
def test_damage_is_reported_with_its_place(folder, name):
    require_decoder(name)
    path = write_chunks(folder / "in.h5", some_values("<i4"), name)
    with h5py.File(path, "r+") as file:
        file["values"].id.write_direct_chunk((CHUNK,), b"\x07" * 9, 0)
    support.fail("reduce", path, "values", "--read-path", "library", code=1, mentions=["HDF5"])
    words = ("reduce", path, "values", "--read-path", "chunk")
    for ranks in (None, 2):
        support.fail(*words, code=1, mentions=[path, "values", "chunk [1]"], ranks=ranks)
