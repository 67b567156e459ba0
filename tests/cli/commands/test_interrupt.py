"""A scan that is stopped half-way leaves nothing under the output's name."""

import os
import pathlib
import re
import select
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
    while support.names_in(folder) == before:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end
        time.sleep(0.005)
    time.sleep(0.05)
    assert process.poll() is None


def stop_half_way(folder, path, how, ranks, *arguments, code=None):
    """Sends the signal `how` to a scan at work; returns the names it leaves."""
    before = support.names_in(folder)
    options = ("-o", folder / "out.h5", "--output-type", "f16", "--threads", 1, *arguments)
    process = support.start("scan", path, "values", *options, ranks=ranks)
    wait_for_temporary_file(folder, before, process)
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode != 0 if code is None else process.returncode == code
    return support.names_in(folder)


@pytest.mark.parametrize("ranks", [None, 1, 3])
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_interrupted(folder, input_file, how, ranks):
    assert stop_half_way(folder, input_file, how, ranks) == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_who_started_it_sees_the_signal(folder, input_file, how):
    assert stop_half_way(folder, input_file, how, None, code=-how) == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_launcher_sees_ranks_leave_in_order(folder, input_file, how):
    before = support.names_in(folder)
    words = ("scan", input_file, "values", "-o", folder / "out.h5", "--output-type", "f16")
    process = support.start(*words, ranks=3)
    wait_for_temporary_file(folder, before, process)
    for rank in ranks_of(process):
        os.kill(rank, how)
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + how
    assert stderr.count("warpfold: error: interrupted") == 1
    assert "exited on signal" not in stderr
    assert support.names_in(folder) == []


@pytest.mark.parametrize("storage", [(), ("--chunks", "auto")])
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_same_signal_twice_leaves_nothing(folder, fault, how, storage):
    path = support.write(folder / "in.h5", list(range(100_000)), "f64")
    prefix = fault("pread", "in.h5", "delay 1000")
    words = ("scan", path, "values", "-o", folder / "out.h5", "--json", folder / "report", *storage)
    process = support.start(*words, prefix=prefix)
    end = time.monotonic() + 60
    while len(support.names_in(folder)) < 3 or fault.count() < 1:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.005)
    process.send_signal(how)
    time.sleep(0.05)
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode == -how
    assert support.names_in(folder) == ["in.h5"]


def ranks_of(launcher):
    children = pathlib.Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text()
    return [int(child) for child in children.split()]


def test_ctrl_c_ends_a_shells_loop(folder, input_file):
    out = folder / "out.h5"
    words = support.command_line("scan", input_file, "values", "-o", out, "--output-type", "f16")
    loop = 'for turn in 1 2 3; do echo "turn $turn" >&2; "$@"; echo "status $?" >&2; done'
    process = support.subprocess.Popen(
        ["bash", "-c", loop, "loop", *words], stderr=support.subprocess.PIPE, text=True,
        env=support.ENVIRONMENT, start_new_session=True,
    )  # fmt: skip
    wait_for_temporary_file(folder, [], process)
    os.killpg(process.pid, signal.SIGINT)
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode == -signal.SIGINT
    assert "turn 1" in stderr and "turn 2" not in stderr and "status" not in stderr
    assert support.names_in(folder) == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_interrupted_replacement_keeps_the_old_output(folder, input_file, how):
    (folder / "out.h5").write_text("old")
    assert stop_half_way(folder, input_file, how, 2, "--force") == ["out.h5"]
    assert (folder / "out.h5").read_text() == "old"


def kill_all_naming(text):
    """Kills every process, of this user, whose command line has `text` in it; returns once they
    hold nothing more."""
    killed = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and text in (folder / "cmdline").read_bytes().decode():
                process = os.pidfd_open(int(folder.name))
                killed.append(process)
                signal.pidfd_send_signal(process, signal.SIGKILL)
        except (OSError, UnicodeDecodeError):
            pass
    for process in killed:
        assert select.select([process], [], [], 60)[0]
        os.close(process)


def kill_half_way(folder, ranks, *words):
    """Kills a run that writes to out.h5 once it has its temporary file."""
    process = support.start(*words, ranks=ranks)
    end = time.monotonic() + 60
    while len(support.names_in(folder)) < 1:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end
        time.sleep(0.002)
    kill_all_naming(str(folder / "out.h5"))
    process.communicate(timeout=60)
    left = support.names_in(folder)
    assert len(left) == 1
    assert all(re.fullmatch(r"\.out\.h5\.warpfold-[0-9a-f]{16}\.tmp", name) for name in left)


@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("storage", [(), ("--chunks", "auto")])
def test_what_a_killed_scan_leaves_the_next_run_removes(folder, input_file, storage, ranks):
    words = ("scan", input_file, "values", "-o", folder / "out.h5", "--output-type", "f16")
    kill_half_way(folder, ranks, *words, *storage)
    generate(folder)
    assert support.names_in(folder) == ["out.h5"]


@pytest.mark.parametrize("storage", [(), ("--chunks", "1000")])
def test_what_a_killed_generation_leaves_the_next_run_removes(folder, storage):
    words = ("generate", "normal", folder / "out.h5", "values", "--shape", 20_000_000, *storage)
    kill_half_way(folder, None, *words)
    generate(folder, ranks=2)
    assert support.names_in(folder) == ["out.h5"]


def generate(folder, **options):
    support.run("generate", "iota", folder / "out.h5", "values", "--shape", 100, **options)


def test_runs_with_one_target_leave_each_other_alone(folder, input_file):
    words = ("scan", input_file, "values", "-o", folder / "out.h5", "--output-type", "f16")
    process = support.start(*words, "--threads", 1)
    wait_for_temporary_file(folder, [], process)
    before = support.names_in(folder)
    generate(folder)
    assert support.names_in(folder) == sorted([*before, "out.h5"])
    (folder / "out.h5").unlink()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert support.names_in(folder) == []
