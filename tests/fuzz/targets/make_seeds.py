#!/usr/bin/env python3
"""First inputs of the fuzz targets, from which a corpus grows:
tests/fuzz/targets/make_seeds.py FOLDER

Chunks are stored by other encoders; fuzz_*.cpp describe the layouts of the inputs.
"""

import pathlib
import struct
import sys
import zlib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cli"))

import encoders  # noqa: E402

DEFLATE, SHUFFLE, FLETCHER32, BITSHUFFLE, LZ4, ZSTD, LZF, SZIP, NBIT, SCALE_OFFSET, BLOSC = range(11)
SIZE = 4
ELEMENTS = 300
RAW = (np.arange(ELEMENTS, dtype="<i4") // 3).tobytes()
SHUFFLED = np.frombuffer(RAW, "u1").reshape(-1, SIZE).T.tobytes()


def chunk(stored, *filters, skipped=0):
    head = struct.pack("<BBIB", len(filters) - 1, SIZE - 1, ELEMENTS - 1, skipped)
    return head + b"".join(map(bytes, filters)) + stored


def bitshuffle(block_elements, compressor):
    return (BITSHUFFLE, SIZE, *struct.pack("<I", block_elements), compressor)


def chunks():
    deflated = zlib.compress(RAW)
    yield "deflate", chunk(deflated, (DEFLATE,))
    yield "shuffle-deflate", chunk(zlib.compress(SHUFFLED), (SHUFFLE, SIZE), (DEFLATE,))
    yield "skipped", chunk(RAW, (SHUFFLE, SIZE), (DEFLATE,), skipped=0b11)
    yield "zeros-fletcher32", chunk(bytes(len(RAW) + 4), (FLETCHER32,))
    yield "deflate-twice", chunk(zlib.compress(deflated), (DEFLATE,), (DEFLATE,))
    yield "lz4", chunk(encoders.lz4_filter(RAW), (LZ4,))
    yield "zstd", chunk(encoders.zstd(RAW), (ZSTD,))
    yield "lzf", chunk(b"\x1f" + RAW[:32] + b"\xe0\xff\x00" * 5, (LZF,))
    yield "nbit", chunk(RAW, (NBIT, 8, 8, 0, 200, 1, SIZE, 0, 20, 3))
    scaled = struct.pack("<IB", 7, 8) + bytes(16) + RAW[:300]
    for name, scale, is_float in (("integers", 2, 0), ("floats", 0, 1)):
        parameters = (scale, 2, 200, is_float, SIZE, 1, 0, 1, *12 * (9,))
        yield f"scale-offset-{name}", chunk(scaled, (SCALE_OFFSET, 20, *parameters))
    yield "szip", chunk(struct.pack("<I", len(RAW)) + RAW, (SZIP, 4, 32, 8, 32, 100))
    if encoders.blosc:
        yield "blosc", chunk(encoders.blosc_buffer(RAW, SIZE), (BLOSC,))
    for compressor, compress in ((0, None), (2, encoders.lz4_alone), (3, encoders.zstd)):
        stored = encoders.bitshuffle(RAW, SIZE, 64, compress)
        yield f"bitshuffle-{compressor}", chunk(stored, bitshuffle(64, compressor))


def round_trips():
    for width in range(4):
        for level in (0, 6, 10):
            yield f"{width}-{level}", bytes([width, level, width]) + RAW[:200]


def streams():
    noise = np.random.default_rng(1).integers(0, 256, 300, dtype="u1").tobytes()
    for name, raw in (("empty", b""), ("ramp", RAW), ("zeros", bytes(1000)), ("noise", noise)):
        for level in (0, 1, 9):
            yield f"{name}-{level}", struct.pack("<H", len(raw)) + zlib.compress(raw, level)
        fixed = zlib.compressobj(strategy=zlib.Z_FIXED)
        flushed = fixed.compress(raw[:100]) + fixed.flush(zlib.Z_FULL_FLUSH)
        whole = flushed + fixed.compress(raw[100:]) + fixed.flush()
        yield f"{name}-fixed", struct.pack("<H", len(raw)) + whole


def lz4_chunks():
    def seed(which, stored, count=len(RAW)):
        return struct.pack("<BH", which, count) + stored

    yield "lz4", seed(0, encoders.lz4_filter(RAW, 500))
    yield "lz4-whole", seed(0, encoders.lz4_filter(RAW, 1 << 20))
    yield "lz4-zeros", seed(0, encoders.lz4_filter(bytes(5000), 1000), 5000)
    for which, size in enumerate((1, 2, 4, 8), 1):
        stored = encoders.bitshuffle(RAW, size, 64, encoders.lz4_alone)
        yield f"bitshuffle-{size}", seed(which, stored)


# Texts by parser, in the order of fuzz_options.cpp; a selection begins with its number of
# dimensions.
TEXTS = (
    ("\x010:4, ", "\x02::2, -1", "\x04..., 0", "\x044, 0, :, 5:9:3", "\x01-3:"),
    ("64K", "1G", "123", "2T"),
    ("1K:4G", "1M,100M"),
    ("10,20,30", "1000"),
    ("3", "1000", "-1"),
    ("out.h5:group/values", "out.h5"),
    ("sum,min", "all", "argmax"),
    ("1.5", "-2e10", "nan", "-inf", "error", "max", "bf16"),
    (">0", "<=1e3", "==-0x1.8p3", "!=nan", "finite", "inf"),
    ("-9999", "1e20", "nan", "0x1p-1074"),
)


def options():
    for parser, texts in enumerate(TEXTS):
        for number, text in enumerate(texts):
            yield f"{parser}-{number}", bytes([parser]) + text.encode()


def main():
    targets = {
        "chunk_decoder": chunks,
        "chunk_round_trip": round_trips,
        "inflate": streams,
        "lz4": lz4_chunks,
        "options": options,
    }
    for target, seeds in targets.items():
        folder = pathlib.Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in seeds():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
