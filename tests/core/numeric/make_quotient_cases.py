#!/usr/bin/env python3
"""Writes quotient_cases.inc: quotients and their square roots, rounded once from fractions.

Usage: make_quotient_cases.py > quotient_cases.inc
"""

import random
from fractions import Fraction

from exact_reference import rounded, rounded_sqrt, spelled

LARGEST = (1 << 64) - 1


def any_size(generator, bits):
    return generator.getrandbits(generator.randint(1, bits)) | 1


def quotients(generator):
    """(factor, factor, denominator's factors, exponent): all below 2^64 but the exponent."""
    for _ in range(150):
        exponent = generator.randint(-1200, 900)
        yield *(any_size(generator, 64) for _ in range(2)), any_size(generator, 64), any_size(
            generator, 63
        ), exponent
    for _ in range(60):  # results among the subnormals
        a, b = any_size(generator, 64), any_size(generator, 20)
        exponent = -1074 + generator.randint(-2, 54) - a.bit_length()
        yield a, b, b, any_size(generator, 3), exponent
        yield a, b, 1, 1, 2 * exponent + generator.randint(0, 1)
    for _ in range(40):  # halfway between two doubles, and beside it
        odd = generator.getrandbits(53) | 1 << 53 | 1
        divisor = any_size(generator, 40)
        for a in (odd - 1, odd, odd + 1):
            yield a, divisor, divisor, 1, generator.randint(-1000, 900)
        yield odd, odd, divisor * divisor % LARGEST | 1, 1, generator.randint(-1000, 900)
        yield odd, odd, 1, 1, 2 * generator.randint(-500, 400)
    for a in (1, 2, 3, LARGEST):
        for exponent in (-1076, -1075, -1074, -2151, -2150, -2149, 960, 1022, 1023, 1024, 2046):
            yield a, 1, 1, 1, exponent
            yield a, 1, 3, 1, exponent
    yield 1, 1, 1 << 63, LARGEST, 0
    yield LARGEST, LARGEST, 1 << 63, LARGEST, 0


def scaled(value, exponent):
    return value * Fraction(2) ** exponent


def main():
    print("// Made by make_quotient_cases.py; not to be edited.")
    for a, b, c, d, exponent in quotients(random.Random(20240502)):
        value = scaled(Fraction(a * b, c * d), exponent)
        quotient, root = spelled(rounded(value)), spelled(rounded_sqrt(value))
        print(f"{{{a:#x}, {b:#x}, {c:#x}, {d:#x}, {exponent},\n {quotient}, {root}}},")


if __name__ == "__main__":
    main()
