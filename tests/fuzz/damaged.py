#!/usr/bin/env python3
"""Compressed datasets, and coordinates of datasets, of which one chunk is damaged at random, judged as
zlib, or the library of LZ4 or blosc, judges its bytes.

    tests/fuzz/damaged.py --cases 2000 --seed 5 --jobs 4 --backend cuda
    tests/fuzz/damaged.py --seed 5 --only 17         # one of its cases again

Where a library makes the chunk's bytes of what is stored, results have to be those of the values;
where it does not, every command has to end with one error that names the chunk, whoever reads
it, the same on both backends, and to leave nothing. Outputs lack a damaged coordinate, which a note names. The
environment variable WARPFOLD names the program, beside which the build puts command_server, in
whose process commands run one after another.
"""

import argparse
import pathlib
import struct
import sys
import tempfile
import zlib

import blosc
import h5py
import lz4.block
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

import cases  # noqa: E402
import encoders  # noqa: E402
import support  # noqa: E402

TYPES = ("<f4", ">f8", "<i2", "<i4", "u1", ">u8")
RANKS = (1, 1, 1, 2)
READ_PATHS = ("auto", "auto", "library")
STRATEGIES = (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED)


def values_of(random, shape, dtype):
    top = int(random.choice([2, 40, 250]))
    return random.integers(0, top, shape).astype(dtype)


def deflated(random, data, size):
    window = int(random.integers(9, 16))
    packer = zlib.compressobj(int(random.integers(0, 10)), zlib.DEFLATED, window,
                              int(random.integers(1, 10)), int(random.choice(STRATEGIES)))  # fmt: skip
    return packer.compress(data) + packer.flush()


def shuffled(chunk):
    return chunk.reshape(-1).view("u1").reshape(chunk.size, -1).T.tobytes()


def damaged(random, stored, chunk_bytes, compressed):
    """Other bytes in place of a chunk's."""
    data = bytearray(stored)
    kind = random.integers(6)
    if kind == 0:
        del data[int(random.integers(1, len(data))) :]
    elif kind == 1:
        data += random.bytes(int(random.integers(1, 20)))
    elif kind == 2:
        at = int(random.choice([0, 4, 8, max(0, len(data) - 4)]))
        data[at : at + 4] = random.bytes(4)
    elif kind == 3:
        other = max(1, chunk_bytes + int(random.integers(-30, 30)))
        data = bytearray(compressed(random.bytes(other)))
    else:
        for _ in range(int(random.integers(1, 6))):
            data[int(random.integers(len(data)))] ^= int(random.integers(1, 256))
    return bytes(data)


def inflated(stored, chunk_bytes, size):
    """Returns a chunk's bytes inflated by zlib; None if the result is not the chunk."""
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(stored, chunk_bytes + 1)
    except zlib.error:
        return None
    return data if unpacker.eof and len(data) == chunk_bytes else None


def taken(data, count):
    if len(data) < count:
        raise ValueError("it ends too early")
    return data[:count], data[count:]


def blocks_of(stored, chunk_bytes):
    """The bytes of a block, and what is behind that."""
    head, left = taken(stored, 12)
    total, block_bytes = struct.unpack(">QI", head)
    if total != chunk_bytes or block_bytes == 0:
        raise ValueError("it is no such chunk")
    return block_bytes, left


def block_from(left):
    size, left = taken(left, 4)
    return taken(left, struct.unpack(">I", size)[0])


def unpacked(block, size):
    made = lz4.block.decompress(block, uncompressed_size=size)
    if len(made) != size:
        raise ValueError("a block is too short")
    return made


def without_lz4(stored, chunk_bytes, size):
    """Returns a chunk of filter 32004 decompressed by LZ4's library; None if it is not the
    chunk."""
    try:
        block_bytes, left = blocks_of(stored, chunk_bytes)
        made = b""
        while len(made) < chunk_bytes:
            expected = min(block_bytes, chunk_bytes - len(made))
            block, left = block_from(left)
            made += block if len(block) == expected else unpacked(block, expected)
        return made
    except (ValueError, lz4.block.LZ4BlockError):
        return None


def elements_of(planes, size):
    bits = np.unpackbits(np.frombuffer(planes, "u1"), bitorder="little")
    return np.packbits(bits.reshape(8 * size, -1).T, axis=1, bitorder="little").tobytes()


def without_bitshuffle(stored, chunk_bytes, size):
    """The same of filter 32008."""
    try:
        block_bytes, left = blocks_of(stored, chunk_bytes)
        if block_bytes // size == 0 or block_bytes // size % 8 != 0:
            return None
        block_bytes = block_bytes // size * size
        grouped = chunk_bytes // (8 * size) * (8 * size)
        made = b""
        while len(made) < grouped:
            block, left = block_from(left)
            expected = min(block_bytes, grouped - len(made))
            made += elements_of(unpacked(block, expected), size)
        return made + taken(left, chunk_bytes - grouped)[0]
    except (ValueError, lz4.block.LZ4BlockError):
        return None


def bits_of(random, data, size):
    block_elements = int(random.choice([64, 128, 1024, 8192 // size, 9000]))
    return encoders.bitshuffle(data, size, block_elements, encoders.lz4_alone)


def lz4_of(random, data, size):
    return encoders.lz4_filter(data, int(random.choice([512, 1000, 1 << 20])))


def blosc_of(random, data, size):
    return blosc.compress(data, typesize=size, clevel=int(random.integers(0, 10)),
                          shuffle=int(random.integers(3)),
                          cname=str(random.choice(["blosclz", "lz4", "zlib", "zstd"])))  # fmt: skip


def without_blosc(stored, chunk_bytes, size):
    """The same of filter 32001, which ignores what follows its buffer."""
    try:
        head, _ = taken(stored, 16)
        buffer, _ = taken(stored, struct.unpack("<I", head[12:])[0])
        if struct.unpack("<I", head[4:8])[0] != chunk_bytes:
            return None
        made = blosc.decompress(buffer)
        return made if len(made) == chunk_bytes else None
    except (ValueError, blosc.blosc_extension.error):
        return None


# Number of the filter | its parameters by element size | what makes it | what undoes it
FILTERS = (
    (1, lambda size: (6,), deflated, inflated),
    (32004, lambda size: (512,), lz4_of, without_lz4),
    (32001, lambda size: (2, 2, size, 0, 5, 1, 1), blosc_of, without_blosc),
    (32008, lambda size: (0, 4, size, 64 * 8 // size, 2), bits_of, without_bitshuffle),
)


def unshuffled(data, dtype, shuffle):
    made = np.frombuffer(data, "u1")
    if shuffle:
        made = made.reshape(dtype.itemsize, -1).T
    return np.ascontiguousarray(made).view(dtype).reshape(-1)


def store(file, name, values, chunk, damage, random):
    """Writes chunks by a filter; damage(chunk's bytes, compress) is what is stored of one of them.
    Returns that one's place in the grid, and whether a library makes a chunk of it; `values`
    become what it makes."""
    number, parameters, compress, undo = FILTERS[int(random.choice([0, 0, 1, 2, 3]))]
    dtype = values.dtype
    grid = tuple(extent // c for extent, c in zip(values.shape, chunk))
    shuffle = bool(random.integers(2))
    stored = {}
    parts = {}
    for place in np.ndindex(*grid):
        parts[place] = tuple(slice(p * c, p * c + c) for p, c in zip(place, chunk))
        raw = np.ascontiguousarray(values[parts[place]])
        stored[place] = compress(random, shuffled(raw) if shuffle else raw.tobytes(), dtype.itemsize)
    victim = tuple(int(random.integers(g)) for g in grid)
    stored[victim] = damage(stored[victim], raw.nbytes,
                            lambda other: compress(random, other, dtype.itemsize))  # fmt: skip
    data = undo(stored[victim], raw.nbytes, dtype.itemsize)
    if data is not None:
        values[parts[victim]] = unshuffled(data, dtype, shuffle).reshape(chunk)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(chunk)
    if shuffle:
        properties.set_shuffle()
    properties.set_filter(number, encoders.OPTIONAL, parameters(dtype.itemsize))
    made = h5py.h5d.create(file.id, name.encode(), h5py.h5t.py_create(dtype),
                           h5py.h5s.create_simple(values.shape), properties)  # fmt: skip
    for place, data_of_chunk in stored.items():
        made.write_direct_chunk([p * c for p, c in zip(place, chunk)], data_of_chunk)
    return victim, data is not None


def write(path, random):
    """Writes `values`, with a damaged chunk, and `plain`, what a library makes of them. Returns the
    chunk's place in the grid, and whether anything comes of it."""
    dtype = np.dtype(str(random.choice(TYPES)))
    chunk = tuple(int(random.integers(1, most)) for most in (9, 200))
    values = values_of(random, [int(random.integers(7, 12)) * c for c in chunk], dtype)
    with h5py.File(path, "w") as file:
        found = store(file, "values", values, chunk, lambda *of: damaged(random, *of), random)
        file["plain"] = values
    return found


def write_scale(path, random):
    """Writes `values`, whose rows have the coordinate `row` with a damaged chunk, and `plain`, the
    same without it. Returns the coordinate as a library makes it, or None."""
    chunk = (int(random.integers(1, 9)),)
    row = np.arange(chunk[0] * int(random.integers(2, 9)), dtype="f8") * 0.5 + 3
    with h5py.File(path, "w") as file:
        _, is_whole = store(file, "row", row, chunk, lambda *of: damaged(random, *of), random)
        values = values_of(random, (row.size, int(random.integers(1, 40))), np.dtype("<f4"))
        file["values"] = file["plain"] = values
        file["row"].make_scale("row")
        file["values"].dims[0].attach_scale(file["row"])
    return row if is_whole else None


COMMANDS = (
    ("reduce", "--ops", "all"),
    ("reduce", "--where", ">1", "--ops", "count,sum"),
    ("histogram", "--bins", "9", "--range", "0,250"),
    ("reduce", "--axis", "0", "--ops", "sum,max"),
    ("reduce", "--axis", "1", "--ops", "mean"),
    ("scan",),
    ("scan", "--axis", "0"),
    ("compact", "--where", ">1"),
)
NUMBERS = ("made", "made_sum", "made_max")
KEEPING_ROWS = (("reduce", "--axis", "1", "--ops", "mean"), ("scan",), ("scan", "--axis", "0"))


def writes(command):
    return command[0] in ("scan", "compact") or "--axis" in command


class Case:
    """Runs commands over one file."""

    def __init__(self, folder, servers, backend, random):
        self._path = folder / "in.h5"
        self._output = folder / "out.h5"
        self._servers = servers
        self._backend = backend
        self._random = random
        self._notes = []
        self.read_path = "auto"
        self._write()

    def _write(self):
        self._victim, self._is_whole = write(self._path, self._random)

    def difference(self, command):
        """Returns a description of a command's wrong result, or None."""
        ranks = int(self._random.choice(RANKS))
        here = self._run(command, "values", self._backend, ranks)
        if self._is_whole:
            expected = self._run(command, "plain", "cpu", 1)
            return None if here == expected else f"{here}, expected {expected}"
        code, errors, left = here
        named = f"chunk [{', '.join(map(str, self._victim))}]"
        if code != 1 or left or len(errors) != 1 or named not in errors[0]:
            return f"exit {code}, {errors}, output left: {left}; expected an error of {named}"
        by_cores = self._run(command, "values", "cpu", 1)
        return None if by_cores == here else f"{errors}, by the cores {by_cores}"

    def _run(self, command, dataset, backend, ranks):
        """Returns the exit code, the errors or the results, and whether there is an output."""
        self._output.unlink(missing_ok=True)
        output = ("-o", f"{self._output}:made") if writes(command) else ()
        words = [command[0], self._path, dataset, *command[1:], *output, "--read-path", self.read_path,
                 "--json", "-", "--threads", "1"]  # fmt: skip
        outcome = self._servers.attempt(*words, ranks=ranks, backend=backend)
        if outcome.code:
            return outcome.code, outcome.errors, self._output.exists()
        self._notes = outcome.report.get("notes", [])
        if not writes(command):
            return 0, outcome.results, False
        return 0, support.stored_bytes(self._output), True


def numbers_of(outcome):
    """The outcome of a command without the coordinates in its output."""
    code, made, is_written = outcome
    if is_written and code == 0:
        made = {name: data for name, data in made.items() if name in NUMBERS}
    return code, made, is_written


class ScaleCase(Case):
    """The same over a file whose coordinate is damaged: numbers are there, and a note names it."""

    def _write(self):
        self._row = write_scale(self._path, self._random)

    def difference(self, command):
        expected = self._run(command, "plain", "cpu", 1)
        here = self._run(command, "values", self._backend, int(self._random.choice(RANKS)))
        if numbers_of(here) != numbers_of(expected):
            return f"{here}, expected {expected}"
        if command not in KEEPING_ROWS:
            return None
        with h5py.File(self._output) as file:
            row = file["row"]
            has_values = not row.attrs["NAME"].startswith(b"This is a netCDF dimension but not")
            found = row[...].tolist() if has_values else None
        if self._row is not None:
            return None if found == self._row.tolist() else f"row {found}, expected {self._row}"
        noted = [note for note in self._notes if "lack the coordinate 'row'" in note]
        return None if noted and found is None else f"row {found}, notes {self._notes}"


def run_case(arguments, number, servers, tell=lambda text: None):
    """Returns what differs, or None."""
    random = np.random.default_rng([arguments.seed, number])
    kind = ScaleCase if random.integers(4) == 0 else Case
    with tempfile.TemporaryDirectory(prefix="warpfold-fuzz-") as folder:
        case = kind(pathlib.Path(folder), servers, arguments.backend, random)
        for chosen in random.choice(len(COMMANDS), 3, replace=False):
            case.read_path = str(random.choice(READ_PATHS))
            tell(" ".join((*COMMANDS[chosen], "--read-path", case.read_path)))
            problem = case.difference(COMMANDS[chosen])
            if problem:
                return f"{' '.join(COMMANDS[chosen])} --read-path {case.read_path}: {problem}"
    return None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cases.add_options(parser)
    return cases.run(parser.parse_args(), run_case, {"backend": "cpu"})


if __name__ == "__main__":
    sys.exit(main())
