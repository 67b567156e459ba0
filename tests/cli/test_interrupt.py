"""A scan that is stopped half-way leaves nothing under the output's name."""

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


def test_killed(folder, input_file):
    assert "out.h5" not in stop_half_way(folder, input_file, signal.SIGKILL, None)
