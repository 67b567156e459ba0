"""Random weights and factors: sums of products are what exact fractions give."""

import fractions
import math

import h5py
import numpy as np

import support
from expected import Command, compare_arrays, differences, mentions, stored_numbers
from random_values import chance

MOST_OUTPUTS = 600
SPREADS = [0.1, 3, 60, 300]
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
    """Returns factors of a shape's last dimensions or of one, the same for each element, and the
    word that names the dimension."""
    first = int(random.integers(len(shape) + 1))
    some, word = shape[first:], ""
    if shape and chance(random, 0.5):
        first = int(random.integers(len(shape)))
        some, word = shape[first : first + 1], f"@{first}"
    factors = _numbers(some, random, of_weights)
    whole = factors.reshape(some + (1,) * (len(shape) - first - len(some)))
    return factors, np.broadcast_to(whole, shape), word


def _numbers(shape, random, of_weights):
    """Usual numbers, or some that are 0, tiny or huge."""
    if chance(random, 0.3):
        return _integer_factors(shape, random, of_weights)
    spread = random.choice(SPREADS)
    factors = 10.0 ** random.uniform(-spread, spread, shape)
    if not of_weights and chance(random, 0.7):
        factors = factors * random.choice([-1.0, 1.0], shape)
    return np.where(random.random(shape) < random.choice([0.0, 0.1]), 0.0, factors)


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
    factors, everywhere, dimensions = _factors(dataset.values.shape, random, of_weights)
    path = dataset.path.with_name("factors.h5")
    with h5py.File(path, "w") as file:
        file["factors"] = factors
    nan = str(random.choice(["propagate", "skip"]))
    words = ["reduce", dataset.path, dataset.name, f"--{option}={path}::factors{dimensions}",
             "--nan", nan, *view.words, "--json", "-"]  # fmt: skip
    if view.values.ndim == 0:
        return Command(words, mentions("a single number"), code=2)
    of_view = everywhere[view.index]

    def expected(place=...):
        counts = view.kept[place]
        return _expected(view.values[place][counts], of_view[place][counts], nan, of_weights)

    if chance(random, 0.5):
        return _along_axes(words, dataset, view, expected, random)
    return Command(words, lambda outcome: differences(outcome.results, expected()))


def _along_axes(words, dataset, view, expected, random):
    """Reduces some dimensions: expected(its place in the view) gives what an output has to be."""
    shape = view.values.shape
    axes = [axis for axis in range(len(shape)) if chance(random, 0.5)] or [len(shape) - 1]
    kept = [1 if axis in axes else extent for axis, extent in enumerate(shape)]
    if np.prod(kept) > MOST_OUTPUTS:
        axes, kept = range(len(shape)), [1] * len(shape)
    places = [tuple(slice(None) if axis in axes else index for axis, index in enumerate(at))
              for at in np.ndindex(*kept)]  # fmt: skip
    results = [expected(place) for place in places]
    names = list(expected())
    output = dataset.path.with_name("out.h5")
    words = [*words, "-o", f"{output}:made", "--axis=" + ",".join(map(str, axes)), "--empty", 7,
             "--output-type", "f64", "--ops", ",".join(names)]  # fmt: skip
    shape = [extent for axis, extent in enumerate(shape) if axis not in axes]

    def check(outcome):
        for name in names:
            numbers = [7.0 if name == "sum" and each["count"] == 0 else each[name]
                       for each in results]  # fmt: skip
            kind = "u64" if name == "count" else "f64"
            made = stored_numbers(output, f"made_{name}", kind)
            problem = compare_arrays(made, np.array(numbers, made.dtype).reshape(shape))
            if problem:
                return f"{name} {problem}"
        return None

    return Command(words, check, output)


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
