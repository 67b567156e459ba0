#!/usr/bin/env python3
"""Writes axis_cases.inc: doubles, and statistics of them rounded once to each floating-point type,
by Python's fractions.

Usage: make_axis_cases.py > axis_cases.inc
"""

import math
import random
import struct
from fractions import Fraction

from exact_reference import ROOT_BITS, filled, spelled

# Significant bits, and exponents of the smallest and of the largest normal number.
FORMATS = {"f64": (53, -1022, 1023), "f32": (24, -126, 127), "f16": (11, -14, 15),
           "bf16": (8, -126, 127)}


def nearest(value, name):
    """The value of the format nearest to a Fraction, ties to even, as a double."""
    bits, lowest, highest = FORMATS[name]
    if value == 0:
        return 0.0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, lowest) - bits + 1)
    rounded = round(size / unit) * unit
    magnitude = math.inf if rounded >= Fraction(2) ** (highest + 1) else float(rounded)
    return magnitude if value > 0 else -magnitude


def root(value):
    """A Fraction between whose square root and itself lies no number of any format, nor midpoint."""
    scaled = (value.numerator << (2 * ROOT_BITS)) // value.denominator
    floor = math.isqrt(scaled)
    exact = Fraction(floor, 1 << ROOT_BITS) ** 2 == value
    return Fraction(2 * floor + (0 if exact else 1), 2 << ROOT_BITS)


def statistics(elements):
    exact = [Fraction(element) for element in elements]
    count, total = len(exact), sum(exact)
    squares = sum(element * element for element in exact)
    variance = (count * squares - total * total) / (count * count)
    return [total, total / count, variance, root(variance), sum(map(abs, exact)), root(squares)]


def wide(generator, orders):
    return generator.uniform(-1, 1) * 2.0 ** generator.randint(-orders, orders)


def near_ties(generator):
    """Sums that lie beside a midpoint of each format by far less than a unit of f64."""
    for bits, _, _ in FORMATS.values():
        for sign in (1, -1):
            base = float(generator.randrange(1 << (bits - 1), 1 << bits))
            tie = [base, 0.5, sign * 2.0**-90]
            yield "near_tie", tie
            yield "near_negative_tie", [-element for element in tie]
            yield "near_tie_at_power", [2.0**bits, -0.5, sign * 2.0**-90]
        yield "tie", [float(1 << (bits - 1)), 0.5]
        yield "odd_tie", [float((1 << (bits - 1)) + 1), 0.5]
        yield "far_below_a_tie", [base, 0.5, 2.0**-400, -(2.0**-900)]


def datasets(generator):
    for n in (1, 2, 3, 7, 10, 30):
        yield "uniform", [generator.uniform(-1, 1) for _ in range(n)]
        yield "floats", [float(generator.randint(-1000, 1000)) for _ in range(n)]
        for orders in (20, 60, 200, 480, 1000):
            yield "wide", [wide(generator, orders) for _ in range(n)]
        yield "tiny", [wide(generator, 30) * 2.0**-1040 for _ in range(n)]
        yield "tiny_f32", [wide(generator, 3) * 2.0**-140 for _ in range(n)]
        yield "tiny_f16", [wide(generator, 3) * 2.0**-20 for _ in range(n)]
        yield "huge", [wide(generator, 4) * 2.0**1018 for _ in range(n)]
    yield "thirds", [1.0, 0.0, 0.0]
    yield "cancelling", [1e308, 1.0, -1e308, 2.0**-1074]
    yield "overflowing", [1.7976931348623157e308] * 3
    yield "at_limits", [2.0**970, -(2.0**970), 2.0**971, 2.0**485, 2.0**486, 2.0**-480, 2.0**-481]
    yield from near_ties(generator)


def element_bits(element):
    return f"{struct.unpack('<Q', struct.pack('<d', element))[0]:#x}"


def main():
    generator = random.Random(20240611)
    print("// Made by make_axis_cases.py; not to be edited.")
    for kind, elements in datasets(generator):
        print(f'{{"{kind}",')
        print(filled([element_bits(element) for element in elements]) + ",")
        results = statistics(elements)
        print(filled([spelled(nearest(value, name)) for value in results for name in FORMATS])
              + "},")


if __name__ == "__main__":
    main()
