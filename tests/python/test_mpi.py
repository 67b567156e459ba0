"""Calls of a process alone, whatever becomes of MPI."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys
import numpy as np
from mpi4py import MPI
import warpfold

path, values = sys.argv[1], np.arange(100.0)

def results():
    total = warpfold.ExactSum(values)
    return [warpfold.reduce(path, "temp", ops="sum"), warpfold.reduce(values, ops="sum"),
            warpfold.reduce(values, ops="sum,max"), float(total), list(warpfold.scan(values)),
            warpfold.reduce(path, "temp", ops="mean", axis=0).tolist(),
            warpfold.info(path, "temp")["ranks"]]

before = results()
MPI.Finalize()
assert results() == before
for file in (path, values):
    try:
        warpfold.reduce(file, "temp" if file is path else None, comm=MPI.COMM_WORLD)
    except warpfold.UsageError as error:
        assert "MPI isn't running" in str(error), error
    else:
        raise AssertionError("a communicator of MPI that has ended was taken")
print("as promised")
"""


def test_runs_after_mpi_has_ended(path):
    pytest.importorskip("mpi4py")
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path)], capture_output=True, text=True
    )
    assert ended.returncode == 0 and ended.stdout == "as promised\n", ended.stderr
