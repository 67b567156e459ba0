#!/usr/bin/env python3
"""Compares what an example of global sums prints with fractions: check_host_sums.py POINTS NAME

Reads the program's lines, "NAME BITS NUMBER" each, from the standard input; exits with 1 where one
is not the sum rounded once, to the last bit.
"""

import struct
import sys
from fractions import Fraction


def mixed(i):
    return (i * 1103515245 + 12345) % 2**31


def temperature(i):
    return (mixed(i) - 2**30) * Fraction(2) ** (i % 41 - 50)


def volume(i):
    return mixed(i + 7777777) * Fraction(2) ** (i % 31 - 15)


def bits(number):
    return struct.pack(">d", float(number)).hex()


def expected(points):
    wet = [i for i in range(points) if i % 5 != 0]
    return {
        "temperature": bits(sum(map(temperature, wet))),
        "volume": bits(sum(map(volume, wet))),
        "heat": bits(sum(temperature(i) * volume(i) for i in wet)),
        "coldest": bits(min(map(temperature, wet))),
        "last prefix": bits(sum(map(temperature, range(points)))),
        "numbers": str(sum(map(mixed, range(points)))),
        "mistake": "2:",
    }


def main():
    points, name = int(sys.argv[1]), sys.argv[2]
    printed = {line[:13].strip(): line[14:].split()[0].lower() for line in sys.stdin}
    right = expected(points)
    wrong = [key for key in right if printed.get(key) != right[key]]
    for key in wrong:
        print(f"{name}: {key} is {printed.get(key)}, not {right[key]}")
    return 1 if wrong or printed.keys() != right.keys() else 0


if __name__ == "__main__":
    sys.exit(main())
