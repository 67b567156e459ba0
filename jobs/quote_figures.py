#!/usr/bin/env python3
"""Writes the tables of documents from jobs/figures, and checks the figures that their sentences state.

quote_figures.py            writes all tables
quote_figures.py --check    exits with 1 if a table or a sentence differs from the figures

A table lies between <!-- figures: TABLE SOURCE --> and <!-- end of figures -->; SOURCE is a machine,
jobs/figures/SOURCE.json, or the folder of a scaling study. jobs/figures/quotes.toml has the texts that
sentences quote, and those that come from elsewhere. Every rate and time of the documents named there,
outside of code, has to be in a table or in such a text.
"""

import argparse
import json
import pathlib
import re
import sys
import tomllib

from measuring import point_text, ranks_text
from scaling_study import figures
from scaling_study.problem import Problem

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIGURES = ROOT / "jobs" / "figures"
BLOCK = re.compile(r"<!-- figures: (\w+) (\S+) -->\n(.*?)<!-- end of figures -->", re.DOTALL)
REFERENCE = re.compile(r"\{([^|}]+)\|([^|}]+)\}")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
UNITS = "[KMGT]i?B/s|ns|us|µs|ms|s|min|h|seconds?|minutes?|hours?"
STATED = re.compile(rf"(?<![\w.])\d[\d.,]*(?:\s(?:\w+\s)?\d[\d.,]*)*\s(?:{UNITS})\b")


class Wrong(Exception):
    """What differs, and where."""


def machine_of(name):
    path = FIGURES / f"{name}.json"
    if not path.exists():
        raise Wrong(f"there is no {path.relative_to(ROOT)}. Measure it by jobs/measure_figures.py")
    return json.loads(path.read_text())


def record_of(content, part):
    if part not in content["records"]:
        raise Wrong(f"there are no figures of '{part}' on this machine. Measure them by "
                    "jobs/measure_figures.py --parts")
    return content["records"][part]


def value_of(path):
    """Of "NAME: RECORD: KEY: ..." in jobs/figures/NAME.json, or of "FOLDER: SERIES: RANKS: WHAT" of a
    study; "* 1e3" may follow."""
    path, _, factor = path.partition(" * ")
    name, *keys = path.split(": ")
    if "/" in name:
        found = study_of(name)
    else:
        record, *keys = keys
        found = record_of(machine_of(name), record)["figures"]
    for key in keys:
        if not isinstance(found, dict) or key not in found:
            raise Wrong(f"'{path}' of quotes.toml: there is no '{key}'")
        found = found[key]
    if not isinstance(found, int | float):
        raise Wrong(f"'{path}' of quotes.toml is not a number")
    return found * float(factor or 1)


def study_of(folder):
    """Seconds, bytes a second and efficiency of what a study is about, by series and ranks."""
    found = {}
    for series in figures.series_of(figures.read_rows(ROOT / folder / "study.csv")):
        if not series.is_headline:
            continue
        name = f"{series.workload}, {series.scaling}, {series.quantity}"
        if name in found:
            raise Wrong(f"{folder} has '{name}' twice")
        found[name] = {str(point.ranks): {
            "seconds": point.seconds.median,
            "rate": point.rate and point.rate.median,
            "efficiency": point.efficiency and point.efficiency.median,
        } for point in series.points}  # fmt: skip
    return found


def rendered(text):
    try:
        return REFERENCE.sub(lambda each: format(value_of(each[1].strip()), each[2].strip()), text)
    except ValueError as failure:
        raise Wrong(f"'{text}' of quotes.toml: {failure}") from failure


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def caption(record):
    """Where figures come from."""
    machine = record["machine"]
    gpus = [line.split(",")[0] for line in machine["gpus"]]
    devices = f"{len(gpus)} {gpus[0]} and " if gpus else ""
    note = f" {record['note']}" if "note" in record else ""
    return (f"Measured on {record['date']} by warpfold {record['version']}, commit {record['commit']}. "
            f"Machine: {devices}{machine['cores']} cores of {machine['processor']}.{note} Command:\n`{record['command']}`.")


def of_record(name, part):
    record = record_of(machine_of(name), part)
    return caption(record), record["figures"]


def tools(name):
    said, found = of_record(name, "tools")
    columns = list(dict.fromkeys(tool for tasks in found["seconds"].values() for each in tasks.values()
                                 for tool in each))  # fmt: skip
    rows = [[f"{source}: {task}", *(f"{each[tool]:.2f}" if tool in each else "-" for tool in columns)]
            for source, tasks in found["seconds"].items() for task, each in tasks.items()]  # fmt: skip
    return f"{said}\n\n{markdown(['seconds', *columns], rows)}"


def node(name):
    said, found = of_record(name, "node")
    columns = list(found["start"])
    rows = [[task, *(f"{each[column]:.3f}" if column in each else "" for column in columns)]
            for task, each in found.items() if task != "copy"]  # fmt: skip
    (threads, copied), = found["copy"].items()
    return (f"{said}\n\n{markdown(['seconds', *columns], rows)}\n\n"
            f"A copy of the field by {threads} takes {copied:.3f} s.")


def ratio(kernels, kernel, what):
    return f"{kernels[kernel][what]:.2f}" if what in kernels.get(kernel, {}) else ""


def rate_ratio(kernels, kernel, peer):
    return f"{kernels[kernel]['GB/s'] / kernels[peer]['GB/s']:.2f}" if peer in kernels else ""


def kernel_table(lines, peer):
    """Lines of a title, a kernel and all kernels measured beside it; `peer` has a column if it was measured."""
    header, rows = ["", "GB/s", "of copy", "of CUB"], []
    is_shown = any(peer in kernels for _, _, kernels in lines)
    for title, kernel, kernels in lines:
        rows.append([title, f"{kernels[kernel]['GB/s']:.0f}", ratio(kernels, kernel, "of copy"),
                     ratio(kernels, kernel, "of CUB")])  # fmt: skip
        if is_shown:
            rows[-1].append(rate_ratio(kernels, kernel, peer))
    return markdown(header + [f"of {peer}"] * is_shown, rows)


def kernels(name):
    """Reductions and scans in GPU memory."""
    said, reductions = of_record(name, "bench reduce")
    said_of_scans, scans = of_record(name, "bench scan")
    reduced = [(f"{group}, {operation}", "fold", each) for group, operations in reductions.items()
               if "to a value on the host" not in group
               for operation, each in operations.items() if "fold" in each]  # fmt: skip
    scanned = [(f"{group}, {operation} ({kernel})", kernel, each) for group, operations in scans.items()
               for operation, each in operations.items()
               for kernel in ("registers", "reproducible") if kernel in each]  # fmt: skip
    return (f"{said}\n\n{kernel_table(reduced, 'CUB gpu_to_gpu')}\n\n"
            f"{said_of_scans}\n\n{kernel_table(scanned, 'CUB run_to_run')}")


def cupy(name):
    said, found = of_record(name, "cupy")
    rows = [[f"{task}, {kind}", f"{each['warpfold']:.0f}" if each["warpfold"] else "",
             f"{each['CuPy']:.0f}", f"{each['ratio']:.1f}" if each["ratio"] else ""]
            for kind, tasks in found.items() for task, each in tasks.items()]  # fmt: skip
    return f"{said}\n\n{markdown(['', 'warpfold GB/s', 'CuPy GB/s', 'warpfold / CuPy'], rows)}"


def many_gpus(name):
    """1,024 GPUs: kernels as one of them was measured, exchanges as a study of four predicts."""
    said, found = of_record(name, "bench collectives")
    folder = "jobs/examples/h200/four_gpus/memory-f32"
    model = json.loads((ROOT / folder / "model.json").read_text())
    parts = {(each["workload"], each["quantity"]): each["parts"] for each in model["predictions"]
             if each["ranks"] == 1024}  # fmt: skip
    chain = parts["bench combine", "MPI_Exscan"]
    tree = parts["bench combine", "MPI_Reduce"]

    def kernel(kind, operation, name_):
        (group,) = [each for each in found if f" {kind}" in each and operation in found[each]]
        return found[group][operation][name_]["seconds"]

    total, exact, fast = (kernel("f32", operation, name_) for operation, name_ in
                          (("sum", "reduce"), ("inclusive", "scan"), ("inclusive", "fast")))  # fmt: skip
    rows = []
    for title, alone, first, exchange in (("sum f32", total, 0.0, tree),
                                          ("exact scan f32, by doubling", exact, total, tree),
                                          ("exact scan f32, along a chain", exact, total, chain),
                                          ("fast scan f32, by doubling", fast, total, tree)):  # fmt: skip
        times = (first + alone, exchange["within"], exchange["between"])
        limit = max(zip(times, ("the GPU's memory", "exchanges within hosts", "exchanges between hosts")))
        rows.append([title, *(f"{each * 1e3:.3f}" for each in (*times, sum(times))),
                     f"{alone / sum(times):.2f}", limit[1]])  # fmt: skip
    header = ["ms", "kernels of a GPU", "within hosts", "between hosts", "total", "of one GPU alone",
              "limited by"]  # fmt: skip
    return (f"{said}\n\n{markdown(header, rows)}\n\nExchanges: [a study of four H200](examples/h200/README.md) "
            f"of version {model['version']}, and `jobs/sites/ndr.toml`.")


def study(folder):
    found = study_of(folder)
    ranks = sorted({each for points in found.values() for each in points}, key=int)
    rows = []
    for series, points in found.items():
        cells = []
        for each in ranks:
            point = points.get(each)
            cells.append("" if point is None else point_text(point["seconds"], point["rate"]))
        efficiency = points[ranks[-1]]["efficiency"] if ranks[-1] in points else None
        rows.append([series, *cells, f"{efficiency:.3f}" if efficiency else ""])
    return markdown(["", *(ranks_text(int(each)) for each in ranks), "efficiency"], rows)


TABLES = {each.__name__: each for each in (tools, node, kernels, cupy, many_gpus, study)}


def table_of(name, source):
    if name not in TABLES:
        raise Wrong(f"'{name}' is not a table. Choose from {', '.join(TABLES)}")
    try:
        return TABLES[name](source)
    except KeyError as missing:
        raise Wrong(f"the figures of the table '{name} {source}' have no {missing}") from missing


def with_tables(text):
    """A document's text with its tables as the figures have them."""
    return BLOCK.sub(lambda each: f"<!-- figures: {each[1]} {each[2]} -->\n\n{table_of(each[1], each[2])}\n\n"
                     "<!-- end of figures -->", text)  # fmt: skip


def unwrapped(text):
    return re.sub(r"\s+", " ", text)


def section_of(text, heading):
    """The part of a document below a heading, or all of it."""
    if heading is None:
        return text
    found = re.search(rf"^(#+) {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise Wrong(f"there is no heading '{heading}'")
    return found[2]


def unquoted(text, quotes):
    """Rates and times that neither a table nor a quotation has."""
    left = unwrapped(CODE.sub(" ", BLOCK.sub(" ", text)))
    for quote in sorted(quotes, key=len, reverse=True):
        left = left.replace(unwrapped(CODE.sub(" ", quote)), " ... ")
    return STATED.findall(left)


def check_quotes(known):
    """Raises Wrong where a document lacks a quotation, or states a figure that is none."""
    for document in known["document"]:
        whole = (ROOT / document["path"]).read_text()
        text = "".join(section_of(whole, each) for each in document.get("sections", [None]))
        quotes = []
        for quote in document.get("quotes", []):
            stated = rendered(quote)
            if unwrapped(stated) not in unwrapped(text):
                raise Wrong(f"{document['path']} does not state '{stated}'")
            quotes.append(stated)
        for other in document.get("others", []):
            if unwrapped(other["text"]) not in unwrapped(text):
                raise Wrong(f"{document['path']} no longer states '{other['text']}'")
            quotes.append(other["text"])
        left = unquoted(text, quotes)
        if left:
            raise Wrong(f"{document['path']} states {', '.join(left)}, which quotes.toml lacks")


def documents():
    for path in sorted(ROOT.glob("**/*.md")):
        if not {"build", ".git"} & set(path.relative_to(ROOT).parts):
            yield path


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    try:
        for path in documents():
            text = path.read_text()
            now = with_tables(text)
            if now != text and arguments.check:
                raise Wrong(f"a table of {path.relative_to(ROOT)} differs. Run jobs/quote_figures.py")
            if now != text:
                path.write_text(now)
                print(path.relative_to(ROOT))
        check_quotes(tomllib.loads((FIGURES / "quotes.toml").read_text()))
    except (Wrong, Problem, OSError, tomllib.TOMLDecodeError) as wrong:
        print(f"quote_figures.py: error: {str(wrong).removesuffix('.')}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
