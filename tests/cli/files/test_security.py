"""Hostile files cost an error, not memory or a crash; outputs go to the given places, and nowhere
else."""

import os
import resource
import struct
import zlib

import h5py
import numpy as np
import pytest

import samples
import support

# Limit of virtual memory, in which MPI's shared memory and the threads' stacks count, too;
# sanitizers take terabytes of that. Files that lie make HDF5 leak.
SANITIZED = "WARPFOLD_SANITIZED" in os.environ
LIMIT = support.APART if SANITIZED else ("prlimit", f"--as={4 << 30}")
HUGE = (0xFFFFFFFF, 0x7FFFFFFF, 0x80000000)


def survives(path, *arguments, command="reduce", dataset="values"):
    """The program ends soon, by itself, with a result or one line of explanation."""
    words = [command, path, dataset, "--threads", 2, *arguments]
    outcome = support.attempt(*words, prefix=LIMIT, timeout=30)
    assert outcome.code in (0, 1, 2), f"exit {outcome.code}: {outcome.stderr}"
    assert len(outcome.errors) == (outcome.code != 0), outcome.stderr
    return outcome


def refused(path, *arguments, mentions="", **options):
    outcome = survives(path, *arguments, **options)
    assert outcome.code == 1, outcome.stdout
    assert mentions in outcome.errors[0]


def patched(path, old, new, occurrence=0):
    """Replaces bytes of a file, which have to be in it."""
    content = bytearray(path.read_bytes())
    place = -1
    for _ in range(occurrence + 1):
        place = content.find(old, place + 1)
        assert place >= 0, f"{old} is not in {path}"
    content[place : place + len(old)] = new
    path.write_bytes(content)
    return path


def chunked(path, filters=(), stored=None, shape=(1000,), chunks=(250,)):
    """A dataset of int32; `stored` is what every chunk has in the file."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(chunks)
    for number, parameters in filters:
        properties.set_filter(number, h5py.h5z.FLAG_OPTIONAL, parameters)
    with h5py.File(path, "w") as file:
        space = h5py.h5s.create_simple(shape)
        made = h5py.h5d.create(file.id, b"values", h5py.h5t.STD_I32LE, space, properties)
        if stored is None:
            file["values"][...] = 1
        else:
            for first in range(0, shape[0], chunks[0]):
                made.write_direct_chunk((first,) + (0,) * (len(shape) - 1), stored)
    return path


SZIP, SCALE_OFFSET, BLOSC, BLOSC2 = 4, 6, 32001, 32026
DEFLATE, SHUFFLE, FLETCHER32, LZF, LZ4, BITSHUFFLE, ZSTD = 1, 2, 3, 32000, 32004, 32008, 32015


@pytest.mark.parametrize("size", [0, *HUGE])
@pytest.mark.parametrize("dimension", [0, 1])
def test_chunk_extents(folder, size, dimension):
    path = chunked(folder / "in.h5", shape=(1000, 77), chunks=(251, 19))
    extents = [251, 19]
    extents[dimension] = size
    patched(path, struct.pack("<III", 251, 19, 4), struct.pack("<III", *extents, 4))
    refused(path)


def test_chunk_extents_whose_product_overflows(folder):
    path = chunked(folder / "in.h5", shape=(9, 9, 9, 9), chunks=(5, 7, 3, 2))
    patched(path, struct.pack("<IIIII", 5, 7, 3, 2, 4), struct.pack("<IIIII", *4 * (1 << 31,), 4))
    refused(path)


@pytest.mark.parametrize("size", [0, 3, *HUGE])
@pytest.mark.parametrize("filters", [(), ((DEFLATE, (6,)),)], ids=["plain", "deflate"])
def test_stored_size_of_a_chunk(folder, filters, size):
    stored = zlib.compress(bytes(1000)) if filters else None
    path = chunked(folder / "in.h5", filters, stored)
    with h5py.File(path) as file:
        bytes_stored = file["values"].id.get_chunk_info(1).size
    key = struct.pack("<IIQQ", bytes_stored, 0, 250, 0)
    patched(path, key, struct.pack("<IIQQ", size, 0, 250, 0))
    if size or filters:
        refused(path, mentions="chunk [1] has 0 bytes" if size == 0 else "")
    else:
        survives(path)


@pytest.mark.parametrize("address", [1 << 40, (1 << 63) - 1, (1 << 64) - 2])
def test_address_of_a_chunk(folder, address):
    path = chunked(folder / "in.h5")
    with h5py.File(path) as file:
        place = file["values"].id.get_chunk_info(1).byte_offset
    refused(patched(path, struct.pack("<Q", place), struct.pack("<Q", address)))


@pytest.mark.parametrize("signature", [b"TREE", b"FAHD", b"FADB", b"EAHD", b"EAIB"])
def test_damaged_index_of_chunks(folder, signature):
    """HDF5 tells of such a dataset that nothing is stored."""
    extensible = signature.startswith(b"EA")
    libver = "earliest" if signature == b"TREE" else "latest"
    with h5py.File(folder / "in.h5", "w", libver=libver) as file:
        file.create_dataset(
            "values", data=np.ones(1000), chunks=(10,), maxshape=(None,) if extensible else (1000,)
        )
    count = (folder / "in.h5").read_bytes().count(signature)
    refused(patched(folder / "in.h5", signature, b"XXXX", count - 1))


def test_extent_beyond_its_maximum(folder):
    """Nobody would wait for the fill value of all those elements."""
    path = chunked(folder / "in.h5", ((DEFLATE, (6,)),))
    extents = 2 * struct.pack("<Q", 1000)
    patched(path, extents, struct.pack("<QQ", 1 << 56, 1000))
    refused(path, mentions="an extent exceeds its maximum")


@pytest.mark.parametrize("extent", [11, 1 << 20, 1 << 40])
def test_extent_of_a_compact_dataset(folder, extent):
    """HDF5 reads on behind the elements in the object's header."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_layout(h5py.h5d.COMPACT)
    with h5py.File(folder / "in.h5", "w") as file:
        space = h5py.h5s.create_simple((10,))
        h5py.h5d.create(file.id, b"values", h5py.h5t.NATIVE_DOUBLE, space, properties)
        file["values"][...] = 1
    patched(folder / "in.h5", 2 * struct.pack("<Q", 10), 2 * struct.pack("<Q", extent))
    refused(folder / "in.h5", mentions="80 bytes are stored")


@pytest.mark.parametrize("address", [1 << 40, (1 << 63) - 1, (1 << 64) - 2])
def test_address_of_a_contiguous_dataset(folder, address):
    path = support.write(folder / "in.h5", np.ones(1000), "f64")
    with h5py.File(path) as file:
        place = file["values"].id.get_offset()
    refused(patched(path, struct.pack("<QQ", place, 8000), struct.pack("<QQ", address, 8000)))


@pytest.mark.parametrize("extent", [1001, 1 << 40, (1 << 61) - 1, (1 << 64) - 1])
def test_extent_of_a_contiguous_dataset(folder, extent):
    path = support.write(folder / "in.h5", np.ones(1000), "f64")
    patched(path, struct.pack("<Q", 1000), struct.pack("<Q", extent))
    refused(path, "--read-path", "library" if extent > 1 << 60 else "auto")


@pytest.mark.parametrize("layers", [1, 2, 8])
def test_deflate_bomb(folder, layers):
    """A chunk of 1000 bytes that inflates to 128 MiB."""
    stored = zlib.compress(bytes(1 << 27), 9)
    for _ in range(layers - 1):
        stored = zlib.compress(stored, 9)
    path = chunked(folder / "in.h5", layers * ((DEFLATE, (6,)),), stored)
    refused(path, mentions="chunk [0]")


def test_many_filters(folder):
    """Each might hand twice a chunk to the one before it."""
    filters = 32 * ((DEFLATE, (6,)),)
    survives(chunked(folder / "in.h5", filters, b"x" * 50))


LIES = {
    "lz4 of 2^63 bytes": ((LZ4, ()), struct.pack(">QI", 1 << 63, 1 << 31)),
    "lz4 block of 4 GiB": ((LZ4, ()), struct.pack(">QII", 1000, 1000, 0xFFFFFFFF)),
    "lz4 of blocks without bytes": ((LZ4, ()), struct.pack(">QI", 1000, 0)),
    "zstd frame of 2^62 bytes": ((ZSTD, ()), b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 62)),
    "bitshuffle of 2^63 bytes": (
        (BITSHUFFLE, (0, 4, 4, 0, 2)), struct.pack(">QII", 1 << 63, 8192, 7)
    ),
    "bitshuffle of elements of no bytes": ((BITSHUFFLE, (0, 4, 0, 0, 2)), bytes(20)),
    "bitshuffle of elements of 4 GiB": ((BITSHUFFLE, (0, 4, 0xFFFFFFFF, 0, 0)), bytes(1000)),
    "bitshuffle of blocks of 2^32 elements": ((BITSHUFFLE, (0, 4, 4, 0xFFFFFFF8, 2)), bytes(20)),
    "shuffle of elements of 4 GiB": ((SHUFFLE, (0xFFFFFFFF,)), bytes(1000)),
    "shuffle of elements of no bytes": ((SHUFFLE, (0,)), bytes(1000)),
    "scale-offset of 2^32 bits": ((SCALE_OFFSET, (2, 0)), b"\xff" * 30),
    "scale-offset without elements": ((SCALE_OFFSET, (2, 0)), b"\5\0\0\0\x08" + bytes(16)),
    "szip of 4 GiB": ((SZIP, (4, 8)), b"\xff" * 1000),
    "szip of nothing": ((SZIP, (4, 8)), struct.pack("<I", 1000)),
    "blosc of 2 GiB": ((BLOSC, ()), struct.pack("<4B3I", 2, 1, 1, 4, 1 << 31, 1 << 31, 30) + bytes(14)),
    "blosc2 frame of nothing": ((BLOSC2, ()), b"\x9e\xa8b2frame\0" + b"\xff" * 90),
    "checksum alone": ((FLETCHER32, ()), b"\1\2\3"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_chunks_that_lie_of_their_sizes(folder, lie):
    one_filter, stored = LIES[lie]
    survives(chunked(folder / "in.h5", [one_filter], stored))


DAMAGED = {
    "lzf": ((LZF, ()), b"\x20\xff" * 20),
    "zstd": ((ZSTD, ()), b"\x28\xb5\x2f\xfd\x04" + b"\xff" * 30),
    "blosc": ((BLOSC, ()), struct.pack("<4B3I", 2, 1, 1, 4, 1000, 1000, 3000) + bytes(14)),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_the_library_looks_for_no_memory_that_holds_a_damaged_stream(folder, name):
    one_filter, stored = DAMAGED[name]
    path = chunked(folder / "in.h5", [one_filter], stored)
    refused(path, "--read-path", "library", mentions="chunk [0]")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1 << 20, "KiB"


@pytest.mark.parametrize("points", [1000, 1 << 32, 1 << 61, (1 << 64) - 1])
def test_extent_of_an_attribute(folder, points):
    path = support.write(folder / "in.h5", np.ones(10), "f64")
    with h5py.File(path, "a") as file:
        file["values"].attrs["weights"] = np.ones(777, "f4")
    patched(path, struct.pack("<Q", 777), struct.pack("<Q", points))
    survives(path, "-o", folder / "out.h5", command="scan")


# HDF5 multiplies elements by bytes modulo 2^64: these claim no more bytes than there are.
OVERFLOWING = [("f4", (1 << 62) + 3), ("f8", (1 << 61) + 1), ("words", (1 << 60) + 1),
               ("words", (1 << 61) + 1)]  # fmt: skip


@pytest.mark.parametrize("kind, points", OVERFLOWING)
def test_extent_of_an_attribute_whose_bytes_overflow(folder, kind, points):
    path = support.write(folder / "in.h5", np.ones(10), "f64")
    with h5py.File(path, "a") as file:
        attributes = file["values"].attrs
        if kind == "words":
            attributes.create("weights", np.array(777 * ["abc"], object), dtype=h5py.string_dtype())
        else:
            attributes["weights"] = np.ones(777, kind)
    patched(path, struct.pack("<Q", 777), struct.pack("<Q", points))
    refused(
        path, "-o", folder / "out.h5", command="scan",
        mentions=f"the input's attribute weights has {points} elements in "
    )  # fmt: skip
    assert not (folder / "out.h5").exists()


@pytest.mark.parametrize("kind", ["strings", "pairs"])
@pytest.mark.parametrize("strings, length", [(1, (1 << 31) - 1), (1, (1 << 32) - 1), (20, 10**8)])
def test_length_of_an_attributes_strings(folder, kind, strings, length):
    path = support.write(folder / "in.h5", np.ones(10), "f64")
    with h5py.File(path, "a") as file:
        attributes = file["values"].attrs
        if kind == "pairs":
            pair = np.dtype([("number", "i4"), ("words", h5py.string_dtype(), (1,))])
            attributes["words"] = np.array([(1, ["abcdefg"])] * strings, pair)
        else:
            words = np.array(strings * ["abcdefg"], object)
            attributes.create("words", words, dtype=h5py.string_dtype())
    collection = path.read_bytes().find(b"GCOL")
    old = struct.pack("<IQ", len("abcdefg"), collection)
    for _ in range(strings):
        patched(path, old, struct.pack("<IQ", length, collection))
    refused(path, "-o", folder / "out.h5", command="scan",
            mentions=f"the input's attribute words has strings of {strings * length} bytes")  # fmt: skip
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1 << 20, "KiB"


def test_length_of_a_list_of_scales(folder):
    path = support.write(folder / "in.h5", np.ones(10), "f64")
    with h5py.File(path, "a") as file:
        file["x"] = np.arange(10)
        file["x"].make_scale()
        file["values"].dims[0].attach_scale(file["x"])
    collection = path.read_bytes().find(b"GCOL")
    patched(path, struct.pack("<IQ", 1, collection), struct.pack("<IQ", 1 << 29, collection))
    refused(path, "--select", "x=1", mentions=f"DIMENSION_LIST has strings of {1 << 32} bytes")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1 << 20, "KiB"


@pytest.mark.parametrize("version", ["earliest", "latest"])
def test_thousands_of_attributes(folder, version):
    names = [f"attribute {number}" for number in range(3000)]
    with h5py.File(folder / "in.h5", "w", libver=version) as file:
        file["values"] = np.ones(10)
        for number, name in enumerate(names):
            file["values"].attrs[name] = number
    support.run("scan", folder / "in.h5", "values", "-o", folder / "out.h5", timeout=30)
    with h5py.File(folder / "out.h5") as file:
        kept = file["values"].attrs
        assert [kept[name] for name in names] == list(range(3000))


def test_virtual_datasets_that_multiply(folder):
    """Eleven levels of ten sources, all of them one dataset: 10^10 ways to look at it."""
    with h5py.File(folder / "in.h5", "w") as file:
        file["level0"] = np.ones(10, "i4")
        for level in range(1, 12):
            layout = h5py.VirtualLayout((10,), "i4")
            for place in range(10):
                layout[place] = h5py.VirtualSource(".", f"level{level - 1}", (10,))[place]
            file.create_virtual_dataset(f"level{level}", layout)
    outcome = support.attempt("info", folder / "in.h5", "level11", timeout=20)
    assert outcome.code in (0, 1)


def test_names_that_a_terminal_would_obey(folder):
    name = "a\x1b[31m\nwarpfold: error: forged"
    with h5py.File(folder / "in.h5", "w") as file:
        file[name] = np.ones(3)
    listing = support.run("info", folder / "in.h5").stdout
    assert "forged" in listing and "\x1b" not in listing
    refusal = support.fail("reduce", folder / "in.h5", "values", code=1, mentions=["forged"])
    assert "\x1b" not in refusal.stderr


def test_random_damage(folder):
    """Bytes of the file changed at random, wherever they lie."""
    random = np.random.default_rng(8)
    made = chunked(folder / "in.h5", [(SHUFFLE, (4,)), (DEFLATE, (6,))])
    whole = made.read_bytes()
    for _ in range(25):
        content = bytearray(whole)
        for place in random.integers(0, len(content), random.integers(1, 5)):
            content[place] = random.integers(256)
        made.write_bytes(content)
        survives(made)


def scan_into(folder, name, *arguments, **options):
    return support.attempt(
        "scan", support.write(folder / "in.h5", np.ones(10), "f64"), "values", "-o", folder / name,
        *arguments, **options
    )  # fmt: skip


def test_an_output_replaces_a_link_and_not_what_it_points_to(folder):
    (folder / "precious").write_text("mine")
    (folder / "out.h5").symlink_to(folder / "precious")
    assert scan_into(folder, "out.h5").code == 1
    assert (folder / "out.h5").is_symlink()
    assert scan_into(folder, "out.h5", "--force").code == 0
    assert not (folder / "out.h5").is_symlink()
    assert (folder / "precious").read_text() == "mine"


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("command", [("scan",), ("compact", "--where", ">1"),
                                     ("reduce", "--axis", "0")], ids=lambda words: words[0])  # fmt: skip
def test_an_output_replaces_no_file_that_its_input_rests_on(folder, command, ranks):
    for name, sources in samples.of_several_files(folder).items():
        for source in sources:
            before = (folder / source).read_bytes()
            support.fail(command[0], folder / name, "values", *command[1:], "-o", folder / source, "--force",
                         code=2, mentions=[f"it is the input file '{folder / source}'"],
                         ranks=ranks)  # fmt: skip
            assert (folder / source).read_bytes() == before


def test_links_under_the_names_of_temporary_files_are_left_alone(folder):
    (folder / "precious").write_text("mine")
    for digits in ("0" * 16, "f" * 16):
        (folder / f".out.h5.warpfold-{digits}.tmp").symlink_to(folder / "precious")
    assert scan_into(folder, "out.h5").code == 0
    assert (folder / "precious").read_text() == "mine"
    assert len([each for each in folder.iterdir() if each.is_symlink()]) == 2


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes files of other users")
def test_a_report_follows_no_link_of_another_user(folder):
    path = support.write(folder / "in.h5", np.ones(10), "f64")
    (folder / "precious").write_text("mine")
    (folder / "report").symlink_to(folder / "precious")
    os.chown(folder / "report", 12345, 12345, follow_symlinks=False)
    refusal = support.fail("reduce", path, "values", "--csv", folder / "report", code=1)
    assert "another user's link" in refusal.errors[0]
    assert (folder / "precious").read_text() == "mine"


def test_outputs_have_the_permissions_that_the_user_grants(folder):
    before = os.umask(0o077)
    try:
        assert scan_into(folder, "out.h5", "--json", folder / "report", prefix=support.APART).code == 0
    finally:
        os.umask(before)
    for name in ("out.h5", "report"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600


def test_no_shell_reads_names(folder):
    name = "$(touch made) `touch made`; touch made"
    path = support.write(folder / f"{name}.h5", np.ones(10), "f64", dataset=name)
    output = f"{folder / name}.out"
    outcome = support.run("scan", path, name, "-o", output, "--json", "-", cwd=folder)
    assert outcome.report["results"]["output"] == output
    assert not (folder / "made").exists()
