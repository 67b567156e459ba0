"""Memory stays what it is, however large the dataset."""

import os
import subprocess

import h5py
import numpy as np
import pytest

import support

MEBI = 1 << 20


def sparse_dataset(path, shape, chunk):
    """A dataset of zeros that takes no room: allocated, never written."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    if chunk:
        properties.set_chunk((chunk,))
    with h5py.File(path, "w") as file:
        space = h5py.h5s.create_simple(shape)
        h5py.h5d.create(file.id, b"values", h5py.h5t.IEEE_F32LE, space, properties)
    return path


def peak_bytes(*arguments):
    """The most memory that a run of the program had at once."""
    process = subprocess.Popen(
        support.command_line(*arguments), stdout=subprocess.DEVNULL, env=support.ENVIRONMENT
    )
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return usage.ru_maxrss * 1024


@pytest.mark.parametrize("read_path, chunk", [("direct", 0), ("direct", MEBI), ("library", 0)])
def test_host_memory_does_not_grow_with_the_dataset(folder, read_path, chunk):
    peaks = [
        peak_bytes(
            "reduce",
            sparse_dataset(folder / "in.h5", (mebi_elements * MEBI,), chunk),
            "values",
            "--read-path",
            read_path,
            "--threads",
            2,
            "--slab",
            "4M",
        )
        for mebi_elements in (32, 256)
    ]
    assert peaks[1] < peaks[0] + 16 * MEBI
    assert peaks[1] < 512 * MEBI


def test_host_memory_does_not_grow_with_the_number_of_chunks(folder):
    """HDF5 keeps kilobytes for each chunk that is read."""
    values = np.arange(600_000, dtype="i4").reshape(1200, 500)
    with h5py.File(folder / "in.h5", "w", libver="latest") as file:
        made = file.create_dataset("values", values.shape, "i4", chunks=(2, 5))
        for row in range(0, 1200, 100):  # The memory of this process counts, too.
            made[row : row + 100] = values[row : row + 100]
    options = ["--read-path", "library", "--slab", "16M", "--threads", 2]
    assert peak_bytes("reduce", folder / "in.h5", "values", *options) < 256 * MEBI
    found = support.reduce(
        folder / "in.h5", "values", *options, "--select", "1::2, 3:", ops="sum"
    ).results
    assert found["sum"] == values[1::2, 3:].sum()


@pytest.mark.parametrize(
    "shape, axis", [((4, 16 * MEBI), 0), ((16 * MEBI, 4), 1), ((8192, 8192), 0)]
)
def test_running_results_along_an_axis_are_bounded(folder, shape, axis):
    path = sparse_dataset(folder / "in.h5", shape, None)
    peak = peak_bytes(
        "reduce", path, "values", "--axis", axis, "-o", folder / "out.h5", "--threads", 2
    )
    assert peak < 512 * MEBI
