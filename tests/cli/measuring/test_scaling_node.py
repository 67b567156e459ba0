"""jobs/scaling.py node: all studies of a node, on the cpu backend, and their README."""

import functools
import json
import re

import pytest

import support
from test_scaling import LAUNCHER, refused, rows_of, scaling, script

TASKS = ("reduce", "reduce --axis 0 --ops mean", "reduce --by labels --ops mean", "scan")


def words_of(folder):
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    launcher = script(folder / "launch", LAUNCHER)
    return ("node", folder / "node", "--program", support.program(), "--scratch", scratch, "--launcher",
            f"{launcher} {{ranks}}", "--backends", "cpu,auto", "--bytes", "16M", "--ranks", "1,2",
            "--repeats", 1, "--predict", 64)  # fmt: skip


@pytest.fixture(name="node", scope="module")
def node_(tmp_path_factory):
    folder = tmp_path_factory.mktemp("node")
    outcome = scaling(*words_of(folder))
    assert outcome.returncode == 0, outcome.stderr
    assert list((folder / "scratch").iterdir()) == []
    return folder


def seconds_of(cell):
    number, unit = re.match(r"([\d.]+) (s|ms|us)", cell).groups()
    return number, {"s": 1, "ms": 1e3, "us": 1e6}[unit]


def sections_of(text):
    """Rows of each section's first table: {section: {row: cells}}."""
    found = {}
    for section in text.split("\n## ")[1:]:
        table = re.search(r"(^\|.*\n)+", section, re.MULTILINE)[0].splitlines()[2:]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
        found[section.split("\n")[0]] = {row[0]: row[1:] for row in rows}
    return found


def test_the_page_shows_what_the_summaries_have(node):
    sections = sections_of((node / "node" / "README.md").read_text())
    assert list(sections) == ["memory-f32", "gzip-1M-cpu", "gzip-1M-auto", "contiguous-cpu", "contiguous-auto"]
    for name, rows in sections.items():
        summary = json.loads((node / "node" / name / "summary.json").read_text())
        known = {f"{each['workload']}, {each['quantity']}": each["points"] for each in summary["series"]}
        assert rows
        for title, cells in rows.items():
            for point, cell in zip(reversed(known[title]), (cells[1], cells[0])):
                number, scale = seconds_of(cell)
                digits = len(number.partition(".")[2])
                assert number == f"{point['seconds']['median'] * scale:.{digits}f}"


def test_every_task_has_the_same_results_by_all_backends(node):
    results = {}
    for name in ("gzip-1M-cpu", "gzip-1M-auto", "contiguous-cpu", "contiguous-auto"):
        for row in rows_of(node / "node" / name):
            results.setdefault(row["workload"], set()).add(row["result"])
    del results["bench ingest"]
    assert {name: len(found) for name, found in results.items()} == dict.fromkeys(TASKS, 1)
    assert "Results of 4 tasks were the same bits" in (node / "node" / "README.md").read_text()


def test_larger_machines_are_predicted(node):
    text = (node / "node" / "README.md").read_text()
    assert "| reduce, whole run | 64 | 8 | " in text


def test_what_was_measured_is_not_measured_again_and_other_results_fail(node):
    """A result that differs between backends stands for a wrong one."""
    before = {path: path.stat().st_mtime_ns for path in (node / "node").glob("*/runs/*")}
    page = (node / "node" / "README.md").read_text()
    changed = [path for path in before if path.match("contiguous-auto/runs/scan*")]
    contents = {path: path.read_text() for path in changed}
    assert len(changed) == 4
    for path in changed:
        run = json.loads(contents[path])
        run.update(result="other", answer={"sha256 of the output": "other"})
        path.write_text(json.dumps(run))
    again = functools.partial(scaling, *words_of(node), env=support.WITHOUT_PICTURES)
    refused(again(), "DIFFERENT", "contiguous-cpu and contiguous-auto")
    for path in changed:
        path.write_text(contents[path])
    assert again().returncode == 0
    assert (node / "node" / "README.md").read_text() == page
    after = {path: path.stat().st_mtime_ns for path in (node / "node").glob("*/runs/*")}
    assert {path: at for path, at in after.items() if path not in changed} == {
        path: at for path, at in before.items() if path not in changed
    }


@pytest.mark.parametrize(
    "options, difference",
    [(("--repeats", 2), "repeats: 1 there, 2 wanted"), (("--bytes", "32M"), "bytes: "),
     (("--program", "other"), "program file: sha256 ")],
)  # fmt: skip
def test_a_finished_study_of_other_options_or_builds_is_refused(node, folder, options, difference):
    if options[0] == "--program":
        other = folder / "other"
        other.write_bytes(support.pathlib.Path(support.program()).read_bytes() + b"\0")
        other.chmod(0o755)
        options = ("--program", other)
    before = {path: path.stat().st_mtime_ns for path in (node / "node").glob("*/*")}
    refused(scaling(*words_of(node), *options), "is another one: ", difference, "mixes neither plans nor builds")
    assert {path: path.stat().st_mtime_ns for path in (node / "node").glob("*/*")} == before
    assert list((node / "scratch").iterdir()) == []


def test_wrong_usage_is_one_line(folder):
    refused(scaling(*words_of(folder), "--backends", "gpu"), "'gpu' is not a backend. Choose from cuda, auto, cpu.")
    refused(scaling(*words_of(folder), "--ranks", "2,1"), "--ranks is not an ascending list")
    assert not (folder / "node").exists()
