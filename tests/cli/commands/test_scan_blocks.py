"""Scans block by block: chunks of any shape in row-major order, read and written by many threads."""

import itertools
import os
import pathlib
import tempfile

import h5py
import numpy as np
import pytest

import samples
import support

GZIP = {"compression": "gzip", "shuffle": True}
GRIDS = {
    "1d": ((100_003,), (4097,), {}),
    "1d-of-tiles": ((100_003,), (8192,), GZIP),
    "rows": ((301, 401), (7, 401), {}),
    "2d": ((301, 401), (50, 64), GZIP),
    "wide-rows": ((5, 30_011), (2, 7001), {}),
    "columns": ((97, 1201), (97, 10), {"shuffle": True}),
    "ones": ((300, 1, 401), (7, 1, 100), {"fletcher32": True}),
    "4d": ((7, 11, 13, 107), (3, 4, 5, 60), GZIP),
    "one-chunk": ((63, 65, 31), (63, 65, 31), GZIP),
}
RANKS = (1, 2, 3, 4, 7)
THREADS = (1, 2, 4)
CASES = [
    pytest.param(grid, RANKS[number % len(RANKS)], THREADS[number % len(THREADS)], slab)
    for (grid, slab), number in zip(itertools.product(GRIDS, ("4K", "32K")), itertools.count())
]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A file with a dataset for each grid."""
    path = tmp_path_factory.mktemp("grids") / "in.h5"
    with h5py.File(path, "w") as file:
        for name, (shape, chunks, filters) in GRIDS.items():
            values = samples.typed("i32", shape, seed=len(shape))
            file.create_dataset(name, data=values, chunks=chunks, **filters)
    return path


def scanned(path, dataset, folder, *arguments, **options):
    support.scan(path, folder / "out.h5", dataset, *arguments, **options)
    with h5py.File(folder / "out.h5") as file:
        return file[dataset][...]


@pytest.mark.parametrize("grid, ranks, threads, slab", CASES)
def test_chunks_in_row_major_order(folder, inputs, grid, ranks, threads, slab):
    with h5py.File(inputs) as file:
        values = file[grid][...]
    outputs = scanned(inputs, grid, folder, "--slab", slab, "--threads", threads, ranks=ranks)
    assert outputs.shape == values.shape
    assert np.array_equal(outputs.ravel(), np.cumsum(values.ravel(), dtype="i8"))


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("threads", [1, 4])
def test_by_the_library(folder, inputs, grid, threads):
    arguments = ("--slab", "32K", "--threads", threads)
    library = scanned(inputs, grid, folder, *arguments, "--read-path", "library", ranks=2)
    chosen = scanned(inputs, grid, folder, *arguments)
    assert np.array_equal(library, chosen)


def test_floats_of_chunks_are_those_of_contiguous_storage(folder):
    values = samples.typed("f64", (211, 307))
    outputs = set()
    for storage, ranks in (({}, 1), ({"chunks": (20, 50)}, 3), ({"chunks": (211, 1)}, 2)):
        path = support.write(folder / "in.h5", values, "f64", **storage)
        outputs.add(scanned(path, "values", folder, "--slab", "4K", ranks=ranks).tobytes())
    assert len(outputs) == 1


def test_past_the_cache(folder):
    values = samples.typed("i32", 300_007)
    path = support.write(folder / "in.h5", values, "i32")
    arguments = ("--slab", "64K", "--threads", 3, "--file-cache", "past")
    outputs = scanned(path, "values", folder, *arguments, ranks=2)
    assert np.array_equal(outputs, np.cumsum(values, dtype="i8"))


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no files in memory here")
@pytest.mark.parametrize("ranks", [1, 3])
def test_output_in_memory(folder, ranks):
    values = samples.typed("i32", 300_007)
    path = support.write(folder / "in.h5", values, "i32")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        arguments = ("--slab", "64K", "--threads", 2)
        outputs = scanned(path, "values", pathlib.Path(memory), *arguments, ranks=ranks)
        assert os.listdir(memory) == ["out.h5"]
    assert np.array_equal(outputs, np.cumsum(values, dtype="i8"))


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("where", [0, 9, 18])
def test_a_corrupt_chunk_ends_all_ranks(folder, where, ranks):
    values = samples.typed("f64", (19, 8192))
    path = support.write(folder / "in.h5", values, "f64", chunks=(1, 8192), compression="gzip")
    with h5py.File(path) as file:
        chunk = file["values"].id.get_chunk_info(where)
    with open(path, "r+b") as file:
        file.seek(chunk.byte_offset + chunk.size // 2)
        file.write(b"\xff" * 64)
    arguments = ("scan", path, "values", "-o", folder / "out.h5", "--slab", "4K")
    support.fail(*arguments, code=1, mentions=["in.h5", "values"], ranks=ranks)
    assert [each.name for each in folder.iterdir()] == ["in.h5"]
