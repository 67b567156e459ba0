"""Random weights and factors: sums of products are what exact fractions give."""

import fractions
import math

import h5py
import numpy as np

import support
from expected import Command, differences, mentions
from random_values import chance

SPREADS = [3, 60, 300]
WIDE = ("i64", "u64", "i64", "u64", "i32", "u8")


def _integer_factors(shape, random, of_weights):
    """Returns factors with all bits of a type, and with 0 and numbers that doubles cannot
    distinguish."""
    name = str(random.choice(WIDE))
    limits = np.iinfo(support.NUMPY_TYPES[name])
    least = 0 if of_weights else limits.min
    some = random.integers(least, limits.max, 5, limits.dtype, endpoint=True).tolist()
    near = [2**53 + 1, 2**53, 1, -1, -(2**53) - 1, limits.max, limits.min, 0]
    some += [each for each in near if least <= each <= limits.max]
    return random.choice(np.array(some, limits.dtype), shape)


def _factors(shape, random, of_weights):
    """For a dataset of a shape: of its last dimensions, some of them 0, tiny or huge."""
    shape = shape[int(random.integers(len(shape) + 1)) :]
    if chance(random, 0.4):
        return _integer_factors(shape, random, of_weights)
    spread = int(random.choice(SPREADS))
    factors = 10.0 ** random.uniform(-spread, spread, shape)
    if not of_weights:
        factors = factors * random.choice([-1.0, 1.0], shape)
    return np.where(random.random(shape) < 0.1, 0.0, factors)


def _sum_of(values, factors):
    """Returns the reported exact sum of products; zero exactly where all is finite."""
    with np.errstate(all="ignore"):
        products = values * factors
        products = products[~np.isfinite(values.astype("f8"))]
    if products.size:
        return float(products.sum()), None
    pairs = zip(map(fractions.Fraction, values.tolist()), map(fractions.Fraction, factors.tolist()))
    total = sum((value * factor for value, factor in pairs), fractions.Fraction(0))
    return None, total


def _rounded(exact):
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def factor_command(dataset, view, random):
    of_weights = random.random() < 0.6
    option = "weights" if of_weights else "times"
    factors = _factors(dataset.values.shape, random, of_weights)
    path = dataset.path.with_name("factors.h5")
    with h5py.File(path, "w") as file:
        file["factors"] = factors
    nan = str(random.choice(["propagate", "skip"]))
    words = ["reduce", dataset.path, dataset.name, f"--{option}={path}::factors", "--nan", nan,
             *view.words, "--json", "-"]  # fmt: skip
    if view.values.ndim == 0:
        return Command(words, mentions("a single number"), code=2)
    values, indices = view.flat()
    of_view = np.broadcast_to(factors, dataset.values.shape)[view.index].ravel()[indices]
    return Command(words, lambda outcome: differences(
        outcome.results, _expected(values, of_view, nan, of_weights)))  # fmt: skip


def _expected(values, factors, nan, of_weights):
    if of_weights:
        values, factors = values[factors != 0], factors[factors != 0]
    is_nan = np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
    if not of_weights and values.dtype.kind == "f":
        is_nan |= np.isinf(values) & (factors == 0)
    count = len(values)
    weights = sum(map(fractions.Fraction, factors[~is_nan].tolist()), fractions.Fraction(0))
    if is_nan.any() and nan == "skip":
        values, factors = values[~is_nan], factors[~is_nan]
        count = len(values)
    special, total = _sum_of(values, factors)
    expected = {"count": count, "sum": _rounded(total) if special is None else special}
    divisor = weights if of_weights else count
    if special is not None:
        expected["mean"] = special
    else:
        expected["mean"] = _rounded(total / divisor) if divisor else math.nan
    if of_weights:
        expected["sum_of_weights"] = _rounded(weights)
    return expected
