#!/usr/bin/env python3
"""Compares warpfold's kernels with CuPy on arrays in GPU memory.

Runs `warpfold bench` (axes, histogram, select, labels) and then the same tasks by CuPy, on uniform
elements of SIZE bytes. CuPy's results are compared with NumPy's before they are timed, by CUDA
events, as warpfold's are. Prints GB/s, the median of the repeats, of the bytes that a task has to
read and write once. CuPy alone has a row where `bench` measures no such task. Needs CuPy, and
prints a note instead where it is missing.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

import measuring

measuring.require("numpy")

import numpy  # noqa: E402

TYPES = {"f32": numpy.float32, "f64": numpy.float64}
COLUMNS = 1 << 18
LINE = 1024
BINS = {"few": 256, "many": 65536}
LABELS = {"few": 16, "many": 1 << 20}
WARM_UP = 3


def inputs_of(random, elements, dtype):
    """An array and numbers of labels, by a generator of CuPy or NumPy."""
    x = random.random(elements, dtype=dtype)
    numbers = {name: random.integers(0, labels, elements, dtype="i4")
               for name, labels in LABELS.items()}  # fmt: skip
    return x, numbers


def tasks_of(xp, x, numbers):
    """For each task: its benchmark and operation of warpfold, if any, useful bytes, and a function."""
    columns = x[: x.size // COLUMNS * COLUMNS].reshape(-1, COLUMNS)
    lines = x[: x.size // LINE * LINE].reshape(-1, LINE)
    maps = x[: x.size // COLUMNS * COLUMNS].reshape(-1, 512, 512)
    labelled = x.nbytes + 4 * x.size

    def histogram(bins):
        return lambda: xp.histogram(x, bins=bins, range=(0.0, 1.0))[0]

    def bincount(name):
        return lambda: xp.bincount(numbers[name], weights=x, minlength=LABELS[name])

    return {
        "mean, first axis": ("axes", "first", columns.nbytes, lambda: columns.mean(axis=0)),
        "mean, last axis": ("axes", "last", lines.nbytes, lambda: lines.mean(axis=1)),
        "mean, last two axes": (None, None, maps.nbytes, lambda: maps.mean(axis=(1, 2))),
        "cumsum, first axis": ("axes", "scan-first", 2 * columns.nbytes,
                               lambda: columns.cumsum(axis=0)),
        "cumsum, last axis": ("axes", "scan-last", 2 * lines.nbytes, lambda: lines.cumsum(axis=1)),
        "x[x <= 0.5]": ("select", "half", x.nbytes * 3 // 2, lambda: x[x <= 0.5]),
        **{f"histogram, {bins} bins": ("histogram", name, x.nbytes, histogram(bins))
           for name, bins in BINS.items()},
        **{f"bincount, {labels} labels": ("labels", name, labelled, bincount(name))
           for name, labels in LABELS.items()},
        "median": (None, None, x.nbytes, lambda: xp.median(x)),
    }  # fmt: skip


def seconds_of(cupy, task, repeats):
    """The median of what events around a task measure."""
    taken = []
    for repeat in range(WARM_UP + repeats):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        task()
        end.record()
        end.synchronize()
        if repeat >= WARM_UP:
            taken.append(cupy.cuda.get_elapsed_time(begin, end) * 1e-3)
    return statistics.median(taken)


def by_cupy(cupy, elements, dtype, repeats):
    """GB/s by task; raises SystemExit for a result that NumPy does not have."""
    x, numbers = inputs_of(cupy.random.default_rng(1), elements, dtype)
    on_host = tasks_of(numpy, x.get(), {name: each.get() for name, each in numbers.items()})
    rates = {}
    for name, (_, _, useful_bytes, task) in tasks_of(cupy, x, numbers).items():
        if not numpy.allclose(task().get(), on_host[name][3](), rtol=1e-2):
            raise SystemExit(f"compare_cupy.py: error: {name}: CuPy and NumPy differ")
        rates[name] = useful_bytes / seconds_of(cupy, task, repeats) * 1e-9
    return rates


def by_warpfold(program, size, type_name, repeats):
    """GB/s by benchmark and operation."""
    rates = {}
    for what in ("axes", "histogram", "select", "labels"):
        words = [program, "bench", what, "--sizes", size, "--types", type_name, "--iterations",
                 repeats, "--kernels", "warpfold", "--json", "-"]  # fmt: skip
        outcome = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, check=True,
                                 text=True, env=measuring.environment())  # fmt: skip
        for row in json.loads(outcome.stdout)["results"]:
            rates[what, row["operation"]] = row["GB/s"]
    return rates


def rows_of(warpfold, cupy):
    """A row for each task: GB/s of both, and the first over the second."""
    rows = {}
    nothing = numpy.empty(0, numpy.float32)
    for name, (what, operation, _, _) in tasks_of(numpy, nothing, {}).items():
        mine, theirs = warpfold.get((what, operation)), cupy[name]
        rows[name] = {"warpfold": mine, "CuPy": theirs, "ratio": mine and mine / theirs}
    return rows


def print_table(title, rows):
    print(f"{title:28}{'warpfold GB/s':>16}{'CuPy GB/s':>16}{'warpfold / CuPy':>17}")
    for name, row in rows.items():
        mine, ratio = (f"{row['warpfold']:.1f}", f"{row['ratio']:.2f}") if row["ratio"] else ("", "")
        print(f"{name:28}{mine:>16}{row['CuPy']:>16.1f}{ratio:>17}")
    print()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", nargs="?", default="build/release/warpfold")
    parser.add_argument("--size", type=measuring.bytes_of, default=measuring.bytes_of("256M"))
    parser.add_argument("--types", nargs="+", choices=TYPES, default=list(TYPES))
    parser.add_argument("--repeats", type=int, default=21)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args()
    try:
        import cupy
    except ImportError as failure:
        print(f"compare_cupy.py: nothing to compare with: {failure}. Install CuPy.")
        return
    report = {}
    for type_name in arguments.types:
        dtype = TYPES[type_name]
        warpfold = by_warpfold(arguments.program, arguments.size, type_name, arguments.repeats)
        elements = arguments.size // numpy.dtype(dtype).itemsize
        rates = by_cupy(cupy, elements, dtype, arguments.repeats)
        report[type_name] = rows_of(warpfold, rates)
        print_table(f"{type_name}, {measuring.size_text(arguments.size)}", report[type_name])
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
