"""jobs/measure_figures.py: records of small inputs on cores."""

import json
import os
import statistics
import subprocess
import sys

import pytest

import support

JOBS = support.ROOT / "jobs"
sys.path.insert(0, str(JOBS))


SCRIPT = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import measure_figures

def failing(run):
    raise KeyError("nothing")

measure_figures.PARTS["large"] = failing
sys.exit(measure_figures.main())
"""


def measured(folder, *options, code=0):
    words = [sys.executable, "-c", SCRIPT, JOBS, support.program(), "here", "--folder", folder / "figures",
             "--scratch", folder, "--repeats", 1, *options]  # fmt: skip
    outcome = subprocess.run(list(map(str, words)), capture_output=True, text=True,
                             env=support.ENVIRONMENT, timeout=300)  # fmt: skip
    assert outcome.returncode == code, outcome.stderr
    assert [path.name for path in folder.iterdir()] == ["figures"]
    return outcome, json.loads((folder / "figures" / "here.json").read_text())


def test_records_are_added_to_others(folder):
    """A part that fails, whatever the reason, does not stop the others."""
    kept = {"command": "another"}
    (folder / "figures").mkdir()
    (folder / "figures" / "here.json").write_text(json.dumps({"records": {"tools": kept}}))
    outcome, content = measured(folder, "--parts", "large,node", "--size", "25M", "--commit", "abc", code=1)
    assert "large: KeyError('nothing')" in outcome.stderr and "failed: large" in outcome.stdout
    assert list(content["records"]) == ["tools", "node"]
    assert content["records"]["tools"] == kept
    node = content["records"]["node"]
    assert node["command"].startswith("jobs/whole_node.py --size 12800K --tasks ")
    assert node["command"].endswith(" --repeats 1")
    assert 0 < node["machine"]["cores"] <= os.cpu_count()
    assert (node["commit"], node["repeats"]) == ("abc", 1)
    assert node["version"] in support.run("--version").stdout
    assert len(node["figures"]) == 20 and all(each > 0 for each in node["figures"]["scan"].values())
    outcome, same = measured(folder, "--parts", "node", "--budget", "-1")
    assert same == content and "skipped: node" in outcome.stdout


def row(group, kernel, median, rate, check="right"):
    return {"group": group, "operation": "sum", "kernel": kernel, "check": check, "GB/s": rate, "of_copy": 0.5,
            "of_cub": None, "of_plain": None, "seconds": median and {"median": median}}  # fmt: skip


def test_sizes_and_repeats_are_those_of_commands():
    import measure_figures

    sizes = {3 << 29: "1536M", 3 << 30: "3G", 1 << 9: "512", 5 << 10: "5K"}
    assert {size: measure_figures.words_of_size(size) for size in sizes} == sizes

    class Run:
        program = "warpfold"
        output_of = staticmethod(lambda words: json.dumps({"results": [], "gpu": {"cub": "CUB 3.5.0"}}))
        by_script = staticmethod(lambda name, *words: {"name": name, "words": words})

    command, repeats, _, note = measure_figures.benchmark("bench labels", Run)
    assert command.endswith(f"--iterations {repeats}") and repeats == 9 and note == "CUB 3.5.0."
    command, repeats, report = measure_figures.cupy(Run)
    assert command == f"jobs/compare_cupy.py --size 256M --repeats {repeats}" and repeats == 11
    assert report["words"] == ("--size", "256M", "--repeats", "11")


def test_rows_of_benchmarks():
    import measure_figures

    rows = [row("reduce f32 uniform", "fold", 2.0, 8.0), row("reduce f32 uniform", "CUB", 4.0, 4.0, "wrong"),
            row("reduce f32 uniform", "read", None, None)]  # fmt: skip
    assert measure_figures.nested(rows) == {"reduce f32 uniform": {"sum": {
        "fold": {"GB/s": 8.0, "seconds": 2.0, "of copy": 0.5},
        "CUB": {"GB/s": 4.0, "seconds": 4.0, "of copy": 0.5},
    }}}  # fmt: skip
    with pytest.raises(SystemExit, match="WRONG"):
        measure_figures.nested([row("reduce f32 uniform", "fold", 2.0, 8.0, "wrong")])
    assert measure_figures.medians({"a": {"b": [3, 1, 2]}}) == {"a": {"b": statistics.median([1, 2, 3])}}
