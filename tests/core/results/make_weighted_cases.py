#!/usr/bin/env python3
"""Writes weighted_cases.inc: elements with weights, their weighted mean, variance and deviation,
and the mean of products over a count, rounded once, by Python's fractions.

Usage: make_weighted_cases.py > weighted_cases.inc
"""

import math
import random
from fractions import Fraction

from exact_reference import filled, rounded, rounded_sqrt, spelled


def results(elements, weights):
    pairs = [(Fraction(x), Fraction(w)) for x, w in zip(elements, weights)]
    products = sum(x * w for x, w in pairs)
    total = sum(w for _, w in pairs)
    mean_of_products = rounded(products / len(pairs))
    if total == 0:
        return [math.nan] * 3 + [mean_of_products]
    squares = sum(x * x * w for x, w in pairs)
    variance = squares / total - (products / total) ** 2
    return [rounded(products / total), rounded(variance), rounded_sqrt(variance), mean_of_products]


def wide(generator, orders):
    return generator.uniform(-1, 1) * 2.0 ** generator.randint(-orders, orders)


def datasets(generator):
    for n in (1, 2, 3, 10):
        for orders, of_weights in ((0, 0), (10, 10), (60, 300), (300, 60), (200, 200)):
            for _ in range(3):
                yield ([wide(generator, orders) for _ in range(n)],
                       [abs(wide(generator, of_weights)) for _ in range(n)])  # fmt: skip
    yield [3.0, -2.0], [0.0, 0.0]
    yield [3.0, -2.0, 7.0], [0.0, 1.0, 0.0]
    yield [1e15, 1e15 + 1, 1e15 - 1], [1e-9, 1e9, 3.0]  # textbook variances cancel
    yield [1.1] * 3, [0.1, 0.2, 0.3]  # a variance of 0
    yield [1.0, -1.0], [5e-324, 5e-324]
    yield [2.0**500, -(2.0**499)], [2.0**-20, 2.0**-19]
    yield [2.0**-430, 3 * 2.0**-430], [1.0, 2.0]
    yield [1.0, 1.0 + 2.0**-52], [1.0, 1.0 + 2.0**-52]  # beside ties
    yield [2.0**53, 1.0], [1.0, 1.0]


def main():
    generator = random.Random(20250116)
    print("// Made by make_weighted_cases.py; not to be edited.")
    for elements, weights in datasets(generator):
        print("{" + filled(map(spelled, elements)).lstrip() + ",")
        print(filled(map(spelled, weights)) + ",")
        print(" " + ", ".join(map(spelled, results(elements, weights))) + "},")


if __name__ == "__main__":
    main()
