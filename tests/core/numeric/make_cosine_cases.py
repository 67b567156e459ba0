#!/usr/bin/env python3
"""Writes cosine_cases.inc: angles in degrees, and their cosines rounded once, by Python's integers.

Usage: make_cosine_cases.py > cosine_cases.inc
"""

import random
from fractions import Fraction

BITS = 1400  # behind the point: the least angle's distance from a right angle has some 1130


def arctangent_of_inverse(n):
    """arctan(1 / n) * 2^BITS, by its series."""
    term, total, power = (1 << BITS) // n, 0, 1
    while term:
        total += term // power if power % 4 == 1 else -(term // power)
        term, power = term // (n * n), power + 2
    return total


PI = 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239))  # by John Machin


def cosine(degrees):
    """Returns the cosine of a double as a double: the series' terms beyond 2^-BITS are omitted."""
    turned = Fraction(degrees) % 360
    if turned in (90, 270):
        return 0.0
    angle = int(turned / 180 * PI)
    square = angle * angle >> BITS
    term = total = 1 << BITS
    n = 0
    while term:
        n += 2
        term = -(term * square >> BITS) // (n * (n - 1))
        total += term
    return float(Fraction(total, 1 << BITS))


def angles(generator):
    yield from (0.0, -0.0, 30.0, 45.0, 60.0, 90.0, 120.0, 180.0, 270.0, 300.0, 360.0, 450.0, -60.0)
    for middle in (45.0, 90.0, 135.0, 180.0, 270.0, 360.0):
        yield from (middle - 2.0**-40, middle + 2.0**-44)
    yield from (5e-324, 1e-300, 2.0**-30, 1e-8, 89.99999999999999, 90.00000000000001)
    yield from (1e6, 1e15, 1e300)
    for _ in range(100):
        yield generator.uniform(-90, 90)
        yield generator.uniform(-1000, 1000)
        yield float(generator.randint(-360, 360)) + 0.125 * generator.randint(0, 7)
    for count in (32, 64, 96, 160):  # Gaussian latitudes, about
        yield from (90 - 180 * (k + 0.5) / count for k in range(0, count, 7))


def main():
    print("// Made by make_cosine_cases.py; not to be edited.")
    for degrees in angles(random.Random(20250114)):
        print(f"{{{degrees.hex()}, {cosine(degrees).hex()}}},")


if __name__ == "__main__":
    main()
