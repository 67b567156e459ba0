"""The package for Python on several hosts."""

import os
import subprocess

import h5py
import numpy as np
import pytest

# Nothing can be written to the folder for temporary files.
SCRIPT = """
import os, sys, tempfile
import numpy as np
from mpi4py import MPI
import warpfold

input, output, folder = sys.argv[1:]
world = MPI.COMM_WORLD
os.chdir(folder)
tempfile.tempdir = "/nonexistent"
try:
    sums = warpfold.reduce(input, "x", ops="sum", axis=0, comm=world)
    scanned = warpfold.scan(input, "x", comm=world)
except warpfold.Error as error:
    assert error.what == "cannot make a folder for arrays", error
    met = world.reduce(1)
    if world.rank == 0:
        print("no folder on", met, "ranks")
    sys.exit()
if world.rank == 0:
    np.savez(output, sums=sums, scanned=scanned)
world.barrier()
assert os.listdir(".") == []
"""


@pytest.fixture
def package():
    """Returns the words that run Python with the package."""
    python, folder = os.environ.get("PACKAGE_PYTHON"), os.environ.get("PACKAGE_FOLDER")
    if python is None or folder is None:
        pytest.skip("no package for Python in this build")
    words = ["env", f"PYTHONPATH={folder}", python]
    if subprocess.run([*words, "-c", "import mpi4py"], capture_output=True).returncode != 0:
        pytest.skip("no mpi4py")
    return words


@pytest.mark.parametrize("count", [1, 3])
def test_results_along_axes_come_by_the_working_folder(hosts, package, tmp_path, count):
    values = np.random.default_rng(1).integers(-999, 999, (60, 500))
    folder = tmp_path / "working"
    folder.mkdir()
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["x"] = values
    words = [*package, "-c", SCRIPT, tmp_path / "in.h5", tmp_path / "out.npz", folder]
    ended = hosts.end(hosts.launch(*words, ranks_per_host=2, hosts=hosts.hosts[:count]))
    assert ended.code == 0, ended.stderr
    if count == 1:
        assert ended.stdout == "no folder on 2 ranks\n"
        return
    with np.load(tmp_path / "out.npz") as made:
        assert np.array_equal(made["sums"], values.sum(axis=0))
        assert np.array_equal(made["scanned"], np.cumsum(values).reshape(values.shape))
