#!/usr/bin/env python3
"""Writes summary_cases.inc: small datasets and their exact statistics, by Python's fractions.

Usage: make_summary_cases.py > summary_cases.inc
"""

import math
import random
import struct
from fractions import Fraction

from exact_reference import filled, rounded, rounded_sqrt, spelled

LARGEST = 1.7976931348623157e308


def as_f64(value):
    return value


def as_f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def as_f16(value):
    return struct.unpack("<e", struct.pack("<e", value))[0]


def as_bf16(value):
    """Cut off rather than rounded: any bfloat16 will do."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0]


def wide(generator, orders):
    return generator.uniform(-1, 1) * 2.0 ** generator.randint(-orders, orders)


def cancelling(generator, huge):
    terms = [generator.uniform(-1, 1) * huge for _ in range(20)]
    return [*terms, 1.0, *(-term for term in reversed(terms)), huge, 2.0**-20, -huge]


def floating_datasets(generator):
    """(name, type, elements as doubles)"""
    for name, fit, orders, huge, tiny in (
        ("f64", as_f64, 60, 1e308, 2.0**-1074),
        ("f32", as_f32, 30, 1e38, 2.0**-149),
        ("f16", as_f16, 6, 3e4, 2.0**-24),
        ("bf16", as_bf16, 30, 1e38, 2.0**-133),
    ):
        raw = {
            "uniform": [generator.uniform(-1, 1) for _ in range(40)],
            "wide": [wide(generator, orders) for _ in range(40)],
            "cancelling": cancelling(generator, huge),
            "subnormal": [generator.randint(-99, 99) * tiny for _ in range(30)],
            "constant": [1.23] * 50,
            "large_mean": [1e4 + generator.uniform(0, 64) for _ in range(40)],
            "single": [-0.7],
            "pair": [3.0, -4.0],
        }
        for kind, elements in raw.items():
            yield kind, name, [fit(element) for element in elements]
    yield "billion", "f64", [1e9 + generator.random() for _ in range(40)]
    yield "extreme", "f64", [wide(generator, 1020) for _ in range(40)]
    yield "tiny", "f64", [wide(generator, 40) * 2.0**-1040 for _ in range(20)]
    yield "overflowing", "f64", [LARGEST, LARGEST, 1.0]
    yield "negative_overflowing", "f64", [-LARGEST, -LARGEST, -1.0]
    yield "largest", "f32", [as_f32(3.4028234663852886e38)] * 3
    yield "thirds", "f64", [2.0**-1074, 0.0, 0.0]
    yield "rounded_to_zero", "f64", [-(2.0**-1074), 0.0, 0.0, 0.0]


def integer_datasets(generator):
    for width in (8, 16, 32, 64):
        for name, least, most in (
            (f"i{width}", -(1 << (width - 1)), (1 << (width - 1)) - 1),
            (f"u{width}", 0, (1 << width) - 1),
        ):
            yield "uniform", name, [generator.randint(least, most) for _ in range(30)]
            yield "extremes", name, [most, least, least, most, most]
            yield "least", name, [least] * 3
            yield "most", name, [most] * 3
            yield "consecutive", name, [(i % 120) + least for i in range(120)]


def element_bits(element, name):
    if name[0] in "iu":
        return f"{element % (1 << 64):#x}"
    return f"{struct.unpack('<Q', struct.pack('<d', element))[0]:#x}"


def statistics(elements, is_integer):
    """All statistics with ddof 0, then var and std with ddof 1, as C++ expressions."""
    exact = [Fraction(element) for element in elements]
    count, total = len(exact), sum(exact)
    squares = sum(element * element for element in exact)
    largest = max(abs(element) for element in exact)

    def whole_or_double(value):
        return f'integer("{value}")' if is_integer else spelled(rounded(value))

    def index(position):
        return f'integer("{position}")'

    def variance(ddof):
        if count <= ddof:
            return math.nan, math.nan
        value = (count * squares - total * total) / (count * (count - ddof))
        return rounded(value), rounded_sqrt(value)

    results = [
        index(count),
        whole_or_double(total),
        spelled(rounded(total / count)),
        *map(spelled, variance(0)),
        whole_or_double(min(exact)),
        whole_or_double(max(exact)),
        index(exact.index(min(exact))),
        index(exact.index(max(exact))),
        whole_or_double(sum(map(abs, exact))),
        spelled(rounded_sqrt(squares)),
        whole_or_double(largest),
        index(0),
        index(0),
    ]
    return results, [spelled(value) for value in variance(1)]


def main():
    generator = random.Random(20240501)
    print("// Made by make_summary_cases.py; not to be edited.")
    for kind, name, elements in [*floating_datasets(generator), *integer_datasets(generator)]:
        results, sample = statistics(elements, name[0] in "iu")
        print(f'{{"{kind}", ElementType::{name},')
        print(filled([element_bits(element, name) for element in elements]) + ",")
        print(filled(results) + ",")
        print(f" {sample[0]}, {sample[1]}}},")


if __name__ == "__main__":
    main()
