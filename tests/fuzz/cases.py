"""Random cases, which depend on a seed and their number alone, many at a time or one of them again."""

import concurrent.futures
import os
import shlex
import sys

import command_servers
import support


def add_options(parser):
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", type=int, metavar="CASE")


def reproduction(arguments, number, defaults):
    words = [sys.argv[0], "--seed", arguments.seed, "--only", number]
    for option, usual in defaults.items():
        value = getattr(arguments, option)
        if value != usual:
            words += [f"--{option}", ",".join(value) if isinstance(value, list) else value]
    return shlex.join(["WARPFOLD=" + support.program(), *map(str, words)])


def run_share(arguments, first, run_case, defaults):
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
            print(f"    again: {reproduction(arguments, number, defaults)}", flush=True)
    servers.end()
    return failed


def run(arguments, run_case, defaults):
    """Runs run_case(arguments, number, servers), which returns what differs, or None, of all cases;
    or of one, with `tell`, which takes what is done. `defaults` are of options that a case depends
    on. Returns the exit code."""
    if arguments.only is not None:
        servers = command_servers.Servers()
        problem = run_case(arguments, arguments.only, servers, tell=print)
        servers.end()
        print(problem or "no difference")
        return 1 if problem else 0
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        shares = [pool.submit(run_share, arguments, first, run_case, defaults)
                  for first in range(arguments.jobs)]  # fmt: skip
        failed = sum(share.result() for share in shares)
    print(f"{arguments.cases} cases of seed {arguments.seed}: {failed} differ")
    return 1 if failed else 0
