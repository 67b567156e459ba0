#!/usr/bin/env python3
"""Measures every command on all processors of a node: seconds of whole commands.

whole_node.py PROGRAM                        on cores, on GPUs and on both, as far as they are there
whole_node.py PROGRAM --backends cpu --threads 1,4,16       how a command scales with threads
whole_node.py PROGRAM --backends cuda --ranks 1,2           how it scales with GPUs
whole_node.py PROGRAM --before OLD           two builds in turns, and the ratios of their medians

Makes a field of f32 [time][1024][1024] in a folder in memory, as it is, compressed in chunks of 1
MiB and of 4 MiB, and encoded by other filters of HDF5. Every run is a process of its own, timed
from its start to its end. The row `start` is a sum of 8 bytes; the row `copy` copies the field by
as many threads. All columns of a row must give the same results, to the bit. Prints a table of
medians, and with --json FILE all of the times. Needs h5py and NumPy for Python.
"""

import argparse
import concurrent.futures
import dataclasses
import itertools
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import measuring

measuring.require("h5py", "numpy")

import h5py  # noqa: E402
import numpy  # noqa: E402

import host  # noqa: E402

PLANE = (1024, 1024)
DISTINCT_PLANES = 16
LABELS = 1000
SMALL_OUTPUT = 1 << 28  # bytes: larger outputs are compared by their size alone
COPY_PART = 4 << 20
MANTISSA, EXPONENT = 13, 8  # bits of the n-bit filter's floats, which hold all of the field's numbers


@dataclasses.dataclass(frozen=True)
class Source:
    """How the field is stored: contiguous, or a plane in chunks of so many elements along each of
    its dimensions, which HDF5's filters encode: their numbers and parameters."""

    edge: int = 0
    filters: tuple = ()


GZIP = ((h5py.h5z.FILTER_SHUFFLE,), (h5py.h5z.FILTER_DEFLATE, 4))
SOURCES = {
    "contiguous": Source(),
    "gzip-1M": Source(512, GZIP),
    "gzip-4M": Source(1024, GZIP),
    "szip-1M": Source(512, ((h5py.h5z.FILTER_SZIP, h5py.h5z.SZIP_NN_OPTION_MASK, 32),)),
    "scale-offset-1M": Source(512, ((h5py.h5z.FILTER_SCALEOFFSET, 0, 4),)),
    "n-bit-1M": Source(512, ((h5py.h5z.FILTER_NBIT,),)),
}


@dataclasses.dataclass(frozen=True)
class Task:
    """What is done with which input; `output` is whether a file is written."""

    words: str
    source: str = "contiguous"
    output: bool = False
    backends: tuple = ("cpu", "cuda", "auto")


TASKS = {
    "reduce": Task("reduce --ops sum"),
    "all statistics": Task("reduce --ops all"),
    "by 1,000 labels": Task("reduce --by labels --ops mean"),
    "along axis": Task("reduce --axis 0 --ops mean", output=True),
    "all along axis": Task("reduce --axis 0 --ops all", output=True),
    "median": Task("reduce --ops median"),
    "median along axis": Task("reduce --axis 0 --ops median", output=True),
    "every 24": Task("reduce --axis 0 --every 24 --ops mean", output=True),
    "weights": Task("reduce --ops mean --weights weights"),
    "histogram 100": Task("histogram --bins 100 --range 0,600"),
    "histogram 100,000": Task("histogram --bins 100000 --range 0,600"),
    "compact 10 %": Task("compact --where '>292.8'", output=True),
    "scan": Task("scan", output=True),
    "scan along axis": Task("scan --axis 0", output=True),
    "scan to gzip": Task("scan --chunks 8,1024,1024 --deflate 1 --shuffle", output=True),
    "gzip 1 MiB": Task("reduce --ops sum", "gzip-1M"),
    "gzip 4 MiB": Task("reduce --ops sum", "gzip-4M"),
    "gzip by labels": Task("reduce --by labels --ops mean", "gzip-1M"),
    "gzip along axis": Task("reduce --axis 0 --ops mean", "gzip-1M", output=True),
    "gzip histogram": Task("histogram --bins 100 --range 0,600", "gzip-1M"),
    "gzip scan": Task("scan", "gzip-1M", output=True),
    "szip": Task("reduce --ops sum", "szip-1M"),
    "scale-offset": Task("reduce --ops sum", "scale-offset-1M"),
    "n-bit": Task("reduce --ops sum", "n-bit-1M"),
}


@dataclasses.dataclass(frozen=True)
class Column:
    """How a task is run."""

    program: str
    backend: str
    ranks: int
    threads: int  # of a rank; 0: as many as warpfold chooses
    before: bool

    def title(self):
        words = [self.backend]
        if self.ranks > 1:
            words.append(measuring.count_text(self.ranks, "rank"))
        if self.threads:
            words.append(measuring.count_text(self.threads, "thread"))
        return ", ".join(words) + (" before" if self.before else "")

    def command(self, words):
        launch = ["mpirun", "-np", self.ranks] if self.ranks > 1 else []
        threads = ["--threads", self.threads] if self.threads else []
        return [str(each) for each in
                [*launch, self.program, *words, "--backend", self.backend, *threads]]  # fmt: skip


def planes():
    """Temperatures in sixteenths of a kelvin, warm in the middle."""
    noise = numpy.random.default_rng(1)
    warm = 20 * numpy.sin(numpy.linspace(0, numpy.pi, PLANE[0]))[:, None]
    for _ in range(DISTINCT_PLANES):
        yield (numpy.rint(16 * (270 + warm + noise.normal(0, 6, PLANE))) / 16).astype("<f4")


def add_small_datasets(file):
    numbers = numpy.random.default_rng(2)
    file["labels"] = numbers.integers(0, LABELS, PLANE, dtype="i4")
    file["weights"] = numpy.cos(numpy.linspace(-1.5, 1.5, PLANE[0]))[:, None] * numpy.ones(PLANE)
    file["one"] = numpy.ones(1)


def fill_contiguous(path, offset, distinct, times):
    field = numpy.memmap(path, "<f4", "r+", offset, (times, *PLANE))

    def write(number):
        field[number] = distinct[number % DISTINCT_PLANES]

    with concurrent.futures.ThreadPoolExecutor() as threads:
        list(threads.map(write, range(times)))


def create_field(file, times, source):
    shape = (times, *PLANE)
    storage = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    stored_type = h5py.h5t.IEEE_F32LE.copy()
    if source.edge:
        storage.set_chunk((1, source.edge, source.edge))
    else:
        storage.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        storage.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    for number, *parameters in source.filters:
        storage.set_filter(number, 0, tuple(parameters))
        if number == h5py.h5z.FILTER_NBIT:
            stored_type.set_fields(MANTISSA + EXPONENT, MANTISSA, EXPONENT, 0, MANTISSA)
            stored_type.set_precision(1 + MANTISSA + EXPONENT)
    space = h5py.h5s.create_simple(shape)
    return h5py.Dataset(h5py.h5d.create(file.id, b"field", stored_type, space, storage))


def fill_chunks(field, distinct, source):
    """Encodes each plane that occurs once, by HDF5, and copies its chunks."""
    times = field.shape[0]
    corners = list(itertools.product(*(range(0, extent, source.edge) for extent in PLANE)))
    with h5py.File("planes", "w", driver="core", backing_store=False) as memory:
        encoded = create_field(memory, min(times, DISTINCT_PLANES), source)
        for number in range(encoded.shape[0]):
            encoded[number] = distinct[number]
        memory.flush()
        for number, corner in itertools.product(range(times), corners):
            mask, stream = encoded.id.read_direct_chunk((number % DISTINCT_PLANES, *corner))
            field.id.write_direct_chunk((number, *corner), stream, mask)


def make_input(name, folder, size):
    """The file's path."""
    times = max(1, size // (4 * PLANE[0] * PLANE[1]))
    source, path, distinct = SOURCES[name], folder / f"{name}.h5", list(planes())
    with h5py.File(path, "w") as file:
        add_small_datasets(file)
        field = create_field(file, times, source)
        if source.edge:
            fill_chunks(field, distinct, source)
            return path
        offset = field.id.get_offset()
    fill_contiguous(path, offset, distinct, times)
    return path


def copy_by_threads(source, target, threads):
    """Seconds of a copy of a file, each thread in parts of its own."""
    size = source.stat().st_size
    start = time.perf_counter()
    with open(source, "rb") as read, open(target, "wb") as written:

        def copy(offset):
            part = os.pread(read.fileno(), COPY_PART, offset)
            os.pwrite(written.fileno(), part, offset)

        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            list(pool.map(copy, range(0, size, COPY_PART)))
    took = time.perf_counter() - start
    target.unlink()
    return took


def command_of(task, path, output):
    command, *options = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", task.words)]
    where = ["-o", output, "--force"] if task.output else []
    return [command, path, "field", *options, *where, "--json", "-", "--quiet"]


def contents_of(path):
    """The datasets of a small output, as bytes; its size if it is large."""
    if path.stat().st_size > SMALL_OUTPUT:
        return path.stat().st_size
    contents = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: contents.__setitem__(name, item[()].tobytes())
                        if isinstance(item, h5py.Dataset) else None)  # fmt: skip
    return contents


def run(words):
    """The seconds of a command and its report."""
    start = time.perf_counter()
    ended = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                           env=measuring.environment())  # fmt: skip
    took = time.perf_counter() - start
    if ended.returncode != 0:
        sys.exit(f"whole_node.py: error: {' '.join(words)}: {ended.stderr.strip()}")
    return took, json.loads(ended.stdout)


def measure_task(task, columns, path, output, repeats):
    """Each column's seconds, after a run that is not counted; the same results are required."""
    seconds = {column: [] for column in columns if column.backend in task.backends}
    expected = None
    for repeat in range(repeats + 1):
        for column in seconds:
            took, report = run(column.command(command_of(task, path, output)))
            seconds[column] += [took] * (repeat > 0)
            if repeat == 0:
                results = (report.get("results"), contents_of(output) if task.output else None)
                expected = expected or results
                if results != expected:
                    sys.exit(f"whole_node.py: error: {column.title()}: other results of {task.words}")
            if task.output:
                output.unlink()
    return seconds


def measure(columns, names, folder, size, repeats):
    """Seconds by task and column, the inputs made one after the other."""
    output = folder / "output.h5"
    threads = max(column.threads for column in columns) or os.cpu_count()
    measured = {}

    def record(name, seconds):
        measured[name] = {column.title(): each for column, each in seconds.items()}
        print(f"  {name}: " + "  ".join(f"{title} {statistics.median(each):.3f}"
                                        for title, each in measured[name].items()),
              file=sys.stderr, flush=True)  # fmt: skip

    for source in SOURCES:
        tasks = {name: TASKS[name] for name in names if TASKS[name].source == source}
        if not tasks:
            continue
        if not all(h5py.h5z.filter_avail(number) for number, *_ in SOURCES[source].filters):
            print(f"  {source} is skipped: this HDF5 lacks a filter", file=sys.stderr)
            continue
        path = make_input(source, folder, size)
        if not measured:
            record("start", {column: [run(column.command(["reduce", path, "one", "--json", "-",
                                                          "--quiet"]))[0]
                                      for _ in range(repeats)] for column in columns})  # fmt: skip
        if source == "contiguous":
            copies = [copy_by_threads(path, output, threads) for _ in range(repeats)]
            measured["copy"] = {measuring.count_text(threads, "thread"): copies}
        for name, task in tasks.items():
            record(name, measure_task(task, columns, path, output, repeats))
        path.unlink()
    return measured


def print_table(measured, titles):
    wide = max(len(name) for name in measured)
    print(" " * wide + "".join(f"  {title:>14}" for title in titles))
    for name, seconds in measured.items():
        if name == "copy":
            (threads, copies), = seconds.items()
            print(f"{name:{wide}}  {statistics.median(copies):14.3f} s by {threads}")
            continue
        cells = []
        for title in titles:
            if title not in seconds:
                cells.append("")
                continue
            median = statistics.median(seconds[title])
            before = seconds.get(f"{title} before")
            ratio = f" {median / statistics.median(before):.2f}x" if before else ""
            cells.append(f"{median:.3f}{ratio}")
        print(f"{name:{wide}}" + "".join(f"  {cell:>14}" for cell in cells))


def columns_of(arguments):
    programs = [(arguments.program, False)]
    if arguments.before:
        programs.insert(0, (arguments.before, True))
    return [Column(program, backend, ranks, threads, before)
            for backend in arguments.backends.split(",") for ranks in arguments.ranks
            for threads in arguments.threads for program, before in programs]  # fmt: skip


def chosen_tasks(pattern):
    names = [name for name in TASKS if re.search(pattern, name)]
    if not names:
        raise argparse.ArgumentTypeError(f"'{pattern}' names none of: {', '.join(TASKS)}")
    return names


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    has_gpu = shutil.which("nvidia-smi") is not None
    parser.add_argument("program", nargs="?", default="build/release/warpfold")
    parser.add_argument("--before", metavar="PROGRAM", help="an earlier build, to be compared with")
    parser.add_argument("--backends", default="cpu,cuda,auto" if has_gpu else "cpu")
    parser.add_argument("--ranks", type=measuring.numbers_of, default=[1], metavar="N,...")
    parser.add_argument("--threads", type=measuring.numbers_of, default=[0], metavar="N,...")
    parser.add_argument("--tasks", type=chosen_tasks, default=list(TASKS), metavar="PATTERN")
    parser.add_argument("--size", type=measuring.bytes_of, default="8G", help="of the field's elements")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scratch", default="/dev/shm", metavar="FOLDER", help="of files in memory")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="warpfold-node-", dir=arguments.scratch))
    columns = columns_of(arguments)
    try:
        measured = measure(columns, arguments.tasks, folder, arguments.size, arguments.repeats)
    finally:
        shutil.rmtree(folder)
    print_table(measured, [column.title() for column in columns if not column.before])
    if arguments.json:
        report = {"size": arguments.size, "machine": host.facts(arguments.scratch), "seconds": measured}
        pathlib.Path(arguments.json).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
