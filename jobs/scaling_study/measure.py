"""Makes a study's runs, one after the other, and keeps what each of them says."""

import datetime
import json
import shlex
import sys

from .answers import Answers, answer_digest, answer_of, refuse_wrong_sum
from .inputs import Inputs, described, elements_digest
from .launch import launch
from .plan import run_of, runs_of, writes_file
from .problem import Problem
from .provenance import launcher_words, places_of

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
        self.places = {}
        self.answers = Answers()

    def program_words(self, run, report):
        """The program's command line."""
        plan = self.plan
        words = [self.program.path, *shlex.split(run.workload)]
        if run.reads_file:
            words += self.inputs.place_of(run.bytes)
        if writes_file(run.workload):
            words += ["-o", self.inputs.output, "--force"]
        if run.workload == "reduce":
            words += ["--ops", "all"]
        elif run.workload == "bench combine":
            words += ["--sizes", COMBINED_BYTES]
        elif run.workload == "bench ingest":
            words += ["--kernels", "warpfold,raw"]
        elif not run.reads_file:
            words += ["--types", plan.type, "--sizes", run.bytes // run.ranks,
                      "--ops", BENCHED[run.workload]]
        words += ["--backend", plan.backend, "--quiet", "--json", report, *plan.options]
        if plan.share_gpu:
            words.append("--share-gpu")
        return [str(word) for word in words]

    def command(self, run, report):
        launcher = launcher_words(self.plan.launcher, run.launched_ranks)
        return launcher + self.program_words(run, report)

    def places_of(self, ranks):
        """The hosts of so many ranks, and their bindings."""
        if ranks not in self.places:
            self.places[ranks] = places_of(self.plan.launcher, ranks)
            self.warn_of_few_cores(ranks)
        return self.places[ranks]

    def warn_of_few_cores(self, ranks):
        together, cores = -(-ranks // len(self.places[ranks][0])), self.facts["machine"]["cores"]
        if together > cores:
            print(f"scaling.py: note: {together} ranks share {cores} cores of a host: their times "
                  "say nothing of a host with a core for each", file=sys.stderr)

    def output_digest(self, run, report):
        """Of the bytes of all datasets that a run wrote, which are removed; None if it wrote none."""
        if not writes_file(run.workload):
            return None
        results = report["results"]
        names = ([each["dataset"] for each in results["datasets"].values()]
                 if "datasets" in results else [results["output_dataset"]])
        digests = []
        for name in names:
            found = described(self.program, self.inputs.output, name, self.timeout)
            if found["file_offset"] is None:
                raise Problem(f"{run.name}: its output is {found['layout']}, but bytes are compared "
                              "of contiguous ones. Omit the options that store it so.")
            digests.append(elements_digest(self.inputs.output, found["file_offset"], found["bytes"]))
        self.inputs.output.unlink()
        return " ".join(digests)

    def make(self, run):
        report_file = self.folder.runs / f".{run.name}.report.json"
        hosts, bindings = self.places_of(run.launched_ranks)
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
        answer = answer_of(run.workload, report, self.output_digest(run, report))
        self.folder.keep(run, {
            "command": command, "started": started, "wall_seconds": ending.seconds,
            "exit_status": ending.status, "answer": answer,
            "result": answer_digest(answer) if answer else "", **self.facts,
            "program": self.program.as_json(), "host_names": hosts,
            "bindings": bindings, "report": report,
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
               if run.reads_file and run.counts
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
