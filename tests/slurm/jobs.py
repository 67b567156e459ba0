"""Submitting the batch scripts, and what became of the jobs."""

import json
import pathlib
import re
import time

import support

SCRIPTS = support.ROOT / "jobs"
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL"}
SECONDS_TO_END = 180
CPU = ("--backend", "cpu")


def wait_until(condition, what):
    end = time.monotonic() + SECONDS_TO_END
    while not condition():
        assert time.monotonic() < end, f"no {what()}"
        time.sleep(0.05)


def names_in(folder):
    return sorted(each.name for each in folder.iterdir())


class Job:
    """A submitted job, or an array of them; its files are in the folder it was submitted from."""

    def __init__(self, cluster, folder, number):
        self.cluster = cluster
        self.folder = folder
        self.number = number

    def control(self, *words):
        """Returns the output of a command of Slurm's, which must succeed."""
        done = self.cluster.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def facts(self, name):
        """Returns Slurm's facts of that name, for each task."""
        shown = self.control("scontrol", "show", "job", "--oneliner", self.number)
        return [re.search(rf"\b{name}=(\S*)", line).group(1) for line in shown.splitlines()]

    def wait(self):
        wait_until(lambda: set(self.facts("JobState")) <= ENDED, lambda: f"end of job:\n{self.log}")
        return self

    def wait_for(self, condition):
        wait_until(condition, lambda: f"such state:\n{self.log}")

    def wait_for_writing(self):
        """Returns once the job's program has begun its output."""
        self.wait_for(lambda: any(self.folder.glob(".*.h5.warpfold-*.tmp")))
        assert self.facts("JobState") == ["RUNNING"], self.log
        return self

    def requeue(self):
        """Lets the job begin again soon: Slurm has it wait for two minutes.

        What is begun in the second in which the first attempt was stopped is taken for that.
        """
        self.control("scontrol", "requeue", self.number)
        wait_until(lambda: self.facts("JobState") == ["PENDING"], lambda: "requeued job")
        self.control("scontrol", "update", f"JobId={self.number}", "StartTime=now+2")
        return self

    @property
    def code(self):
        """The greatest exit status."""
        return max(int(code.split(":")[0]) for code in self.facts("ExitCode"))

    @property
    def log(self):
        logs = {pathlib.Path(path) for path in self.facts("StdOut")}
        return "".join(path.read_text() for path in sorted(logs) if path.exists())

    @property
    def errors(self):
        return [line for line in self.log.splitlines() if "error: " in line]

    @property
    def report_path(self):
        return self.folder / f"{self.facts('JobName')[0]}-{self.number}.json"

    @property
    def report(self):
        return json.loads(self.report_path.read_text())

    @property
    def results(self):
        return results_of(self.report_path)


def results_of(path):
    return support.parsed(path.read_text())["results"]


class Submission:
    """Submits from one folder."""

    def __init__(self, cluster, folder):
        self.cluster = cluster
        self.folder = folder

    def attempt(self, script, *arguments, asking=(), ranks=2, **variables):
        """Submits a script; `asking` are options of sbatch. Returns its outcome."""
        words = [f"--ntasks-per-node={ranks}", "--cpus-per-task=1", "--time=20", *asking]
        path = script if isinstance(script, pathlib.Path) else SCRIPTS / f"{script}.sbatch"
        variables = {**support.ENVIRONMENT, "WARPFOLD": support.program(), **variables}
        return self.cluster.run(
            "sbatch", "--parsable", *words, path, *arguments, cwd=self.folder, **variables
        )

    def __call__(self, script, *arguments, **options):
        """The job."""
        done = self.attempt(script, *arguments, **options)
        assert done.returncode == 0, done.stderr
        return Job(self.cluster, self.folder, done.stdout.strip())
