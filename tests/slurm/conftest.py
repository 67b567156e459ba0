"""Shared set-up of the tests that submit jobs."""

import contextlib
import pathlib
import shutil
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import cluster as slurm  # noqa: E402
import jobs  # noqa: E402
from skipping import pytest_sessionfinish  # noqa: E402, F401


@pytest.fixture(scope="session")
def cluster():
    reason = slurm.missing()
    if reason is not None:
        pytest.skip(reason)
    # Not in pytest's folder, as the path of a socket must be short.
    folder = tempfile.mkdtemp(prefix="warpfold-slurm-", dir="/tmp")
    try:
        with contextlib.closing(slurm.Cluster(folder)) as started:
            yield started
    except slurm.CannotStart as failure:
        pytest.skip(f"no cluster can be started here: {failure}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def submit(cluster, tmp_path):
    """Submits a batch script from an empty folder, which is removed afterwards."""
    yield jobs.Submission(cluster, tmp_path)
    shutil.rmtree(tmp_path)
