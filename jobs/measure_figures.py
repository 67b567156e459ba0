#!/usr/bin/env python3
"""Measures the figures that documents state, all of one machine's in one run.

measure_figures.py PROGRAM NAME [--parts PART,...] [--budget S]

Writes jobs/figures/NAME.json: a record for each part, with its machine, command, date and version.
Records of other parts stay as they were. Parts that would begin after --budget seconds are skipped. A part
that fails does not stop the others. Both are named at the end. jobs/quote_figures.py compares documents
with these files.
"""

import argparse
import datetime
import functools
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
ITERATIONS = 9
CUPY_REPEATS = 11
NODE_TASKS = ("reduce", "all statistics", "by 1,000 labels", "along axis", "all along axis", "median",
              "median along axis", "weights", "histogram 100", "compact 10 %", "scan", "scan along axis",
              "scan to gzip", "gzip 1 MiB", "gzip by labels", "gzip along axis", "gzip histogram",
              "gzip scan")  # fmt: skip
BENCHMARKS = {
    "bench reduce": "--ops sum,statistics --types u8,i16,u32,i64,f16,bf16,f32,f64 --data uniform,wide "
                    "--kernels 'fold,CUB,CUB gpu_to_gpu,copy' --sizes 4G",
    "bench scan": "--ops inclusive --types u8,u16,u32,i64,f32,f64,u8:u64,u16:u64 --data uniform,wide "
                  "--kernels 'registers,reproducible,CUB,CUB run_to_run,copy' --sizes 4G",
    "bench collectives": "--ops sum,inclusive --types u32,f32,f64 --sizes 4G",
    "bench labels": "--types f32 --sizes 1G",
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


# A part gives its command, the number of its repeats, its figures and, if there is one, its note.


def benchmark(name, run):
    words = [*name.split(), *shlex.split(BENCHMARKS[name]), "--iterations", str(ITERATIONS)]
    report = json.loads(run.output_of([run.program, *words, "--json", "-"]))
    return "warpfold " + shlex.join(words), ITERATIONS, nested(report["results"]), f"{report['gpu']['cub']}."


def words_of_size(size):
    """As --size takes it, in whole units."""
    unit, power = max(((unit, power) for unit, power in measuring.UNITS.items() if size % (1 << power) == 0),
                      key=lambda each: each[1])  # fmt: skip
    return f"{size >> power}{unit}"


def medians(seconds):
    """Of lists, at any depth."""
    if isinstance(seconds, dict):
        return {name: medians(each) for name, each in seconds.items()}
    return statistics.median(seconds) if isinstance(seconds, list) else seconds


def rates(run):
    """The front page's: sums from files to results."""
    size, repeats = run.arguments.size, run.arguments.repeats
    measured = front_page.measure_rates(run.program, size, run.scratch, repeats)
    command = ["jobs/measure_figures.py", "PROGRAM", run.arguments.name, "--parts", "rates", "--size",
               words_of_size(size), "--repeats", str(repeats)]  # fmt: skip
    return shlex.join(command), repeats, measured


def compared(script, repeats, run, *words):
    """The command, the repeats and the report of a script."""
    words = [*map(str, words), "--repeats", str(repeats)]
    return shlex.join([f"jobs/{script}", *words]), repeats, run.by_script(script, *words)


def node(run):
    """Whole commands on all processors."""
    backends = ["--backends", "cpu,auto"] if host.gpus() else []
    command, repeats, report = compared("whole_node.py", run.arguments.repeats, run, "--size",
                                        words_of_size(run.arguments.size // 2), "--tasks",
                                        "^(" + "|".join(NODE_TASKS) + ")$", *backends)  # fmt: skip
    return command, repeats, medians(report["seconds"])


def large(run):
    """A compressed field larger than a GPU's memory share."""
    command, repeats, report = compared("whole_node.py", 2, run, "--size", "48G", "--tasks", "^gzip 1 MiB$",
                                        "--backends", "auto,cpu")  # fmt: skip
    return command, repeats, medians(report["seconds"])


def cupy(run):
    return compared("compare_cupy.py", CUPY_REPEATS, run, "--size", "256M")


def tools(run):
    command, repeats, report = compared("compare_tools.py", run.arguments.repeats, run, "--steps",
                                        run.arguments.steps)  # fmt: skip
    return command, repeats, {name: report[name] for name in ("steps", "versions", "seconds", "off")}


PARTS = {**{name: functools.partial(benchmark, name) for name in BENCHMARKS}, "rates": rates, "node": node,
         "cupy": cupy, "large": large, "tools": tools}  # fmt: skip
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
                command, repeats, figures, *notes = PARTS[name](Measurement(arguments, pathlib.Path(scratch)))
        except (Exception, SystemExit) as failure:
            failed.append(name)
            print(f"{name}: {failure if isinstance(failure, SystemExit) else repr(failure)}", file=sys.stderr, flush=True)
            continue
        content["records"][name] = {
            "machine": host.facts(arguments.scratch),
            "command": command, "date": datetime.date.today().isoformat(), "version": program.version,
            "commit": arguments.commit or provenance.commit(), "repeats": repeats,
            "load_before": load, "figures": figures, **({"note": notes[0]} if notes else {}),
        }  # fmt: skip
        path.write_text(json.dumps(content, indent=1) + "\n")
        print(f"{name}: {time.monotonic() - started:.1f} s", flush=True)
    for what, names in (("skipped", skipped), ("failed", failed)):
        if names:
            print(f"{what}: {', '.join(names)}")
    print(path)
    return 1 if failed else 0


def names_of(text):
    names = text.split(",")
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is not a part. Choose from {', '.join(PARTS)}")
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
    parser.add_argument("--commit", help="commit the program was built from; default: this repository's")
    parser.add_argument("--scratch", default="/dev/shm", metavar="FOLDER", help="default: /dev/shm")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER, help="default: jobs/figures")
    arguments = parser.parse_args()
    if arguments.parts is None:
        arguments.parts = OF_GPUS if host.gpus() else OF_CORES
    return measure(arguments)


if __name__ == "__main__":
    sys.exit(main())
