"""study.csv: a row for each quantity of each run that counts."""

import collections
import csv
import io
import shlex

from measuring import ranks_text, size_text

from .answers import Answers
from .folder import write_whole
from .plan import runs_of
from .problem import Problem

COLUMNS = ("workload", "scaling", "ranks", "hosts", "gpus", "repeat", "bytes", "quantity",
           "threads", "seconds", "waiting", "stage_bytes", "result", "commit", "version", "build",
           "mpi", "devices", "host_names", "started", "command")  # fmt: skip
# Columns of the machine; studies of earlier versions lack them.
MACHINE_COLUMNS = ("processor", "processor_clocks", "cores", "memory_bytes", "file_system", "gpu_facts",
                   "binding", "bottleneck")  # fmt: skip
WHOLE_RUN = "whole run"
WALL = "wall"
# What tells groups of `warpfold bench` apart that measure the same.
VARIANTS = ("wide", "to a value on the host")


def quantity_of(workload, row):
    """What a row of `warpfold bench` is called."""
    if workload == "bench combine" and row["elements"]:
        return f"{row['operation']} of {size_text(row['bytes'])}"
    name = row["operation"] if row["kernel"] == "MPI" else f"{row['operation']} ({row['kernel']})"
    return ", ".join([name, *(variant for variant in VARIANTS if variant in row["group"])])


def bench_quantities(run, report):
    """Name, threads, seconds, seconds waiting, and bytes a rank moves."""
    names = collections.Counter()
    for row in report["results"]:
        if row["seconds"] is None:
            continue
        name = quantity_of(run["workload"], row)
        names[name] += 1
        if names[name] > 1:
            raise Problem(f"{run['name']} measured '{name}' at several sizes or types: a study "
                          "has one. Omit --sizes and --types after --.")
        moved = row["useful_bytes"] or row["bytes"]
        if run["workload"] == "bench ingest":
            moved //= run["ranks"]
        yield name, "", row["seconds"]["median"], "", moved


def stage_quantities(report):
    timings = report["timings"]
    yield WHOLE_RUN, "", timings["seconds"], "", ""
    for name, stage in timings["stages"].items():
        yield name, stage["threads"], stage["seconds"], stage["waiting_seconds"], stage["bytes"]


def gpus_of(content, plan):
    """How many GPUs a run was on."""
    if "cuda" not in content["report"]["backend"]:
        return 0
    ranks = content["run"]["ranks"]
    if not plan.share_gpu:
        return ranks
    there = len(content["machine"]["gpus"]) * len(content["host_names"])
    return min(ranks, there or ranks)


def counted(names):
    """Equal names once, with how many there are: "4 x NVIDIA H200"."""
    return "; ".join(f"{count} x {name}" for name, count in collections.Counter(names).items())


def machine_of(content):
    machine = content["machine"]
    same = {name: machine[name] for name in MACHINE_COLUMNS if name in machine}
    return {**same, "gpu_facts": "; ".join(machine["gpus"]), "binding": " ".join(content["bindings"])}


def rows_of(content, plan):
    run, report = dict(content["run"]), content["report"]
    run["name"] = f"{run['workload']} {run['scaling']}, {run['ranks']} ranks"
    bench = run["workload"].startswith("bench")
    quantities = list(bench_quantities(run, report) if bench else stage_quantities(report))
    quantities.append((WALL, "", content["wall_seconds"], "", ""))
    common = {
        "workload": run["workload"], "scaling": run["scaling"], "ranks": run["ranks"],
        "hosts": report["hosts"], "gpus": gpus_of(content, plan), "repeat": run["repeat"],
        "bytes": run["bytes"], "result": content["result"], "commit": content["commit"],
        "version": report["version"], "build": content["program"]["digest"],
        "mpi": report["build"]["mpi"], "devices": counted(report["devices"]),
        "host_names": " ".join(content["host_names"]), "started": content["started"],
        "command": shlex.join(content["command"]), **machine_of(content),
        "bottleneck": report.get("timings", {}).get("bottleneck", ""),
    }  # fmt: skip
    for name, threads, seconds, waiting, stage_bytes in quantities:
        yield {**common, "quantity": name, "threads": threads, "seconds": seconds,
               "waiting": waiting, "stage_bytes": stage_bytes}


def devices_of(content, backend):
    """The models of a run's GPUs, or that it used cores; of its host's where each run may choose."""
    report = content["report"]
    if backend == "auto":
        models = {gpu.split(",")[0] for gpu in content["machine"]["gpus"]}
    else:
        models = set(report["devices"]) if report["backend"] == "cuda" else set()
    return " and ".join(sorted(models)) or "cores"


def refuse_mixed(contents, what, of_content):
    """One study compares like with like."""
    found = {}
    for content in contents:
        found.setdefault(of_content(content), content["run"])
    if len(found) > 1:
        kinds = ", ".join(f"{kind} with {ranks_text(run['ranks'])}" for kind, run in found.items())
        raise Problem(f"the study mixes {what}: {kinds}. Make one study of each.")


def collect(folder):
    """Checks all runs that were made, and writes study.csv; how many runs there are, and how many
    the plan has."""
    planned = runs_of(folder.plan)
    done = [run for run in planned if folder.is_done(run)]
    contents = [folder.kept_run(run) for run in done]
    if not any(run.counts for run in done):
        raise Problem(f"nothing that counts was measured yet in {folder.path}. Run the study with "
                      "`scaling.py run`.")
    refuse_mixed(contents, "builds", lambda content: content["program"]["digest"][:12])
    refuse_mixed(contents, "MPI libraries", lambda content: content["report"]["build"]["mpi"])
    refuse_mixed(contents, "devices", lambda content: devices_of(content, folder.plan.backend))
    answers = Answers()
    for run, content in zip(done, contents):
        answers.add(run, content["answer"])
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS + MACHINE_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for run, content in zip(done, contents):
        if run.counts:
            writer.writerows(rows_of(content, folder.plan))
    write_whole(folder.path / "study.csv", text.getvalue())
    return len(done), len(planned)
