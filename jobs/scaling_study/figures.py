"""What a study shows: times, rates, speed-up and efficiency over numbers of ranks.

The rate of a run is the bytes that all ranks move over its time, and p0 the least number of ranks:

    speed-up    S(p) = rate(p) / rate(p0) * p0
    efficiency  E(p) = S(p) / p

Of a strong study, whose dataset stays the same, S is p0 t(p0) / t(p) and E is p0 t(p0) / (p t(p));
of a weak one, whose dataset grows with p, E is t(p0) / t(p). Only where a program has to move more
bytes on several ranks than on one (a scan in GPU memory: twice and three times the array) does
counting bytes differ from counting elements. t is the median of the repeats; the order of
their times gives its confidence interval.
"""

import csv
import dataclasses
import math
import statistics

from .problem import Problem
from .table import COLUMNS, WALL, WHOLE_RUN

START, START_MPI = "start and end", "start MPI"
# Stages that come before the whole run, or take their time beside others.
BESIDE = (START_MPI, "start GPU")
CONFIDENCE = 0.95
# Beside what is measured: other programs, ceilings.
CEILING = "(raw)"
PEERS = ("(CUB)", "(read)", "(copy)", "(cp)")


def is_peer(quantity):
    return any(peer in quantity for peer in PEERS)


def median_interval(values):
    """The ends of an interval that has the true median with a probability of CONFIDENCE or more, by
    the order of the values alone, and that probability. All values, where they are too few."""
    ordered, count = sorted(values), len(values)
    inside = [1 - 2 * sum(math.comb(count, k) for k in range(omitted + 1)) / 2**count
              for omitted in range((count + 1) // 2)]  # fmt: skip
    omitted = max((each for each, share in enumerate(inside) if share >= CONFIDENCE), default=0)
    return ordered[omitted], ordered[-1 - omitted], inside[omitted]


@dataclasses.dataclass(frozen=True)
class Times:
    """Median, least and greatest, and the ends of the median's confidence interval."""

    median: float
    least: float
    most: float
    low: float
    high: float

    @staticmethod
    def of(values):
        return Times(statistics.median(values), min(values), max(values), *median_interval(values)[:2])

    def relative_to(self, base):
        """The ends over the other ends of the base, as both vary."""
        return Times(self.median / base.median, self.least / base.most, self.most / base.least,
                     self.low / base.high, self.high / base.low)  # fmt: skip

    def times(self, factor):
        return Times(*(value * factor for value in dataclasses.astuple(self)))

    def over(self, dividend):
        """What `dividend` is over each: the least time makes the greatest."""
        return Times(*(dividend / value for value in
                       (self.median, self.most, self.least, self.high, self.low)))  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Point:
    """A quantity at one number of ranks."""

    ranks: int
    hosts: int
    gpus: int
    cores: int | None  # of a host; None where the study did not record them
    repeats: int
    confidence: float  # of the intervals
    bottleneck: str  # of the median run, or of that next to it
    seconds: Times
    waiting: Times | None
    rate: Times | None  # bytes a second, of all ranks
    speedup: Times | None
    efficiency: Times | None

    @property
    def shares_cores(self):
        """Whether there are more ranks on a host than cores."""
        return self.cores is not None and -(-self.ranks // self.hosts) > self.cores


@dataclasses.dataclass(frozen=True)
class Series:
    """A quantity over numbers of ranks."""

    workload: str
    scaling: str
    quantity: str
    points: tuple

    @property
    def is_stage(self):
        return self.points[0].waiting is not None

    @property
    def is_headline(self):
        """Whether it is what the workload is about."""
        whole = self.quantity == WHOLE_RUN or self.workload.startswith("bench")
        return whole and self.quantity != WALL and not is_peer(self.quantity)


def with_starts(rows):
    """The rows, and in front of each run's stages what they leave of the whole run: starting up,
    and closing files. Stages that waited ran at the same time, others alone."""
    runs = grouped(rows, "workload", "scaling", "ranks", "repeat")
    for members in runs.values():
        stages = [row for row in members if row["waiting"]]
        whole = next((row for row in members if row["quantity"] == WHOLE_RUN), None)
        if whole and stages:
            together = [float(row["seconds"]) + float(row["waiting"]) for row in stages
                        if float(row["waiting"])]
            alone = [float(row["seconds"]) for row in stages
                     if not float(row["waiting"]) and row["quantity"] not in BESIDE]
            rest = float(whole["seconds"]) - max(together, default=0.0) - sum(alone)
            yield {**whole, "quantity": START, "seconds": repr(max(rest, 0.0)), "waiting": "0"}
        yield from members


def read_rows(path):
    try:
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as failure:
        raise Problem(f"cannot read {path}: {failure.strerror}. Collect the study first."
                      ) from failure
    if not rows or set(COLUMNS) - set(rows[0]):
        raise Problem(f"{path} is not a table of a scaling study. Collect the study again.")
    return rows


def moved_bytes(row):
    """By all ranks; 0 where bytes are not what it is about."""
    if row["quantity"] in (WHOLE_RUN, WALL):
        return int(row["bytes"])
    if row["workload"].startswith("bench") and int(row["bytes"]):
        return int(row["stage_bytes"]) * int(row["ranks"])
    return 0


def grouped(rows, *columns):
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in columns), []).append(row)
    return groups


def point_of(rows, base):
    """`base` is the least number of ranks and its rate; None at that number itself."""
    first = rows[0]
    ranks = int(first["ranks"])
    seconds = Times.of([float(row["seconds"]) for row in rows])
    waiting = [float(row["waiting"]) for row in rows if row["waiting"]]
    middle = sorted(rows, key=lambda row: float(row["seconds"]))[(len(rows) - 1) // 2]
    cores = first.get("cores")
    moved = moved_bytes(first)
    rate = seconds.over(moved) if moved else None
    speedup = efficiency = None
    if rate:
        # Its own base is no other measurement: the ratio is 1.
        base_ranks, ratio = (base[0], rate.relative_to(base[1])) if base else (ranks, Times(*[1.0] * 5))
        speedup = ratio.times(base_ranks)
        efficiency = speedup.times(1 / ranks)
    return Point(ranks, int(first["hosts"]), int(first["gpus"]), int(cores) if cores else None,
                 len(rows), median_interval([float(row["seconds"]) for row in rows])[2],
                 middle.get("bottleneck") or "", seconds,
                 Times.of(waiting) if waiting else None, rate, speedup, efficiency)


def of_ceiling(series, all_series):
    """How a series scales over how its ceiling does, for each point: None where there is none."""
    ceilings = {point.ranks: point for each in all_series for point in each.points
                if each.quantity.endswith(CEILING) and each is not series
                and (each.workload, each.scaling) == (series.workload, series.scaling)}
    return [point.speedup.median / ceilings[point.ranks].speedup.median
            if point.ranks in ceilings else None for point in series.points]


def series_of(rows):
    """All series of a study's rows, in the order of the rows."""
    found = []
    groups = grouped(with_starts(rows), "workload", "scaling", "quantity")
    for (workload, scaling, quantity), members in groups.items():
        by_ranks = grouped(members, "ranks")
        points = []
        for _, same in sorted(by_ranks.items(), key=lambda each: int(each[0][0])):
            base = (points[0].ranks, points[0].rate) if points and points[0].rate else None
            points.append(point_of(same, base))
        found.append(Series(workload, scaling, quantity, tuple(points)))
    return found
