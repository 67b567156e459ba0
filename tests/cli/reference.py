"""True values to compare with: integers and fractions, rounded once by Python.

A double is a whole number of units of 2^-1074, so that Python's integers hold every sum exactly.
"""

import fractions
import itertools
import math

import numpy as np

UNIT_BITS = 1074
UNITS = 1 << UNIT_BITS
# Formats by type: significant bits, the exponents of the least one and of the largest value.
FORMATS = {
    "f64": (53, -1074, 1023), "f32": (24, -149, 127), "f16": (11, -24, 15), "bf16": (8, -133, 127),
}  # fmt: skip
STATISTICS = (
    "count", "sum", "mean", "var", "std", "min", "max", "argmin", "argmax", "l1", "l2", "linf",
    "nan_count", "inf_count",
)  # fmt: skip


def to_double(name, values):
    """Elements as doubles of equal value; bfloat16 comes as its bits."""
    if name == "bf16":
        return (np.asarray(values).astype("u4") << 16).view("f4").astype("f8")
    return np.asarray(values, "f8")


def to_bfloat16(values):
    """The bits of the bfloat16 at or next below `values` in magnitude."""
    return (np.asarray(values, "f4").view("u4") >> 16).astype("u2")


def in_units(values):
    """Finite doubles as integers, in units of 2^-1074."""
    exact = []
    for value in np.asarray(values, "f8").ravel().tolist():
        numerator, denominator = value.as_integer_ratio()
        exact.append(numerator << (UNIT_BITS + 1 - denominator.bit_length()))
    return exact


def nearest(numerator, denominator=1):
    """The double nearest to a quotient of integers."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def nearest_root(square, nearest=nearest):
    """The double nearest to the square root of a fraction; `nearest` may round more coarsely."""
    if square == 0:
        return 0.0
    # At least 64 bits of root, the last of which is odd when anything was cut off.
    bits = 64 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2
    shift = max(bits + 1, 0)
    scaled, rest = divmod(square.numerator << (2 * shift), square.denominator)
    root = math.isqrt(scaled)
    inexact = rest != 0 or root * root != scaled
    return nearest(2 * root + inexact, 2 << shift)


def statistics(values, ddof=0, nearest=nearest):
    """The true results of finite doubles or of Python integers, each rounded once by `nearest`."""
    flat = np.asarray(values).ravel()
    if flat.dtype.kind in "iub":
        exact, units = [int(each) for each in flat.tolist()], 1
    else:
        exact, units = in_units(flat), UNITS
    count = len(exact)
    total = sum(exact)
    squares = sum(each * each for each in exact)
    magnitude = sum(map(abs, exact))
    deviations = fractions.Fraction(count * squares - total * total, units * units)
    variance = deviations / (count * (count - ddof))
    of_sum = (lambda each: each) if units == 1 else (lambda each: nearest(each, units))
    return {
        "count": count,
        "sum": of_sum(total),
        "mean": nearest(total, count * units),
        "var": nearest(variance.numerator, variance.denominator),
        "std": nearest_root(variance, nearest),
        "min": flat.min().item(),
        "max": flat.max().item(),
        "argmin": int(flat.argmin()),
        "argmax": int(flat.argmax()),
        "l1": of_sum(magnitude),
        "l2": nearest_root(fractions.Fraction(squares, units * units), nearest),
        "linf": of_sum(max(map(abs, exact))),
        "nan_count": 0,
        "inf_count": 0,
    }


def prefixes(values):
    """Inclusive prefix sums in units of 2^-1074."""
    return list(itertools.accumulate(in_units(values)))


def rounded_units(name, units, unit_bits=UNIT_BITS):
    """Units of 2^-unit_bits as the nearest value of a floating-point type, ties to even, as a
    double."""
    digits, least, largest = FORMATS[name]
    magnitude = abs(units)
    dropped = max(magnitude.bit_length() - digits, least + unit_bits)
    rounded = 2 * (magnitude >> dropped)
    rest = 2 * (magnitude - (rounded >> 1 << dropped)) - (1 << dropped)
    if rest > 0 or (rest == 0 and rounded & 2):
        rounded += 2
    value = rounded >> 1 << dropped
    double = math.inf if value >= 1 << (largest + 1 + unit_bits) else value / (1 << unit_bits)
    return -double if units < 0 else double


def rounded_prefixes(name, values, exclusive=False):
    """The prefix sums of finite doubles, each rounded once, as doubles."""
    true = [0, *prefixes(values)]
    return [rounded_units(name, each) for each in (true[:-1] if exclusive else true[1:])]


def same(found, expected):
    """Equal as numbers, NaN equal to itself."""
    if isinstance(expected, float) and math.isnan(expected):
        return isinstance(found, float) and math.isnan(found)
    return found == expected


def assert_results(found, expected):
    wrong = {
        key: (found.get(key), value)
        for key, value in expected.items()
        if not same(found.get(key), value)
    }
    assert not wrong, f"found, expected: {wrong}"
