"""References that share no code with the program."""

import math
from fractions import Fraction

import numpy as np


def exact_sum(values):
    return sum((Fraction(float(each)) for each in np.ravel(values)), Fraction(0))


def rounded_to(number, dtype):
    """The element of a type that is nearest to a fraction, ties to even."""
    if dtype == np.float64:
        return np.float64(float(number))
    near = dtype(float(number))
    around = [near, np.nextafter(near, dtype(math.inf)), np.nextafter(near, dtype(-math.inf))]

    def badness(each):
        odd = int(each.view(f"u{each.itemsize}")) & 1
        return (abs(Fraction(float(each)) - number), odd)

    return min(around, key=badness)


def prefixes(values, dtype):
    total = Fraction(0)
    sums = []
    for each in np.ravel(values):
        total += Fraction(float(each))
        sums.append(rounded_to(total, dtype))
    return np.array(sums, dtype).reshape(np.shape(values))


def sums_along(values, axis, dtype):
    moved = np.moveaxis(values, axis, 0)
    lines = moved.reshape(moved.shape[0], -1).T
    sums = [rounded_to(exact_sum(line), dtype) for line in lines]
    return np.array(sums, dtype).reshape(moved.shape[1:])
