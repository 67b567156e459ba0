"""A process that no launcher started answers without MPI, and gives what a rank gives."""

import json
import subprocess

import h5py
import numpy as np
import pytest

import samples
import support

ANSWERING = {
    "version": ("--version",),
    "help": ("--help",),
    "help of a command": ("reduce", "--help"),
    "config": ("--config",),
    "listing": ("info", "in.h5"),
    "description": ("info", "in.h5", "values"),
    "plan": ("info", "in.h5", "values", "--plan", "scan"),
}
REPORTING = {
    "reduce": ("reduce", "in.h5", "values", "--ops", "all"),
    "histogram": ("histogram", "in.h5", "values", "--bins", "7"),
}
WRITING = {
    "reduce along an axis": ("reduce", "in.h5", "values", "--axis", "0"),
    "scan": ("scan", "in.h5", "values"),
    "scan along an axis": ("scan", "in.h5", "values", "--axis", "1"),
    "compact": ("compact", "in.h5", "values", "--where", ">0"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("start")
    with h5py.File(folder / "in.h5", "w") as file:
        values = samples.wide("f64", 60_000, np.random.default_rng(1)).reshape(300, 200)
        file.create_dataset("values", data=values, chunks=(64, 50), compression="gzip")
        file["other"] = values[0]
    return folder


@pytest.fixture
def run(folder, mpi_calls_library):
    """Runs a command; returns its outcome, and whether it used MPI from its start to its end."""

    def run(words, ranks=None, settings=None):
        calls = folder / "calls"
        calls.mkdir(exist_ok=True)
        for each in calls.iterdir():
            each.unlink()
        counting = ["env", f"LD_PRELOAD={mpi_calls_library}", f"WARPFOLD_MPI_CALLS={calls}"]
        # Open MPI's daemon, where it starts one, would be counted, too.
        environment = {**support.ENVIRONMENT, "OMPI_MCA_ess_singleton_isolated": "1"}
        command = support.command_line(*words, backend="cpu")
        process = subprocess.run(support.launched(*counting, *command, ranks=ranks), timeout=120,
                                 capture_output=True, text=True, cwd=folder,
                                 env={**environment, **(settings or {})})  # fmt: skip
        return process, any(calls.iterdir())

    return run


@pytest.mark.parametrize("words", ANSWERING.values(), ids=ANSWERING.keys())
def test_answers_come_without_mpi(run, words):
    alone, used_mpi = run(words)
    assert alone.returncode == 0, alone.stderr
    assert not used_mpi
    ranked, used_mpi = run(words, ranks=1)
    assert used_mpi
    assert alone.stdout == ranked.stdout


@pytest.mark.parametrize("words", [("reduce",), ("reduce", "none.h5", "values"), ("--nonsense",)])
def test_mistakes_are_reported_without_mpi(run, words):
    alone, used_mpi = run(words)
    assert not used_mpi
    ranked, used_mpi = run(words, ranks=1)
    assert used_mpi
    assert alone.returncode == ranked.returncode != 0
    assert alone.stderr.splitlines() == ranked.stderr.splitlines()[:1]


@pytest.mark.parametrize("words", REPORTING.values(), ids=REPORTING.keys())
def test_results_are_those_of_a_rank(run, words):
    alone, used_mpi = run((*words, "--json", "-"))
    assert not used_mpi
    ranked, used_mpi = run((*words, "--json", "-"), ranks=1)
    assert used_mpi
    mine, theirs = json.loads(alone.stdout), json.loads(ranked.stdout)
    for report in (mine, theirs):
        del report["timings"]
    assert mine == theirs


@pytest.mark.parametrize("words", WRITING.values(), ids=WRITING.keys())
def test_outputs_are_those_of_a_rank(run, folder, words):
    written = []
    for ranks in (None, 1):
        outcome, used_mpi = run((*words, "-o", "out.h5", "--force"), ranks)
        assert outcome.returncode == 0, outcome.stderr
        assert used_mpi == (ranks is not None)
        written.append((folder / "out.h5").read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize("name", ["PMI_RANK", "PMIX_NAMESPACE", "OMPI_COMM_WORLD_SIZE",
                                  "SLURM_PROCID", "MV2_COMM_WORLD_LOCAL_RANK", "FLUX_TASK_RANK",
                                  "PALS_RANKID"])  # fmt: skip
def test_whoever_may_have_peers_starts_mpi(run, name):
    outcome, used_mpi = run(("--version",), settings={name: ""})
    assert used_mpi == (outcome.returncode == 0), outcome.stderr


@pytest.mark.parametrize("name", ["PMIX_MCA_gds", "OMPI_MCA_rmaps_rank_file_physical"])
def test_settings_are_no_peers(run, name):
    outcome, used_mpi = run(("--version",), settings={name: "hash"})
    assert outcome.returncode == 0
    assert not used_mpi


def backend_of(path, dataset):
    """The backend that is chosen for a dataset, and the note on it."""
    words = ("info", path, dataset, "--plan", "reduce", "--threads", "1", "--json", "-")
    outcome = support.run(*words, backend=None)
    return outcome.report["backend"], outcome.stderr


def test_little_data_starts_no_gpu(folder):
    path = folder / "sizes.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("small", shape=(10**6,), dtype="f8", chunks=(10**5,))
        file.create_dataset("large", shape=(10**12,), dtype="f8", chunks=(10**9 // 8,))
    backend, note = backend_of(path, "small")
    assert backend == "cpu"
    without_cuda = "this build has no CUDA" in support.run("--config").stdout
    sooner = "cores are expected to be faster than a GPU"
    assert (support.gpu_count() > 0 and not without_cuda) == (sooner in note)
    assert support.gpu_count() > 0 or note == ""
    backend, note = backend_of(path, "large")
    assert backend == ("cuda" if support.gpu_count() > 0 else "cpu")
    assert sooner not in note


def test_a_failure_of_a_process_alone_leaves_nothing(run, folder):
    words = ("scan", "in.h5", "none", "-o", "left.h5")
    outcome, used_mpi = run(words)
    assert outcome.returncode == 1
    assert not used_mpi
    assert not (folder / "left.h5").exists()


def test_timings_tell_of_the_start(run):
    words = ("scan", "in.h5", "values", "-o", "out.h5", "--force", "--json", "-")
    alone, ranked = (json.loads(run(words, ranks)[0].stdout) for ranks in (None, 1))
    for report, expected in (
        (alone, ["open", "reserve", "read"]),
        (ranked, ["start MPI", "open", "reserve", "read"]),
    ):
        stages = report["timings"]["stages"]
        assert list(stages)[: len(expected)] == expected
        for stage in expected[:-1]:
            assert stages[stage]["seconds"] > 0
            assert stages[stage]["bytes"] == 0


def test_each_dataset_of_several_tells_of_its_own_opening(run):
    outcome, _ = run(("reduce", "in.h5", "values", "other", "--json", "-"))
    reports = [each["timings"] for each in json.loads(outcome.stdout)["datasets"]]
    assert len(reports) == 2
    for report in reports:
        assert 0 < report["stages"]["open"]["seconds"] < 1


def test_what_measures_mpi_starts_it(run):
    outcome, used_mpi = run(("bench", "combine", "--iterations", "2"))
    assert outcome.returncode == 0, outcome.stderr
    assert used_mpi
