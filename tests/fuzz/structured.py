#!/usr/bin/env python3
"""Random datasets and random commands over them, compared with NumPy and fractions.

    tests/fuzz/structured.py --cases 2000 --seed 5 --jobs 4
    tests/fuzz/structured.py --seed 5 --only 17      # one of its cases, telling what it does

A case is a dataset, some commands, and two runs of each with ranks, threads, slabs and read paths
of their own: both have to give the true results, and the same bytes. Cases depend on the seed and
their number alone. The environment variable WARPFOLD names the program, beside which the build
puts command_server: in its processes most commands run, one after another. In some cases, --fresh
percent of them, each run starts the program anew.
"""

import argparse
import pathlib
import re
import shlex
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

import cases  # noqa: E402
import random_commands  # noqa: E402
import random_datasets  # noqa: E402
import random_several  # noqa: E402
import random_views  # noqa: E402
import support  # noqa: E402

COMMANDS_A_CASE = 2
RUNS_A_COMMAND = 2


DEFAULTS = {
    "backend": "cpu",
    "fresh": 5,
    "commands": list(random_commands.KINDS),
    "views": [option.__name__ for option in random_views.OPTIONS],
}


class Difference(Exception):
    """A result that is not the true one."""


def run_once(dataset, command, attempt, backend, random):
    """Runs a command with random options that must not matter; returns what it gave. `attempt` is
    support.attempt() or as it."""
    words, ranks = random_commands.random_run(dataset, command, random)
    if command.words[0] == "info":
        words = ["--share-gpu"]
    source = random_several.random_source(dataset, command, random)
    if command.output:
        command.output.unlink(missing_ok=True)
    name, path, dataset_name, *others = command.words
    words = [name, *(source or [path, dataset_name]), *others, *words]
    line = shlex.join(support.command_line(*words, ranks=ranks, backend=backend))
    try:
        outcome = attempt(*words, ranks=ranks, backend=backend)
        problem = problem_of(command, outcome)
    except (AssertionError, ValueError, KeyError, OSError) as error:
        raise Difference(f"{line}\n    {error!r}") from error
    if problem:
        raise Difference(f"{line}\n    {problem}")
    return line, trace_of(command, outcome)


def problem_of(command, outcome):
    if outcome.code != command.code:
        return f"exit {outcome.code}, expected {command.code}: {outcome.stderr.strip()}"
    if outcome.code and len(outcome.errors) != 1:
        return f"not one line of explanation: {outcome.stderr}"
    if outcome.code and command.output and command.output.exists():
        return "a failed run left its output"
    return command.check(outcome)


def trace_of(command, outcome):
    """Returns the bytes that must not depend on how the command runs."""
    if outcome.code:
        return outcome.errors[0]
    if command.output:
        return support.stored_bytes(command.output)
    return re.findall(r'"results"\s*:\s*\{[^{}]*\}', outcome.stdout)


def run_case(arguments, number, servers, tell=lambda text: None):
    """Returns what differs, or None."""
    starts_anew = number * 41 % 100 < arguments.fresh
    attempt = support.attempt if starts_anew else servers.attempt
    random = np.random.default_rng([arguments.seed, number])
    with tempfile.TemporaryDirectory(prefix="warpfold-fuzz-") as folder:
        path = pathlib.Path(folder) / "in.h5"
        dataset = random_datasets.make_dataset(path, random, random_views.ATTRIBUTES)
        tell(str(dataset))
        for _ in range(COMMANDS_A_CASE):
            command = random_commands.random_command(
                dataset, random, arguments.commands, arguments.views
            )
            traces = []
            for _ in range(RUNS_A_COMMAND):
                try:
                    line, trace = run_once(dataset, command, attempt, arguments.backend, random)
                except Difference as difference:
                    return f"{dataset}\n    {difference}"
                tell(line)
                traces.append(trace)
            if traces[1:] != traces[:-1]:
                return f"{dataset}\n    {line}\n    other bytes than the run before it"
    return None


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cases.add_options(parser)
    for option in ("commands", "views"):
        known = DEFAULTS[option]
        parser.add_argument(
            f"--{option}", type=lambda text: [each for each in text.split(",") if each],
            default=known, metavar="NAME,...", help=f"of {', '.join(known)}",
        )  # fmt: skip
    parser.add_argument("--fresh", type=int, default=DEFAULTS["fresh"], metavar="PERCENT")
    return parser.parse_args()


def main():
    return cases.run(parse_arguments(), run_case, DEFAULTS)


if __name__ == "__main__":
    sys.exit(main())
