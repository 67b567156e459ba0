#!/usr/bin/env python3
"""Measures what calls of the package for Python cost on arrays in memory.

For each number of float64 elements it prints microseconds a call, the least of many rounds, of
warpfold.reduce and ExactSum.add, of numpy.sum and math.fsum, and the times of warpfold's over
numpy.sum's. The calls take turns, so that all meet the same machine. With no elements what is left
is the cost of the call.
"""

import argparse
import math
import sys
import timeit

import measuring

measuring.require("numpy")

import numpy as np  # noqa: E402

try:
    import warpfold
except ImportError:
    sys.exit("python_calls.py: error: cannot run: this Python lacks warpfold. "
             "Run 'pip install ./src/python'.")


def calls_on(values):
    total = warpfold.ExactSum()
    return {
        "reduce": lambda: warpfold.reduce(values, ops="sum"),
        "ExactSum.add": lambda: total.add(values),
        "numpy.sum": lambda: np.sum(values),
        "math.fsum": lambda: math.fsum(values),
    }


def least_microseconds(calls, rounds, seconds):
    """The least time of each call, of rounds of about so many seconds in all."""
    times = {}
    for name, call in calls.items():
        once = timeit.timeit(call, number=3) / 3
        times[name] = max(1, int(seconds / rounds / once))
    least = dict.fromkeys(calls, math.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            taken = timeit.timeit(call, number=times[name]) / times[name]
            least[name] = min(least[name], taken * 1e6)
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, nargs="+", default=[0, 1000, 100_000])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each call")
    given = parser.parse_args()
    random = np.random.default_rng(1)
    for elements in given.elements:
        least = least_microseconds(
            calls_on(random.normal(size=elements)), given.rounds, given.seconds
        )
        texts = [f"{name} {time:.2f} us" for name, time in least.items()]
        ratios = [
            f"{name} {least[name] / least['numpy.sum']:.2f}" for name in ("reduce", "ExactSum.add")
        ]
        print(f"{elements} elements: {', '.join(texts)}; over numpy.sum: {', '.join(ratios)}")


if __name__ == "__main__":
    main()
