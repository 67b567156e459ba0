"""jobs/compare_ingest.py: warpfold beside its ceilings and h5py, on inputs of a few MiB."""

import json
import subprocess
import sys

import pytest

import support

SCRIPT = support.ROOT / "jobs" / "compare_ingest.py"
MADE_HERE = ("--backend", "cpu", "--size", "1M", "--rounds", "1", "--iterations", "1",
             "--peer-repeats", "1")  # fmt: skip


def compare(folder, *arguments, program=None):
    words = [sys.executable, SCRIPT, program or support.program(), "--folder", folder, *MADE_HERE]
    return subprocess.run([str(word) for word in (*words, *arguments)], capture_output=True,
                          text=True, env=support.ENVIRONMENT, timeout=300)


def lines_of(folder, *arguments):
    report = folder / "report.json"
    outcome = compare(folder, "--json", report, *arguments)
    assert outcome.returncode == 0, outcome.stderr
    content = json.loads(report.read_text())
    assert content["failures"] == []
    assert [path.name for path in folder.iterdir()] == ["report.json"]
    return content["lines"]


def test_every_input_is_held_against_ceilings_and_peers(folder):
    lines = lines_of(folder, "--size", "4M")
    for name, beside in [("f32", "raw"), ("gzip", "inflate"), ("f32-big", "f32 of that size"),
                         ("i16-big", "f32 of that size"), ("f16", "f32 of that size"),
                         ("small-chunks", "f32 of that size"), ("f32", "h5py + NumPy, plain"),
                         ("f32", "h5py + NumPy, pinned"), ("f32", "one sum"),
                         ("topo-f32", "inflate"), ("topo-i16-plain", "inflate"),
                         ("f64", "parallel cp")]:  # fmt: skip
        found = [line for line in lines if line["beside"].startswith(beside)
                 and line["what"].split()[1].strip(",") == name]
        assert found, (name, beside)
        assert all(line["ratio"] > 0 and line["value"] > 0 for line in found)


def test_several_ranks(folder):
    lines = lines_of(folder, "--inputs", "gzip", "--ranks", "2", "--peers", "none")
    assert lines
    assert {line["ranks"] for line in lines} == {2}


def test_memory_of_a_rank_alone(folder):
    lines = lines_of(folder, "--inputs", "f32:4M,f32:16M", "--peers", "none")
    memory = [line["value"] for line in lines if line["unit"] == "MiB"]
    assert len(memory) == 2
    assert all(1 < value < 1024 for value in memory)


@pytest.mark.parametrize(
    "words, code, mention",
    [
        (("--inputs", "nothing"), 2, "nothing"),
        (("--size", "16X"), 2, "16X"),
        (("--ranks", "two"), 2, "two"),
    ],
)
def test_wrong_usage(folder, words, code, mention):
    outcome = compare(folder, *words)
    assert outcome.returncode == code
    assert mention in outcome.stderr


def test_a_missing_program_is_one_line(folder):
    outcome = compare(folder, program=folder / "nothing")
    assert outcome.returncode == 1
    assert outcome.stderr.startswith("compare_ingest.py: error: ")
    assert len(outcome.stderr.splitlines()) == 1


def test_a_wrong_sum_is_reported(folder):
    """A program that prints a wrong sum is reported."""
    program = folder / "liar"
    rows = [{"kernel": "warpfold", "operation": operation, "ceiling": False, "check": "right",
             "seconds": {"median": 1.0}} for operation in ("sum", "statistics")]  # fmt: skip
    reports = {"reduce": {"backend": "cpu", "results": {"sum": 1.0}}, "bench": {"results": rows}}
    program.write_text(f"#!{sys.executable}\nimport json, sys\n"
                       f"print(json.dumps({reports!r}[sys.argv[1]]))\n")  # fmt: skip
    program.chmod(0o755)
    outcome = compare(folder, "--inputs", "f32", program=program)
    assert outcome.returncode == 1
    assert "error: f32, 1 rank, warpfold: 1.0, not " in outcome.stderr
