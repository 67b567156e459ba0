#!/usr/bin/env python3
"""Datasets of files that other programs wrote, reduced as h5py and fractions have them.

    tests/fuzz/foreign.py FILES...

Each dataset of numbers, or member of numbers, has the true count, sum, min and max of its stored elements (--raw), or one
error line names it and its file. The environment variable WARPFOLD names the program, beside which the
build puts command_server.
"""

import argparse
import fractions
import math
import pathlib
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

import command_servers  # noqa: E402
import support  # noqa: E402

OPS = ("count", "sum", "min", "max")
MOST_ELEMENTS = 20_000_000  # more are not compared
TIMEOUT = 60  # seconds


def total(values):
    """The sum of an array, as an integer or rounded once to a double."""
    if values.dtype.kind != "f":
        return sum(map(int, values.tolist()))
    if not np.isfinite(values).all():
        with np.errstate(invalid="ignore"):
            return float(values[~np.isfinite(values)].astype("f8").sum())
    exact = sum(map(fractions.Fraction, values.tolist()), fractions.Fraction(0))
    try:
        return float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)


def truth(values):
    """Returns the results that `reduce` has to find in an array of numbers."""
    flat = values.ravel()
    if flat.dtype.kind == "b":
        flat = flat.astype("u1")
    if not flat.size:
        return {"count": 0, "sum": total(flat), "min": None, "max": None}
    return dict(zip(OPS, (flat.size, total(flat), flat.min().item(), flat.max().item())))


def ways_of(dtype):
    """The names that lead to each member of elements, and the parts of complex numbers among them."""
    base = dtype.base
    if base.names:
        return [(name, *way) for name in base.names for way in ways_of(base[name])]
    return [("r",), ("i",)] if base.kind == "c" else [()]


def along(values, way):
    for name in way:
        if values.dtype.names:
            values = values[name]
        else:
            values = values.real if name == "r" else values.imag
    return values


def ways_to_numbers(dataset):
    """Returns those to numbers of a type of NumPy's and warpfold's; not to long doubles, nor to what
    h5py does not know."""
    try:
        ways = ways_of(dataset.dtype)
        types = [along(np.zeros(1, dataset.dtype), way).dtype for way in ways]
    except (KeyError, TypeError, ValueError):
        return []
    return [
        way
        for way, type in zip(ways, types)
        if dataset.shape is not None and type.kind in "biuf" and type.itemsize <= 8
    ]


def datasets_of(path):
    """{name: h5py.Dataset} of all objects that h5py can open, through hard links."""
    file, found, seen = h5py.File(path, "r"), {}, set()

    def visit(group):
        address = h5py.h5o.get_info(group.id).addr
        if address in seen:
            return
        seen.add(address)
        for name in group:
            try:
                if group.get(name, getlink=True).__class__ is not h5py.HardLink:
                    continue
                member = group[name]
                if isinstance(member, h5py.Dataset):
                    found[f"{group.name}/{name}".lstrip("/")] = member
            except (KeyError, OSError, RuntimeError, TypeError, ValueError):
                continue  # h5py cannot, so nothing is known
            if isinstance(member, h5py.Group):
                visit(member)

    visit(file["/"])
    return found


def same(found, expected):
    if isinstance(expected, float) and isinstance(found, float):
        return found == expected or (math.isnan(found) and math.isnan(expected))
    return type(found) is type(expected) and found == expected


def attempt(servers, *words):
    """(Outcome, problem): a crash, a process that stays stuck, HDF5's own messages."""
    try:
        outcome = servers.attempt(*words, timeout=TIMEOUT)
    except AssertionError as error:
        return None, f"{error}"[:300]
    if "HDF5-DIAG" in outcome.stderr or len(outcome.stderr) > 100_000:
        return outcome, "HDF5's messages"
    if outcome.code and not outcome.errors:
        return outcome, f"exit {outcome.code} without an error line: {outcome.stderr[:300]}"
    return outcome, None


def problem_of(servers, path, name, dataset, way, reported):
    """Returns a description of a dataset's wrong results, reported or requested alone; or None."""
    try:
        if dataset.size > MOST_ELEMENTS:
            return None
        expected = truth(along(np.asarray(dataset[()]), way))
    except (OSError, RuntimeError, TypeError, ValueError):
        expected = None  # only a crash is wrong
    if reported is None:
        outcome, problem = attempt(
            servers, "reduce", path, name, "--raw", "--ops", ",".join(OPS), "--json", "-"
        )
        if problem:
            return problem
        if outcome.code:
            line = outcome.errors[0]
            refused = len(outcome.errors) == 1 and str(path) in line and name in line
            counts["refused"] += 1
            if refused and expected is not None:
                print(f"refused {path} {name} {dataset.dtype}: {line}")
            return None if refused else f"not one line that names file and dataset: {outcome.stderr[:300]}"
        reported = outcome.results
    if expected is None:
        counts["not read by h5py"] += 1  # for want of a filter, maybe
        return None
    counts["compared"] += 1
    wrong = [op for op in OPS if not same(reported.get(op), expected[op])]
    return f"{reported}, expected {expected}" if wrong else None


counts = {"files": 0, "not read by h5py": 0, "compared": 0, "refused": 0}


def check(servers, path):
    """Yields what is wrong with a file."""
    counts["files"] += 1
    _, problem = attempt(servers, "info", path, "--all")
    if problem:
        yield f"info --all: {problem}"
    words = ("reduce", path, "--all", "--raw", "--ops", ",".join(OPS), "--json", "-")
    outcome, problem = attempt(servers, *words)
    if problem:
        yield f"reduce --all: {problem}"
    reported = {}
    if outcome and outcome.stdout:
        reported = {each["dataset"]: each.get("results") for each in outcome.report["datasets"]}
    try:
        datasets = datasets_of(path)
    except (KeyError, OSError, RuntimeError):
        counts["not read by h5py"] += 1
        return
    for dataset_name, dataset in datasets.items():
        for way in ways_to_numbers(dataset):
            name = ".".join((dataset_name, *way))
            problem = problem_of(servers, path, name, dataset, way, reported.get(name))
            if problem:
                yield f"{name}: {problem}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    paths = parser.parse_args().files
    servers, failures = command_servers.Servers(), 0
    for path in paths:
        for problem in check(servers, path):
            failures += 1
            print(f"{path}: {problem}", flush=True)
    servers.end()
    print(", ".join(f"{count} {what}" for what, count in counts.items()) + f", {failures} wrong")
    return 1 if failures or not counts["files"] else 0


if __name__ == "__main__":
    sys.exit(main())
