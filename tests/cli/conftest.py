"""Shared set-up of whole-program tests."""

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


@pytest.fixture
def folder(tmp_path):
    """An empty folder, removed afterwards as datasets are large."""
    yield tmp_path
    for path in sorted(tmp_path.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
