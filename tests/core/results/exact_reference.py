"""Exact values rounded once to doubles, and their C++ spelling, for the make_*_cases.py scripts."""

import math
from fractions import Fraction

ROOT_BITS = 2400  # far below half a subnormal, so a root's rest only has to be known non-zero


def rounded(value):
    """The double nearest to a Fraction: CPython rounds a quotient of integers correctly."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def rounded_sqrt(value):
    """The double nearest to the square root of a Fraction."""
    scaled = (value.numerator << (2 * ROOT_BITS)) // value.denominator
    root = math.isqrt(scaled)
    exact = Fraction(root, 1 << ROOT_BITS) ** 2 == value
    return rounded(Fraction(2 * root + (0 if exact else 1), 2 << ROOT_BITS))


def spelled(value):
    """A double as a C++ expression."""
    if math.isnan(value):
        return "quiet_nan"
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    return value.hex()


def filled(items):
    """The initializer list of items, in lines of at most 100 columns."""
    lines = [" {"]
    for item in items:
        if len(lines[-1]) + len(item) + 3 > 100:
            lines.append("  ")
        lines[-1] += item + ", "
    return "\n".join(line.rstrip() for line in lines)[:-1] + "}"
