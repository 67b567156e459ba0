"""Predicts numbers of ranks that were not measured from a study's rows; see cost_model.py."""

import dataclasses
import math
import statistics

from . import cost_model
from .cost_model import Estimate, Observation, Situation
from .figures import grouped, is_peer, moved_bytes
from .problem import Problem
from .table import WALL, WHOLE_RUN

LEAST_RANK_COUNTS, LEAST_TO_CHECK = 2, 3
MESSAGE_BYTES = 2272  # an accumulator, and whether it is there
COMBINE, EXSCAN = "combine", "exscan"
BENCH_COMBINE = "bench combine"
COLLECTIVES = "bench collectives"
# Where an exchange of a streaming run is measured: on its own, else as a stage of the run.
EXCHANGE_OF = {COMBINE: "MPI_Reduce", EXSCAN: "MPI_Exscan"}
# What an exchange goes along. Programs that have both ways of a scan change over at so many ranks.
TREE, CHAIN, DOUBLING = "reduce", "chain", "doubling"
BY_DOUBLING = "exclusive scan by doubling"
WAYS = {COMBINE: TREE, EXCHANGE_OF[COMBINE]: TREE, EXSCAN: CHAIN, EXCHANGE_OF[EXSCAN]: CHAIN,
        BY_DOUBLING: DOUBLING}  # fmt: skip
DOUBLING_RANKS = 8
# What a run's time is made of: its data takes the longest of the rates.
RATES = {"rank": "what a rank reads and computes", "host": "what ranks of a host share",
         "host_files": "a host's way to the file system", "files": "the file system"}
PARTS = {"start": "starting", **RATES, "within": "exchanges within hosts",
         "between": "exchanges between hosts"}  # fmt: skip


def is_exchange(workload, quantity):
    return workload == BENCH_COMBINE or quantity in (COMBINE, EXSCAN)


def terms_for(workload, quantity):
    if not is_exchange(workload, quantity):
        return cost_model.RUNNING if quantity == WHOLE_RUN else cost_model.STREAMING
    if quantity == BY_DOUBLING:
        return cost_model.DOUBLING
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


def is_headline(workload, quantity):
    return quantity == WHOLE_RUN or workload.startswith("bench")


def reads_files(workload, quantity):
    return workload == "bench ingest" or quantity == WHOLE_RUN


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
    """The fits of all quantities of modelled rows, of which supersteps_of() is known; `machine`
    tells of several hosts. With a `way` set, scans go along it."""

    def __init__(self, rows, supersteps, machine=None):
        self.rows, self.supersteps, self.machine, self.way = rows, supersteps, machine, None
        self.fits = {}
        kinds = grouped(self.rows, "workload", "quantity")
        for exchanging in (True, False):
            for kind, members in kinds.items():
                if is_exchange(*kind) == exchanging:
                    observed = [Observation(self.situation(row), float(row["seconds"]))
                                for row in members]
                    self.fits[kind] = cost_model.fit(observed, terms_for(*kind))

    def exchange(self, workload, quantity, ranks):
        """The fit that tells what ranks' exchanges cost, if there is one: an exchange's own, or the
        one of a streaming run."""
        if is_exchange(workload, quantity):
            return self.fits.get((workload, quantity))
        stage = stage_of_exchange(workload, quantity)
        kinds = [(BENCH_COMBINE, EXCHANGE_OF.get(stage)), (workload, stage)]
        if stage == EXSCAN and self.scan_way(ranks) == DOUBLING:
            kinds.insert(0, (BENCH_COMBINE, BY_DOUBLING))
        return next((self.fits[kind] for kind in kinds if kind in self.fits), None)

    def scan_way(self, ranks):
        """What scans go along: as requested, or as the program that was measured does."""
        has_both = any(row["quantity"] == BY_DOUBLING for row in self.rows)
        return self.way or (DOUBLING if has_both and ranks >= DOUBLING_RANKS else CHAIN)

    def way_of(self, workload, quantity, ranks):
        """None where ranks exchange nothing."""
        if is_exchange(workload, quantity):
            return next((way for name, way in WAYS.items() if name in quantity), None)
        stage = stage_of_exchange(workload, quantity)
        return self.scan_way(ranks) if stage == EXSCAN else WAYS.get(stage)

    def situation(self, row):
        workload, quantity, ranks = row["workload"], row["quantity"], int(row["ranks"])
        moved = moved_bytes(row) / ranks or float(row["stage_bytes"] or 0)
        supersteps = 1
        if workload == "scan" and quantity in (WHOLE_RUN, EXSCAN):
            supersteps = self.supersteps.get((row["scaling"], row["ranks"]), 1)
        at = Situation(ranks, int(row["hosts"]), moved, supersteps,
                       hops_known=self.machine is not None)
        within, between = self.exchanges(workload, quantity, at)
        known = between if is_exchange(workload, quantity) else within + between
        return dataclasses.replace(at, known=known)

    def exchanges(self, workload, quantity, at):
        """Seconds that exchanges take within hosts, and between them."""
        way = self.way_of(workload, quantity, at.ranks)
        fit = self.exchange(workload, quantity, at.ranks)
        asked_for = self.way if stage_of_exchange(workload, quantity) == EXSCAN else None
        within = fit.growth(at, asked_for) if fit else 0.0
        if way is None or at.hosts == 1 or not at.hops_known:
            return within, 0.0
        hops = at.hosts - 1 if way == CHAIN else (at.hosts - 1).bit_length()
        return within, at.supersteps * hops * self.machine.hop(MESSAGE_BYTES)

    def parts(self, workload, quantity, at, predicted=True):
        """Seconds by PARTS; what was measured had files where they were, not on `machine`."""
        fit = self.fits[workload, quantity]
        found = dict.fromkeys(PARTS, 0.0)
        found.update(start=sum(fit.part(term, at) for term in ("start", "process", "call")),
                     rank=fit.part("rank", at), host=fit.part("host", at))
        found["within"], found["between"] = self.exchanges(workload, quantity, at)
        if predicted and self.machine and reads_files(workload, quantity):
            ways = ("read", "write") if workload == "scan" else ("read",)
            for part, ranks, name in (("host_files", at.ranks_a_host, "_gb_s_a_host"),
                                      ("files", at.ranks, "_gb_s")):
                found[part] = sum(at.bytes * ranks / self.machine.figure("file_system", way + name)
                                  for way in ways)
        return found

    def largest(self, workload, scaling, quantity):
        """The row with the most ranks."""
        return max((row for row in self.rows if (row["workload"], row["scaling"], row["quantity"])
                    == (workload, scaling, quantity)), key=lambda row: int(row["ranks"]))

    def ranks_a_host(self):
        """The most that were measured."""
        return max(-(-int(row["ranks"]) // int(row["hosts"])) for row in self.rows)

    def situation_at(self, ranks, ranks_a_host, row):
        """With so many ranks, of a study that goes on as `row` tells."""
        workload, quantity, known = row["workload"], row["quantity"], self.situation(row)
        share = known.ranks / ranks if row["scaling"] == "strong" else 1.0
        supersteps = math.ceil(known.supersteps * share) if workload == "scan" else 1
        moved = known.bytes * (1.0 if is_exchange(workload, quantity) else share)
        at = Situation(ranks, -(-ranks // ranks_a_host), moved, supersteps,
                       hops_known=self.machine is not None)
        parts = self.parts(workload, quantity, at)
        fitted = self.fits[workload, quantity].seconds(at)
        return dataclasses.replace(at, known=seconds_of(parts) - fitted)


def seconds_of(parts):
    """Of a run that has such parts."""
    return sum(seconds for name, seconds in parts.items() if name not in RATES) + max(
        parts[name] for name in RATES)


def limit_of(parts):
    """The part that takes longest."""
    return max(parts, key=parts.get)


@dataclasses.dataclass(frozen=True)
class Prediction:
    workload: str
    scaling: str
    quantity: str
    ranks: int
    hosts: int
    seconds: Estimate
    measured: float | None = None  # median
    parts: dict | None = None  # seconds by PARTS
    efficiency: float | None = None  # over one host's

    @property
    def off_percent(self):
        return 100 * (self.seconds.median / self.measured - 1)

    @property
    def is_headline(self):
        return is_headline(self.workload, self.quantity)


def rank_counts_of(rows):
    """By workload, ascending."""
    return {workload: sorted({int(row["ranks"]) for row in members})
            for (workload,), members in grouped(rows, "workload").items()}


def check_rank_counts(rows):
    for workload, ranks in rank_counts_of(rows).items():
        if len(ranks) < LEAST_RANK_COUNTS:
            raise Problem(
                f"too few numbers of ranks to model {workload}: the study has {ranks[0]}; "
                f"{LEAST_RANK_COUNTS} are needed, and one more to check what they predict. Make a "
                "study with more --ranks.")


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
    """The largest number of ranks of each quantity, predicted from the others, if several."""
    counts = rank_counts_of(rows)
    rows = [row for row in rows if len(counts[row["workload"]]) >= LEAST_TO_CHECK]
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


def refuse_unknown_hosts(model, rank_counts, ranks_a_host):
    measured = max(int(row["hosts"]) for row in model.rows)
    for ranks in rank_counts:
        hosts = -(-ranks // ranks_a_host)
        if hosts > 1 and measured == 1 and model.machine is None:
            raise Problem(f"{ranks} ranks are on {hosts} hosts: all runs were on one, and nothing "
                          "describes a network. Describe it by --machine jobs/sites/ndr.toml, or "
                          "state how many ranks a host has by --ranks-per-node.")


def efficiency_of(model, row, at, ranks_a_host, parts):
    """Over one host's time with as many ranks on it; None for exchanges."""
    workload, quantity = row["workload"], row["quantity"]
    if at.hosts == 1 or is_exchange(workload, quantity):
        return None
    one = model.situation_at(ranks_a_host, ranks_a_host, row)
    growth = 1 if row["scaling"] == "weak" else at.ranks / ranks_a_host
    return seconds_of(model.parts(workload, quantity, one)) / seconds_of(parts) / growth


def predictions(model, rank_counts, ranks_a_host):
    refuse_unknown_hosts(model, rank_counts, ranks_a_host)
    found = []
    for workload, scaling, quantity in grouped(model.rows, "workload", "scaling", "quantity"):
        row = model.largest(workload, scaling, quantity)
        situations = [model.situation_at(ranks, ranks_a_host, row) for ranks in rank_counts]
        estimates = model.fits[workload, quantity].estimates(situations,
                                                             seed_of(workload, quantity))
        for at, estimate in zip(situations, estimates):
            parts = model.parts(workload, quantity, at)
            found.append(Prediction(workload, scaling, quantity, at.ranks, at.hosts, estimate,
                                    parts=parts, efficiency=efficiency_of(model, row, at,
                                                                          ranks_a_host, parts)))
    return found


def model_of(rows, rank_counts, ranks_a_host=None, machine=None, way=None):
    """The model of all rows, its error at the largest number of ranks, which was held out, and
    what it predicts; with as many ranks on a host as measured, or as given."""
    check_rank_counts(rows)
    modelled = [row for row in rows if is_modelled(row)]
    checks = held_out(modelled)
    model = Model(modelled, supersteps_of(modelled), machine)
    model.way = way  # of predictions; what was measured went its own
    return model, checks, predictions(model, rank_counts, ranks_a_host or model.ranks_a_host())
