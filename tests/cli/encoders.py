"""Encoders of filters that HDF5 itself need not know, by other libraries than warpfold's."""

import struct

import lz4.block as lz4_block
import numpy as np
import zstandard

try:
    import blosc
except ImportError:
    blosc = None
try:
    import blosc2
except ImportError:
    blosc2 = None

OPTIONAL = 1  # H5Z_FLAG_OPTIONAL: HDF5 makes the dataset without having the filter
GROUP = 8  # elements whose bits share a byte


def lz4_filter(raw, block_bytes=1000):
    """Filter 32004's format."""
    stored = struct.pack(">QI", len(raw), block_bytes)
    for first in range(0, len(raw), block_bytes):
        block = raw[first : first + block_bytes]
        packed = lz4_block.compress(block, store_size=False)
        if len(packed) >= len(block):
            packed = block
        stored += struct.pack(">I", len(packed)) + packed
    return stored


def bit_planes(raw, size):
    bits = np.unpackbits(np.frombuffer(raw, "u1").reshape(-1, size), axis=1, bitorder="little")
    return np.packbits(bits.T, axis=1, bitorder="little").tobytes()


def bitshuffle(raw, size, block_elements, compress=None):
    """Filter 32008's format."""
    grouped = len(raw) // size // GROUP * GROUP * size
    stored = b"" if compress is None else struct.pack(">QI", len(raw), block_elements * size)
    for first in range(0, grouped, block_elements * size):
        planes = bit_planes(raw[first : min(first + block_elements * size, grouped)], size)
        if compress is None:
            stored += planes
        else:
            packed = compress(planes)
            stored += struct.pack(">I", len(packed)) + packed
    return stored + raw[grouped:]


def lz4_alone(raw):
    return lz4_block.compress(raw, store_size=False)


def zstd(raw):
    return zstandard.ZstdCompressor(level=3).compress(raw)


def blosc_buffer(raw, size):
    return blosc.compress(raw, typesize=size, clevel=5, shuffle=blosc.SHUFFLE, cname="lz4")


def blosc_of_bits(raw, size):
    return blosc.compress(raw, typesize=size, clevel=9, shuffle=blosc.BITSHUFFLE, cname="zstd")


def blosc2_frame(raw, size):
    frame = blosc2.SChunk(chunksize=len(raw), data=raw, contiguous=True, cparams={"typesize": size})
    return frame.to_cframe()


def blosc2_array(raw, size):
    values = np.frombuffer(raw, f"u{size}")
    blocks = (max(1, values.size // 3),)
    return blosc2.asarray(values, chunks=values.shape, blocks=blocks).to_cframe()


# Name of the filter | its number | parameters by element size | encoder
FILTERS = {
    "lz4": (32004, lambda size: (1000,), lambda raw, size: lz4_filter(raw)),
    "zstd": (32015, lambda size: (3,), lambda raw, size: zstd(raw)),
    "bitshuffle": (
        32008, lambda size: (0, 4, size, 64, 0), lambda raw, size: bitshuffle(raw, size, 64)
    ),
    "bitshuffle lz4": (
        32008, lambda size: (0, 4, size, 0, 2),
        lambda raw, size: bitshuffle(raw, size, 8192 // size, lz4_alone),
    ),
    "bitshuffle zstd": (
        32008, lambda size: (0, 4, size, 128, 3, 3),
        lambda raw, size: bitshuffle(raw, size, 128, zstd),
    ),
}  # fmt: skip
if blosc:
    FILTERS["blosc"] = (32001, lambda size: (2, 2, size, 0, 5, 1, 1), blosc_buffer)
    FILTERS["blosc bitshuffle"] = (32001, lambda size: (2, 2, size, 0, 9, 2, 5), blosc_of_bits)
if blosc2:
    FILTERS["blosc2"] = (32026, lambda size: (1, 5, size, 0, 5, 1, 1), blosc2_frame)
    FILTERS["blosc2 array"] = (32026, lambda size: (1, 5, size, 0, 5, 1, 1), blosc2_array)
