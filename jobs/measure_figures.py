#!/usr/bin/env python3
"""Measures the figures that documents state, all of one machine's in one run.

measure_figures.py PROGRAM NAME [--parts PART,...] [--budget S]

Writes jobs/figures/NAME.json: a record for each part, with its machine, command, date and version. Records of other parts stay as they were. Parts that would begin after --budget seconds are
skipped, and named at the end; a part that fails keeps the others from nothing. jobs/quote_figures.py compares documents with these files.
"""

import argparse
import datetime
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import front_page
import host
import measuring
from scaling_study import provenance

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "figures"
SCHEMA = "warpfold.figures/1"
TOOLS_STEPS = 1035
NODE_TASKS = ("reduce", "all statistics", "by 1,000 labels", "along axis", "all along axis", "median",
              "median along axis", "weights", "histogram 100", "compact 10 %", "scan", "scan along axis",
              "scan to gzip", "gzip 1 MiB", "gzip by labels", "gzip along axis", "gzip histogram",
              "gzip scan")  # fmt: skip
BENCHMARKS = {
    "bench reduce": "--ops sum,statistics --types u8,i16,u32,i64,f16,bf16,f32,f64 --data uniform,wide "
                    "--kernels fold,CUB,copy --sizes 4G --iterations 9",
    "bench scan": "--ops inclusive --types u8,u16,u32,i64,f32,f64,u8:u64,u16:u64 --data uniform,wide "
                  "--kernels registers,reproducible,CUB,copy --sizes 4G --iterations 9",
    "bench collectives": "--ops sum,inclusive --types u32,f32,f64 --sizes 4G",
    "bench labels": "--types f32 --sizes 1G --iterations 9",
}  # fmt: skip


class Measurement:
    """What parts need: the program, sizes, and how they run commands."""

    def __init__(self, arguments, scratch):
        self.arguments, self.scratch = arguments, scratch
        self.program = os.path.abspath(arguments.program)

    def output_of(self, words):
        ended = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                               stdin=subprocess.DEVNULL, env=measuring.environment())  # fmt: skip
        if ended.returncode != 0:
            sys.exit(f"measure_figures.py: error: {shlex.join(map(str, words))}: {ended.stderr.strip()}")
        return ended.stdout

    def by_script(self, name, *words):
        """The JSON that a script of this folder writes, and its files in this measurement's folder."""
        path = self.scratch / "report.json"
        places = ["--json", path] if name == "compare_cupy.py" else ["--json", path, "--scratch", self.scratch]
        self.output_of([sys.executable, HERE / name, self.program, *words, *places])
        return json.loads(path.read_text())


def nested(rows):
    """GB/s, seconds and ratios of a benchmark's rows, by group, operation and kernel."""
    figures = {}
    for row in rows:
        if row["check"] == "wrong" and "CUB" not in row["kernel"]:
            sys.exit(f"measure_figures.py: error: {row['group']}, {row['kernel']}: WRONG")
        if row["seconds"] is None:
            continue
        known = {"GB/s": row["GB/s"], "seconds": row["seconds"]["median"], "of copy": row["of_copy"],
                 "of CUB": row["of_cub"], "of plain": row["of_plain"]}  # fmt: skip
        figures.setdefault(row["group"], {}).setdefault(row["operation"], {})[row["kernel"]] = {
            name: value for name, value in known.items() if value is not None
        }
    return figures


def benchmark(name):
    def measured(run):
        words = [*name.split(), *shlex.split(BENCHMARKS[name])]
        report = json.loads(run.output_of([run.program, *words, "--json", "-"]))
        return "warpfold " + shlex.join(words), nested(report["results"])

    return measured


def medians(seconds):
    """Of lists, at any depth."""
    if isinstance(seconds, dict):
        return {name: medians(each) for name, each in seconds.items()}
    return statistics.median(seconds) if isinstance(seconds, list) else seconds


def rates(run):
    """The front page's: sums from files to results."""
    measured = front_page.measure_rates(run.program, run.arguments.size, run.scratch,
                                        run.arguments.repeats)  # fmt: skip
    return f"jobs/front_page.py rates, {measuring.size_text(run.arguments.size)}", measured


def node(run):
    """Whole commands on all processors."""
    pattern = "^(" + "|".join(NODE_TASKS) + ")$"
    size = measuring.size_text(run.arguments.size // 2).replace(" ", "")[:-2]
    words = ["--size", size, "--repeats", run.arguments.repeats, "--tasks", pattern,
             *(["--backends", "cpu,auto"] if host.gpus() else [])]  # fmt: skip
    report = run.by_script("whole_node.py", *words)
    return shlex.join(["jobs/whole_node.py", *map(str, words)]), medians(report["seconds"])


def large(run):
    """A compressed field larger than a GPU's memory share."""
    words = ["--size", "48G", "--repeats", 2, "--tasks", "^gzip 1 MiB$", "--backends", "auto,cpu"]
    report = run.by_script("whole_node.py", *words)
    return shlex.join(["jobs/whole_node.py", *map(str, words)]), medians(report["seconds"])


def cupy(run):
    words = ["--size", "256M", "--repeats", 11]
    return "jobs/compare_cupy.py " + shlex.join(map(str, words)), run.by_script("compare_cupy.py", *words)


def tools(run):
    words = ["--steps", run.arguments.steps, "--repeats", run.arguments.repeats]
    report = run.by_script("compare_tools.py", *words)
    return shlex.join(["jobs/compare_tools.py", *map(str, words)]), {
        name: report[name] for name in ("steps", "versions", "seconds", "off")
    }  # fmt: skip


PARTS = {**{name: benchmark(name) for name in BENCHMARKS}, "rates": rates, "node": node, "cupy": cupy,
         "large": large, "tools": tools}  # fmt: skip
OF_GPUS = (*BENCHMARKS, "rates", "cupy", "node", "large")
OF_CORES = ("tools",)


def measure(arguments):
    arguments.folder.mkdir(parents=True, exist_ok=True)
    path = arguments.folder / f"{arguments.name}.json"
    content = json.loads(path.read_text()) if path.exists() else {"schema": SCHEMA, "records": {}}
    begun, skipped, failed = time.monotonic(), [], []
    program = provenance.program_at(arguments.program)
    for name in arguments.parts:
        if time.monotonic() - begun > arguments.budget:
            skipped.append(name)
            continue
        started, load = time.monotonic(), os.getloadavg()[0]
        try:
            with tempfile.TemporaryDirectory(prefix="warpfold-figures-", dir=arguments.scratch) as scratch:
                command, figures = PARTS[name](Measurement(arguments, pathlib.Path(scratch)))
        except (OSError, subprocess.SubprocessError, SystemExit) as failure:
            failed.append(name)
            print(f"{name}: {failure}", file=sys.stderr, flush=True)
            continue
        content["records"][name] = {
            "machine": host.facts(arguments.scratch),
            "command": command, "date": datetime.date.today().isoformat(), "version": program.version,
            "commit": arguments.commit or provenance.commit(), "repeats": arguments.repeats,
            "load_before": load, "figures": figures,
        }  # fmt: skip
        path.write_text(json.dumps(content, indent=1) + "\n")
        print(f"{name}: {time.monotonic() - started:.1f} s", flush=True)
    if skipped:
        print(f"skipped: {', '.join(skipped)}")
    print(path)
    return 1 if failed else 0


def names_of(text):
    names = text.split(",")
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is no part; there are {', '.join(PARTS)}")
    return names


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("name", metavar="NAME", help="of the machine: h100, two_cores")
    parser.add_argument("--parts", type=names_of, metavar="PART,...",
                        help=f"default: {','.join(OF_GPUS)} with a GPU, {','.join(OF_CORES)} without")
    parser.add_argument("--budget", type=float, default=float("inf"), metavar="S",
                        help="begin no part after so many seconds")
    parser.add_argument("--size", type=measuring.bytes_of, default="8G",
                        help="of the inputs of `rates`, twice that of `node`; default: 8G")
    parser.add_argument("--steps", type=int, default=TOOLS_STEPS, help="of `tools`; default: 1035")
    parser.add_argument("--repeats", type=int, default=3, help="default: 3")
    parser.add_argument("--commit", help="that the program was built of; default: this repository's")
    parser.add_argument("--scratch", default="/dev/shm", metavar="FOLDER", help="default: /dev/shm")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER, help="default: jobs/figures")
    arguments = parser.parse_args()
    if arguments.parts is None:
        arguments.parts = OF_GPUS if host.gpus() else OF_CORES
    return measure(arguments)


if __name__ == "__main__":
    sys.exit(main())
