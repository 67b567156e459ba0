"""Ranks of a host that take slabs of a slower one: the same results, and one error.

A rank is slow because each of its reads begins later (faults/faults.c), which counts them, too.
"""

import json
import subprocess

import h5py
import numpy as np
import pytest

import support

CHUNK = 1024
CHUNKS = 128
STORAGES = {
    "contiguous": {},
    "plain": {"chunks": (CHUNK,)},
    "deflate": {"chunks": (CHUNK,), "compression": "gzip", "shuffle": True},
}
by_storage = pytest.mark.parametrize("storage", STORAGES)


@pytest.fixture(scope="module")
def values():
    noise = np.random.default_rng(5).integers(-1000, 1000, CHUNK * CHUNKS, "i4")
    noise[5 * CHUNK : 9 * CHUNK] = 7  # chunks of few bytes
    return noise


@pytest.fixture
def make_input(folder, values):
    return lambda storage: support.write(folder / "in.h5", values, "i32", **STORAGES[storage])


def run_with_slow_rank(fault, rank, ranks, *words):
    """Returns the results, and how often the slow rank has read."""
    prefix = fault("pread", "in.h5", "delay 40", rank=rank)
    words = (*words, "--slab", 4 * CHUNK, "--threads", 1, "--json", "-")
    results = support.run(*words, ranks=ranks, prefix=prefix).results
    return results, fault.count()


@by_storage
@pytest.mark.parametrize("ranks, rank", [(2, 0), (2, 1), (3, 1)])
def test_slabs(fault, make_input, values, storage, ranks, rank):
    path = make_input(storage)
    words = ("reduce", path, "values", "--ops", "sum,count,min,argmax")
    results, reads = run_with_slow_rank(fault, rank, ranks, *words)
    assert results == {
        "sum": int(values.sum(dtype="i8")), "count": values.size, "min": int(values.min()),
        "argmax": int(values.argmax()),
    }  # fmt: skip
    assert 0 < reads < CHUNKS // ranks * 3 // 4


@pytest.mark.parametrize("storage", ["contiguous", "deflate"])
def test_histogram(fault, make_input, values, storage):
    edges = [-1000, -3, 7, 8, 1000]
    words = ("histogram", make_input(storage), "values", f"--bins={','.join(map(str, edges))}")
    results, reads = run_with_slow_rank(fault, 1, 2, *words)
    assert results["counts"] == np.histogram(values, edges)[0].tolist()
    assert 0 < reads < CHUNKS // 2 * 3 // 4


@pytest.mark.parametrize("storage", ["contiguous", "deflate"])
def test_labels(fault, make_input, values, storage):
    path = make_input(storage)
    labels = np.arange(values.size, dtype="i4") // 700 % 5
    with h5py.File(path, "a") as file:
        file["labels"] = labels
    results, reads = run_with_slow_rank(
        fault, 1, 2, "reduce", path, "values", "--by", "labels", "--ops", "sum"
    )
    expected = [int(values[labels == label].sum(dtype="i8")) for label in range(5)]
    assert [each["sum"] for each in results] == expected
    assert 0 < reads < CHUNKS // 2 * 3 // 4


@pytest.mark.parametrize("rank", [0, 1])
def test_rank_that_shares_no_memory(mpi_calls_library, folder, make_input, values, rank):
    path = make_input("deflate")
    settings = {"LD_PRELOAD": mpi_calls_library, "WARPFOLD_MPI_CALLS": folder,
                "WARPFOLD_MPI_WITHOUT_WINDOW": rank}  # fmt: skip
    words = support.command_words("reduce", path, "values", "--ops", "sum", "--json", "-", ranks=2)
    preloaded = ["env", *(f"{name}={value}" for name, value in settings.items())]
    process = subprocess.run(support.launched(*preloaded, *words, ranks=2), capture_output=True,
                             text=True, env=support.ENVIRONMENT, timeout=60)  # fmt: skip
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout)["results"] == {"sum": int(values.sum(dtype="i8"))}


def test_chunks_that_were_never_written(folder, fault, values):
    """Each rank has chunks that were never written at its end, which the other rank may take."""
    path = folder / "in.h5"
    half = values.size // 2
    with h5py.File(path, "w") as file:
        partly = file.create_dataset(
            "values", (2 * values.size,), "i4", chunks=(CHUNK,), compression="gzip", fillvalue=3
        )
        partly[:half] = values[:half]
        partly[2 * half : 3 * half] = values[half:]
    words = ("reduce", path, "values", "--ops", "sum,count")
    results, reads = run_with_slow_rank(fault, 1, 2, *words)
    total = int(values.sum(dtype="i8")) + 3 * values.size
    assert results == {"sum": total, "count": 2 * values.size}
    assert 0 < reads < CHUNKS // 2 * 3 // 4


@pytest.mark.parametrize("ranks", [2, 3])
def test_damaged_chunk_of_another_rank(folder, fault, make_input, ranks):
    path = make_input("deflate")
    damaged = CHUNKS - 20  # of the slow rank, which hardly reads its first chunks meanwhile
    with h5py.File(path) as file:
        chunk = file["values"].id.get_chunk_info(damaged)
    with open(path, "r+b") as file:
        file.seek(chunk.byte_offset + 10)
        file.write(bytes(20))
    prefix = fault("pread", "in.h5", "delay 40", rank=ranks - 1)
    words = ("reduce", path, "values", "--slab", 4 * CHUNK, "--threads", 1)
    support.fail(*words, code=1, mentions=[path, f"[{damaged}]"], ranks=ranks, prefix=prefix)
