#!/usr/bin/env python3
"""The sum of a gzipped dataset as kvikio, nvCOMP and CuPy give it: nvcomp_reduce.py FILE DATASET

kvikio reads the chunks into GPU memory while nvCOMP inflates those before them and CuPy adds them
up, as binary64 or 64-bit integers. Chunks have to be whole, with gzip and optionally shuffle. Prints
JSON. Run by jobs/measure_figures.py.
"""

import ctypes
import dataclasses
import importlib.metadata
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import measuring  # noqa: E402

measuring.require("h5py", "numpy", "cupy", "kvikio")

import cupy  # noqa: E402
import h5py  # noqa: E402
import kvikio  # noqa: E402
import kvikio.defaults  # noqa: E402
import numpy  # noqa: E402

ZLIB_HEADER, ZLIB_CHECKSUM = 2, 4
ALIGNMENT = 16


class DecompressOptions(ctypes.Structure):
    """nvcompBatchedDeflateDecompressOpts_t; zeros choose the default."""

    _fields_ = [("backend", ctypes.c_int), ("sort", ctypes.c_int), ("reserved", ctypes.c_char * 56)]


def nvcomp():
    """The shared library of the package nvidia-libnvcomp-cu13."""
    for file in importlib.metadata.files("nvidia-libnvcomp-cu13"):
        if file.name.startswith("libnvcomp.so"):
            return ctypes.CDLL(str(file.locate()))
    sys.exit("nvcomp_reduce.py: error: nvidia-libnvcomp-cu13 has no libnvcomp.so")


def require_success(status, what):
    if status != 0:
        sys.exit(f"nvcomp_reduce.py: error: {what}: status {status}")


def numbers_on_gpu(numbers):
    return cupy.asarray(numpy.asarray(numbers, numpy.uint64))


@dataclasses.dataclass
class Batch:
    """Chunks of which kvikio reads the deflated bytes into a buffer, and where they begin there."""

    buffer: object
    begins: object
    sizes: object
    reads: list


class Inflater:
    """Batches of chunks of one size."""

    def __init__(self, chunk_bytes, chunks):
        self.library, self.chunk_bytes = nvcomp(), chunk_bytes
        self.inflated = cupy.empty((chunks, chunk_bytes), numpy.uint8)
        self.statuses = cupy.empty(chunks, numpy.int32)
        size = ctypes.c_size_t()
        measure = self.library.nvcompBatchedDeflateDecompressGetTempSize
        measure.argtypes = [ctypes.c_size_t, ctypes.c_size_t, DecompressOptions, ctypes.c_void_p, ctypes.c_size_t,
                            ctypes.c_void_p]  # fmt: skip
        require_success(measure(chunks, chunk_bytes, DecompressOptions(), ctypes.byref(size), chunks * chunk_bytes,
                                None), "nvCOMP's memory")  # fmt: skip
        self.scratch = cupy.empty(max(size.value, 1), numpy.uint8)
        self.inflate = self.library.nvcompBatchedDeflateDecompressAsync
        self.inflate.argtypes = [*[ctypes.c_void_p] * 4, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t,
                                 ctypes.c_void_p, DecompressOptions, *[ctypes.c_void_p] * 2]  # fmt: skip

    def __call__(self, batch):
        """The bytes of a batch's chunks, on the current stream."""
        chunks = len(batch.sizes)
        sources = numbers_on_gpu(batch.buffer.data.ptr + batch.begins)
        sizes = numbers_on_gpu(batch.sizes)
        capacities = cupy.full(chunks, self.chunk_bytes, numpy.uint64)
        targets = numbers_on_gpu(self.inflated.data.ptr + numpy.arange(chunks) * self.chunk_bytes)
        inflated_sizes = cupy.empty(chunks, numpy.uint64)
        require_success(
            self.inflate(sources.data.ptr, sizes.data.ptr, capacities.data.ptr, inflated_sizes.data.ptr, chunks,
                         self.scratch.data.ptr, self.scratch.nbytes, targets.data.ptr, DecompressOptions(),
                         self.statuses.data.ptr, cupy.cuda.get_current_stream().ptr), "nvCOMP")  # fmt: skip
        if self.statuses[:chunks].any():
            sys.exit("nvcomp_reduce.py: error: nvCOMP cannot inflate a chunk")
        return self.inflated[:chunks]


class Source:
    """A dataset's chunks in a file."""

    def __init__(self, path, dataset):
        shuffle, gzip = dataset.shuffle, dataset.compression == "gzip"
        if not gzip or dataset.fletcher32 or any(n % c for n, c in zip(dataset.shape, dataset.chunks)):
            sys.exit("nvcomp_reduce.py: error: only whole chunks with gzip, and optionally shuffle, are read")
        self.shuffle, self.dtype = shuffle, dataset.dtype
        self.chunk_bytes = int(numpy.prod(dataset.chunks)) * self.dtype.itemsize
        places = []
        dataset.id.chunk_iter(lambda chunk: places.append((chunk.byte_offset, chunk.size)))
        self.offsets, self.sizes = numpy.array(places, numpy.int64).T
        self.file = kvikio.CuFile(path)

    def read(self, first, end, buffer):
        """Begins to read chunks; each begins at a multiple of ALIGNMENT."""
        sizes = self.sizes[first:end] - (ZLIB_HEADER + ZLIB_CHECKSUM)
        rooms = -(-sizes // ALIGNMENT) * ALIGNMENT
        begins = numpy.cumsum(rooms) - rooms
        reads = [self.file.pread(buffer[begin : begin + size], int(size), int(offset) + ZLIB_HEADER)
                 for begin, size, offset in zip(begins, sizes, self.offsets[first:end])]  # fmt: skip
        return Batch(buffer, begins, sizes, reads)

    def elements(self, inflated):
        if self.shuffle:
            planes = inflated.reshape(len(inflated), self.dtype.itemsize, -1)
            inflated = cupy.ascontiguousarray(planes.transpose(0, 2, 1))
        return inflated.reshape(-1).view(self.dtype)


def total_of(source, chunks):
    """In batches of so many chunks: one is read while another is inflated."""
    wide = numpy.float64 if source.dtype.kind == "f" else numpy.int64
    inflate = Inflater(source.chunk_bytes, chunks)
    room = chunks * (int(source.sizes.max()) + ALIGNMENT)
    buffers = [cupy.empty(room, numpy.uint8) for _ in range(2)]
    firsts = range(0, len(source.sizes), chunks)
    total = wide(0)
    following = source.read(0, chunks, buffers[0])
    for number, first in enumerate(firsts):
        batch = following
        for read in batch.reads:
            read.get()
        if first + chunks < len(source.sizes):
            following = source.read(first + chunks, first + 2 * chunks, buffers[(number + 1) % 2])
        total += wide(source.elements(inflate(batch)).sum(dtype=wide).get())
    return total.item()


def main():
    parser = measuring.parser_of_peer(__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=2048, help="of a batch; default: 2048")
    arguments = parser.parse_args()
    kvikio.defaults.set("num_threads", len(os.sched_getaffinity(0)))
    cupy.zeros(1).sum().get()
    seconds = []
    for _ in range(arguments.repeats):
        start = time.perf_counter()
        with h5py.File(arguments.file, "r") as file:
            source = Source(arguments.file, file[arguments.dataset])
            total = total_of(source, min(arguments.chunks, len(source.sizes)))
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"library": f"kvikio {kvikio.__version__}, nvCOMP {importlib.metadata.version('nvidia-libnvcomp-cu13')}",
                      "seconds": seconds, "sum": total}))  # fmt: skip


if __name__ == "__main__":
    main()
