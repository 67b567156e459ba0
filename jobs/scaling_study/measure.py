"""Makes a study's runs, one after the other, and keeps what each of them says."""

import datetime
import json
import shlex
import sys

from .answers import Answers, answer_digest, answer_of, refuse_wrong_sum
from .inputs import DATASET, Inputs, elements_digest
from .launch import launch
from .plan import FROM_FILES, run_of, runs_of
from .problem import Problem
from .provenance import hosts_of, launcher_words

BENCHED = {"bench reduce": "sum", "bench scan": "inclusive", "bench collectives": "sum,inclusive"}
COMBINED_BYTES = "1K,64M"  # of the arrays that `bench combine` folds before it combines


class Study:
    """A folder, the program that it measures, and the datasets there are now."""

    def __init__(self, folder, program, inputs, facts, timeout):
        self.folder = folder
        self.plan = folder.plan
        self.program = program
        self.inputs = inputs
        self.timeout = timeout
        self.facts = facts
        self.hosts = {}
        self.answers = Answers()

    def program_words(self, run, report):
        """The program's command line."""
        plan = self.plan
        words = [self.program.path, *run.workload.split()]
        if run.reads_file:
            words += [self.inputs.path_of(run.bytes), DATASET]
        if run.workload == "reduce":
            words += ["--ops", "all"]
        elif run.workload == "scan":
            words += ["-o", self.inputs.output, "--force"]
        elif run.workload == "bench combine":
            words += ["--sizes", COMBINED_BYTES]
        elif run.workload == "bench ingest":
            words += ["--kernels", "warpfold,raw"]
        else:
            words += ["--types", plan.type, "--sizes", run.bytes // run.ranks,
                      "--ops", BENCHED[run.workload]]
        words += ["--backend", plan.backend, "--quiet", "--json", report, *plan.options]
        if plan.share_gpu:
            words.append("--share-gpu")
        return [str(word) for word in words]

    def command(self, run, report):
        launcher = launcher_words(self.plan.launcher, run.launched_ranks)
        return launcher + self.program_words(run, report)

    def hosts_of(self, ranks):
        if ranks not in self.hosts:
            self.hosts[ranks] = hosts_of(self.plan.launcher, ranks)
        return self.hosts[ranks]

    def output_digest(self, run):
        """Of the bytes that a scan wrote, which is removed."""
        if run.workload != "scan":
            return None
        words = [self.program.path, "info", str(self.inputs.output), DATASET, "--json", "-"]
        ending = launch(words, self.timeout)
        if ending.status != 0:
            raise Problem(f"{run.name}: no output to read. {ending.reason} Look into it.")
        found = json.loads(ending.stdout)["results"]
        if found["file_offset"] is None:
            raise Problem(f"{run.name}: its output is {found['layout']}, but bytes are compared of "
                          "contiguous ones. Omit the options that store it so.")
        digest = elements_digest(self.inputs.output, found["file_offset"], found["bytes"])
        self.inputs.output.unlink()
        return digest

    def make(self, run):
        report_file = self.folder.runs / f".{run.name}.report.json"
        hosts = self.hosts_of(run.launched_ranks)
        command = self.command(run, report_file)
        started = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        try:
            ending = launch(command, self.timeout)
            if ending.status != 0:
                self.folder.keep_failure(run, f"{shlex.join(command)}\nexit {ending.status}\n"
                                              f"{ending.stdout}{ending.stderr}")
                raise Problem(f"{run.name} failed: {ending.reason} (Exit status {ending.status}; "
                              f"all of it is in {self.folder.runs / run.name}.failed.) Run again "
                              "to go on from there.")
            report = json.loads(report_file.read_text())
        finally:
            report_file.unlink(missing_ok=True)
        self.folder.forget_failure(run)
        answer = answer_of(run.workload, report, self.output_digest(run))
        self.folder.keep(run, {
            "command": command, "started": started, "wall_seconds": ending.seconds,
            "exit_status": ending.status, "answer": answer,
            "result": answer_digest(answer) if answer else "", **self.facts,
            "program": self.program.as_json(), "host_names": hosts, "report": report,
        })  # fmt: skip
        return answer, ending.seconds

    def compare(self, run, answer):
        self.answers.add(run, answer)
        if answer is not None:
            refuse_wrong_sum(run.name, answer, self.inputs.known_sums.get(run.bytes))


def warm_up_again(plan, left):
    """The runs that were left over, and before them the first round of what they read: new
    datasets have to be read once before reading counts."""
    warm = {(run.workload, run.bytes, run.ranks) for run in left if not run.counts}
    missing = {(run.workload, run.scaling, run.ranks): run for run in left
               if run.workload in FROM_FILES and run.counts
               and (run.workload, run.bytes, run.ranks) not in warm}
    return [run_of(plan, *key, 0) for key in missing]


def make_runs(folder, program, ranks, facts, timeout):
    """Makes the runs of these numbers of ranks that have not been made; `facts` go with each."""
    runs = [run for run in runs_of(folder.plan) if run.ranks in ranks]
    left = [run for run in runs if not folder.is_done(run)]
    if not left:
        return
    with folder.measuring(ranks), Inputs(folder, ranks, program, timeout) as inputs:
        study = Study(folder, program, inputs, facts, timeout)
        for run in runs_of(folder.plan):
            if folder.is_done(run):
                study.compare(run, folder.kept_run(run)["answer"])
        for run in left:
            folder.forget_attempt(run)
        inputs.prepare(left)
        left = warm_up_again(folder.plan, left) + left
        for number, run in enumerate(left, 1):
            answer, seconds = study.make(run)
            print(f"{number}/{len(left)} {run.name}: {seconds:.3f} s", file=sys.stderr, flush=True)
            study.compare(run, answer)
