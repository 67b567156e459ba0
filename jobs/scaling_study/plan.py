"""What a study is to run: its plan and the runs that follow from it."""

import dataclasses
import json
import re
import shlex

from .problem import Problem

WORKLOADS = ("reduce", "scan", "bench reduce", "bench scan", "bench collectives", "bench combine",
             "bench ingest")  # fmt: skip
FROM_FILES = ("reduce", "scan", "bench ingest")
COMMANDS = ("reduce", "scan")  # which a workload may follow with options of its own
SCALINGS = ("strong", "weak")
ITEM_BYTES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8,
              "f16": 2, "bf16": 2, "f32": 4, "f64": 8}  # fmt: skip
TILE_ELEMENTS = 4096


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is measured and how; two plans that differ make two studies."""

    workloads: tuple = ("reduce", "scan")
    scalings: tuple = SCALINGS
    ranks: tuple = (1, 2, 4)
    repeats: int = 5
    bytes: int = 1 << 30  # of the dataset of a strong study, of each rank of a weak one
    type: str = "f32"
    kind: str = "uniform"
    backend: str = "auto"
    launcher: str = "mpirun -np {ranks}"
    share_gpu: bool = False
    scratch: str = "/dev/shm"
    options: tuple = ()  # further ones of the program
    file: str | None = None  # FILE::DATASET to measure, in place of a generated one

    def checked(self):
        """Itself, if it can be run."""
        for what, chosen, known in (("workload", self.workloads, WORKLOADS),
                                    ("scaling", self.scalings, SCALINGS),
                                    ("type", (self.type,), ITEM_BYTES)):
            for word in chosen:
                if word not in known and not (what == "workload" and command_of(word) in COMMANDS):
                    raise Problem(f"'{word}' is not a {what}. Choose from {', '.join(known)}.")
        if list(self.ranks) != sorted(set(self.ranks)) or min(self.ranks) < 1:
            raise Problem("--ranks is not an ascending list of numbers of ranks like 1,2,4.")
        if self.repeats < 1:
            raise Problem("--repeats has to be 1 or more.")
        if "{ranks}" not in self.launcher:
            raise Problem(f"the launcher '{self.launcher}' does not state where the number of "
                          "ranks goes. Write {ranks} there, as in 'mpirun -np {ranks}'.")
        if self.file:
            return self.checked_for_file()
        tile = TILE_ELEMENTS * ITEM_BYTES[self.type]
        if self.bytes % tile or self.bytes < tile * self.ranks[-1]:
            raise Problem(f"--bytes {self.bytes} is not a multiple of {tile} (tiles of "
                          f"{TILE_ELEMENTS} elements) with a tile for each of {self.ranks[-1]} "
                          "ranks. Take a larger power of two.")
        return self

    def checked_for_file(self):
        if not all(self.file.partition("::")):
            raise Problem(f"--file '{self.file}' names no dataset. Write FILE::DATASET.")
        if self.scalings != ("strong",):
            raise Problem("--file has the same bytes at every number of ranks. Choose --scaling "
                          "strong.")
        if not all(map(reads_file, self.workloads)):
            raise Problem("--file is not read by all of --workloads. Choose from "
                          f"{', '.join(FROM_FILES)}.")
        return self

    def as_json(self):
        return json.loads(json.dumps(dataclasses.asdict(self)))

    @staticmethod
    def from_json(content):
        return Plan(**{name: tuple(value) if isinstance(value, list) else value
                       for name, value in content.items()})

    def dataset_bytes(self, scaling, ranks):
        """Of all ranks."""
        return self.bytes * ranks if scaling == "weak" else self.bytes


def command_of(workload):
    """Its first word: the program's command."""
    return workload.split()[0] if workload.split() else ""


def reads_file(workload):
    return workload in FROM_FILES or command_of(workload) in COMMANDS


def writes_file(workload):
    return command_of(workload) == "scan" or "--axis" in shlex.split(workload)


@dataclasses.dataclass(frozen=True)
class Run:
    """One start of the program; the first repeat, 0, warms up and does not count."""

    workload: str
    scaling: str
    ranks: int
    repeat: int
    bytes: int  # of the dataset, of all ranks; 0 where there is none
    launched_ranks: int

    @property
    def name(self):
        kind = f"{self.repeat:03}" if self.launched_ranks == self.ranks else "control"
        return f"{file_name(self.workload)}.{self.scaling}.{self.ranks:05}-ranks.{kind}"

    @property
    def counts(self):
        return self.repeat > 0

    @property
    def reads_file(self):
        return reads_file(self.workload)


def file_name(workload):
    """A workload as a part of a file's name."""
    return re.sub(r"[^\w.,]+", "-", workload)


def combinations(plan):
    """Workloads and scalings that differ: without a dataset there is nothing to divide."""
    for workload in plan.workloads:
        if workload == "bench combine":
            yield workload, "weak"
        else:
            yield from ((workload, scaling) for scaling in plan.scalings)


def run_of(plan, workload, scaling, ranks, repeat, launched_ranks=None):
    size = 0 if workload == "bench combine" else plan.dataset_bytes(scaling, ranks)
    return Run(workload, scaling, ranks, repeat, size, launched_ranks or ranks)


def controls(plan):
    """Runs that compute a weak study's datasets with the next smaller number of ranks."""
    return [run_of(plan, workload, "weak", ranks, 0, fewer)
            for workload in plan.workloads if command_of(workload) in COMMANDS
            for fewer, ranks in zip(plan.ranks, plan.ranks[1:]) if "weak" in plan.scalings]


def runs_of(plan):
    """All runs in the order in which they are to be made: round after round over the numbers of
    ranks, each round beginning with another, so that a machine that drifts favours none."""
    runs = controls(plan)
    for repeat in range(plan.repeats + 1):
        turn = repeat % len(plan.ranks)
        for ranks in plan.ranks[turn:] + plan.ranks[:turn]:
            runs += [run_of(plan, workload, scaling, ranks, repeat)
                     for workload, scaling in combinations(plan)]
    return runs
