"""What a study is to run: its plan and the runs that follow from it."""

import dataclasses
import json

from .problem import Problem

WORKLOADS = ("reduce", "scan", "bench reduce", "bench scan", "bench collectives", "bench combine",
             "bench ingest")  # fmt: skip
FROM_FILES = ("reduce", "scan", "bench ingest")
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

    def checked(self):
        """Itself, if it can be run."""
        for what, chosen, known in (("workload", self.workloads, WORKLOADS),
                                    ("scaling", self.scalings, SCALINGS),
                                    ("type", (self.type,), ITEM_BYTES)):
            for word in chosen:
                if word not in known:
                    raise Problem(f"'{word}' is not a {what}. Choose from {', '.join(known)}.")
        if list(self.ranks) != sorted(set(self.ranks)) or min(self.ranks) < 1:
            raise Problem("--ranks is not an ascending list of numbers of ranks like 1,2,4.")
        if self.repeats < 1:
            raise Problem("--repeats has to be 1 or more.")
        if "{ranks}" not in self.launcher:
            raise Problem(f"the launcher '{self.launcher}' does not state where the number of "
                          "ranks goes. Write {ranks} there, as in 'mpirun -np {ranks}'.")
        tile = TILE_ELEMENTS * ITEM_BYTES[self.type]
        if self.bytes % tile or self.bytes < tile * self.ranks[-1]:
            raise Problem(f"--bytes {self.bytes} is not a multiple of {tile} (tiles of "
                          f"{TILE_ELEMENTS} elements) with a tile for each of {self.ranks[-1]} "
                          "ranks. Take a larger power of two.")
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
        workload = self.workload.replace(" ", "-")
        return f"{workload}.{self.scaling}.{self.ranks:05}-ranks.{kind}"

    @property
    def counts(self):
        return self.repeat > 0

    @property
    def reads_file(self):
        return self.workload in FROM_FILES


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
            for workload in plan.workloads if workload in ("reduce", "scan")
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
