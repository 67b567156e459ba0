"""Shared set-up of whole-program tests."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import support  # noqa: E402
from skipping import pytest_sessionfinish  # noqa: E402, F401


def pytest_report_header():
    return f"warpfold: {support.program()}, backend {support.BACKEND}"


def pytest_collection_modifyitems(items):
    if support.BACKEND == "cuda" and support.gpu_count() == 0:
        for item in items:
            item.add_marker(pytest.mark.skip(reason="no GPU here"))


@pytest.fixture(scope="session", autouse=True)
def orderly_end_of_servers():
    yield
    support.end_servers()


@pytest.fixture
def folder(tmp_path):
    """An empty folder, removed afterwards as datasets are large."""
    yield tmp_path
    for path in sorted(tmp_path.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def library_named_by(variable, file):
    """A library to be preloaded, named by a variable or built beside the program."""
    beside = pathlib.Path(support.program()).parent / "tests" / file
    path = pathlib.Path(os.environ.get(variable, beside))
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


@pytest.fixture(scope="session")
def fault_library():
    return library_named_by("WARPFOLD_FAULTS", "warpfold_faults.so")


@pytest.fixture(scope="session")
def mpi_calls_library():
    return library_named_by("WARPFOLD_MPI_CALLS_LIBRARY", "warpfold_mpi_calls.so")


class Fault:
    """One fault, to be passed as a run's `prefix`."""

    def __init__(self, library, folder):
        self.library = library
        self.log = folder.parent / f"{folder.name}.faults"

    def __call__(self, call, file, action, **where):
        self.log.unlink(missing_ok=True)
        settings = {"call": call, "file": file, "action": action, "log": self.log, **where}
        variables = [f"WARPFOLD_FAULT_{name.upper()}={value}" for name, value in settings.items()]
        return ["env", f"LD_PRELOAD={self.library}", *variables]

    def count(self):
        return self.log.stat().st_size if self.log.exists() else 0


@pytest.fixture
def fault(fault_library, folder):
    made = Fault(fault_library, folder)
    yield made
    made.log.unlink(missing_ok=True)
