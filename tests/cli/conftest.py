"""Shared set-up of whole-program tests."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import support  # noqa: E402

SKIPPED = 77


def pytest_report_header():
    return f"warpfold: {support.program()}, backend {support.BACKEND}"


def pytest_collection_modifyitems(items):
    if support.BACKEND == "cuda" and support.gpu_count() == 0:
        for item in items:
            item.add_marker(pytest.mark.skip(reason="no GPU here"))


def pytest_sessionfinish(session):
    """A file whose every test was skipped is reported as skipped, not as passed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    ran = any(reporter.stats.get(kind) for kind in ("passed", "failed", "error"))
    if reporter.stats.get("skipped") and not ran:
        session.exitstatus = SKIPPED


@pytest.fixture
def folder(tmp_path):
    """An empty folder, removed afterwards as datasets are large."""
    yield tmp_path
    for path in sorted(tmp_path.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
