"""Files that reports and metrics go to: what they replace, and what can't be written."""

import csv
import io
import json
import os
import signal
import time

import h5py
import pytest

import samples
import support

REPORTS = ["--json", "--csv", "--metrics"]
# Tests that wait take seconds: each report once.
waiting = pytest.mark.parametrize("option, ranks", [("--json", 3), ("--csv", None), ("--metrics", 2)])


@pytest.fixture
def small(folder):
    """A file of three numbers."""
    return support.write(folder / "in.h5", [3.5, 1.0, 2.0], "f32")


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("report", REPORTS)
def test_a_report_replaces_no_file_that_its_input_rests_on(folder, report, ranks):
    for name, sources in samples.of_several_files(folder).items():
        for source in sources:
            before = (folder / source).read_bytes()
            for dataset in ("values", "v*", "--all") if ranks is None else ("values",):
                words = ("reduce", name, dataset, report, source)
                mentions = [f"the report would replace {source}"]
                support.fail(*words, code=2, mentions=mentions, ranks=ranks, cwd=folder)
            assert (folder / source).read_bytes() == before


COMMANDS = {
    "info": ("info", "outer.h5"),
    "histogram": ("histogram", "outer.h5", "values"),
    "scan": ("scan", "outer.h5", "values", "-o", "out.h5"),
    "compact": ("compact", "outer.h5", "values", "-o", "out.h5", "--where", ">1"),
    "reduce": ("reduce", "outer.h5", "values", "-o", "out.h5", "--axis", "0"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_reports_of_all_commands_keep_to_that(folder, command):
    samples.of_several_files(folder)
    before = (folder / "plain.h5").read_bytes()
    words = (*COMMANDS[command], "--json", "plain.h5")
    support.fail(*words, code=2, mentions=["plain.h5"], cwd=folder)
    assert (folder / "plain.h5").read_bytes() == before
    assert not (folder / "out.h5").exists()


def refuse_report_over(folder, source):
    """Fails to report over a file that values of in.h5 lie in, and leaves that as it is."""
    before = (folder / source).read_bytes()
    words = ("reduce", "in.h5", "values", "--metrics", source)
    support.fail(*words, code=2, mentions=[source], cwd=folder)
    assert (folder / source).read_bytes() == before


def test_a_report_replaces_no_source_beside_a_missing_one(folder):
    for name in ("first.h5", "last.h5"):
        support.write(folder / name, [1, 2, 3], "i32")
    layout = h5py.VirtualLayout((9,), "i4")
    for place, source in enumerate(("first.h5", "gone.h5", "last.h5")):
        layout[3 * place : 3 * place + 3] = h5py.VirtualSource(source, "values", (3,))
    with h5py.File(folder / "in.h5", "w") as file:
        file.create_virtual_dataset("values", layout)
    for source in ("first.h5", "last.h5"):
        refuse_report_over(folder, source)
    support.fail("reduce", folder / "in.h5", "values", code=1, mentions=["gone.h5"])


def test_a_report_replaces_no_raw_file_beside_a_missing_one(folder):
    raw_files = ["a.raw", "gone.raw", "z.raw"]
    with h5py.File(folder / "in.h5", "w") as file:
        places = [(str(folder / name), 0, 12) for name in raw_files]
        file.create_dataset("values", (9,), "i4", external=places)[...] = range(9)
    (folder / "gone.raw").unlink()
    for source in ("a.raw", "z.raw"):
        refuse_report_over(folder, source)
    support.fail("reduce", folder / "in.h5", "values", code=1, mentions=["gone.raw"])


def test_a_report_replaces_no_file_behind_an_external_link(folder):
    support.write(folder / "there.h5", [1, 2, 3], "i32")
    with h5py.File(folder / "in.h5", "w") as file:
        file["values"] = h5py.ExternalLink("there.h5", "values")
    refuse_report_over(folder, "there.h5")


def test_a_report_replaces_an_earlier_one(folder):
    samples.of_several_files(folder)
    for turn in (">0", ">4"):
        words = ("reduce", "over.h5", "values", "--where", turn, "--json", "report.json")
        support.run(*words, cwd=folder)
    assert json.loads((folder / "report.json").read_text())["results"]["count"] == 1


@waiting
def test_a_pipe_that_nobody_reads_is_an_error(small, folder, option, ranks):
    os.mkfifo(folder / "pipe")
    words = ("scan", small, "values", "-o", folder / "out.h5", option, folder / "pipe")
    support.fail(*words, code=1, mentions=["pipe", "no program reads"], ranks=ranks)
    assert not (folder / "out.h5").exists()


@waiting
def test_who_waits_for_a_pipes_reader_can_be_stopped(small, folder, option, ranks):
    os.mkfifo(folder / "pipe")
    process = support.start("reduce", small, "values", option, folder / "pipe", ranks=ranks)
    time.sleep(2)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    start = time.monotonic()
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode != 0 and "interrupted" in stderr
    assert time.monotonic() - start < 4


@waiting
def test_a_pipes_reader_gets_all_also_where_it_is_late(small, folder, option, ranks):
    os.mkfifo(folder / "pipe")
    process = support.start("reduce", small, "values", option, folder / "pipe", ranks=ranks)
    time.sleep(1)
    text = (folder / "pipe").read_text()
    assert process.wait(timeout=60) == 0
    if option == "--csv":
        assert [row["statistic"] for row in csv.DictReader(io.StringIO(text))][0] == "count"
    elif option == "--json":
        assert json.loads(text)["results"]["count"] == 3
    else:
        assert json.loads(text.splitlines()[-1])["state"] == "done"


def test_a_report_larger_than_a_pipe(folder):
    """Its reader gets all of it, or can leave, or lie still until the program is stopped."""
    path = folder / "in.h5"
    support.run("generate", "iota", path, "values", "--shape", 10)
    os.mkfifo(folder / "pipe")
    words = ("histogram", path, "values", "--bins", 100_000, "--quiet", "--json", folder / "pipe")
    process = support.start(*words)
    assert sum(json.loads((folder / "pipe").read_text())["results"]["counts"]) == 10
    assert process.wait(timeout=60) == 0
    for leaves in (True, False):
        process = support.start(*words)
        with open(folder / "pipe") as pipe:
            assert pipe.read(1) == "{"
            if not leaves:
                time.sleep(1)
                assert process.poll() is None
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=5)
        stderr = process.communicate(timeout=60)[1]
        assert process.returncode != 0
        assert ("broken pipe" if leaves else "interrupted") in stderr
