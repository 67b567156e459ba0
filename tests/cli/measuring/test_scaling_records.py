"""Records of jobs/scaling.py about the machine, files of one's own, summaries and pictures."""

import hashlib
import json
import os
import subprocess
import sys

import h5py
import numpy as np
import pytest

import support
from test_scaling import SIZE, refused, rows_of, scaling, study_words, synthetic

sys.path.insert(0, str(support.ROOT / "jobs"))

from scaling_study import figures  # noqa: E402


def printed(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def summary_of(study):
    outcome = scaling("collect", study)
    assert outcome.returncode == 0, outcome.stderr
    return json.loads((study / "summary.json").read_text()), outcome.stdout


@pytest.fixture(name="study", scope="module")
def study_(tmp_path_factory):
    """A study of more ranks than cores, and what it noted."""
    folder = tmp_path_factory.mktemp("records")
    cores = len(set(printed("lscpu", "-p=core,socket").split()[-os.cpu_count() :]))
    words = study_words(folder, "--workloads", "reduce", "--scaling", "strong", "--no-plot")
    outcome = scaling(*words, "--ranks", f"1,{cores + 1}")
    assert outcome.returncode == 0, outcome.stderr
    assert scaling("collect", folder / "study").returncode == 0
    return folder / "study", outcome.stderr, cores


def test_every_record_says_what_it_ran_on(study):
    folder, _, cores = study
    machine = json.loads((folder / "study.json").read_text())["machine"]
    assert machine["processor"] in printed("lscpu")
    assert machine["memory_bytes"] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert machine["file_system"].split() == [
        *printed("stat", "-f", "-c", "%T", folder).split(), "at", printed("stat", "-c", "%m", folder),
    ]  # fmt: skip
    assert machine["cores"] == cores
    allowed = printed("sh", "-c", "grep Cpus_allowed_list /proc/self/status").split()[1]
    for row in rows_of(folder):
        assert {name: row[name] for name in ("processor", "processor_clocks", "file_system")} == {
            name: machine[name] for name in ("processor", "processor_clocks", "file_system")
        }
        assert (int(row["cores"]), int(row["memory_bytes"])) == (cores, machine["memory_bytes"])
        assert row["binding"] == allowed
        assert row["gpu_facts"] == "; ".join(machine["gpus"])
    for path in (folder / "runs").glob("[!.]*.json"):
        assert json.loads(path.read_text())["machine"] == machine


def test_more_ranks_than_cores_are_noted_and_marked(study):
    folder, noted, cores = study
    assert noted.count(f"{cores + 1} ranks share {cores} cores of a host") == 1
    summary, table = summary_of(folder)
    assert f" {cores + 1}* " in table and " 1* " not in table
    assert table.count("* more ranks than cores") == 1
    for series in summary["series"]:
        assert {point["shares_cores"]: point["ranks"] for point in series["points"]}.items() <= {
            False: 1, True: cores + 1,
        }.items()  # fmt: skip


def test_the_summary_has_all_series(study):
    folder, *_ = study
    summary, table = summary_of(folder)
    rows = rows_of(folder)
    assert summary["schema"] == "warpfold.study-summary/1"
    assert {each["quantity"] for each in summary["series"]} == {row["quantity"] for row in rows} | {
        "start and end"
    }
    for series in summary["series"]:
        for point in series["points"]:
            seconds = [float(row["seconds"]) for row in rows
                       if (row["quantity"], int(row["ranks"])) == (series["quantity"], point["ranks"])]
            if seconds:
                assert point["seconds"]["median"] == np.median(seconds)
                assert [point["seconds"][name] for name in ("least", "most")] == [min(seconds), max(seconds)]
    runs = [json.loads(path.read_text()) for path in (folder / "runs").glob("*.001.json")]
    found = {run["run"]["ranks"]: run["report"]["timings"]["bottleneck"] for run in runs}
    whole = next(each for each in summary["series"] if each["quantity"] == "whole run")
    assert {point["ranks"]: point["bottleneck"] for point in whole["points"]} == found
    assert all(text.partition(":")[0] in table for text in found.values())


@pytest.mark.parametrize(
    "count, omitted, confidence",
    [(1, 0, 0.0), (3, 0, 0.75), (5, 0, 0.9375), (6, 0, 0.96875), (9, 1, 0.9609375), (12, 2, 0.961426)],
)
def test_intervals_of_medians_are_those_of_the_tables(count, omitted, confidence):
    """Quantiles of the binomial distribution, as for the sign test."""
    low, high, found = figures.median_interval(list(range(count, 0, -1)))
    assert (low, high) == (1 + omitted, count - omitted)
    assert round(found, 6) == round(confidence, 6)


@pytest.fixture(name="own_file")
def own_file_(folder):
    """A file that no script made: whole numbers in chunks, and labels."""
    path = folder / "own.h5"
    values = np.random.default_rng(3).integers(0, 1000, (8, 64, 32)).astype("f4")
    with h5py.File(path, "w") as file:
        file.create_dataset("field", data=values, chunks=(1, 32, 32), compression=1, shuffle=True)
        file["labels"] = np.arange(64 * 32, dtype="i4").reshape(64, 32) % 5
    return path, values


def test_a_file_of_ones_own(folder, own_file):
    path, values = own_file
    workloads = "reduce,scan,reduce --axis 0 --ops sum,max,reduce --by labels --ops sum"
    words = [word for word in study_words(folder, "--workloads", workloads, "--no-plot",
                                          "--file", f"{path}::field")]  # fmt: skip
    del words[words.index("--bytes") : words.index("--bytes") + 2]
    outcome = scaling(*words)
    assert outcome.returncode == 0, outcome.stderr
    assert path.exists() and list((folder / "scratch").iterdir()) == []
    answers = {}
    for kept in (folder / "study" / "runs").glob("[!.]*.json"):
        run = json.loads(kept.read_text())
        assert run["run"]["bytes"] == values.nbytes
        answers.setdefault(run["run"]["workload"], []).append(run["answer"])
    assert {name: len(each) for name, each in answers.items()} == dict.fromkeys(
        ("reduce", "scan", "reduce --axis 0 --ops sum,max", "reduce --by labels --ops sum"), 4)
    assert {answer["sum"] for answer in answers["reduce"]} == {float(values.sum(dtype="f8"))}

    def digest(array):  # one piece
        return hashlib.sha256(hashlib.sha256(array.tobytes()).digest()).hexdigest()

    sums = digest(values.astype("f8").sum(axis=0).astype("f4"))
    assert {answer["sha256 of the output"] for answer in answers["scan"]} == {
        digest(np.cumsum(values.astype("f8").ravel()).astype("f4"))
    }
    assert {answer["sha256 of the output"] for answer in answers["reduce --axis 0 --ops sum,max"]} == {
        f"{sums} {digest(values.max(axis=0))}"
    }
    assert len({answer["sha256 of the labels' results"] for answer in
                answers["reduce --by labels --ops sum"]}) == 1  # fmt: skip


@pytest.mark.parametrize(
    "words, mention",
    [
        (("--file", "own.h5"), "names no dataset. Write FILE::DATASET."),
        (("--file", "own.h5::field", "--scaling", "weak"), "Choose --scaling strong."),
        (("--file", "own.h5::field", "--workloads", "bench reduce"), "Choose from reduce, scan"),
        (("--file", "own.h5::nothing"), "cannot describe own.h5::nothing: "),
    ],
)
def test_files_that_do_not_fit_are_refused(folder, own_file, words, mention):
    refused(scaling(*study_words(folder, "--workloads", "reduce", *words), cwd=folder), mention)
    assert not (folder / "study").exists()


def stage_rows(*stages):
    rows = synthetic("reduce", "strong", "whole run", 1, 64, (8.0,))
    for name, seconds, waiting in stages:
        rows += [{**row, "waiting": repr(waiting)}
                 for row in synthetic("reduce", "strong", name, 1, 64, (seconds,))]  # fmt: skip
    return rows


def test_each_stage_has_its_own_look_and_none_is_above_the_line():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from scaling_study import pictures

    stages = ("start MPI", "start GPU", "open", "reserve", "read", "decompress", "copy to GPU",
              "decompress on GPU", "fold", "sync", "finish", "combine")  # fmt: skip
    rows = stage_rows(*((name, 8.5 if name == "start MPI" else 1.0, 2.0 * (name == "read"))
                        for name in stages))  # fmt: skip
    series = figures.series_of(rows)
    drawn = [each for each in series if each.is_stage]
    whole = next(each for each in series if each.quantity == "whole run")
    figure, axes = pyplot.subplots()
    pictures.draw_stages(axes, drawn, whole, [1])
    busy = axes.containers[::2]
    looks = {(bars[0].get_facecolor(), bars[0].get_hatch()) for bars in busy}
    assert len(looks) == len(stages) + 1
    (line,) = axes.collections
    level = line.get_segments()[0][0][1]
    assert line.get_label() == "start MPI, whole run"
    assert level == 16.5 >= max(bar.get_y() + bar.get_height() for bars in axes.containers for bar in bars)
    pyplot.close(figure)


def test_numbers_of_ranks_that_share_cores_are_shaded():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from scaling_study import pictures

    rows = []
    for ranks in (1, 2, 4, 8):
        rows += [{**row, "cores": "2"} for row in synthetic("reduce", "strong", "whole run", ranks, 64, (8.0,))]
    series = figures.series_of(rows)
    figure, axes = pyplot.subplots()
    pictures.set_ranks_axis(axes, [1, 2, 4, 8])
    pictures.mark_shared(axes, series)
    (shade,) = axes.patches
    left, right = shade.get_extents().transformed(axes.transData.inverted()).intervalx
    assert 2 < left < 4 and right > 8
    assert shade.get_label() == "more ranks than cores"
    pyplot.close(figure)


@pytest.mark.parametrize(
    "name, modules",
    [("compare_tools", "h5py, numpy"), ("whole_node", "h5py, numpy"), ("compare_cupy", "numpy"),
     ("compare_ingest", "h5py, numpy"), ("plot_bench", "matplotlib"), ("front_page", "h5py, numpy"),
     ("examples/make_inputs", "h5py, numpy"), ("peers/h5py_reduce", "h5py, numpy"),
     ("python_calls", "numpy")],
)  # fmt: skip
def test_missing_packages_are_named(folder, name, modules):
    """In place of a traceback."""
    for module in ("h5py", "numpy", "matplotlib"):
        (folder / f"{module}.py").write_text("raise ModuleNotFoundError\n")
    words = {"front_page": ["prefixes"], "plot_bench": ["report.json"]}.get(name, [])
    outcome = subprocess.run(
        [sys.executable, support.ROOT / "jobs" / f"{name}.py", *words], capture_output=True, text=True,
        env={**support.ENVIRONMENT, "PYTHONPATH": str(folder)},
    )  # fmt: skip
    assert outcome.returncode == 1
    (line,) = outcome.stderr.splitlines()
    packages = line.partition("Python lacks ")[2].partition(". Run ")[0].split(", ")
    assert set(modules.split(", ")) <= set(packages)
    assert line.endswith(f"Run 'apt install {' '.join('python3-' + each.lower() for each in packages)}', "
                         f"or 'pip install {' '.join(packages)}'.")  # fmt: skip


def test_packages_that_debian_lacks_come_from_pypi(folder):
    (folder / "kvikio.py").write_text("raise ModuleNotFoundError\n")
    (folder / "cupy.py").write_text("")
    outcome = subprocess.run(
        [sys.executable, support.ROOT / "jobs/peers/nvcomp_reduce.py", "in.h5", "x"], capture_output=True, text=True,
        env={**support.ENVIRONMENT, "PYTHONPATH": str(folder)},
    )  # fmt: skip
    assert outcome.stderr == (
        "nvcomp_reduce.py: error: cannot run: this Python lacks kvikio. "
        "Run 'pip install kvikio-cu13 nvidia-libnvcomp-cu13'.\n"
    )
    assert outcome.returncode == 1
