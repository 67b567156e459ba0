"""jobs/whole_node.py: every task, on a few planes."""

import json
import subprocess
import sys

import support

SCRIPT = support.ROOT / "jobs" / "whole_node.py"


def measured(folder, *options):
    report = folder / "report.json"
    words = [sys.executable, SCRIPT, support.program(), "--backends", "cpu", "--size", "8M",
             "--repeats", 1, "--scratch", folder, "--json", report, *options]  # fmt: skip
    outcome = subprocess.run(list(map(str, words)), capture_output=True, text=True,
                             env=support.ENVIRONMENT, timeout=300)  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    assert [path.name for path in folder.iterdir()] == ["report.json"]
    return json.loads(report.read_text())["seconds"], outcome.stdout


def test_every_task_is_measured(folder):
    seconds, table = measured(folder)
    assert len(seconds) == 26
    assert all(took > 0 for runs in seconds.values() for each in runs.values() for took in each)
    assert all(f"\n{name} " in table for name in seconds if name != "start")


def test_builds_take_turns_and_the_table_has_their_ratio(folder):
    seconds, table = measured(folder, "--before", support.program(), "--ranks", "1,2",
                              "--threads", "1", "--tasks", "^reduce$")  # fmt: skip
    columns = ["cpu, 1 thread before", "cpu, 1 thread",
               "cpu, 2 ranks, 1 thread before", "cpu, 2 ranks, 1 thread"]  # fmt: skip
    assert list(seconds["reduce"]) == columns
    assert len(table.splitlines()[-1].split()) == 5 and table.splitlines()[-1].endswith("x")


def test_a_pattern_without_a_task_lists_all(folder):
    words = [sys.executable, SCRIPT, "--tasks", "sort", "--scratch", folder]
    outcome = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    assert outcome.returncode == 2
    assert "'sort' names none of: reduce, all statistics, by 1,000 labels" in outcome.stderr
