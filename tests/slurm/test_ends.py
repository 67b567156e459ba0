"""Jobs that are cancelled, killed, requeued or out of time leave whole outputs, or none."""

import h5py
import numpy as np
import pytest

import support
from jobs import CPU, names_in

CHUNK = 1 << 16
ELEMENTS = 1 << 26  # f64 to f16: seconds of work, yet only 128 MiB to write
SCAN = ("scan", "in.h5", "values", "-o", "out.h5", "--output-type", "f16", "--threads", 1, *CPU)


@pytest.fixture(scope="module")
def first_values():
    """Whose sums f16 holds exactly."""
    return np.random.default_rng(3).choice([-0.5, 0.5], CHUNK) * (np.arange(CHUNK) < 1000)


@pytest.fixture
def input_file(submit, first_values):
    """Large to scan, small to store: chunks that were never written read as the fill value."""
    path = submit.folder / "in.h5"
    with h5py.File(path, "w") as file:
        options = {"chunks": (CHUNK,), "compression": "gzip"}
        file.create_dataset("values", (ELEMENTS,), "f8", **options)[:CHUNK] = first_values
    return path


def assert_scanned(folder, first_values):
    found = support.read(folder / "out.h5", "f16")
    prefixes = np.cumsum(first_values).astype("f2")
    assert np.array_equal(found[:CHUNK], prefixes)
    assert np.all(found[CHUNK:] == prefixes[-1])


def log_of(job):
    return f"warpfold-scan-{job.number}.out"


def test_cancelled(submit, input_file):
    job = submit(*SCAN).wait_for_writing()
    job.control("scancel", job.number)
    assert job.wait().facts("JobState") == ["CANCELLED"]
    assert "stopped: cancelled or preempted" in job.log
    assert names_in(submit.folder) == ["in.h5", log_of(job)]


def test_time_is_up(submit, input_file):
    job = submit(*SCAN, OMPI_MCA_odls_base_sigkill_timeout=20).wait_for_writing()
    # Slurm sends this signal a minute before the end if --signal asks for it.
    job.control("scancel", "--batch", "--signal=USR1", job.number)
    assert job.wait().code == 1
    assert "its time is up" in job.log and "--time" in job.log
    # mpirun may leave before it has passed on the program's line.
    assert all("interrupted" in error for error in job.errors)
    done = ["out.h5", job.report_path.name] if job.report_path.exists() else []
    assert names_in(submit.folder) == sorted(["in.h5", log_of(job), *done])


def test_slurm_is_asked_for_a_warning(submit, input_file):
    job = submit(*SCAN, asking=["--hold"])
    shown = submit.cluster.run("scontrol", "write", "batch_script", job.number, "-").stdout
    assert "#SBATCH --signal=B:USR1@60" in shown
    assert job.facts("Requeue") == ["1"]
    job.control("scancel", job.number)


def test_requeued_in_the_middle(submit, input_file, first_values):
    job = submit(*SCAN).wait_for_writing().requeue().wait()
    assert job.code == 0, job.log
    assert job.facts("Restarts") == ["1"]
    assert_scanned(submit.folder, first_values)
    assert names_in(submit.folder) == sorted(["in.h5", "out.h5", job.report_path.name, log_of(job)])


def test_killed_and_requeued(submit, input_file, first_values):
    job = submit(*SCAN).wait_for_writing()
    job.cluster.kill_processes(SLURM_JOB_ID=job.number)
    job.wait()
    left = {each.name for each in submit.folder.glob(".*.tmp")}
    assert left and not (submit.folder / "out.h5").exists()
    job.requeue().wait()
    assert job.code == 0, job.log
    assert_scanned(submit.folder, first_values)
    assert names_in(submit.folder) == sorted(["in.h5", "out.h5", job.report_path.name, log_of(job)])


def test_killed_between_output_and_report(submit):
    """The output is the first attempt's, so that the second may replace it."""
    support.write(submit.folder / "in.h5", np.arange(1000), "i32")
    words = ("scan", "in.h5", "values", "-o", "out.h5", *CPU)
    job = submit(*words).wait()
    job.report_path.rename(f"{job.report_path}.begun")
    assert job.requeue().wait().code == 0, job.log
    assert job.results["last"] == 499500
    assert names_in(submit.folder) == sorted(["in.h5", "out.h5", job.report_path.name, log_of(job)])
    other = submit(*words).wait()
    assert other.code == 1
    assert "--force" in other.errors[0]


def test_requeued_when_done(submit):
    path = support.write(submit.folder / "in.h5", np.arange(1000), "i32")
    reduced = submit("reduce", "in.h5", "values", *CPU)
    scanned = submit("scan", "in.h5", "values", "-o", "out.h5", *CPU)
    jobs = [reduced, scanned]
    before = [job.wait().report_path.stat() for job in jobs]
    for job in jobs:
        job.requeue()
    for job, report in zip(jobs, before):
        assert job.wait().code == 0, job.log
        assert "done before" in job.log
        assert job.report_path.stat() == report
    support.write(path, np.arange(2000), "i32")
    for job in jobs:
        job.requeue()
    for job in jobs:
        assert job.wait().code == 0, job.log
    assert reduced.results["sum"] == scanned.results["last"] == 1999000


def program_that_waits_for(name, folder):
    """A program that never ends on the file of that name."""
    path = folder / "waits"
    path.write_text(
        f'#!/bin/sh\n[ "$2" != {name} ] || exec sleep 600\nexec {support.program()} "$@"\n'
    )
    path.chmod(0o755)
    return path


def test_array_task_cancelled(submit):
    """The others go on, and the summary tells what is missing."""
    for name in ("in.h5", "small.h5"):
        support.write(submit.folder / name, np.arange(1000), "i32")
    (submit.folder / "list").write_text("in.h5\nsmall.h5\n")
    program = program_that_waits_for("in.h5", submit.folder)
    options = {"asking": ["--array=1-2"], "ranks": 1, "WARPFOLD": program}
    job = submit("reduce_array", "list", "values", *CPU, **options)
    report = submit.folder / f"warpfold-reduce-array-{job.number}" / "small.h5.json"
    job.wait_for(report.exists)
    job.control("scancel", f"{job.number}_1")
    assert sorted(job.wait().facts("JobState")) == ["CANCELLED", "COMPLETED"]
    assert "failed: in.h5" in job.log
    rows = (report.parent / "summary.csv").read_text().splitlines()[1:]
    assert rows and all(row.startswith("reduce,small.h5,") for row in rows)
