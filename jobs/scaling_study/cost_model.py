"""What a run costs, by numbers of ranks.

With p ranks on h hosts, b bytes that each rank moves, K supersteps of a scan (1 for a reduction)
and L = ceil(log2 p) steps of a tree of all ranks,

    streaming   T = s + q p/h + max(b / r, b (p/h) / R) + K exchange
    exchanging  T = K (c + exchange)
    exchange    L a + M m along a tree, (p-1) d along a chain

and on hosts whose network and file system a description tells (machine.py), whose hop of a message
from host to host takes x, and from which a host and all hosts read and write at the rates F and G,

    streaming   T = s + q p/h + max(b / r, b (p/h) / R, b (p/h) / F, b p / G) + K exchange
    exchanging  T = K (c + exchange)
    exchange    L(p/h) a + M(p/h) m + L(h) x along a tree, (p-h) d + (h-1) x along a chain

s   start of a run: opening, planning, launching; handing a GPU's result to the host
q   what each process of a host adds to the start of all of them
r   rate of a rank: its kernel or its way from storage, whichever is slower
R   rate that ranks of a host share, of storage or memory; as if unlimited where none is seen
c   a call of MPI_Reduce or MPI_Exscan, with what every one costs
a   a step of it along a tree
m   a message in the memory that ranks of a host share: M(n) of them are one after the other, n-1 of
    a reduction and n L(n) - (n-1) of a scan by doubling
d   a link of a chain from rank to rank, as which Open MPI 4.1 carries out MPI_Exscan

Whole runs and measured kernels stream; only runs start processes. `bench combine` exchanges, and so
do the stages `combine` and `exscan`; their a, m and d are what a streaming run pays. No term is
negative. A term of a run or a chain is taken in only where Schwarz's criterion (BIC) finds it worth
having, and a host's rate only where there is a measurement more than terms. Fits minimize squares
of relative errors.

The interval comes from resampling the residuals (Efron's bootstrap, of log measured / fitted),
widened by what the terms took out of them, for the terms and again for the predicted run: 90 % of
single runs are expected in it if the machine goes on as measured. It takes the description's
figures as certain.
"""

import dataclasses
import math
import random

from . import least_squares

RESAMPLES = 500
INTERVAL = (0.05, 0.95)
# Of relative errors: what no clock sees, lest a perfect fit be preferred to a simple one.
SMALLEST_ERROR = 1e-6
NEVER = math.inf


@dataclasses.dataclass(frozen=True)
class Situation:
    """What decides over the time of a run."""

    ranks: int
    hosts: int
    bytes: float  # that a rank moves
    supersteps: int = 1
    known: float = 0.0  # seconds that other measurements tell
    hops_known: bool = False  # whether those have what exchanges between hosts take

    @property
    def ranks_a_host(self):
        return self.ranks / self.hosts

    @property
    def steps(self):
        return self.supersteps * (self.ranks_together - 1).bit_length()

    @property
    def links(self):
        return self.supersteps * (self.ranks - (self.hosts if self.hops_known else 1))

    @property
    def gathered(self):
        """Messages of a reduction in a host's memory; in that of all where hops are not known."""
        return self.supersteps * (self.ranks_together - 1)

    @property
    def doubled(self):
        """Those of a scan by doubling."""
        return self.ranks_together * self.steps - self.gathered

    @property
    def ranks_together(self):
        return math.ceil(self.ranks_a_host) if self.hops_known else self.ranks


@dataclasses.dataclass(frozen=True)
class Observation:
    situation: Situation
    seconds: float


# Terms by name: what is multiplied by the fitted coefficient. Data is a rank's own up to `knee`
# ranks a host, and the host's beyond.
TERMS = {
    "rank": lambda at, knee: at.bytes if at.ranks_a_host <= knee else 0.0,
    "start": lambda at, knee: 1.0,
    "process": lambda at, knee: at.ranks_a_host,
    "host": lambda at, knee: at.bytes * at.ranks_a_host if at.ranks_a_host > knee else 0.0,
    "call": lambda at, knee: float(at.supersteps),
    "step": lambda at, knee: float(at.steps),
    "link": lambda at, knee: float(at.links),
    "gathered": lambda at, knee: float(at.gathered),
    "doubled": lambda at, knee: float(at.doubled),
}
STREAMING = ("rank", "start", "host")
RUNNING = (*STREAMING, "process")
REDUCING, DOUBLING = ("call", "step", "gathered"), ("call", "step", "doubled")
# The earlier of terms that explain as much: Open MPI scans along chains.
SCANNING = ("call", "link", "step")


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Median and ends of the interval; the ends are None where nothing tells the spread."""

    median: float
    least: float | None
    most: float | None


class Design:
    """Terms over observations, weighted so that errors are relative ones."""

    def __init__(self, observations, terms, knee):
        self.terms, self.knee = terms, knee
        self.situations = [each.situation for each in observations]
        self.weights = [1 / each.seconds for each in observations]
        self.columns = [
            [weight * TERMS[term](at, knee) for at, weight in zip(self.situations, self.weights)]
            for term in terms
        ]

    def coefficients(self, seconds):
        """Of the terms, for the times of the observations."""
        target = [weight * max(0.0, time - at.known)
                  for at, weight, time in zip(self.situations, self.weights, seconds)]
        return least_squares.nonnegative(self.columns, target)

    def seconds(self, coefficients, at):
        return at.known + math.fsum(coefficient * TERMS[term](at, self.knee)
                                    for term, coefficient in zip(self.terms, coefficients))


class Fit:
    """A design and its coefficients for the observed times."""

    def __init__(self, observations, design):
        self.observations, self.design = observations, design
        self.coefficients = design.coefficients([each.seconds for each in observations])
        self.fitted = [self.seconds(each.situation) for each in observations]
        # Steps and links alone make nothing of one rank's time.
        self.residuals = [math.log(each.seconds / value) if value > 0 else math.inf
                          for each, value in zip(observations, self.fitted)]

    @property
    def term_count(self):
        return sum(coefficient > 0 for coefficient in self.coefficients)

    def seconds(self, at):
        return self.design.seconds(self.coefficients, at)

    def coefficient(self, term):
        """0 where the term was left out."""
        return dict(zip(self.design.terms, self.coefficients)).get(term, 0.0)

    def part(self, term, at):
        """Seconds of a term; 0 where it was left out."""
        return self.coefficient(term) * TERMS[term](at, self.design.knee)

    @property
    def hop(self):
        """Seconds of a step or a link."""
        return self.coefficient("step") + self.coefficient("link")

    @property
    def message(self):
        """Seconds of a message in shared memory."""
        return self.coefficient("gathered") + self.coefficient("doubled")

    def growth(self, at, way=None):
        """Seconds that more than one rank takes of an exchange, as measured, or of a scan along a
        "chain" or by "doubling", whose links and steps cost the same."""
        if way is None:
            return math.fsum(self.part(term, at)
                             for term in ("step", "link", "gathered", "doubled"))
        if way == "chain":
            return self.hop * at.links
        return self.hop * at.steps + self.message * at.doubled

    @property
    def error(self):
        """Root of the mean square of the residuals, relative to the times."""
        return math.sqrt(math.fsum(each**2 for each in self.residuals) / len(self.residuals))

    @property
    def criterion(self):
        """Schwarz's: less is better."""
        count = len(self.observations)
        square = self.error**2 + SMALLEST_ERROR**2
        return count * math.log(square) + self.term_count * math.log(count)

    @property
    def is_continuous(self):
        """Whether data costs the greater of a rank's and a host's time, on both sides of it."""
        own, shared = self.coefficient("rank"), self.coefficient("host")
        if shared == 0 or own == 0:
            return True
        shares = [each.situation.ranks_a_host for each in self.observations]
        knee = self.design.knee
        return (max(share for share in shares if share <= knee) * shared <= own
                <= min(share for share in shares if share > knee) * shared)

    def estimates(self, situations, seed):
        """Of single runs; the same for the same seed."""
        freedom = len(self.observations) - self.term_count
        if freedom <= 0:
            return [Estimate(self.seconds(at), None, None) for at in situations]
        source = random.Random(seed)
        widening = math.sqrt(len(self.observations) / freedom)
        middle = math.fsum(self.residuals) / len(self.residuals)
        errors = [(each - middle) * widening for each in self.residuals]
        found = [[] for _ in situations]
        for _ in range(RESAMPLES):
            times = [value * math.exp(source.choice(errors)) for value in self.fitted]
            coefficients = self.design.coefficients(times)
            error = math.exp(source.choice(errors))
            for at, values in zip(situations, found):
                values.append(self.design.seconds(coefficients, at) * error)
        return [Estimate(quantile(values, 0.5), *(quantile(values, end) for end in INTERVAL))
                for values in map(sorted, found)]


def quantile(ordered, share):
    """Between the two nearest of the ordered values."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def knees(observations):
    """Numbers of ranks a host from which on its rate may limit: all, none, and between."""
    shares = sorted({each.situation.ranks_a_host for each in observations})
    return [NEVER, 0, *shares[:-1]]


def candidates(observations, terms):
    """Fits with each choice of terms that the observations can tell apart."""
    cells = len({each.situation for each in observations})
    for knee in knees(observations) if "host" in terms else [NEVER]:
        for chosen in least_squares.nonempty_subsets(terms):
            shared, own = "host" in chosen, "rank" in chosen
            if shared != (knee != NEVER) or (shared and own != (knee > 0)):
                continue
            if len(chosen) > cells - shared:
                continue
            fit = Fit(observations, Design(observations, chosen, knee))
            if fit.term_count == len(chosen) and fit.is_continuous:
                yield fit


def fit(observations, terms):
    """The fit that is worth its terms; the simpler, or earlier, of equals. Trees have all."""
    if terms in (REDUCING, DOUBLING):
        return Fit(observations, Design(observations, terms, NEVER))
    return min(candidates(observations, terms), key=lambda each: round(each.criterion, 6),
               default=Fit(observations, Design(observations, terms, NEVER)))
