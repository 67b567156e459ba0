"""The same command writes the same file, byte for byte: whenever, by however many ranks."""

import time

import h5py
import numpy as np
import pytest

import support

SHAPE = (37, 41, 19)
CHUNKS = ("--chunks", "8,7,6", "--deflate", "--shuffle")
KINDS = ("--type", "f32", "--shape", "37,41,19")
COMMANDS = {
    "scan": ("scan", "in.h5", "group/values", "-o", "out.h5"),
    "scan-chunked": ("scan", "in.h5", "group/values", "-o", "out.h5", *CHUNKS),
    "scan-axis": ("scan", "in.h5", "group/values", "-o", "out.h5:sums/x", "--axis", 1),
    "compact": ("compact", "in.h5", "group/values", "-o", "out.h5", "--where", ">0", "--indices"),
    "reduce-axis": ("reduce", "in.h5", "group/values", "-o", "out.h5", "--axis", 0),
    "reduce-axes": ("reduce", "in.h5", "group/values", "-o", "out.h5", "--axis", "0,2", "--ops",
                    "all"),
    "generate": ("generate", "normal", "out.h5", "group/values", *KINDS),
    "generate-chunked": ("generate", "wide", "out.h5", "group/values", *KINDS, *CHUNKS),
}  # fmt: skip
BACKEND = ("--backend", support.BACKEND, "--share-gpu")
RANKS = (None, 1, 2, 5)


def add_coordinates(path):
    """Scales of all kinds, and a variable that the dataset's attributes name."""
    with h5py.File(path, "r+") as file:
        group = file["group"]
        group["x"] = np.arange(37)
        group["y"] = np.array([f"{number}" for number in range(41)], h5py.string_dtype())
        group["z"] = np.zeros(19)
        group["area"] = np.ones((37, 19))
        for dimension, name in enumerate(("x", "y", "z")):
            group[name].make_scale(
                "This is a netCDF dimension but not a netCDF variable" if name == "z" else name
            )
            group["values"].dims[dimension].attach_scale(group[name])
        group["area"].dims[0].attach_scale(group["x"])
        group["values"].attrs["coordinates"] = "area"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The bytes that each command writes with each number of ranks, by name.

    All are run once before any is run with the next number of ranks, a second or more later.
    """
    values = np.random.default_rng(8).normal(size=SHAPE).astype("f4")
    written = {name: [] for name in COMMANDS}
    for ranks in RANKS:
        folder = tmp_path_factory.mktemp("ranks")
        path = support.write(folder / "in.h5", values, "f32", dataset="group/values")
        add_coordinates(path)
        started = time.monotonic()
        for name, words in COMMANDS.items():
            support.run(*words, "--force", *BACKEND, cwd=folder, ranks=ranks, backend=None)
            written[name].append((folder / "out.h5").read_bytes())
        time.sleep(max(0, 1.1 - (time.monotonic() - started)))
    return written


@pytest.mark.parametrize("name", COMMANDS)
def test_same_file(files, name):
    first, *others = files[name]
    assert [each == first for each in others] == [True] * len(others)
