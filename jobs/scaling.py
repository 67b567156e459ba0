#!/usr/bin/env python3
"""Strong and weak scaling studies of warpfold.

scaling.py run STUDY       makes the runs, collects them and draws pictures
scaling.py node FOLDER     makes all studies of a node's GPUs, with FOLDER/README.md
scaling.py submit STUDY    lets Slurm run it: a job for each number of ranks, and one that collects
scaling.py collect STUDY   writes STUDY/study.csv and STUDY/summary.json, prints a table
scaling.py plot STUDY      draws STUDY/*.png from study.csv
scaling.py model STUDY     fits a cost model to study.csv and predicts larger numbers of ranks
scaling.py simulate STUDY  lets SimGrid simulate the runs, and larger ones

STUDY is a folder. study.json in it says what is measured by which program, runs/ holds what each
run reported. A study that was interrupted goes on with the same command: what was measured is kept.
With other options, or another build, it is refused. Every result has to be the same bits at every
number of ranks, or the study fails.

A strong study divides one dataset of --bytes among the ranks, a weak one has --bytes for each rank.
The rate of a run is the bytes that all ranks move over its time t (the median of the repeats); with
p0 the least number of ranks,

    speed-up    S(p) = p0 rate(p) / rate(p0)    strong: p0 t(p0) / t(p)
    efficiency  E(p) = S(p) / p                 weak: t(p0) / t(p)

Scans in GPU memory move three times their array on several ranks and twice on one; they are counted
by bytes moved.
"""

import argparse
import dataclasses
import pathlib
import re
import shlex
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from measuring import bytes_of, numbers_of  # noqa: E402
from scaling_study import (  # noqa: E402
    cost_model, figures, node, prediction, prediction_report, provenance, simulation, summary, table,
)  # fmt: skip
from scaling_study.folder import Folder  # noqa: E402
from scaling_study.inputs import described, split_place  # noqa: E402
from scaling_study.machine import Machine  # noqa: E402
from scaling_study.measure import make_runs  # noqa: E402
from scaling_study.plan import SCALINGS, WORKLOADS, Plan  # noqa: E402
from scaling_study.problem import Problem  # noqa: E402
from scaling_study.submit import refuse_unfit, submit  # noqa: E402

NETWORK = pathlib.Path(__file__).resolve().parent / "sites" / "ndr.toml"
RANKS_A_HOST = 8  # of predictions for a cluster
TERMINATED = 128 + signal.SIGTERM


def words_of(text):
    return [word.strip() for word in text.split(",")]


def workloads_of(text):
    """Words that commas separate, but for those within a command's options."""
    return [word.strip() for word in re.split(r",(?=\s*(?:reduce|scan|bench)\b)", text)]


def add_plan(parser):
    plan = Plan()
    parser.add_argument("--program", help="warpfold, as built; default: on the path")
    parser.add_argument("--workloads", type=workloads_of, metavar="NAME,...",
                        help=f"of {', '.join(WORKLOADS)}; reduce and scan may have options, as in "
                        f"'reduce --axis 0 --ops mean'; default: {','.join(plan.workloads)}")
    parser.add_argument("--file", metavar="FILE::DATASET", help="measure this dataset in place of "
                        "generated ones, by a strong study")
    parser.add_argument("--scaling", type=words_of, dest="scalings", metavar="NAME,...",
                        help=f"of {', '.join(SCALINGS)}; default: both")
    parser.add_argument("--ranks", type=numbers_of, metavar="N,...",
                        help="ascending; default: 1,2,4")
    parser.add_argument("--repeats", type=int, metavar="N",
                        help=f"that count, after one that does not; default: {plan.repeats}")
    parser.add_argument("--bytes", type=bytes_of, metavar="SIZE", help="of the dataset of a strong "
                        "study, of each rank of a weak one; default: 1G")
    parser.add_argument("--type", help=f"of the elements; default: {plan.type}")
    parser.add_argument("--kind", help="of `warpfold generate`; known sums are checked; default: "
                        f"{plan.kind}")
    parser.add_argument("--backend", choices=("auto", "cuda", "cpu"),
                        help=f"default: {plan.backend}")
    parser.add_argument("--launcher", metavar="COMMAND",
                        help=f"what starts ranks, 'srun -n {{ranks}}'; default: '{plan.launcher}'")
    parser.add_argument("--share-gpu", action="store_true", default=None,
                        help="allow several ranks on one GPU")
    parser.add_argument("--commit", help="commit the program was built from; default: that of the "
                        "repository which this script lies in")
    parser.add_argument("--scratch", metavar="FOLDER",
                        help="for datasets, which are removed in the end; seen by all hosts. "
                        f"Default: {plan.scratch}, of `submit` the study's folder")


def add_run(commands):
    parser = commands.add_parser("run", help="make the runs", usage="%(prog)s STUDY [options] "
                                 "[-- PROGRAM-OPTION...]")
    parser.add_argument("study", metavar="STUDY", help="the study's folder")
    add_plan(parser)
    parser.add_argument("--only-ranks", type=numbers_of, metavar="N,...",
                        help="leave the other numbers of ranks to other processes")
    parser.add_argument("--no-plot", action="store_true", help="neither collect nor draw")
    parser.add_argument("--timeout", type=float, default=3600, metavar="S",
                        help="seconds for one run; default: %(default)g")
    parser.set_defaults(handler=run)


def add_node(commands):
    parser = commands.add_parser("node", help="study all GPUs of a node", description=node.__doc__)
    parser.add_argument("study", metavar="FOLDER", help="for the studies, their pictures and README.md")
    plan = Plan()
    parser.add_argument("--program", default="warpfold", help="warpfold, as built; default: on the path")
    parser.add_argument("--ranks", type=numbers_of, default=[1, 2, 4], metavar="N,...",
                        help="ascending; default: 1,2,4")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--bytes", type=bytes_of, default=node.BYTES, metavar="SIZE",
                        help="of the compressed dataset's elements; a quarter is contiguous, and arrays in "
                        "memory have a quarter, but at most 4G a rank; default: 64G")
    parser.add_argument("--backends", type=words_of, default=list(node.BACKENDS), metavar="NAME,...",
                        help=f"default: {','.join(node.BACKENDS)}")
    parser.add_argument("--launcher", metavar="COMMAND", default=plan.launcher,
                        help=f"what starts ranks; default: '{plan.launcher}'")
    parser.add_argument("--share-gpu", action="store_true", help="allow several ranks on one GPU")
    parser.add_argument("--commit", help="commit the program was built from; default: this repository's")
    parser.add_argument("--scratch", metavar="FOLDER", default=plan.scratch,
                        help="for datasets, which are removed in the end; default: %(default)s")
    parser.add_argument("--machine", metavar="FILE", default=str(NETWORK),
                        help="describes the cluster of predictions; default: jobs/sites/ndr.toml")
    parser.add_argument("--predict", type=numbers_of, default=[1024], metavar="N,...",
                        help="numbers of ranks; default: 1024")
    parser.add_argument("--timeout", type=float, default=3600, metavar="S",
                        help="seconds for one run; default: %(default)g")
    parser.set_defaults(handler=study_node)


def add_submit(commands):
    parser = commands.add_parser("submit", help="let Slurm make the runs", usage="%(prog)s STUDY "
                                 "[options] [-- PROGRAM-OPTION...]")
    parser.add_argument("study", metavar="STUDY", help="the study's folder, seen by all hosts")
    add_plan(parser)
    parser.add_argument("--ranks-per-node", type=int, default=4, metavar="N",
                        help="at most; default: %(default)s")
    parser.add_argument("--site", metavar="NAME", help="settings of jobs/sites/NAME.sh, or a path")
    parser.add_argument("--sbatch", default="", metavar="OPTIONS",
                        help="further ones of sbatch: '--partition=gpu --time=30'")
    parser.set_defaults(handler=submit_runs)


def add_model(commands):
    parser = commands.add_parser(
        "model", help="predict larger numbers of ranks", description=cost_model.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add_prediction(parser, required=True)
    parser.set_defaults(handler=predict)


def add_simulate(commands):
    parser = commands.add_parser("simulate", help="simulate what was measured, and larger numbers "
                                 "of ranks", description=simulation.__doc__)
    add_prediction(parser)
    parser.add_argument("--calibrate", type=numbers_of, metavar="N,...", default=[1, 2, 4, 8],
                        help="numbers of ranks that give the model's terms; default: 1,2,4,8")
    parser.set_defaults(handler=simulate)


def add_prediction(parser, required=False):
    parser.add_argument("study", metavar="STUDY", help="the study's folder")
    parser.add_argument("--predict", type=numbers_of, metavar="N,...", default=[],
                        required=required, help="numbers of ranks that were not measured")
    parser.add_argument("--ranks-per-node", type=int, metavar="N",
                        help="of the predictions; default: as many as were measured")
    parser.add_argument("--machine", metavar="FILE",
                        help="what is known of a cluster's network and file system, like "
                        "jobs/sites/ndr.toml")
    parser.add_argument("--exscan", choices=(prediction.CHAIN, prediction.DOUBLING),
                        help="what predicted scans go along; default: what those measured do")


def parse_arguments():
    words = sys.argv[1:]
    options = []
    if "--" in words:
        end_of_own = words.index("--")
        words, options = words[:end_of_own], words[end_of_own + 1:]
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_run(commands)
    add_node(commands)
    add_submit(commands)
    for name, handler, what in (("collect", collect, "write study.csv and summary.json"),
                                ("plot", plot, "draw pictures of study.csv")):
        command = commands.add_parser(name, help=what)
        command.add_argument("study", metavar="STUDY", help="the study's folder")
        command.set_defaults(handler=handler)
    add_model(commands)
    add_simulate(commands)
    arguments = parser.parse_args(words)
    arguments.options = options or None
    return arguments


def plan_of(arguments, known, scratch):
    """Options not given are those of a study that was begun, or else the defaults."""
    chosen = known.plan.as_json() if known else Plan(scratch=scratch).as_json()
    for name in chosen:
        given = getattr(arguments, name)
        if given is not None:
            chosen[name] = given
    if arguments.file and not arguments.scalings:
        chosen["scalings"] = ["strong"]
    return Plan.from_json(chosen).checked()


def sized(plan, program):
    """The plan with the size and the type of the dataset that it names, if any."""
    if not plan.file:
        return plan
    found = described(program, *split_place(plan.file), 60)
    return dataclasses.replace(plan, bytes=found["bytes"], type=found["type"])


def begun(arguments, scratch, refuse_unfit=None):
    """The study's folder, its program, and facts that go with what is measured."""
    known = Folder(arguments.study) if Folder.is_begun(arguments.study) else None
    plan = plan_of(arguments, known, scratch)
    if refuse_unfit:
        refuse_unfit(plan)
    name = arguments.program or (known.content["program"]["path"] if known else "warpfold")
    program = provenance.program_at(name)
    plan = sized(plan, program)
    facts = {"commit": arguments.commit or provenance.commit(),
             "machine": provenance.machine_of(plan.scratch)}
    command = shlex.join(sys.argv)
    folder = Folder.begin(arguments.study, plan, program, {**facts, "command": command})
    return folder, program, facts


def run(arguments):
    scratch = Plan.scratch if pathlib.Path(Plan.scratch).is_dir() else arguments.study
    folder, program, facts = begun(arguments, scratch)
    ranks = arguments.only_ranks or list(folder.plan.ranks)
    if set(ranks) - set(folder.plan.ranks):
        raise Problem(f"--only-ranks names others than the study's "
                      f"{','.join(map(str, folder.plan.ranks))}. Choose from these.")
    make_runs(folder, program, ranks, facts, arguments.timeout)
    if not arguments.no_plot:
        collect(arguments)
        plot(arguments)


def study_node(arguments):
    unknown = set(arguments.backends) - set(node.BACKENDS)
    if unknown:
        raise Problem(f"'{unknown.pop()}' is not a backend. Choose from {', '.join(node.BACKENDS)}.")
    common = Plan(ranks=tuple(arguments.ranks), repeats=arguments.repeats, launcher=arguments.launcher,
                  share_gpu=arguments.share_gpu, scratch=arguments.scratch)  # fmt: skip
    path = pathlib.Path(arguments.study)
    parts = list(node.parts_of(common, arguments.backends, arguments.bytes,
                               node.inputs_of(path, arguments.scratch)))  # fmt: skip
    for part in parts:
        part.plan.checked()
    program = provenance.program_at(arguments.program)
    facts = {"commit": arguments.commit or provenance.commit(),
             "machine": provenance.machine_of(arguments.scratch)}
    command = shlex.join(["jobs/scaling.py", *sys.argv[1:]])

    def run_part(part):
        print(f"== {part.name}", file=sys.stderr)
        folder = Folder.begin(path / part.name, part.plan, program, {**facts, "command": command})
        make_runs(folder, program, list(part.plan.ranks), facts, arguments.timeout)

    node.make(path, parts, program, run_part)
    for part in parts:
        arguments.study = path / part.name
        collect(arguments)
        plot(arguments)

    def model_of(rows):
        if len(arguments.ranks) < prediction.LEAST_RANK_COUNTS:
            return None
        return prediction.model_of(rows, arguments.predict, RANKS_A_HOST, Machine(arguments.machine))[1:]

    print(node.report(path, parts, command, model_of))


def submit_runs(arguments):
    scratch = str(pathlib.Path(arguments.study).resolve())
    folder, *_ = begun(arguments, scratch, refuse_unfit)
    jobs = submit(folder, arguments.ranks_per_node, arguments.site, arguments.sbatch)
    print(f"jobs {', '.join(jobs[:-1]) or 'none'}; job {jobs[-1]} collects what they measured")


def collect(arguments):
    folder = Folder(arguments.study)
    done, planned = table.collect(folder)
    all_series = figures.series_of(figures.read_rows(folder.path / "study.csv"))
    print(summary.table_of(all_series))
    print(summary.write(folder, all_series))
    if done < planned:
        print(f"scaling.py: note: {planned - done} of {planned} runs are not made yet",
              file=sys.stderr)
    print(folder.path / "study.csv")


def note_no_pictures(failure):
    print(f"scaling.py: note: no pictures ({failure}); python3-matplotlib draws them",
          file=sys.stderr)


def plot(arguments):
    folder = pathlib.Path(arguments.study)
    rows = figures.read_rows(folder / "study.csv")
    try:
        from scaling_study import pictures
    except ImportError as failure:
        note_no_pictures(failure)
        return
    for picture in pictures.draw_all(rows, figures.series_of(rows), folder):
        print(picture)


def asked_for(arguments):
    """The study's folder and rows, and what a prediction is of."""
    ranks_a_host = arguments.ranks_per_node
    if min(1 if ranks_a_host is None else ranks_a_host, *arguments.predict, 1) < 1:
        raise Problem("--predict and --ranks-per-node have to be 1 or more.")
    folder = pathlib.Path(arguments.study)
    machine = Machine(arguments.machine) if arguments.machine else None
    return (folder, figures.read_rows(folder / "study.csv"),
            (arguments.predict, ranks_a_host, machine, arguments.exscan))


def simulate(arguments):
    folder, rows, question = asked_for(arguments)
    cores = Folder(folder).content["machine"]["cores"] if Folder.is_begun(folder) else None
    found = list(simulation.comparisons(rows, arguments.calibrate, cores, *question))
    print(simulation.table_of(found, arguments.calibrate))
    print("* gave the terms that simulate and predict the others")
    print(simulation.write(folder, found))


def predict(arguments):
    folder, rows, question = asked_for(arguments)
    model, checks, predicted = prediction.model_of(rows, *question)
    print(prediction_report.text_of(model, checks, predicted))
    for path in prediction_report.write(folder, model, checks, predicted):
        print(path)
    try:
        from scaling_study import model_picture
    except ImportError as failure:
        note_no_pictures(failure)
        return
    print(model_picture.draw(model, checks, predicted, folder / "model.png"))


def end(*_):
    sys.exit(TERMINATED)


def main():
    signal.signal(signal.SIGTERM, end)
    arguments = parse_arguments()
    try:
        arguments.handler(arguments)
    except Problem as problem:
        print(f"scaling.py: error: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


if __name__ == "__main__":
    sys.exit(main())
