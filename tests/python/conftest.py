"""Shared set-up of the Python package's tests."""

import pathlib
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))

from skipping import pytest_sessionfinish  # noqa: E402, F401


@pytest.fixture(scope="session")
def field():
    """Time, latitude and longitude; numbers whose order of addition matters."""
    random = np.random.default_rng(1)
    return (random.normal(size=(6, 5, 4)) * 10.0 ** random.integers(-9, 9, (6, 5, 4))).astype("f4")


@pytest.fixture
def path(tmp_path, field):
    """A file of several datasets."""
    name = tmp_path / "in.h5"
    with h5py.File(name, "w") as file:
        file.create_dataset("temp", data=field, chunks=(2, 5, 4), compression="gzip")
        file["run1/wind"] = np.arange(24, dtype=">i2").reshape(4, 6)
        file["run2/wind"] = np.arange(24, dtype="u8").reshape(4, 6) + np.uint64(2**63)
        file["text"] = "no numbers"
        for d, dimension in enumerate(("time", "lat", "lon")):
            file["temp"].dims[d].label = dimension
        file["group"] = np.array([0, 0, 1, 1, 0, 1], "i4")
    return name
