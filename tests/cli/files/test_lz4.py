"""Chunks of LZ4 blocks, of which a rank has so many that a GPU decodes them: results are those of the
same values stored without filters."""

import struct

import h5py
import numpy as np
import pytest

import samples
import support

encoders = pytest.importorskip("encoders")

SHAPE = (611, 290)
CHUNK = (26, 29)  # 240 of them, more than a GPU needs for one thread
WORDS = ("--threads", "1", "--read-path", "chunk")


@pytest.fixture(scope="module", autouse=True)
def lz4_is_known():
    if "lz4" not in support.run("--config").stdout:
        pytest.skip("built without lz4")


def some_values(dtype):
    return samples.smooth_and_noisy(SHAPE, dtype)


def of_filter(name):
    number, parameters, encode = encoders.FILTERS[name]

    def make(properties, size):
        properties.set_filter(number, encoders.OPTIONAL, parameters(size))
        return encode

    return make


def shuffled_lz4(properties, size):
    properties.set_shuffle()
    encode = of_filter("lz4")(properties, size)
    return lambda raw, size: encode(np.frombuffer(raw, "u1").reshape(-1, size).T.tobytes(), size)


def whole_chunk(properties, size):
    """One block, as the filter does without a parameter."""
    properties.set_filter(32004, encoders.OPTIONAL, ())
    return lambda raw, size: encoders.lz4_filter(raw, 1 << 30)


def bits_of_large_blocks(properties, size):
    """Blocks that GPUs have no room for."""
    properties.set_filter(32008, encoders.OPTIONAL, (0, 4, size, 16384, 2))
    return lambda raw, size: encoders.bitshuffle(raw, size, 16384, encoders.lz4_alone)


def bits_of_small_blocks(properties, size):
    """Blocks of a number of elements of which a chunk has no multiple, and not even whole groups."""
    properties.set_filter(32008, encoders.OPTIONAL, (0, 4, size, 512, 2))
    return lambda raw, size: encoders.bitshuffle(raw, size, 512, encoders.lz4_alone)


PIPELINES = {
    "lz4": of_filter("lz4"),
    "lz4, whole": whole_chunk,
    "shuffle, lz4": shuffled_lz4,
    "bitshuffle lz4": of_filter("bitshuffle lz4"),
    "bitshuffle lz4, small": bits_of_small_blocks,
    "bitshuffle lz4, large": bits_of_large_blocks,
    "bitshuffle zstd": of_filter("bitshuffle zstd"),
}


def write(path, values, name, chunk=CHUNK, skip_every=5):
    """A dataset of which a chunk in some is stored without its filters and the last rows of chunks
    are not at all; and the same values without filters."""
    size = values.dtype.itemsize
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(chunk)
    encode = PIPELINES[name](properties, size)
    written = values.shape[0] * 4 // 5 // chunk[0] * chunk[0]
    with h5py.File(path, "w") as file:
        made = h5py.h5d.create(file.id, b"values", h5py.h5t.py_create(values.dtype),
                               h5py.h5s.create_simple(values.shape), properties)  # fmt: skip
        corners = np.ndindex(written // chunk[0], -(-values.shape[1] // chunk[1]))
        for place, corner in enumerate(corners):
            first = tuple(c * n for c, n in zip(corner, chunk))
            raw = np.zeros(chunk, values.dtype)
            part = values[tuple(slice(f, f + n) for f, n in zip(first, chunk))]
            raw[: part.shape[0], : part.shape[1]] = part
            skipped = place % skip_every == skip_every - 1
            stored = raw.tobytes() if skipped else encode(raw.tobytes(), size)
            made.write_direct_chunk(first, stored, 0xFF if skipped else 0)
        plain = values.copy()
        plain[written:] = 0
        file["plain"] = plain
    return path


def results(path, dataset, *words, ranks=None):
    return support.reduce(path, dataset, *words, ranks=ranks).results


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<i2", "u1"])
@pytest.mark.parametrize("name", PIPELINES)
def test_reductions(folder, name, dtype):
    path = write(folder / "in.h5", some_values(dtype), name)
    assert results(path, "values", *WORDS) == results(path, "plain")


@pytest.mark.parametrize("name", ["lz4", "bitshuffle lz4", "bitshuffle lz4, small"])
def test_ranks_views_and_little_memory(folder, name):
    path = write(folder / "in.h5", some_values("<i2"), name)
    for words in (("--where", ">150"), ("--select", "3:600:7,20:280"), ("--device-memory", "8M")):
        expected = results(path, "plain", *words)
        for ranks in (None, 3):
            assert results(path, "values", *WORDS, *words, ranks=ranks) == expected


@pytest.mark.parametrize("words", [("scan",), ("scan", "--axis", "0"), ("scan", "--axis", "1"),
                                   ("reduce", "--axis", "0", "--ops", "mean,max"),
                                   ("compact", "--where", ">150", "--indices")],
                         ids=" ".join)  # fmt: skip
@pytest.mark.parametrize("name", ["shuffle, lz4", "bitshuffle lz4"])
def test_outputs(folder, name, words):
    path = write(folder / "in.h5", some_values("<i4"), name)
    expected = support.outputs(folder, words[0], path, "plain", *words[1:])
    assert support.outputs(folder, words[0], path, "values", *words[1:], *WORDS) == expected


@pytest.mark.skipif(support.BACKEND != "cuda", reason="of the GPU")
def test_who_decodes(folder):
    for name in PIPELINES:
        path = write(folder / "in.h5", some_values("<f4"), name)
        stages = support.reduce(path, "values", *WORDS).report["timings"]["stages"]
        by_cores = name in ("bitshuffle lz4, large", "bitshuffle zstd")
        assert ("decompress on GPU" in stages) == (not by_cores), name


def set_size(stored, size):
    """Another number of bytes at the front."""
    return struct.pack(">Q", size) + stored[8:]


def set_block(stored, size):
    return stored[:8] + struct.pack(">I", size) + stored[12:]


DAMAGES = {
    "size": lambda stored: set_size(stored, 10**6),
    "less": lambda stored: set_size(stored, 1000),
    "no block": lambda stored: set_block(stored, 0),
    "other blocks": lambda stored: set_block(stored, 600),
    "length of a block": lambda stored: stored[:12] + b"\x7f\xff\xff\xff" + stored[16:],
    "bytes of a block": lambda stored: stored[:16] + b"\xff" * 20 + stored[36:],
    "cut": lambda stored: stored[: len(stored) // 2],
    "hardly anything": lambda stored: stored[:5],
}


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["lz4", "bitshuffle lz4"])
def test_damage_is_reported_as_by_the_cores(folder, name, damage, ranks):
    path = write(folder / "in.h5", some_values("<i4"), name, skip_every=1000)
    with h5py.File(path, "r+") as file:
        values = file["values"].id
        offset = values.get_chunk_info(117).chunk_offset
        values.write_direct_chunk(offset, DAMAGES[damage](values.read_direct_chunk(offset)[1]), 0)
    words = ("reduce", path, "values", *WORDS)
    printed = support.fail(*words, code=1, mentions=["chunk"], ranks=ranks).errors
    assert printed == support.fail(*words, code=1, ranks=ranks, backend="cpu").errors
