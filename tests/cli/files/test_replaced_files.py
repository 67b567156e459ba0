"""Files that outputs may replace, and which of their properties are kept."""

import os
import stat
import subprocess
import sys

import h5py
import numpy as np
import pytest

import support

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root may")


@pytest.fixture
def path(folder):
    with h5py.File(folder / "in.h5", "w") as file:
        file["v"] = np.arange(200_000.0)
    return folder / "in.h5"


def error_of(*words, **settings):
    outcome = support.attempt(*words, **settings)
    assert outcome.code in (1, 2) and len(outcome.errors) == 1 and "HDF5-DIAG" not in outcome.stderr
    return outcome.errors[0]


def temporaries(folder):
    return [name for name in os.listdir(folder) if name.endswith(".tmp")]


def test_a_link_to_a_device_is_not_replaced(path, folder):
    link = folder / "null"
    link.symlink_to("/dev/null")
    assert "link to a device" in error_of("scan", path, "v", "-o", link, "--force")
    assert link.is_symlink()


@as_root
def test_mode_and_owner_of_a_replaced_file_stay(path, folder):
    out = folder / "out.h5"
    support.run("scan", path, "v", "-o", out)
    out.chmod(0o640)
    os.chown(out, 12345, 54321)
    for more in (["--force"], ["--append", "--force"]):
        support.run("scan", path, "v", "-o", out, *more)
        status = out.stat()
        assert stat.S_IMODE(status.st_mode) == 0o640
        assert (status.st_uid, status.st_gid) == (12345, 54321)


def test_a_file_that_is_being_written_is_not_replaced(path, folder):
    out = folder / "out.h5"
    code = (
        "import h5py, sys\n"
        f"file = h5py.File({str(out)!r}, 'w'); file['x'] = 1; file.flush()\n"
        "print('open', flush=True); sys.stdin.readline()"
    )
    environment = {**os.environ, "HDF5_USE_FILE_LOCKING": "TRUE"}
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, env=environment) as writer:  # fmt: skip
        assert writer.stdout.readline() == b"open\n"
        assert "open for writing" in error_of("scan", path, "v", "-o", out, "--force")
        writer.communicate(b"\n")
    support.run("scan", path, "v", "-o", out, "--force")


@pytest.mark.parametrize("storage", [(), ("--chunks", "1000")])
def test_a_limit_of_the_file_size_is_an_error(path, folder, storage):
    limit = [sys.executable, "-c",
             "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (500_000,) * 2); "
             "os.execv(sys.argv[1], sys.argv[1:])"]  # fmt: skip
    outcome = subprocess.run(
        [*limit, support.program(), "scan", path, "v", "-o", folder / "out.h5", *storage,
         "--backend", "cpu"], capture_output=True, text=True, env=support.ENVIRONMENT,
    )  # fmt: skip
    assert outcome.returncode == 1
    assert outcome.stderr.count("warpfold: error") == 1 and "HDF5-DIAG" not in outcome.stderr
    assert os.strerror(27).lower() in outcome.stderr.lower()
    assert not (folder / "out.h5").exists() and temporaries(folder) == []


def test_what_is_no_dataset_stays(path, folder):
    out = folder / "out.h5"
    with h5py.File(out, "w") as file:
        file["kind"] = np.dtype("f4")
        file.create_dataset("x", data=[1.0], dtype=file["kind"])
    words = ["scan", path, "v", "-o", f"{out}:kind", "--append", "--force"]
    assert "is a datatype" in error_of(*words)
    for name in ("../w", "g/../w"):
        assert "not a dataset's path" in error_of("scan", path, "v", "-o", f"{out}:{name}", "--append")
    with h5py.File(out) as file:
        assert sorted(file) == ["kind", "x"]
