"""Missing inputs cost one line, at submission where Slurm can tell, otherwise in the job's log."""

import numpy as np
import pytest

import support
from jobs import CPU, SCRIPTS, Submission, names_in

REDUCE = ("reduce", "in.h5", "values")
SCAN = ("scan", "in.h5", "values", "-o", "out.h5")
ARRAY = ("reduce_array", "*.h5", "values")
NO_GPU = {"asking": ["--gpus-per-node=0"]}

# Submissions | how | the error's text
MISTAKES = {
    "no arguments": (("reduce",), {}, ["no input", "Usage: sbatch jobs/reduce.sbatch"]),
    "options alone": (("scan", *CPU), {}, ["no input", "-o OUT"]),
    "input": (("reduce", "other.h5", "values"), {}, ["no input other.h5"]),
    "dataset": (("reduce", "in.h5", "other", *CPU), {}, ["other", "values"]),
    "output": (("scan", "in.h5", "values"), {}, ["no output", "-o"]),
    "report": ((*REDUCE, "--json=mine"), {}, ["--json", "WARPFOLD_RESULTS"]),
    "site": (("reduce", "--site", "moon", *REDUCE[1:]), {}, ["moon", "a100 generic h100 v100"]),
    "modules": (SCAN, {"WARPFOLD_SITE": "h100"}, ["no command module", "sites/h100.sh"]),
    "module": (
        REDUCE,
        {"WARPFOLD_SITE": "h100", "BASH_FUNC_module%%": "() { false\n}"},
        ["module load failed", "sites/h100.sh"],
    ),
    "program": (SCAN, {"WARPFOLD": "/none"}, ["WARPFOLD is not a program: /none"]),
    "GPU": (REDUCE, NO_GPU, ["no GPU", "--gpus-per-node", "--backend cpu"]),
    "GPU a task": (
        REDUCE,
        {"asking": ["--gpus-per-node=0", "--gpus-per-task=1"]},
        ["--gpus-per-task", "Ask for --gpus-per-node"],
    ),
    "folder": (REDUCE, {"WARPFOLD_RESULTS": "/proc/results"}, ["/proc/results"]),
    "files": (("reduce_array", "*.hdf", "values"), {}, ["no files", "*.hdf"]),
    "list": (("reduce_array", "in.h5", "values"), {}, ["in.h5 is not a list", "HDF5"]),
    "array": (ARRAY, {"asking": ["--array=1,3"]}, ["no array without gaps", "--array=1-N"]),
}


@pytest.fixture
def input_file(submit):
    return support.write(submit.folder / "in.h5", np.arange(1000), "i32")


@pytest.fixture(scope="module")
def submissions(cluster, tmp_path_factory):
    """All side by side, each in a folder of its own."""
    jobs = {}
    for number, (name, (words, options, _)) in enumerate(MISTAKES.items()):
        folder = tmp_path_factory.mktemp(f"mistake{number}")
        support.write(folder / "in.h5", np.arange(1000), "i32")
        array = {"asking": ["--array=1"], **options} if words[0] == "reduce_array" else options
        jobs[name] = Submission(cluster, folder)(*words, ranks=1, **array)
    return jobs


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(submissions, name):
    job = submissions[name].wait()
    assert job.code == 1
    errors = sorted(set(job.errors))
    assert len(errors) == 1, job.log
    for mention in MISTAKES[name][2]:
        assert mention in errors[0]
    logs = [each for each in names_in(job.folder) if each.endswith(".out")]
    assert len(logs) == len(job.facts("JobState"))
    assert not list(job.folder.rglob("*.json")) and "out.h5" not in names_in(job.folder)


# Excessive requests | the message of sbatch
REQUESTS = {
    "--gpus-per-node=5": "Requested node configuration is not available",
    "--nodes=3": "More processors requested|Requested node|Node count",
    "--ntasks-per-node=9": "More processors requested|Requested node",
    "--time=999": "time limit",
    "--partition=none": "invalid partition",
    "--mem=4G": "Memory|Requested node",
}


@pytest.mark.parametrize("asked", REQUESTS)
def test_request_refused_at_submission(submit, input_file, asked):
    done = submit.attempt(*REDUCE, asking=[asked])
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) <= 2
    assert [each for each in REQUESTS[asked].split("|") if each in done.stderr], done.stderr
    assert names_in(submit.folder) == ["in.h5"]


@pytest.mark.parametrize("script", ["reduce", "scan", "reduce_array"])
def test_not_submitted(cluster, script):
    done = cluster.run("bash", SCRIPTS / f"{script}.sbatch", "in.h5", "values")
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert f"Submit it by sbatch jobs/{script}.sbatch" in done.stderr
