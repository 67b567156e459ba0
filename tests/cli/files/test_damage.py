"""Files with damaged metadata: what h5py reads of them, or an error, but nothing else.

Bytes are changed at random, checksums corrected after it, so that HDF5 gets to see the damage.
Where HDF5 itself crashes on a file, or goes round in it, there is nothing to compare.
"""

import faulthandler
import multiprocessing
import os
import signal
import struct
import zlib

import h5py
import numpy as np
import pytest

import support

CASES = int(os.environ.get("WARPFOLD_DAMAGE_CASES", "5"))
VALUES = np.arange(7, 67, dtype="i4").reshape(12, 5)
MOST_ELEMENTS = 10**6
MASK = 0xFFFFFFFF
# First bytes of the blocks whose last four bytes are their checksum.
CHECKED = [b"\x89HDF", b"OHDR", b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EADB", b"BTHD", b"BTLF"]

OLD, NEW = "earliest", "latest"
# Format | what h5py's create_dataset takes
FILES = {
    "contiguous": (OLD, {}),
    "btree": (OLD, {"chunks": (5, 2)}),
    "filtered": (OLD, {"chunks": (5, 2), "compression": "gzip", "shuffle": True}),
    "contiguous, new": (NEW, {}),
    "one chunk": (NEW, {"chunks": (12, 5), "compression": "gzip"}),
    "fixed array": (NEW, {"chunks": (5, 2)}),
    "extensible array": (NEW, {"chunks": (5, 2), "maxshape": (None, 5), "fletcher32": True}),
    "btree, new": (NEW, {"chunks": (5, 2), "maxshape": (None, None), "compression": "gzip"}),
}


def rotated(word, bits):
    return (word << bits | word >> (32 - bits)) & MASK


def checksum(block):
    """Jenkins' lookup3, as HDF5's metadata have it."""
    state = [(0xDEADBEEF + len(block)) & MASK] * 3
    rounds = max(1, -(-len(block) // 12))
    for number, words in enumerate(struct.iter_unpack("<3I", block.ljust(12 * rounds, b"\0"))):
        a, b, c = ((old + word) & MASK for old, word in zip(state, words))
        if number < rounds - 1:
            for bits in (4, 6, 8, 16, 19, 4):
                a = ((a - c) & MASK) ^ rotated(c, bits)
                c = (c + b) & MASK
                a, b, c = b, c, a
        else:
            for bits in (14, 11, 25, 16, 4, 14, 24):
                c = ((c ^ b) - rotated(b, bits)) & MASK
                a, b, c = b, c, a
            c = b  # The seventh step leaves its result there.
        state = [a, b, c]
    return state[2]


def checked_blocks(content):
    """(begin, end) of what lies before each checksum."""
    blocks = []
    for signature in CHECKED:
        begin = content.find(signature)
        while begin >= 0:
            for end in range(begin + 8, min(len(content) - 3, begin + 1000)):
                if struct.unpack_from("<I", content, end)[0] == checksum(content[begin:end]):
                    blocks.append((begin, end))
                    break
            begin = content.find(signature, begin + 1)
    return blocks


def damaged(content, blocks, random):
    """A copy with one to three bytes of metadata changed."""
    result = bytearray(content)
    for _ in range(random.integers(1, 4)):
        begin, end = blocks[random.integers(len(blocks))] if blocks else (0, len(content))
        place = random.integers(begin, end)
        result[place] = random.choice([0, 1, 0xFF, result[place] ^ 1 << random.integers(8)])
    for begin, end in blocks:
        result[end : end + 4] = struct.pack("<I", checksum(bytes(result[begin:end])))
    return bytes(result)


def read_into(path, connection):
    faulthandler.disable()
    signal.alarm(5)
    try:
        with h5py.File(path) as file:
            if file["values"].size > MOST_ELEMENTS:
                connection.send("too many")
                return
            file["values"].id.get_storage_size()
            values = file["values"][...]
            connection.send((values.size, sum(values.ravel().tolist())))
    except Exception as error:
        connection.send(f"refused: {error}")


def read_by_h5py(path):
    """The number and sum of a dataset's elements, why there is none, or None without an end."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=read_into, args=(path, there))
    process.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        return None
    finally:
        process.join()


@pytest.mark.parametrize("name", FILES)
def test_damaged_metadata(folder, name):
    libver, storage = FILES[name]
    path = folder / "in.h5"
    with h5py.File(path, "w", libver=libver) as file:
        file.create_dataset("values", data=VALUES, **storage)
    content = path.read_bytes()
    blocks = checked_blocks(content) if libver == NEW else []
    assert libver == OLD or len(blocks) >= 2, "checksums of the superblock and of a header"
    for case in range(CASES):
        random = np.random.default_rng([case, *name.encode()])
        path.write_bytes(damaged(content, blocks, random))
        expected = read_by_h5py(path)
        if expected is None or expected == "too many":
            continue
        outcome = support.attempt(
            "reduce", path, "values", "--ops", "count,sum", "--json", "-", timeout=60
        )
        context = f"case {case}: h5py {expected}, exit {outcome.code}, {outcome.stderr}"
        assert outcome.code in (0, 1), context
        assert len(outcome.errors) == outcome.code, context
        if outcome.code == 0:
            assert tuple(outcome.results.values()) == expected, context


@pytest.mark.parametrize("zeroed", ["b", "g"])
def test_others_are_read_where_one_object_is_damaged(folder, zeroed):
    path = folder / "damaged.h5"
    with h5py.File(path, "w", libver="earliest") as file:
        for name in ("a", "b", "c", "g/d"):
            file[name] = VALUES
        address = h5py.h5o.get_info(file[zeroed].id).addr
    with path.open("r+b") as file:
        file.seek(address)
        file.write(bytes(16))
    outcome = support.attempt("reduce", path, "--all", "--ops", "sum", "--json", "-")
    read = {each["dataset"]: each.get("results") for each in outcome.report["datasets"]}
    expected = dict.fromkeys(["a", "b", "c", "g/d"], {"sum": int(VALUES.sum())})
    expected.pop("g/d" if zeroed == "g" else zeroed)
    assert read == {**expected, zeroed: None}
    assert outcome.code == 1 and len(outcome.errors) == 1
    assert f"'{zeroed}' (its object header is damaged)" in outcome.errors[0]
    assert "damaged.h5" in outcome.errors[0]
    listing = support.run("info", path).stdout.splitlines()
    assert [line.split()[:3] for line in listing if line.split()[0] == zeroed] == [
        [zeroed, "unknown", "its"]
    ]


PAIR = np.dtype([("number", "i4"), ("text", h5py.string_dtype())])
PAIRS = np.array([(number, "text") for number in range(60)], PAIR)
TEXTS = np.array(["north", "south", "west"] * 20)
LABELED = ("reduce", "plain", "--by", "values")
# Datasets that only HDF5 reads: elements | how they are stored | the command that reads them | its
# sums
READ_BY_HDF5 = {
    "numbers": (VALUES.ravel(), {"shuffle": True}, ("reduce", "values"), [VALUES.sum()]),
    "members": (PAIRS, {"shuffle": True}, ("reduce", "values.number"), [60 * 59 // 2]),
    "texts": (TEXTS.astype("S9"), {}, LABELED, [570, 590, 610]),
    "texts of any length": (TEXTS.astype(object), {"shuffle": True}, LABELED, [570, 590, 610]),
}


@pytest.mark.parametrize("stored_bytes", [0, 3, 4000])
@pytest.mark.parametrize("kind", READ_BY_HDF5)
def test_hdf5_takes_no_other_bytes_for_those_that_filters_do_not_make(folder, kind, stored_bytes):
    values, storage, (command, dataset, *options), sums = READ_BY_HDF5[kind]
    path = folder / "in.h5"
    dtype = h5py.string_dtype() if values.dtype == object else values.dtype
    storage = {**storage, "chunks": (16,), "compression": "gzip"}
    with h5py.File(path, "w") as file:
        file["plain"] = np.arange(60.0)
        file.create_dataset("values", (60,), dtype, **storage)[...] = values

    def sums_or_errors():
        words = (command, path, dataset, *options, "--read-path", "library", "--ops", "sum")
        output = ("-o", folder / "out.h5", "--force") if options else ("--json", "-")
        outcome = support.attempt(*words, *output)
        if outcome.code:
            return outcome.errors
        if options:
            return support.read(folder / "out.h5", "f64", "plain").tolist()
        return [outcome.results["sum"]]

    assert sums_or_errors() == sums
    with h5py.File(path, "r+") as file:
        file["values"].id.write_direct_chunk((32,), zlib.compress(bytes(stored_bytes)))
    (error,) = sums_or_errors()
    assert "chunk [2] is unreadable; " in error


def test_hdf5_takes_no_other_bytes_for_those_of_virtual_datasets(folder):
    sources = [folder / "left.h5", folder / "right.h5"]
    for source in sources:
        with h5py.File(source, "w") as file:
            file.create_dataset("values", data=VALUES, chunks=(4, 5), compression="gzip")
    with h5py.File(folder / "in.h5", "w") as file:
        layout = h5py.VirtualLayout((12, 10), "i4")
        layout[:, :5] = h5py.VirtualSource(sources[0], "values", (12, 5))
        layout[:, 5:] = h5py.VirtualSource(sources[1], "values", (12, 5))
        file.create_virtual_dataset("values", layout)

    def attempt(rows):
        selection = ("--select", rows, "--ops", "sum", "--read-path", "library", "--json", "-")
        return support.attempt("reduce", folder / "in.h5", "values", *selection)

    assert attempt(":").results["sum"] == 2 * VALUES.sum()
    with h5py.File(sources[1], "r+") as file:
        file["values"].id.write_direct_chunk((4, 0), zlib.compress(bytes(11)))
    assert attempt("8:").results["sum"] == 2 * VALUES[8:].sum()
    (error,) = attempt("7:").errors
    assert "chunk [1, 0] is unreadable; " in error and "right.h5" in error
