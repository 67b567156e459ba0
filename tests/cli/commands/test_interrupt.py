"""A scan that is stopped half-way leaves nothing under the output's name."""

import os
import pathlib
import re
import signal
import time

import h5py
import pytest

import support

ELEMENTS = 1 << 29  # f64 to f16: seconds of work, yet only 1 GiB to write


@pytest.fixture(scope="module")
def input_file(tmp_path_factory):
    """Large to scan, small to store: chunks that were never written read as the fill value."""
    path = tmp_path_factory.mktemp("input") / "in.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("values", (ELEMENTS,), "f8", chunks=(1 << 16,), compression="gzip")
    yield path
    path.unlink()


def wait_for_temporary_file(folder, before, process):
    """Returns once the scan is writing."""
    end = time.monotonic() + 60
    while names_in(folder) == before:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end
        time.sleep(0.005)
    time.sleep(0.05)
    assert process.poll() is None


def stop_half_way(folder, path, how, ranks, *arguments):
    """Sends the signal `how` to a scan at work; returns the names it leaves."""
    before = names_in(folder)
    options = ("-o", folder / "out.h5", "--output-type", "f16", "--threads", 1, *arguments)
    process = support.start("scan", path, "values", *options, ranks=ranks)
    wait_for_temporary_file(folder, before, process)
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode != 0
    return names_in(folder)


def names_in(folder):
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize("ranks", [None, 1, 3])
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_interrupted(folder, input_file, how, ranks):
    assert stop_half_way(folder, input_file, how, ranks) == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_interrupted_replacement_keeps_the_old_output(folder, input_file, how):
    (folder / "out.h5").write_text("old")
    assert stop_half_way(folder, input_file, how, 2, "--force") == ["out.h5"]
    assert (folder / "out.h5").read_text() == "old"


def kill_all_naming(text):
    """Kills every process, of this user, whose command line has `text` in it."""
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and text in (folder / "cmdline").read_bytes().decode():
                os.kill(int(folder.name), signal.SIGKILL)
        except (OSError, UnicodeDecodeError):
            pass


def kill_half_way(folder, ranks, *words, temporaries=1):
    """Kills a run that writes to out.h5 once it has so many temporary files."""
    process = support.start(*words, ranks=ranks)
    end = time.monotonic() + 60
    while len(names_in(folder)) < temporaries:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end
        time.sleep(0.002)
    kill_all_naming(str(folder / "out.h5"))
    process.communicate(timeout=60)
    left = names_in(folder)
    assert len(left) == temporaries
    assert all(re.fullmatch(r"\.out\.h5\.warpfold-[0-9a-f]{16}\.tmp", name) for name in left)


@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("storage, temporaries", [((), 1), (("--chunks", "auto"), 2)])
def test_what_a_killed_scan_leaves_the_next_run_removes(
    folder, input_file, storage, temporaries, ranks
):
    words = ("scan", input_file, "values", "-o", folder / "out.h5", "--output-type", "f16")
    kill_half_way(folder, ranks, *words, *storage, temporaries=temporaries)
    generate(folder)
    assert names_in(folder) == ["out.h5"]


@pytest.mark.parametrize("storage", [(), ("--chunks", "1000")])
def test_what_a_killed_generation_leaves_the_next_run_removes(folder, storage):
    words = ("generate", "normal", folder / "out.h5", "values", "--shape", 20_000_000, *storage)
    kill_half_way(folder, None, *words)
    generate(folder, ranks=2)
    assert names_in(folder) == ["out.h5"]


def generate(folder, **options):
    support.run("generate", "iota", folder / "out.h5", "values", "--shape", 100, **options)


def test_runs_with_one_target_leave_each_other_alone(folder, input_file):
    words = ("scan", input_file, "values", "-o", folder / "out.h5", "--output-type", "f16")
    process = support.start(*words, "--threads", 1)
    wait_for_temporary_file(folder, [], process)
    before = names_in(folder)
    generate(folder)
    assert names_in(folder) == sorted([*before, "out.h5"])
    (folder / "out.h5").unlink()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert names_in(folder) == []
