#!/usr/bin/env python3
"""Measures global sums beside other ways to take them: jobs/global_sums.py BUILD [--ranks 1,2,4]

BUILD is a build folder with warpfold_bench_sums. Prints a table in Markdown: microseconds from a
barrier to the sums on the slowest rank, the least over the rounds, and errors in units in the last
place of the exact sum, the largest for any number of ranks.
"""

import argparse
import pathlib
import subprocess
import sys

from measuring import environment, numbers_of, ranks_text


def measured(program, ranks, rounds):
    """The program's lines for a number of ranks, as {case: (microseconds, error)}."""
    command = ["mpirun", "-n", str(ranks), str(program), str(rounds)]
    run = subprocess.run(command, capture_output=True, text=True, env=environment())
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{run.stderr}")
    lines = [line.split("\t") for line in run.stdout.splitlines()]
    return {tuple(words[:4]): (float(words[4]), float(words[5])) for words in lines}


def table(results):
    """Markdown of {ranks: {case: (microseconds, error)}}."""
    yield "| fields x elements | data | method | " + " | ".join(map(ranks_text, results)) + " | error |"
    yield "|---" * 3 + "|---:" * (len(results) + 1) + "|"
    for case in next(iter(results.values())):
        fields, elements, data, way = case
        times = " | ".join(f"{result[case][0]:.0f}" for result in results.values())
        error = max(result[case][1] for result in results.values())
        yield f"| {fields} x {int(elements):g} | {data} | {way} | {times} | {error:.3g} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=numbers_of, default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=101)
    arguments = parser.parse_args()
    program = arguments.build / "warpfold_bench_sums"
    if not program.exists():
        sys.exit(f"there is no {program}: build with -DWARPFOLD_BENCHMARKS=ON")
    results = {ranks: measured(program, ranks, arguments.rounds) for ranks in arguments.ranks}
    print("\n".join(table(results)))


if __name__ == "__main__":
    main()
