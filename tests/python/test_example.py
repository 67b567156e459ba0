"""Examples in jobs that use the package run, and make their pictures and numbers."""

import pathlib
import subprocess
import sys

import pytest

JOBS = pathlib.Path(__file__).resolve().parents[2] / "jobs"
SCRIPT = JOBS / "examples/python/exact_sums.py"


def test_the_example(tmp_path):
    pytest.importorskip("matplotlib")
    ended = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    found = dict(line.split(":") for line in ended.stdout.splitlines() if ":" in line)
    assert 250 < float(found["mean of all"]) < 300
    for name in ("means", "medians", "histogram", "running_sum"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_costs_of_calls():
    words = [JOBS / "python_calls.py", "--elements", "0", "10", "--rounds", "1", "--seconds", "0.001"]
    ended = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["0", "10"]
    for line in lines:
        times = [float(part.split()[1]) for part in line.split("; ")[0].split(": ")[1].split(", ")]
        assert len(times) == 4 and all(time > 0 for time in times)
