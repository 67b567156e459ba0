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
import concurrent.futures
import os
import pathlib
import re
import shlex
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

import command_servers  # noqa: E402
import random_commands  # noqa: E402
import random_datasets  # noqa: E402
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
    words, ranks = random_commands.random_run(dataset, random)
    if command.words[0] == "info":
        words = ["--share-gpu"]
    if command.output:
        command.output.unlink(missing_ok=True)
    words = [*command.words, *words]
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
    """What has to be the same bytes however the command runs."""
    if outcome.code:
        return outcome.errors[0]
    if command.output:
        return stored_bytes(command.output)
    return re.findall(r'"results"\s*:\s*\{[^{}]*\}', outcome.stdout)


def stored_bytes(path):
    datasets = {}

    def keep(name, item):
        if hasattr(item, "dtype") and item.size:
            raw = np.empty(item.shape, item.dtype)
            item.id.read(*2 * (random_datasets.h5py.h5s.ALL,), raw)
            datasets[name] = raw.tobytes()

    with random_datasets.h5py.File(path, "r") as file:
        file.visititems(keep)
    return datasets


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


def reproduction(arguments, number):
    words = [sys.argv[0], "--seed", arguments.seed, "--only", number]
    for option, usual in DEFAULTS.items():
        value = getattr(arguments, option)
        if value != usual:
            words += [f"--{option}", ",".join(value) if isinstance(value, list) else value]
    return shlex.join(["WARPFOLD=" + support.program(), *map(str, words)])


def run_share(arguments, first):
    """Runs every `jobs`-th case; returns the number of those that failed, and prints each."""
    failed = 0
    servers = command_servers.Servers()
    for number in range(first, arguments.cases, arguments.jobs):
        if number and number % 100 == 0:
            print(f"at case {number}", file=sys.stderr, flush=True)
        try:
            problem = run_case(arguments, number, servers)
        except Exception as error:  # a case that could not be made or judged
            problem = repr(error)
        if problem:
            failed += 1
            print(f"case {number} of seed {arguments.seed}: {problem}", flush=True)
            print(f"    again: {reproduction(arguments, number)}", flush=True)
    servers.end()
    return failed


def run_cases(arguments):
    """Returns the number of cases that failed."""
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        shares = [pool.submit(run_share, arguments, first) for first in range(arguments.jobs)]
        return sum(share.result() for share in shares)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", choices=["cpu", "cuda"], default=DEFAULTS["backend"])
    for option in ("commands", "views"):
        known = DEFAULTS[option]
        parser.add_argument(
            f"--{option}", type=lambda text: [each for each in text.split(",") if each],
            default=known, metavar="NAME,...", help=f"of {', '.join(known)}",
        )  # fmt: skip
    parser.add_argument("--fresh", type=int, default=DEFAULTS["fresh"], metavar="PERCENT")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", type=int, metavar="CASE")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if arguments.only is not None:
        servers = command_servers.Servers()
        problem = run_case(arguments, arguments.only, servers, tell=print)
        servers.end()
        print(problem or "no difference")
        return 1 if problem else 0
    failed = run_cases(arguments)
    print(f"{arguments.cases} cases of seed {arguments.seed}: {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
