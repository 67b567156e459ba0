"""The batch scripts give right results, on one node and two, by mpirun and srun."""

import csv
import math
import time

import numpy as np
import pytest

import support
from jobs import CPU, names_in, results_of

COUNT = 100_003
MODULE = "() { printf 'module %s\\n' \"$*\"\n}"


@pytest.fixture(scope="module")
def values():
    """Whose rounded partial sums are not the sum."""
    random = np.random.default_rng(6)
    return random.normal(size=COUNT) * 2.0 ** random.integers(-40, 40, COUNT)


@pytest.fixture
def input_file(submit, values):
    return support.write(submit.folder / "in.h5", values, "f64")


def truth(values):
    return {
        "count": values.size,
        "sum": math.fsum(values),
        "min": values.min(),
        "max": values.max(),
        "argmin": int(values.argmin()),
        "argmax": int(values.argmax()),
    }


OPS = ("--ops", ",".join(truth(np.zeros(1))))


def watched_program(folder):
    """A program that notes which GPUs each rank sees."""
    path = folder / "watched"
    path.write_text(
        f'#!/bin/sh\necho "$CUDA_VISIBLE_DEVICES" >>{folder}/gpus\nexec {support.program()} "$@"\n'
    )
    path.chmod(0o755)
    return path


def test_reduce_and_scan(submit, input_file, values):
    whole = np.arange(COUNT) - COUNT // 3
    support.write(input_file, whole, "i32", dataset="whole", mode="a")
    reduced = submit("reduce", "in.h5", "values", *OPS, *CPU)
    scanned = submit("scan", "in.h5", "whole", "-o", "sums.h5", *CPU)
    assert reduced.wait().code == 0, reduced.log
    assert reduced.results == truth(values)
    assert reduced.report["ranks"] == 2
    assert scanned.wait().code == 0, scanned.log
    assert np.array_equal(support.read(submit.folder / "sums.h5", "i64", "whole"), whole.cumsum())
    assert scanned.results["last"] == whole.sum()
    stems = (f"warpfold-reduce-{reduced.number}", f"warpfold-scan-{scanned.number}")
    names = [f"{stem}.{ending}" for stem in stems for ending in ("json", "out")]
    assert names_in(submit.folder) == sorted(["in.h5", "sums.h5", *names])


def test_two_nodes(submit, input_file, values):
    # Two nodes of one host: Open MPI's shared memory takes them for one.
    job = submit(
        "reduce", "in.h5", "values", *OPS, *CPU, asking=["--nodes=2"], OMPI_MCA_btl="self,tcp"
    )
    assert job.wait().code == 0, job.log
    assert job.results == truth(values)
    assert (job.report["ranks"], job.report["hosts"]) == (4, 2)


@pytest.mark.parametrize("site", ["generic", "v100", "a100", "h100"])
def test_every_rank_sees_all_gpus(submit, input_file, values, site):
    program = watched_program(submit.folder)
    variables = {"WARPFOLD": program, "BASH_FUNC_module%%": MODULE}
    job = submit("reduce", "--site", site, "in.h5", "values", *OPS, *CPU, **variables)
    assert job.wait().code == 0, job.log
    assert (submit.folder / "gpus").read_text().split() == ["0,1,2,3"] * 2
    assert job.results == truth(values)
    assert job.report["ranks"] == 2
    assert ("module load gcc cuda" in job.log) == (site != "generic")


def test_site_of_ones_own(submit, input_file):
    site = submit.folder / "own.sh"
    site.write_text("site_launcher=(mpirun -np 1)\n")
    job = submit("reduce", "in.h5", "values", *CPU, WARPFOLD_SITE=site).wait()
    assert job.code == 0, job.log
    assert job.report["ranks"] == 1


def test_script_from_standard_input(submit):
    done = submit.cluster.run(
        "sh", "-c", 'exec sbatch --parsable -W --chdir "$0" --output=log --ntasks-per-node=1 '
        '--cpus-per-task=1 <jobs/reduce.sbatch', submit.folder, cwd=support.ROOT,
    )  # fmt: skip
    assert done.returncode == 1
    assert "no input: the first argument" in (submit.folder / "log").read_text()


@pytest.fixture
def many(submit):
    """Files in folders, two with one name."""
    names = ["a.h5", "b b.h5", "more/a.h5", "more/c.h5", "more/d.h5"]
    (submit.folder / "more").mkdir()
    arrays = {}
    for seed, name in enumerate(names):
        arrays[name] = np.random.default_rng(seed).normal(size=1000 + seed)
        support.write(submit.folder / name, arrays[name], "f64")
    return arrays


def rows_of(folder):
    with open(folder / "summary.csv", newline="") as file:
        return [(row["file"], row["statistic"], row["value"]) for row in csv.DictReader(file)]


def wanted_rows(arrays):
    return [(name, key, str(value))
            for name, values in arrays.items() for key, value in truth(values).items()]  # fmt: skip


def test_array_over_a_list(submit, many):
    (submit.folder / "list").write_text("\n".join([*many, "", "missing.h5"]) + "\n")
    job = submit("reduce_array", "list", "values", *OPS, *CPU, asking=["--array=1-3"]).wait()
    folder = submit.folder / f"warpfold-reduce-array-{job.number}"
    for name, values in many.items():
        assert results_of(folder / f"{name}.json") == truth(values)
    assert float_rows(rows_of(folder)) == float_rows(wanted_rows(many))
    assert sorted(job.facts("ExitCode")) == ["0:0", "0:0", "1:0"]
    assert [line for line in job.log.splitlines() if "no input missing.h5" in line]
    assert "failed: missing.h5" in job.log
    assert not [each for each in folder.rglob("*") if ".tmp" in each.name or each.name[0] == "."]


def float_rows(rows):
    return [(name, key, float(value)) for name, key, value in rows]


def test_array_goes_on_where_it_stopped(submit, many):
    folder = submit.folder / "results"
    words = ("reduce_array", "*/*.h5", "values", *OPS, *CPU)
    asking = {"asking": ["--array=0-3"], "ranks": 1, "WARPFOLD_RESULTS": folder}
    first = submit(*words, **asking).wait()
    assert first.code == 0, first.log
    assert "nothing to do: 3 files" in first.log
    reports = [folder / f"more/{name}.h5.json" for name in "acd"]
    before = [report.stat().st_mtime_ns for report in reports]
    time.sleep(0.01)
    newer = np.arange(10.0)
    support.write(submit.folder / "more/c.h5", newer, "f64")
    other = submit(*words, "--nan", "skip", **asking)
    second = submit(*words, **asking)
    assert second.wait().code == 0, second.log
    after = [report.stat().st_mtime_ns for report in reports]
    assert [then != now for then, now in zip(before, after)] == [False, True, False]
    assert results_of(reports[1]) == truth(newer)
    assert other.wait().code == 1
    assert "holds other results" in other.log
