"""--metrics: one JSON line a second for whoever watches a run, whole and true to its end."""

import datetime
import errno
import json
import os
import pathlib
import re
import signal
import time

import h5py
import numpy as np
import pytest

import support

ELEMENTS = 1 << 18
SLAB = 1 << 16  # of 32 slabs
KEYS = [
    "schema", "time", "elapsed_seconds", "state", "command", "file", "dataset", "dataset_number",
    "datasets", "pass", "ranks", "done_bytes", "total_bytes", "GB/s", "mean_GB/s", "eta_seconds",
    "rank0_stages",
]  # fmt: skip
# Slabs one after the other, each read when its turn comes.
SLOWLY = ("--slab", SLAB, "--threads", 1, "--file-cache", "through", "--read-path", "direct")


@pytest.fixture
def path(folder):
    return support.write(folder / "in.h5", np.arange(ELEMENTS), "i64")


def lines_of(text):
    """The lines, each of which has to be whole, with times that rise."""
    assert text.endswith("\n")
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        assert line["schema"] == "warpfold.metrics/1"
        assert [key for key in line if key != "error"] == KEYS
        assert ("error" in line) == (line["state"] in ("failed", "interrupted"))
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
        assert 0 <= line["done_bytes"] <= (line["total_bytes"] or 0)
        for stage in line["rank0_stages"]:
            assert list(stage) == ["stage", "threads", "busy", "GB/s", "bytes"]
            assert 0 <= stage["busy"] <= 1
    for earlier, later in zip(lines, lines[1:]):
        assert earlier["elapsed_seconds"] < later["elapsed_seconds"]
        assert earlier["time"] <= later["time"]
        assert earlier["state"] == "running"
    seen = datetime.datetime.fromisoformat(lines[-1]["time"].replace("Z", "+00:00"))
    assert abs(seen.timestamp() - time.time()) < 3600
    return lines


def stages_of(line):
    return {stage["stage"]: stage for stage in line["rank0_stages"]}


def test_a_slow_run_is_reported_second_by_second(folder, path, fault):
    prefix = fault("pread", "in.h5", "delay 100")
    words = ("reduce", path, "values", *SLOWLY, "--metrics", folder / "metrics", "--json", "-")
    report = support.run(*words, prefix=prefix).report
    first, *middle, last = lines_of((folder / "metrics").read_text())
    assert (first["pass"], first["done_bytes"], first["total_bytes"]) == (0, 0, None)
    assert len(middle) >= 2
    done = [line["done_bytes"] for line in (first, *middle, last)]
    assert done == sorted(done)
    for line in middle:
        assert line["state"] == "running" and line["command"] == "reduce"
        assert (line["file"], line["dataset"]) == (str(path), "values")
    moving = [line for line in middle if 0 < line["done_bytes"] < ELEMENTS * 8]
    assert moving
    for line in moving:
        assert line["total_bytes"] == ELEMENTS * 8
        assert line["eta_seconds"] > 0 and line["mean_GB/s"] > 0
    assert max(stages_of(line)["read"]["busy"] for line in moving) > 0.5
    assert last["state"] == "done" and last["eta_seconds"] is None
    assert last["done_bytes"] == ELEMENTS * 8
    stages = stages_of(last)
    assert stages["read"]["bytes"] == report["timings"]["stages"]["read"]["bytes"]
    assert stages["fold"]["bytes"] == ELEMENTS * 8
    assert last["elapsed_seconds"] >= report["timings"]["seconds"]


def test_a_stalled_run_is_reported_on(folder, path, fault):
    prefix = fault("pread", "in.h5", "delay 2500", byte=place_of_elements(path))
    words = ("reduce", path, "values", "--threads", 1, "--metrics", folder / "metrics")
    support.run(*words, "--slab", "16M", "--read-path", "direct", prefix=prefix)
    _, *middle, last = lines_of((folder / "metrics").read_text())
    assert len(middle) >= 2
    stalled = [line for line in middle if stages_of(line).get("read", {"busy": 0})["busy"] > 0.9]
    assert stalled
    assert stalled[0]["done_bytes"] == 0 and stalled[0]["eta_seconds"] is None
    assert last["state"] == "done"


def place_of_elements(path):
    with h5py.File(path) as file:
        return file["values"].id.get_offset() + 1000


def test_bytes_are_those_of_all_ranks(folder, path, fault):
    prefix = fault("pread", "in.h5", "delay 250")
    words = ("reduce", path, "values", *SLOWLY, "--metrics", folder / "metrics")
    support.run(*words, ranks=3, prefix=prefix)
    _, *middle, last = lines_of((folder / "metrics").read_text())
    assert {line["ranks"] for line in middle} == {3}
    # No rank alone has more than a third of the bytes.
    assert any(ELEMENTS * 8 // 3 + SLAB < line["done_bytes"] < ELEMENTS * 8 for line in middle)
    assert (last["done_bytes"], last["total_bytes"]) == (ELEMENTS * 8, ELEMENTS * 8)


def test_an_interrupted_run_says_so(folder, path, fault):
    prefix = fault("pread", "in.h5", "delay 200")
    metrics = folder / "metrics"
    process = support.start(
        "scan", path, "values", "-o", folder / "out.h5", *SLOWLY[:-2], "--metrics", metrics,
        prefix=prefix,
    )  # fmt: skip
    end = time.monotonic() + 60
    while not metrics.exists() or metrics.read_text().count("\n") < 2:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode == -signal.SIGINT
    last = lines_of(metrics.read_text())[-1]
    assert last["state"] == "interrupted"
    assert support.ERROR_PREFIX + last["error"] in stderr


@pytest.mark.parametrize("ranks", [None, 3])
def test_a_failed_run_says_why(folder, path, fault, ranks):
    prefix = fault("pread", "in.h5", f"error {errno.EIO}", byte=place_of_elements(path))
    words = ("reduce", path, "values", *SLOWLY, "--metrics", folder / "metrics")
    outcome = support.fail(*words, code=1, ranks=ranks, prefix=prefix)
    last = lines_of((folder / "metrics").read_text())[-1]
    assert last["state"] == "failed"
    assert support.ERROR_PREFIX + last["error"] == outcome.errors[0]


def commands(path, folder):
    out = folder / "out.h5"
    read = (path, "values")
    return {
        "reduce": ("reduce", *read),
        "reduce along an axis": ("reduce", *read, "--axis", 0, "-o", out),
        "scan": ("scan", *read, "-o", out),
        "scan to chunks": ("scan", *read, "-o", out, "--chunks", "100,10", "--deflate"),
        "scan along an axis": ("scan", *read, "--axis", 0, "-o", out),
        "axis scan to chunks": ("scan", *read, "--axis", 0, "-o", out, "--chunks", "100,10"),
        "histogram": ("histogram", *read),
        "compact": ("compact", *read, "-o", out, "--where", ">5"),
        "generate": ("generate", "iota", out, "values", "--shape", "1000,10"),
    }


@pytest.mark.parametrize("name", commands(pathlib.Path(), pathlib.Path()))
def test_every_command_tells_its_start_and_its_end(folder, name):
    path = support.write(folder / "in.h5", np.arange(10000).reshape(1000, 10), "i32")
    words = commands(path, folder)[name]
    support.run(*words, "--metrics", folder / "metrics")
    first, *_, last = lines_of((folder / "metrics").read_text())
    assert first["command"] == last["command"] == words[0]
    assert first["state"] == "running"
    assert last["state"] == "done"
    assert last["done_bytes"] == last["total_bytes"] > 0
    assert last["pass"] == {"histogram": 2, "compact": 2, "axis scan to chunks": 2}.get(name, 1)
    assert last["rank0_stages"]


def test_the_last_of_several_datasets(folder):
    path = folder / "in.h5"
    for number, name in enumerate(("a", "b", "c")):
        support.write(path, np.arange(1000), "f64", dataset=name, mode="a" if number else "w")
    support.run("reduce", path, "--all", "--metrics", folder / "metrics", ranks=2)
    last = lines_of((folder / "metrics").read_text())[-1]
    assert (last["dataset"], last["dataset_number"], last["datasets"]) == ("c", 3, 3)


def test_on_standard_output_there_is_nothing_else(path):
    outcome = support.run("reduce", path, "values", "--metrics", "-")
    assert lines_of(outcome.stdout)[-1]["state"] == "done"


@pytest.mark.parametrize("other", ["--json", "--csv"])
def test_standard_output_takes_one_report(path, other):
    words = ("reduce", path, "values", "--metrics", "-", other, "-")
    support.fail(*words, code=2, mentions=["--metrics", other])


def test_a_file_that_cannot_be_written_is_an_error_before_the_run(folder, path):
    target = folder / "missing" / "metrics"
    words = ("scan", path, "values", "-o", folder / "out.h5", "--metrics", target)
    support.fail(*words, code=1, mentions=[target], ranks=3)
    assert not (folder / "out.h5").exists()


@pytest.mark.parametrize("link", [None, os.link, os.symlink])
def test_the_input_is_not_overwritten(folder, path, link):
    before = path.read_bytes()
    target = path
    if link is not None:
        target = folder / "metrics"
        link(path, target)
    support.fail("reduce", path, "values", "--metrics", target, code=2, mentions=[target])
    assert path.read_bytes() == before


def test_a_full_disk_costs_a_warning_and_not_the_run(path):
    outcome = support.run("reduce", path, "values", "--metrics", "/dev/full", "--json", "-")
    assert outcome.results["sum"] == ELEMENTS * (ELEMENTS - 1) // 2
    warnings = [line for line in outcome.stderr.splitlines() if "/dev/full" in line]
    assert len(warnings) == 1 and warnings[0].startswith("warpfold: warning: ")


def test_progress_tells_the_stages(path, fault):
    prefix = fault("pread", "in.h5", "delay 100")
    words = ("reduce", path, "values", *SLOWLY, "--progress", "always")
    lines = support.run(*words, prefix=prefix).stderr.splitlines()
    assert lines and all(line.startswith("warpfold: reduce ") for line in lines)
