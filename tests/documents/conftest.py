"""Shared set-up of the tests of documents."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from skipping import pytest_sessionfinish  # noqa: E402, F401
