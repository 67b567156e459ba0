#!/usr/bin/env python3
"""The sum of a dataset as h5py, CuPy and mpi4py give it: h5py_reduce.py FILE DATASET

Each rank reads its part in pieces, on its own GPU where CuPy finds one, with NumPy elsewhere;
without mpi4py there is one rank. Rank 0 prints JSON. Run by jobs/compare_ingest.py.
"""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import measuring  # noqa: E402

measuring.require("h5py", "numpy")

import h5py  # noqa: E402
import numpy  # noqa: E402


class Alone:
    """The one rank there is without mpi4py."""

    rank, size = 0, 1

    def barrier(self):
        pass

    def allreduce(self, value, op=None):
        return value


def communicator():
    try:
        from mpi4py import MPI
    except ImportError:
        return Alone(), None
    return MPI.COMM_WORLD, MPI.MAX


def gpu_library(rank):
    """CuPy with this rank's GPU current, or None."""
    try:
        import cupy

        devices = cupy.cuda.runtime.getDeviceCount()
    except Exception:  # CuPy has errors of its own for each kind of missing driver
        return None
    cupy.cuda.Device(rank % devices).use()
    return cupy


class PlainReader:
    """A new array for each piece, as most programs have it."""

    def read(self, dataset, begin, end):
        return dataset[begin:end]


class PinnedReader:
    """One array for all pieces, page-locked where a GPU copies from it."""

    def __init__(self, dtype, elements, cupy):
        native = dtype.newbyteorder("=")
        if cupy:
            import cupyx

            self.buffer = cupyx.empty_pinned(elements, native)
        else:
            self.buffer = numpy.empty(elements, native)

    def read(self, dataset, begin, end):
        piece = self.buffer[: end - begin]
        dataset.read_direct(piece, numpy.s_[begin:end])
        return piece


def total_of(dataset, begin, end, piece_elements, reader, cupy):
    """In binary64, or in 64-bit integers."""
    wide = numpy.float64 if dataset.dtype.kind == "f" else numpy.int64
    total = wide(0)
    for first in range(begin, end, piece_elements):
        piece = reader.read(dataset, first, min(first + piece_elements, end))
        if cupy:
            native = piece.astype(piece.dtype.newbyteorder("="), copy=False)
            total += wide(cupy.asarray(native).sum(dtype=wide).get())
        else:
            total += piece.sum(dtype=wide)
    return total.item()


def main():
    parser = measuring.parser_of_peer(__doc__.splitlines()[0])
    parser.add_argument("--piece-bytes", type=int, default=256 << 20)
    parser.add_argument("--pinned", action="store_true", help="read into one page-locked array")
    parser.add_argument("--cpu", action="store_true", help="NumPy even where there is a GPU")
    arguments = parser.parse_args()

    ranks, maximum = communicator()
    cupy = None if arguments.cpu else gpu_library(ranks.rank)
    if cupy:
        cupy.zeros(1).sum().get()
    seconds = []
    for _ in range(arguments.repeats):
        ranks.barrier()
        start = time.perf_counter()
        with h5py.File(arguments.file, "r") as file:
            dataset = file[arguments.dataset]
            begin, end = (dataset.size * (ranks.rank + i) // ranks.size for i in (0, 1))
            pieces = max(1, arguments.piece_bytes // dataset.dtype.itemsize)
            reader = PlainReader()
            if arguments.pinned:
                reader = PinnedReader(dataset.dtype, pieces, cupy)
            total = ranks.allreduce(total_of(dataset, begin, end, pieces, reader, cupy))
        seconds.append(ranks.allreduce(time.perf_counter() - start, op=maximum))
    if ranks.rank == 0:
        print(json.dumps({"ranks": ranks.size, "library": "CuPy" if cupy else "NumPy",
                          "seconds": seconds, "sum": total}))


if __name__ == "__main__":
    main()
