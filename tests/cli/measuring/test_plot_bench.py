"""jobs/plot_bench.py draws the reports of `bench` and `ladder`."""

import copy
import json
import subprocess
import sys

import pytest

import support

pytest.importorskip("matplotlib")

SCRIPT = support.ROOT / "jobs" / "plot_bench.py"
PNG = b"\x89PNG\r\n"


def plot(*arguments):
    words = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True)


@pytest.fixture
def report(folder):
    """A real report, of one size."""
    path = folder / "combine.json"
    support.run("bench", "combine", "--backend", "cpu", "--iterations", 3, "--json", path, ranks=2)
    return path


def swept(path, target):
    """The report as if it had measured several sizes, one contender a copy."""
    document = json.loads(path.read_text())
    rows = []
    for size in (1 << 10, 1 << 20, 1 << 30):
        for row in copy.deepcopy(document["results"]):
            row.update({"bytes": size, "GB/s": size / row["seconds"]["median"] / 1e9,
                        "clock": "device"})  # fmt: skip
            if row["operation"] == "MPI_Exscan":
                row.update({"operation": "copy", "kernel": "copy"})
            rows.append(row)
    document["results"] = rows
    target.write_text(json.dumps(document))
    return target


def test_pictures_lie_beside_their_reports(report, folder):
    other = swept(report, folder / "swept.json")
    outcome = plot(report, other)
    assert outcome.returncode == 0, outcome.stderr
    for name in ("combine.png", "swept.png"):
        assert (folder / name).read_bytes().startswith(PNG)
        assert str(folder / name) in outcome.stdout


def test_pictures_go_to_another_folder(report, folder):
    assert plot(report, "-o", folder / "pictures").returncode == 0
    assert (folder / "pictures" / "combine.png").exists()


@pytest.mark.parametrize("rate, label", [(12.5, "12.5 GB/s"), (None, "2000 us")])
def test_bars_are_labelled_by_what_they_show(rate, label):
    sys.path.insert(0, str(SCRIPT.parent))
    import plot_bench

    figure, axes = plot_bench.pyplot.subplots()
    seconds = dict.fromkeys(("median", "min", "max"), 2e-3)
    plot_bench.draw_bars(axes, [{"operation": "sum", "kernel": "fold", "seconds": seconds, "GB/s": rate}])
    assert [text.get_text() for text in axes.texts] == [label]
    assert axes.get_xlabel() == label.split()[1].replace("us", "microseconds")
    plot_bench.pyplot.close(figure)


@pytest.mark.parametrize(
    "text",
    ['{"schema": "warpfold.reduce/1"}', "[]", "no JSON", ""],
    ids=["other", "list", "text", "empty"],
)
def test_foreign_files_are_refused(folder, text):
    path = folder / "foreign.json"
    path.write_text(text)
    outcome = plot(path)
    assert outcome.returncode == 1
    assert outcome.stderr.startswith("plot_bench.py: error: ")
    assert len(outcome.stderr.splitlines()) == 1
    assert not (folder / "foreign.png").exists()
