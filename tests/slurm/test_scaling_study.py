"""A scaling study runs as jobs: one for each number of ranks, and one that collects."""

import csv
import json
import math
import re
import sys

import support
from jobs import Job

BYTES = 1 << 18


def test_study_submitted(cluster, tmp_path):
    study = tmp_path / "study"
    words = (
        "--program", support.program(), "--workloads", "reduce", "--scaling", "strong",
        "--ranks", "1,2", "--repeats", 1, "--bytes", BYTES, "--type", "f64", "--backend", "cpu",
        "--site", "generic", "--sbatch=--time=20",
    )  # fmt: skip
    done = cluster.run(
        sys.executable, support.ROOT / "jobs" / "scaling.py", "submit", study, *words,
        **support.WITHOUT_PICTURES,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    jobs = [Job(cluster, study, number) for number in re.findall(r"\d+", done.stdout)]
    assert len(jobs) == 3, done.stdout
    for job in jobs:
        assert job.wait().code == 0, job.log

    support.run("generate", "uniform", tmp_path / "same.h5", "values", "--type", "f64",
                "--shape", BYTES // 8)  # fmt: skip
    values = support.read(tmp_path / "same.h5", "f64")
    answers = [json.loads(run.read_text())["answer"] for run in (study / "runs").glob("*.json")]
    assert len(answers) == 4
    assert {answer["sum"] for answer in answers} == {math.fsum(values)}
    with open(study / "study.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["ranks"] for row in rows} == {"1", "2"}
    assert len({row["result"] for row in rows}) == 1
