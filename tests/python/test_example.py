"""The example in jobs runs, and its pictures and numbers are there."""

import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "jobs/examples/python/exact_sums.py"


def test_the_example(tmp_path):
    pytest.importorskip("matplotlib")
    ended = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    told = dict(line.split(":") for line in ended.stdout.splitlines() if ":" in line)
    assert 250 < float(told["mean of all"]) < 300
    for name in ("means", "medians", "histogram", "running_sum"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
