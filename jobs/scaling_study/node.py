"""A study of all GPUs of a node: arrays in GPU memory, files, links and starts, in studies of their own."""

import contextlib
import dataclasses
import hashlib
import itertools
import pathlib
import shutil

from measuring import point_text, size_text

from .figures import read_rows, series_of
from .folder import Folder
from .plan import Plan, runs_of
from .problem import Problem
from .summary import SHARED

BACKENDS = ("cuda", "auto", "cpu")
BYTES = 64 << 30  # of the compressed elements; the contiguous ones are a quarter
MOST_IN_MEMORY = 4 << 30  # of a rank's array
FROM_GZIP = ("reduce", "reduce --axis 0 --ops mean", "reduce --by labels --ops mean")
DATASET = "field"
PLANE_BYTES = 4 << 20  # the fields of whole_node.py have whole planes


@dataclasses.dataclass(frozen=True)
class Part:
    """A study within the node's; `source` is the input of whole_node.py that it reads, if any."""

    name: str
    title: str
    plan: Plan
    source: str | None = None


def parts_of(common, backends, size, inputs):
    """All studies; `common` has what their plans share, `inputs` is the folder of the datasets."""
    on_gpu, in_memory = "cuda" in backends, min(MOST_IN_MEMORY, size // 4)
    for kind in ("f32", "f64") if on_gpu else ("f32",):
        workloads = ("bench collectives",) * on_gpu + ("bench combine",) * (kind == "f32")
        plan = dataclasses.replace(common, workloads=workloads, scalings=("weak",), bytes=in_memory,
                                   type=kind, backend="cuda" if on_gpu else "cpu")  # fmt: skip
        yield Part(f"memory-{kind}", f"Arrays in memory, {size_text(in_memory)} of {kind} a rank", plan)
    for source, title, bytes_, workloads in (
        ("gzip-1M", "gzip + shuffle in chunks of 1 MiB", size, FROM_GZIP),
        ("contiguous", "contiguous", size // 4, ("scan",)),
    ):
        for backend in backends:
            raw = ("bench ingest",) * (source == "contiguous" and backend != "auto")
            whole = max(1, bytes_ // PLANE_BYTES) * PLANE_BYTES
            plan = dataclasses.replace(common, workloads=workloads + raw, scalings=("strong",), bytes=whole,
                                       backend=backend, file=f"{inputs / source}.h5::{DATASET}")  # fmt: skip
            yield Part(f"{source}-{backend}", f"{size_text(whole)} of f32, {title}, by `{backend}`",
                       plan, source)  # fmt: skip


def inputs_of(folder, scratch):
    """The folder for inputs, the same one in each attempt, so that plans agree."""
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
    return pathlib.Path(scratch) / f"warpfold-study-node-{name}"


@contextlib.contextmanager
def input_of(plan, source):
    """Makes the dataset that a plan names, which is removed in the end."""
    if source is None:
        yield
        return
    from whole_node import make_input  # needs h5py

    folder = pathlib.Path(plan.file).parent
    folder.mkdir(exist_ok=True)
    try:
        yield make_input(source, folder, plan.bytes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_finished(folder, part, program):
    """Raises a Problem where the part was begun by another plan or program."""
    if not Folder.is_begun(folder / part.name):
        return False
    study = Folder(folder / part.name)
    study.refuse_another(part.plan, program)
    return all(map(study.is_done, runs_of(study.plan)))


def make(folder, parts, program, run_part):
    """Makes each input once, and calls run_part(part) on each part that isn't finished."""
    left = [part for part in parts if not is_finished(folder, part, program)]
    for source, members in itertools.groupby(left, lambda part: part.source):
        first, *others = members
        with input_of(first.plan, source):
            for part in (first, *others):
                run_part(part)


def refuse_different(folder, parts):
    """The same bits by all backends, as each study has them at all numbers of ranks. Counts the tasks that
    several backends have."""
    found, compared = {}, set()
    for part in parts:
        for row in read_rows(folder / part.name / "study.csv"):
            if row["result"]:
                key = (row["workload"], row["bytes"])
                name, result = found.setdefault(key, (part.name, row["result"]))
                if result != row["result"]:
                    raise Problem(f"DIFFERENT: {row['workload']} has different results in {name} and "
                                  f"{part.name}. The study has failed, as results have to be the same "
                                  "bits by all backends.")
                if name != part.name:
                    compared.add(key)
    return len(compared)


def table_of(all_series):
    """Markdown: a row for each series, a column for each number of ranks."""
    ranks = sorted({point.ranks for series in all_series for point in series.points})
    shared = {point.ranks for series in all_series for point in series.points if point.shares_cores}
    lines = ["| | " + " | ".join(f"{each}{SHARED * (each in shared)}" for each in ranks)
             + " | efficiency | limited by |", "|---" * (len(ranks) + 3) + "|"]  # fmt: skip
    for series in all_series:
        at = {point.ranks: point_text(point.seconds.median, point.rate and point.rate.median)
              for point in series.points}  # fmt: skip
        last = series.points[-1]
        efficiency = f"{last.efficiency.median:.3f}" if last.efficiency else ""
        cells = [f"{series.workload}, {series.quantity}", *(at.get(each, "") for each in ranks),
                 efficiency, last.bottleneck.partition(":")[0] if series.is_headline else ""]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def shown(series):
    """What the README shows: what workloads are about, and the starts."""
    return series.is_headline or series.quantity in ("start MPI", "start GPU")


def machine_text(machine, devices):
    gpus = f"{devices}; " if machine["gpus"] else ""
    return (f"{gpus}{machine['processor']}, {machine['cores']} cores, "
            f"{size_text(machine['memory_bytes'] >> 30 << 30)} of memory, files on "
            f"{machine['file_system']}")  # fmt: skip


def models_text(checks, predicted):
    """Held-out measurements beside their predictions, and predictions of larger machines."""
    held = [each for each in checks if each.is_headline]
    if held:
        yield "| held out | ranks | measured ms | predicted ms | off |\n|---|---|---|---|---|"
        yield from (f"| {each.workload}, {each.quantity} | {each.ranks} | {each.measured * 1e3:.4g} | "
                    f"{each.seconds.median * 1e3:.4g} | {each.off_percent:+.1f} % |" for each in held)
        yield ""
    further = [each for each in predicted if each.is_headline]
    if further:
        from .prediction import PARTS, limit_of

        yield "| predicted | ranks | hosts | ms | limited by |\n|---|---|---|---|---|"
        yield from (f"| {each.workload}, {each.quantity} | {each.ranks} | {each.hosts} | "
                    f"{each.seconds.median * 1e3:.4g} | {PARTS[limit_of(each.parts)]} |"
                    for each in further)
        yield ""


def report(folder, parts, command, model_of):
    """Writes README.md of the studies; model_of(rows) gives checks and predictions, or None."""
    compared = refuse_different(folder, parts)
    first = Folder(folder / parts[0].name)
    rows = {part.name: read_rows(folder / part.name / "study.csv") for part in parts}
    most = max(rows[parts[0].name], key=lambda row: int(row["ranks"]))
    dates = sorted(row["started"][:10] for members in rows.values() for row in members)
    text = [
        f"# {first.plan.ranks[-1]} ranks on a node", "",
        f"Machine: {machine_text(first.content['machine'], most['devices'])}.",
        f"Version {most['version']}, commit {most['commit']}, {dates[0]} to {dates[-1]}.", "",
        "`jobs/scaling.py node` made this page. It repeats all with this command:", "",
        "```sh", command, "```", "",
        "Columns are numbers of ranks. Times are medians. `limited by` is what the program reports of",
        "the median run with the most ranks. An asterisk marks more ranks than cores.", "",
    ]  # fmt: skip
    if compared:
        text += [f"Results of {compared} tasks were the same bits by all backends and numbers of ranks.", ""]
    for part in parts:
        text += [f"## {part.name}", "", f"{part.title}.", "",
                 table_of([each for each in series_of(rows[part.name]) if shown(each)]), ""]  # fmt: skip
        modelled = model_of(rows[part.name])
        text += models_text(*modelled) if modelled else []
    path = folder / "README.md"
    path.write_text("\n".join(text).rstrip("\n") + "\n")
    return path
