"""Submitting a study to Slurm: a job for each number of ranks, and one that collects."""

import os
import pathlib
import shlex
import shutil
import sys

from .folder import write_whole
from .launch import launch
from .plan import runs_of
from .problem import Problem

JOBS = pathlib.Path(__file__).resolve().parents[1]
SCALING = JOBS / "scaling.py"


def site_lines(site):
    """What makes modules and MPI ready in a job."""
    if site is None:
        return []
    if "/" not in site and not (JOBS / "sites" / f"{site}.sh").is_file():
        known = ", ".join(sorted(each.stem for each in (JOBS / "sites").glob("*.sh")))
        raise Problem(f"no site '{site}'. Choose from {known}, or give the path of a file like "
                      "those.")
    return [f"source {shlex.quote(str(JOBS / 'batch.sh'))}", f"load_site {shlex.quote(site)}"]


def write_script(folder, name, site, *commands):
    path = folder.path / name
    lines = ["#!/bin/bash", *site_lines(site), *(shlex.join(command) for command in commands)]
    write_whole(path, "\n".join(lines) + "\n")
    return path


def resources(plan, ranks, ranks_per_node):
    """Whole nodes' worth: ranks side by side, and their GPUs, all visible to all."""
    on_a_node = min(ranks, ranks_per_node)
    words = [f"--nodes={-(-ranks // on_a_node)}", f"--ntasks={ranks}",
             f"--ntasks-per-node={on_a_node}"]
    if plan.backend == "cuda" and not plan.share_gpu:
        words.append(f"--gpus-per-node={on_a_node}")
    return words


def sbatch(words):
    """The number of the job."""
    ending = launch(["sbatch", "--parsable", *words], 120)
    if ending.status != 0:
        raise Problem(f"sbatch refuses '{' '.join(words)}': {ending.reason} Choose --ranks, "
                      "--ranks-per-node and --sbatch as this cluster allows.")
    return ending.stdout.strip().split(";")[0]


def refuse_unfit(plan):
    """What can't be submitted."""
    if shutil.which("sbatch") is None:
        raise Problem("there is no sbatch here: Slurm takes the jobs. Use `scaling.py run` on "
                      "machines without it.")
    if plan.backend == "auto":
        raise Problem("--backend auto cannot be submitted: Slurm gives GPUs to those who ask for "
                      "them. Name --backend cuda or cpu.")


def ranks_left(folder):
    """Numbers of ranks with runs that have not been made."""
    left = [run.ranks for run in runs_of(folder.plan) if not folder.is_done(run)]
    return sorted(set(left))


def submit(folder, ranks_per_node, site, more):
    """The numbers of the jobs: for each number of ranks that has something left, then the last."""
    path = folder.path.resolve()
    python = os.path.abspath(sys.executable)
    shared = ["--chdir", str(path), *shlex.split(more)]
    jobs = []
    for ranks in ranks_left(folder):
        command = [python, str(SCALING), "run", str(path), "--only-ranks", str(ranks), "--no-plot"]
        script = write_script(folder, f"{ranks}-ranks.sh", site, command)
        jobs.append(sbatch([*shared, f"--job-name=warpfold-{ranks}", "--output=slurm-%x-%j.out",
                            *resources(folder.plan, ranks, ranks_per_node), str(script)]))
    dependency = [f"--dependency=afterany:{':'.join(jobs)}"] if jobs else []
    collecting = [[python, str(SCALING), word, str(path)] for word in ("collect", "plot")]
    script = write_script(folder, "collect.sh", site, *collecting)
    jobs.append(sbatch([*shared, "--job-name=warpfold-collect", "--output=slurm-%x-%j.out",
                        "--ntasks=1", *dependency, str(script)]))
    return jobs
