"""Predicts numbers of ranks that were not measured from a study's rows; see cost_model.py."""

import dataclasses
import math
import statistics

from . import cost_model
from .cost_model import Estimate, Observation, Situation
from .figures import grouped, is_peer, moved_bytes
from .problem import Problem
from .table import WALL, WHOLE_RUN

LEAST_RANK_COUNTS = 3
COMBINE, EXSCAN = "combine", "exscan"
BENCH_COMBINE = "bench combine"
COLLECTIVES = "bench collectives"
# Where an exchange of a streaming run is measured: on its own, else as a stage of the run.
EXCHANGE_OF = {COMBINE: "MPI_Reduce", EXSCAN: "MPI_Exscan"}


def is_exchange(workload, quantity):
    return workload == BENCH_COMBINE or quantity in (COMBINE, EXSCAN)


def terms_for(workload, quantity):
    if not is_exchange(workload, quantity):
        return cost_model.STREAMING
    scans = quantity == EXSCAN or EXCHANGE_OF[EXSCAN] in quantity
    return cost_model.SCANNING if scans else cost_model.REDUCING


def stage_of_exchange(workload, quantity):
    """The stage whose exchanges a streaming run pays for, if any."""
    if quantity == WHOLE_RUN:
        return EXSCAN if workload == "scan" else COMBINE
    if workload == COLLECTIVES:
        return EXSCAN if "(scan" in quantity or "(fast" in quantity else COMBINE
    return None


def is_modelled(row):
    if row["quantity"] == WALL or is_peer(row["quantity"]) or float(row["seconds"]) <= 0:
        return False
    return row["quantity"] == WHOLE_RUN or int(row["stage_bytes"] or 0) > 0


def message_bytes(rows):
    """Of one accumulator; None where the study exchanged none."""
    return min((int(row["stage_bytes"]) for row in rows
                if row["quantity"] in (COMBINE, *EXCHANGE_OF.values())), default=None)


def supersteps_of(rows):
    """Of scans, by scaling and ranks."""
    message = message_bytes(rows)
    scans = [row for row in rows if row["workload"] == "scan" and row["quantity"] == EXSCAN]
    if message is None:
        return {}
    return {(row["scaling"], row["ranks"]): max(1, round(int(row["stage_bytes"]) / message))
            for row in scans}


class Model:
    """The fits of all quantities of modelled rows, of which supersteps_of() is known."""

    def __init__(self, rows, supersteps):
        self.rows, self.supersteps = rows, supersteps
        self.fits = {}
        kinds = grouped(self.rows, "workload", "quantity")
        for exchanging in (True, False):
            for kind, members in kinds.items():
                if is_exchange(*kind) == exchanging:
                    observed = [Observation(self.situation(row), float(row["seconds"]))
                                for row in members]
                    self.fits[kind] = cost_model.fit(observed, terms_for(*kind))

    def exchange(self, workload, quantity):
        """The fit that tells what ranks' exchanges cost a streaming run, if there is one."""
        stage = stage_of_exchange(workload, quantity)
        for kind in ((BENCH_COMBINE, EXCHANGE_OF.get(stage)), (workload, stage)):
            if kind in self.fits:
                return self.fits[kind]
        return None

    def situation(self, row):
        workload, quantity, ranks = row["workload"], row["quantity"], int(row["ranks"])
        moved = moved_bytes(row) / ranks or float(row["stage_bytes"] or 0)
        supersteps = 1
        if workload == "scan" and quantity in (WHOLE_RUN, EXSCAN):
            supersteps = self.supersteps.get((row["scaling"], row["ranks"]), 1)
        return self.with_known(Situation(ranks, int(row["hosts"]), moved, supersteps), workload,
                               quantity)

    def with_known(self, situation, workload, quantity):
        exchange = None
        if not is_exchange(workload, quantity):
            exchange = self.exchange(workload, quantity)
        return dataclasses.replace(situation, known=exchange.growth(situation) if exchange else 0.0)

    def largest(self, workload, scaling, quantity):
        """The row with the most ranks."""
        return max((row for row in self.rows if (row["workload"], row["scaling"], row["quantity"])
                    == (workload, scaling, quantity)), key=lambda row: int(row["ranks"]))

    def ranks_a_host(self):
        """The most that were measured."""
        return max(-(-int(row["ranks"]) // int(row["hosts"])) for row in self.rows)

    def situation_at(self, ranks, ranks_a_host, row):
        """With so many ranks, of a study that goes on as `row` tells."""
        known = self.situation(row)
        share = known.ranks / ranks if row["scaling"] == "strong" else 1.0
        supersteps = max(1, math.ceil(known.supersteps * share))
        moved = known.bytes * (1.0 if is_exchange(row["workload"], row["quantity"]) else share)
        at = Situation(ranks, -(-ranks // ranks_a_host), moved, supersteps)
        return self.with_known(at, row["workload"], row["quantity"])


@dataclasses.dataclass(frozen=True)
class Prediction:
    workload: str
    scaling: str
    quantity: str
    ranks: int
    hosts: int
    seconds: Estimate
    measured: float | None = None  # median

    @property
    def off_percent(self):
        return 100 * (self.seconds.median / self.measured - 1)

    @property
    def is_headline(self):
        return self.quantity == WHOLE_RUN or self.workload.startswith("bench")


def check_rank_counts(rows):
    for (workload,), members in grouped(rows, "workload").items():
        ranks = sorted({int(row["ranks"]) for row in members})
        if len(ranks) < LEAST_RANK_COUNTS:
            raise Problem(
                f"too few numbers of ranks to model {workload} (the study has "
                f"{', '.join(map(str, ranks))}; {LEAST_RANK_COUNTS} are needed, the largest to "
                "check what the others predict) Make a study with more --ranks.")


def split_largest(rows):
    """Rows of fewer ranks than the most of their workload, and the others."""
    most = {kind: max(int(row["ranks"]) for row in members)
            for kind, members in grouped(rows, "workload").items()}
    fewer, largest = [], []
    for row in rows:
        (largest if int(row["ranks"]) == most[row["workload"],] else fewer).append(row)
    return fewer, largest


def seed_of(*words):
    return " ".join(map(str, words))


def held_out(rows):
    """The largest number of ranks of each quantity, predicted from the others."""
    fewer, largest = split_largest(rows)
    model = Model(fewer, supersteps_of(rows))
    found = []
    for (workload, scaling, quantity), members in grouped(
        largest, "workload", "scaling", "quantity"
    ).items():
        if (workload, quantity) not in model.fits:
            continue
        reference = members[0]
        fit = model.fits[workload, quantity]
        estimate, = fit.estimates([model.situation(reference)],
                                  seed_of("held out", workload, quantity))
        measured = statistics.median(float(row["seconds"]) for row in members)
        found.append(Prediction(workload, scaling, quantity, int(reference["ranks"]),
                                int(reference["hosts"]), estimate, measured))
    return found


def predictions(model, rank_counts, ranks_a_host):
    found = []
    for workload, scaling, quantity in grouped(model.rows, "workload", "scaling", "quantity"):
        row = model.largest(workload, scaling, quantity)
        situations = [model.situation_at(ranks, ranks_a_host, row) for ranks in rank_counts]
        estimates = model.fits[workload, quantity].estimates(situations,
                                                             seed_of(workload, quantity))
        found += [Prediction(workload, scaling, quantity, at.ranks, at.hosts, estimate)
                  for at, estimate in zip(situations, estimates)]
    return found


def model_of(rows, rank_counts, ranks_a_host=None):
    """The model of all rows, how it did on the largest number of ranks that it was not told, and
    what it predicts; with as many ranks on a host as measured, or as given."""
    check_rank_counts(rows)
    modelled = [row for row in rows if is_modelled(row)]
    model = Model(modelled, supersteps_of(modelled))
    return (model, held_out(modelled),
            predictions(model, rank_counts, ranks_a_host or model.ranks_a_host()))
