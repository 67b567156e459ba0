"""129 ranks, one more than a power of two, on whatever cores there are give what one gives.

Starting so many takes most of the time, which grows with the square of their number: they are started
once, and all commands run in them.
"""

import ctypes
import math

import h5py
import numpy as np
import pytest

import command_servers
import samples
import support

RANKS = 129
SHAPE = (1200, 1024)  # more tiles of 4096 elements, of which scans are cut, than ranks
STORAGE = {"order": "big", "chunks": (100, 64)}
TIMEOUT = 240


def sleep_coarsely():
    """Ranks that wait in MPI_Init for others wake after 5 ms, not ten thousand times a second."""
    set_timer_slack, nanoseconds = 29, 5_000_000
    ctypes.CDLL(None).prctl(set_timer_slack, ctypes.c_ulong(nanoseconds))


@pytest.fixture(scope="module")
def attempt():
    """Runs a command on all ranks."""
    settings = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader"}
    server = command_servers.Server(RANKS, settings, sleep_coarsely)

    def run(*arguments):
        words = (*arguments, "--backend", "cpu", "--threads", "1", "--slab", "4K", "--json", "-")
        outcome = server.attempt(words, TIMEOUT)
        assert outcome.code == 0, f"{arguments}: {outcome.stderr}"
        return outcome

    yield run
    server.kill()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Doubles, integers, fewer elements than ranks, and none."""
    path = tmp_path_factory.mktemp("inputs") / "in.h5"
    support.write(path, samples.typed("f64", SHAPE), "f64", "doubles", **STORAGE)
    support.write(path, samples.typed("i32", SHAPE), "i32", "integers", mode="a", **STORAGE)
    support.write(path, [3, 1, 2], "i16", "few", mode="a")
    support.write(path, np.empty((0, 7)), "f64", "none", mode="a")
    return path


@pytest.fixture(scope="module")
def integers():
    return samples.typed("i32", SHAPE).astype("i8")


def read(path, dataset):
    with h5py.File(path) as file:
        return file[dataset][...]


def test_reduce(attempt, inputs):
    many = attempt("reduce", inputs, "doubles", "--ops", "all")
    assert many.report["ranks"] == RANKS
    assert many.result_bytes == support.reduce(inputs, "doubles").result_bytes
    assert many.results["sum"] == math.fsum(samples.typed("f64", SHAPE).ravel())


def test_scan(attempt, inputs, folder):
    many = attempt("scan", inputs, "doubles", "-o", folder / "many.h5")
    alone = support.scan(inputs, folder / "alone.h5", "doubles")
    assert many.results["last"] == alone.results["last"]
    written = read(folder / "many.h5", "doubles")
    assert written.tobytes() == read(folder / "alone.h5", "doubles").tobytes()


def test_compact(attempt, inputs, integers, folder):
    condition = f">{np.quantile(integers, 0.9):.0f}"
    attempt("compact", inputs, "integers", "-o", folder / "out.h5", "--where", condition,
            "--indices")  # fmt: skip
    kept = integers.ravel() > int(condition[1:])
    assert np.array_equal(read(folder / "out.h5", "integers"), integers.ravel()[kept])
    assert np.array_equal(read(folder / "out.h5", "integers_indices"), np.flatnonzero(kept))


def test_histogram(attempt, inputs, integers):
    edges = np.quantile(integers, [0.1, 0.3, 0.31, 0.9]).round()
    written = ",".join(f"{edge:.0f}" for edge in edges)
    found = attempt("histogram", inputs, "integers", "--bins", written).report["results"]
    assert found["counts"] == np.histogram(integers, edges)[0].tolist()
    assert found["below"] == (integers < edges[0]).sum()


def test_reduce_along_an_axis(attempt, inputs, integers, folder):
    attempt("reduce", inputs, "integers", "--axis", "0", "--ops", "sum", "-o", folder / "out.h5")
    assert np.array_equal(read(folder / "out.h5", "integers"), integers.sum(axis=0))


def test_scan_along_an_axis(attempt, inputs, integers, folder):
    attempt("scan", inputs, "integers", "--axis", "0", "-o", folder / "out.h5")
    assert np.array_equal(read(folder / "out.h5", "integers"), integers.cumsum(axis=0))


def test_more_ranks_than_elements(attempt, inputs, folder):
    attempt("scan", inputs, "few", "-o", folder / "out.h5")
    assert read(folder / "out.h5", "few").tolist() == [3, 4, 6]


def test_no_elements(attempt, inputs):
    found = attempt("reduce", inputs, "none", "--ops", "count,sum").results
    assert found == {"count": 0, "sum": 0}
