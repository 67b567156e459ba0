"""jobs/compare_tools.py: warpfold beside other tools, on a few steps in time."""

import json
import subprocess
import sys

import support

SCRIPT = support.ROOT / "jobs" / "compare_tools.py"


def test_every_task_is_measured_and_means_are_compared_with_the_exact_ones(folder):
    report = folder / "report.json"
    words = [sys.executable, SCRIPT, support.program(), "--steps", 3, "--repeats", 0, "--ranks", 2,
             "--inputs", "packed", "--scratch", folder, "--json", report]  # fmt: skip
    outcome = subprocess.run(list(map(str, words)), capture_output=True, text=True,
                             env=support.ENVIRONMENT, timeout=300)  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    content = json.loads(report.read_text())
    assert list(content["seconds"]) == ["packed"]
    for tasks in content["seconds"].values():
        assert len(tasks) == 6
        assert all({"warpfold", "2 ranks", "h5py + NumPy"} <= set(seconds) for seconds in tasks.values())
        assert all(took > 0 for seconds in tasks.values() for took in seconds.values())
    half_a_unit = {"mean": 2.0**-45, "worst mean over time": 2.0**-16}
    for what, most in half_a_unit.items():
        assert content["off"]["warpfold"][what] <= most < content["off"]["NumPy"]["mean"]
    assert [path.name for path in folder.iterdir()] == ["report.json"]
