#!/usr/bin/env python3
"""Measures warpfold's ways from file to result beside their ceilings and beside h5py programs.

For each input, which it makes, and each number of ranks it runs in turn `warpfold bench ingest`,
which has the ceilings in the same process, and jobs/peers/h5py_reduce.py. Sums have to be exactly
those that the inputs are made to have. Prints what was reached of what is to be reached; exits with
1 where something failed or a result is wrong, with 2 for wrong usage.
"""

import argparse
import concurrent.futures
import dataclasses
import importlib.util
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import ingest_inputs  # noqa: E402
from measuring import bytes_of, environment, numbers_of, ranks_text, size_text  # noqa: E402

PEER = pathlib.Path(__file__).resolve().parent / "peers" / "h5py_reduce.py"
SCANNED = "f64"


class Failure(Exception):
    """What could not be measured, and why."""


@dataclasses.dataclass
class Line:
    """Something that was measured, and what it is to be at least."""

    what: str
    ranks: int
    value: float
    unit: str
    beside: str = ""  # what the ratio is to
    ratio: float | None = None
    at_least: float | None = None

    @property
    def met(self):
        return None if self.at_least is None else self.ratio >= self.at_least


@dataclasses.dataclass
class Machine:
    """How programs are started here."""

    warpfold: str
    backend: str
    threads: list
    launcher: list
    timeout: float

    def launched(self, words, ranks):
        return words if ranks == 1 else [*self.launcher, str(ranks), *words]

    def run(self, words, ranks):
        """The program's output."""
        command = [str(word) for word in self.launched(words, ranks)]
        try:
            outcome = subprocess.run(command, capture_output=True, text=True, env=environment(),
                                     stdin=subprocess.DEVNULL, timeout=self.timeout)
        except (OSError, subprocess.TimeoutExpired) as failure:
            raise Failure(f"{' '.join(command)}: {failure}") from failure
        if outcome.returncode != 0:
            reason = (outcome.stderr.strip() or outcome.stdout.strip()).splitlines()
            raise Failure(f"{' '.join(command)}: {reason[-1] if reason else outcome.returncode}")
        return outcome.stdout

    def run_alone(self, words):
        """The program's output, seconds from start to exit, and the most MiB of host memory."""
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
            start = time.perf_counter()
            process = subprocess.Popen([str(word) for word in words], stdout=output,
                                       stderr=errors, env=environment())
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            errors.seek(0)
            text, reason = output.read(), errors.read().strip()
        if process.returncode != 0:
            raise Failure(f"{' '.join(map(str, words))}: {reason or process.returncode}")
        return text, seconds, usage.ru_maxrss / 1024

    def warpfold_words(self, *words):
        return [self.warpfold, *words, "--backend", self.backend, *self.threads]


def inputs_of(text):
    """Names and sizes; None where no size is given."""
    inputs = []
    for word in text.split(","):
        name, _, size = word.partition(":")
        if name not in ingest_inputs.RECIPES:
            known = ", ".join(ingest_inputs.RECIPES)
            raise argparse.ArgumentTypeError(f"'{name}' is no input; there are {known}")
        inputs.append((name, bytes_of(size) if size else None))
    return inputs


class Comparison:
    """Measures inputs one after the other and gathers lines."""

    def __init__(self, machine, arguments):
        self.machine = machine
        self.arguments = arguments
        self.lines = []
        self.failures = []
        self.rates = {}  # of warpfold's sum, by input, ranks and size

    def add(self, *fields, **named):
        line = Line(*fields, **named)
        self.lines.append(line)
        print(row_text(line), flush=True)

    def fail(self, what):
        self.failures.append(what)
        print(f"compare_ingest.py: error: {what}", file=sys.stderr, flush=True)

    def check(self, what, measured, expected):
        if measured != expected:
            self.fail(f"{what}: {measured!r}, not {expected!r}")

    def bench(self, source, ranks, kernels, *more):
        """Rows of `warpfold bench ingest`."""
        words = self.machine.warpfold_words("bench", "ingest", source.path, source.dataset,
                                            "--kernels", kernels, "--iterations",
                                            self.arguments.iterations, "--json", "-", *more)
        return json.loads(self.machine.run(words, ranks))["results"]

    @staticmethod
    def peer_ranks(ranks):
        """As many as warpfold's where mpi4py is there."""
        return ranks if importlib.util.find_spec("mpi4py") else 1

    def peer(self, source, ranks, *style):
        """Seconds of the h5py program's best run, and its libraries' name."""
        words = [sys.executable, PEER, source.path, source.dataset, "--repeats",
                 self.arguments.peer_repeats, *style]
        if self.machine.backend == "cpu":
            words.append("--cpu")
        lines = self.machine.run(words, ranks).splitlines()
        report = json.loads(lines[0])
        if len(lines) != 1 or report["ranks"] != ranks:
            raise Failure(f"the peer ran {len(lines)} times with {report['ranks']} ranks, not once "
                          f"with {ranks}: mpi4py does not serve {self.machine.launcher[0]}")
        self.check(f"{source.name}, {ranks_text(ranks)}, h5py", report["sum"], source.sum)
        return min(report["seconds"]), report["library"]

    def peers_of(self, source):
        return self.arguments.peers if source.name in self.arguments.peer_inputs else []

    def exact_sum(self, source, ranks):
        """Of a run of its own, and its report."""
        words = self.machine.warpfold_words("reduce", source.path, source.dataset, "--ops", "sum",
                                            "--quiet", "--json", "-")
        if ranks == 1:
            text, seconds, mebibytes = self.machine.run_alone(words)
            title = f"reduce {source.name}, {size_text(source.element_bytes)}"
            self.add(f"{title}, host memory", 1, mebibytes, "MiB")
            self.add(f"{title}, from start to exit", 1, seconds, "s")
        else:
            text = self.machine.run(words, ranks)
        report = json.loads(text)
        total = report["results"]["sum"]
        self.check(f"{source.name}, {ranks_text(ranks)}, warpfold",
                   int(total) if isinstance(source.sum, int) else total, source.sum)
        return report

    def alternate(self, source, ranks):
        """Rows of every round by what they are, and seconds of every round of the peers."""
        rows, peers = {}, {}
        for _ in range(self.arguments.rounds):
            for row in self.bench(source, ranks, "warpfold,raw,inflate"):
                rows.setdefault((row["kernel"], row["operation"]), []).append(row)
            for style in self.peers_of(source):
                flags = ["--pinned"] if style == "pinned" else []
                seconds, library = self.peer(source, self.peer_ranks(ranks), *flags)
                peers.setdefault((style, library), []).append(seconds)
        return rows, peers

    def reduce(self, source, ranks):
        on_gpu = self.exact_sum(source, ranks)["backend"] == "cuda"
        rows, peers = self.alternate(source, ranks)
        seconds = {name: statistics.median(row["seconds"]["median"] for row in each)
                   for name, each in rows.items()}
        if any(row["check"] == "wrong" for each in rows.values() for row in each):
            self.fail(f"{source.name}, {ranks_text(ranks)}: WRONG, see `bench ingest`")
        mine = seconds["warpfold", "sum"]
        rate = source.file_bytes / mine * 1e-9
        self.rates[source.name, ranks, source.element_bytes] = rate
        title = f"reduce {source.name}, {size_text(source.element_bytes)}"
        self.compare_with_ceilings(title, source, ranks, rows, seconds, rate, on_gpu)
        self.add(f"{title}, all statistics", ranks,
                 source.file_bytes / seconds["warpfold", "statistics"] * 1e-9, "GB/s", "one sum",
                 mine / seconds["warpfold", "statistics"], 0.97 if source.name == "f32" else None)
        for (style, library), each in peers.items():
            theirs = statistics.median(each)
            compared = style == "plain" and self.peer_ranks(ranks) == ranks
            self.add(title, ranks, rate, "GB/s",
                     f"h5py + {library}, {style}, {source.file_bytes / theirs * 1e-9:.2f} GB/s",
                     theirs / mine, required_speedup(source, ranks, on_gpu) if compared else None)
        self.compare_with_contiguous(title, source, ranks, rate)

    def compare_with_ceilings(self, title, source, ranks, rows, seconds, rate, on_gpu):
        for (kernel, operation), each in rows.items():
            if not each[0]["ceiling"]:
                continue
            at_least = None
            if kernel == "raw" and source.name == "f32":
                at_least = 0.90 if on_gpu else 0.85
            elif kernel == "inflate":
                at_least = 0.85 if source.name == "gzip" else None
            self.add(title, ranks, rate, "GB/s", f"{kernel}, {operation}",
                     seconds[kernel, operation] / seconds["warpfold", "sum"], at_least)

    def compare_with_contiguous(self, title, source, ranks, rate):
        at_least = {"f32-big": 0.9, "i16-big": 0.9, "f16": 0.9, "small-chunks": 0.5}
        contiguous = self.rates.get(("f32", ranks, source.element_bytes))
        if source.name in at_least and contiguous:
            self.add(title, ranks, rate, "GB/s", "f32 of that size", rate / contiguous,
                     at_least[source.name])

    def scan(self, source, ranks):
        output = f"{source.path}.scan"
        usual = self.scan_row(source, ranks, output, "warpfold,cp")
        title = f"scan {source.name}, {size_text(source.element_bytes)}"
        rate = source.file_bytes / usual["seconds"]["median"] * 1e-9
        self.add(title, ranks, rate, "GB/s", "parallel cp", usual["of_ceiling"], 0.80)
        if self.machine.backend != "cpu":
            tight = self.scan_row(source, ranks, output, "warpfold", "--device-memory", "256M")
            seconds = tight["seconds"]["median"]
            self.add(f"{title}, --device-memory 256M", ranks, source.file_bytes / seconds * 1e-9,
                     "GB/s", "unlimited", usual["seconds"]["median"] / seconds, 0.90)

    def scan_row(self, source, ranks, output, kernels, *more):
        rows = self.bench(source, ranks, kernels, "--scan", output, *more)
        scans = [row for row in rows if row["operation"] == "inclusive"]
        if any(row["check"] == "wrong" for row in rows):
            self.fail(f"scan {source.name}, {ranks_text(ranks)}: WRONG, see `bench ingest`")
        return scans[0]


def required_speedup(source, ranks, on_gpu):
    """Over h5py."""
    if source.name == "gzip":
        return 10
    if source.name != "f32":
        return None
    if not on_gpu:
        return 3
    return 15 if ranks == 1 else 5


def row_text(line):
    beside = f"{line.ratio:8.3f} of {line.beside}" if line.ratio is not None else ""
    demand = ""
    if line.at_least is not None:
        demand = f"  (at least {line.at_least:g}: {'met' if line.met else 'MISSED'})"
    return (f"{line.what:46} {ranks_text(line.ranks):8} "
            f"{line.value:9.2f} {line.unit:4} {beside}{demand}").rstrip()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("warpfold", nargs="?", default="warpfold", help="the program")
    parser.add_argument("--inputs", type=inputs_of, default=",".join(ingest_inputs.RECIPES),
                        metavar="NAME[:SIZE],...",
                        help="of %(default)s; f64 is scanned, the others are reduced")
    parser.add_argument("--size", type=bytes_of, default="1G",
                        help="of the elements of inputs named without one")
    parser.add_argument("--ranks", type=numbers_of, default=[1], metavar="1,4")
    parser.add_argument("--folder", default=None,
                        help="for the inputs; /dev/shm, or TMPDIR where there is none")
    parser.add_argument("--backend", choices=("auto", "cuda", "cpu"), default="auto")
    parser.add_argument("--threads", help="of warpfold, for each rank")
    parser.add_argument("--rounds", type=int, default=2, help="of warpfold and peer in turn")
    parser.add_argument("--iterations", type=int, default=3, help="of warpfold in each round")
    parser.add_argument("--peer-repeats", type=int, default=2, help="the best counts")
    parser.add_argument("--peers", default="plain,pinned",
                        help="how h5py reads: plain (a new array for each piece), pinned (into "
                        "one page-locked array), none")
    parser.add_argument("--peer-inputs", default="f32,gzip", metavar="NAME,...",
                        help="those that h5py reads too; %(default)s")
    parser.add_argument("--launcher", default="mpirun -np",
                        help="what starts ranks; their number follows")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one program")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args()
    arguments.peers = [] if arguments.peers == "none" else arguments.peers.split(",")
    arguments.peer_inputs = arguments.peer_inputs.split(",")
    unknown = set(arguments.peers) - {"plain", "pinned"}
    unknown |= set(arguments.peer_inputs) - set(ingest_inputs.RECIPES)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return arguments


def machine_of(arguments):
    program = shutil.which(arguments.warpfold)
    if program is None:
        raise Failure(f"no program '{arguments.warpfold}': name the one that was built")
    threads = ["--threads", arguments.threads] if arguments.threads else []
    return Machine(program, arguments.backend, threads, arguments.launcher.split(),
                   arguments.timeout)


def measure(comparison, folder):
    """Makes inputs one at a time, so that the folder need hold no more; what fails keeps the rest
    from nothing."""
    arguments = comparison.arguments
    for name, size in arguments.inputs:
        path = folder / f"{name}.h5"
        try:
            source = made_apart(name, path, size or arguments.size)
        except OSError as failure:
            comparison.fail(f"{name}: {failure}")
            continue
        for ranks in arguments.ranks:
            try:
                (comparison.scan if name == SCANNED else comparison.reduce)(source, ranks)
            except Failure as failure:
                comparison.fail(f"{name}, {ranks_text(ranks)}: {failure}")
        path.unlink()


def made_apart(name, path, size):
    """Made by a process that ends: a program's peak of memory begins with its parent's."""
    with concurrent.futures.ProcessPoolExecutor(1) as maker:
        return maker.submit(ingest_inputs.make, name, path, size).result()


def main():
    arguments = parse_arguments()
    parent = arguments.folder or ("/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        comparison = Comparison(machine_of(arguments), arguments)
        with tempfile.TemporaryDirectory(prefix="warpfold-", dir=parent) as folder:
            measure(comparison, pathlib.Path(folder))
    except (Failure, OSError) as failure:
        print(f"compare_ingest.py: error: {failure}", file=sys.stderr)
        return 1
    if arguments.json:
        lines = [dataclasses.asdict(line) | {"met": line.met} for line in comparison.lines]
        arguments.json.write_text(json.dumps({"schema": "warpfold.compare_ingest/1",
                                              "lines": lines,
                                              "failures": comparison.failures}))
    return 1 if comparison.failures else 0


if __name__ == "__main__":
    sys.exit(main())
