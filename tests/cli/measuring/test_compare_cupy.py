"""jobs/compare_cupy.py: its tasks are warpfold's, and any CuPy is compared; NumPy in its place here."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import support

JOBS = support.ROOT / "jobs"
COUNTS = {"axes": 4, "select": 1, "histogram": 2, "labels": 2}


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(JOBS)
    spec = importlib.util.spec_from_file_location("compare_cupy", JOBS / "compare_cupy.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_tasks(script, dtype):
    elements = 4 * script.COLUMNS
    x, numbers = script.inputs_of(np.random.default_rng(1), elements, np.dtype(dtype).type)
    tasks = script.tasks_of(np, x, numbers)
    found = {name: task() for name, (_, _, _, task) in tasks.items()}
    assert all(useful_bytes >= x.nbytes for _, _, useful_bytes, _ in tasks.values())
    np.testing.assert_allclose(found["mean, first axis"], x.reshape(4, -1).sum(axis=0) / 4)
    np.testing.assert_allclose(found["cumsum, first axis"][-1] / 4, found["mean, first axis"])
    assert found["mean, last axis"].shape == (elements / 1024,)
    assert found["mean, last two axes"].shape == (4,)
    assert found["histogram, 65536 bins"].sum() == elements
    np.testing.assert_allclose(found["bincount, 16 labels"].sum(), x.sum(dtype="f8"))
    assert abs(found["median"] - 0.5) < 0.01
    for what, count in COUNTS.items():
        assert sum(task[0] == what for task in tasks.values()) == count


def test_rows_without_a_benchmark_of_warpfold_are_cupys_alone(script, capsys):
    names = script.tasks_of(np, np.empty(0, "f4"), {})
    rows = script.rows_of({("axes", "first"): 10.0}, dict.fromkeys(names, 4.0))
    assert rows["mean, first axis"] == {"warpfold": 10.0, "CuPy": 4.0, "ratio": 2.5}
    assert rows["median"] == {"warpfold": None, "CuPy": 4.0, "ratio": None}
    script.print_table("f32, 1 GiB", rows)
    assert "2.50" in capsys.readouterr().out


def test_without_cupy_there_is_nothing_to_compare_with():
    if importlib.util.find_spec("cupy"):
        pytest.skip("CuPy is here")
    outcome = subprocess.run([sys.executable, JOBS / "compare_cupy.py"], capture_output=True,
                             text=True, timeout=60)  # fmt: skip
    assert outcome.returncode == 0
    assert "Install CuPy" in outcome.stdout
