"""A study's runs by a discrete-event simulation: SimGrid's SMPI runs simulation/supersteps.cpp."""

import csv
import dataclasses
import io
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

from .figures import grouped
from .folder import write_whole
from .prediction import (
    BENCH_COMBINE, WAYS, Model, is_exchange, is_headline, is_modelled, reads_files,
    refuse_unknown_hosts, seconds_of, supersteps_of,
)  # fmt: skip
from .prediction_report import figure
from .problem import Problem
from .summary import aligned

SOURCES = pathlib.Path(__file__).parent / "simulation"
UNLIMITED = 1e18
SIMULATED_BYTES = 2288  # of an accumulator's message, to which SMPI adds 16
FIRST_TURN, ROUNDS = 1e-6, 3  # to find the seconds that a waiting rank has a shared core
HEADER = ("workload", "scaling", "quantity", "ranks", "hosts", "measured ms", "model ms",
          "simulated ms", "simulated / measured")  # fmt: skip
# Without a model of TCP; messages leave before they are requested, as small ones do.
SETTINGS = ("smpi/async-small-thresh:65536", "smpi/host-speed:1f", "smpi/simulate-computation:no",
            "smpi/wtime:0", "smpi/test:0", "network/model:CM02",
            "network/latency-factor:1", "network/bandwidth-factor:1", "network/weight-S:0",
            "network/crosstraffic:0", "network/TCP-gamma:0")  # fmt: skip


def checked(words, what, **options):
    """What a command prints."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Problem(f"{what}: {(done.stderr + done.stdout).strip()}. Look into it.")
    return done.stdout


class Simulator:
    """The simulated program and cluster, built in a folder of their own while they are used."""

    def __enter__(self):
        for tool in ("smpicxx", "smpirun", "c++"):
            if shutil.which(tool) is None:
                raise Problem(f"there is no {tool}: SimGrid simulates runs. Install Debian's "
                              "libsimgrid-dev, or Spack's simgrid.")
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        options = ["-std=c++17", "-lsimgrid", "-o"]
        self.program, self.platform = self.folder / "supersteps", self.folder / "platform.so"
        checked(["smpicxx", SOURCES / "supersteps.cpp", *options, self.program], "smpicxx")
        checked(["c++", "-shared", "-fPIC", SOURCES / "platform.cpp", *options, self.platform],
                "c++")
        return self

    def __exit__(self, *_):
        self.temporary.cleanup()

    def seconds(self, words, ranks, hosts, figures):
        """Of the slowest rank; `figures` are the platform's."""
        ranks_a_host = -(-ranks // hosts)
        host_file = self.folder / "hosts"
        host_file.write_text("".join(f"host{rank // ranks_a_host}\n" for rank in range(ranks)))
        environment = {f"SIMULATED_{name}": repr(value)
                       for name, value in {"HOSTS": hosts, **figures}.items()}
        settings = [f"--cfg={setting}" for setting in SETTINGS]
        return float(checked(
            ["smpirun", "-no-privatize", "-np", ranks, "-platform", self.platform, "-hostfile",
             host_file, *settings, "--log=root.thres:warning", self.program, *words],
            "smpirun", env={**os.environ, **environment}, cwd=self.folder))  # fmt: skip


def platform_of(model, workload, quantity, at, cores, uses_files):
    """Its figures, of what the model has fitted and the machine's description tells."""
    exchange = model.exchange(workload, quantity, at.ranks)
    message = exchange.message if exchange else 0.0
    shared = model.fits[workload, quantity].coefficient("host")
    found = {"CORES": cores or -(-at.ranks // at.hosts),
             "LOCAL_LATENCY": exchange.hop if exchange else 0.0,
             "MEMORY_RATE": SIMULATED_BYTES / message if message else UNLIMITED,
             "HOST_RATE": 1 / shared if shared else UNLIMITED, "NETWORK_LATENCY": 0.0,
             **dict.fromkeys(("PORT_RATE", "HOST_READ_RATE", "HOST_WRITE_RATE", "READ_RATE",
                              "WRITE_RATE"), UNLIMITED)}  # fmt: skip
    if model.machine and at.hosts > 1:
        found.update(NETWORK_LATENCY=model.machine.figure("network", "latency_us"),
                     PORT_RATE=model.machine.figure("network", "gbit_s_a_host"))
    if uses_files:
        ways = ("READ", "WRITE") if workload == "scan" else ("READ",)
        for way in ways:
            name = way.lower() + "_gb_s"
            found[f"HOST_{way}_RATE"] = model.machine.figure("file_system", name + "_a_host")
            found[f"{way}_RATE"] = model.machine.figure("file_system", name)
    return found


def words_of(model, workload, quantity, at, uses_files, turn):
    """The program's command line."""
    way = model.way_of(workload, quantity, at.ranks) or "none"
    if is_exchange(workload, quantity):
        return [way, 1, 0, 1, 0, 0, turn]
    moved = at.bytes / at.supersteps
    files = moved if uses_files else 0
    own = model.fits[workload, quantity].coefficient("rank")
    return [way, at.supersteps, moved, 1 / own if own else UNLIMITED, files,
            files if workload == "scan" else 0, turn]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Seconds of a run, measured (None where it was not), by the model's formula and simulated."""

    workload: str
    scaling: str
    quantity: str
    ranks: int
    hosts: int
    measured: float | None
    model: float
    simulated: float

    @property
    def ratio(self):
        return self.simulated / self.measured if self.measured else None


class Comparing:
    """A simulator, a model, and the cores of the host that was measured, where they are known."""

    def __init__(self, simulator, model, cores):
        self.simulator, self.model, self.cores, self.turn = simulator, model, cores, None

    def shares_cores(self, row):
        return self.cores is not None and int(row["ranks"]) > self.cores * int(row["hosts"])

    def tells_turn(self, row):
        """Whether it is an exchange of ranks that share cores."""
        return row["workload"] == BENCH_COMBINE and row["quantity"] in WAYS and self.shares_cores(row)

    def refuse_unknown_turn(self, rows, chosen):
        shared = [int(row["ranks"]) for row in rows
                  if self.shares_cores(row) and is_headline(row["workload"], row["quantity"])]
        if shared and not any(map(self.tells_turn, chosen)):
            raise Problem(f"{min(shared)} ranks shared {self.cores} cores: how long each has one is "
                          "not calibrated. Add a number of ranks that share them to --calibrate.")

    def simulated(self, row, at, predicted, turn=0.0):
        workload, quantity = row["workload"], row["quantity"]
        parts = self.model.parts(workload, quantity, at, predicted)
        uses_files = bool(predicted and self.model.machine and reads_files(workload, quantity))
        cores = None if predicted else self.cores
        return parts["start"] + self.simulator.seconds(
            words_of(self.model, workload, quantity, at, uses_files, turn), at.ranks, at.hosts,
            platform_of(self.model, workload, quantity, at, cores, uses_files))

    def find_turn(self, rows):
        found = []
        for row in filter(self.tells_turn, rows):
            measured, turn = float(row["seconds"]), FIRST_TURN
            for _ in range(ROUNDS):
                turn *= measured / self.simulated(row, self.model.situation(row), False, turn)
            found.append(turn)
        self.turn = statistics.median(found) if found else None

    def measured(self, rows):
        """What was measured several times."""
        row = rows[0]
        turn = self.turn if self.shares_cores(row) else 0.0
        at = self.model.situation(row)
        median = statistics.median(float(each["seconds"]) for each in rows)
        return self.compared(row, at, median, self.simulated(row, at, False, turn))

    def predicted(self, row, at):
        return self.compared(row, at, None, self.simulated(row, at, True))

    def compared(self, row, at, measured, simulated):
        workload, quantity = row["workload"], row["quantity"]
        parts = self.model.parts(workload, quantity, at, measured is None)
        return Comparison(workload, row["scaling"], quantity, at.ranks, at.hosts, measured,
                          seconds_of(parts), simulated)


def refuse_too_few(rows, known):
    for (workload,), members in grouped(rows, "workload").items():
        if len({row["ranks"] for row in known if row["workload"] == workload}) < 2:
            there = ", ".join(sorted({row["ranks"] for row in members}, key=int))
            raise Problem(f"{workload} cannot be calibrated: it takes two numbers of ranks of "
                          f"{there}, with a core for each. Choose them by --calibrate.")


def comparisons(rows, calibrated, cores, rank_counts=(), ranks_a_host=None, machine=None, way=None):
    """Every headline of a study, all its numbers of ranks and those to predict, by terms that were
    fitted to the `calibrated` numbers of ranks alone."""
    rows = [row for row in rows if is_modelled(row)]
    comparing = Comparing(None, None, cores)
    chosen = [row for row in rows if int(row["ranks"]) in calibrated]
    known = [row for row in chosen if not comparing.shares_cores(row)]
    refuse_too_few(rows, known)
    comparing.refuse_unknown_turn(rows, chosen)
    comparing.model = model = Model(known, supersteps_of(rows), machine)
    ranks_a_host = ranks_a_host or model.ranks_a_host()
    refuse_unknown_hosts(model, rank_counts, ranks_a_host)
    with Simulator() as comparing.simulator:
        comparing.find_turn(chosen)
        for kind, members in grouped(rows, "workload", "scaling", "quantity").items():
            if not is_headline(*kind[::2]):
                continue
            for same in sorted(grouped(members, "ranks", "hosts").values(),
                               key=lambda rows: int(rows[0]["ranks"])):
                yield comparing.measured(same)
            model.way = way
            for ranks in rank_counts:
                row = model.largest(*kind)
                yield comparing.predicted(row, model.situation_at(ranks, ranks_a_host, row))
            model.way = None


def line_of(each):
    return (each.workload, each.scaling, each.quantity, str(each.ranks), str(each.hosts),
            figure(each.measured), figure(each.model), figure(each.simulated),
            f"{each.ratio:.2f}" if each.ratio else "")


def table_of(found, calibrated):
    """Those by which the terms were found have a star."""
    lines = [line_of(each) for each in found]
    return aligned([HEADER, *((*line[:3], line[3] + ("*" if int(line[3]) in calibrated else ""),
                               *line[4:]) for line in lines)], 3)


def write(folder, found):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in dataclasses.fields(Comparison))
    writer.writerows(dataclasses.astuple(each) for each in found)
    write_whole(folder / "simulation.csv", text.getvalue())
    return folder / "simulation.csv"
