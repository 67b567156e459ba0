"""Random commands over a dataset, each with what has to come of it."""

import csv
import re

import h5py
import numpy as np

import random_views
import support
from expected import (
    Command, compare_arrays, compare_bits, differences, integer_type, stored_numbers,
)  # fmt: skip
from random_axis_reductions import axis_reduction, label_command
from random_factors import factor_command
from random_histograms import histogram_command
from random_scans import scan_command, storage_words
from random_sparse import sparse_command
from random_several import several_command
import truth
from random_unpacking import netCDF4, unpacking_command
from reference import STATISTICS


FRACTIONS = {"median": 0.5, "q05": 0.05, "q0.999": 0.999, "q0.0": 0.0, "q1.0": 1.0, "q33": 0.33}


def _some(choices, random):
    chosen = [each for each in choices if random.random() < 0.5]
    return chosen or [random.choice(choices)]


def reduce_command(dataset, view, random):
    options = {"nan": str(random.choice(["propagate", "skip"])),
               "overflow": str(random.choice(["error", "wrap"])),
               "ddof": int(random.choice([0, 1, 1000]))}  # fmt: skip
    chosen = [str(each) for each in _some(STATISTICS, random)]
    words = ["reduce", dataset.path, dataset.name, "--ops", ",".join(chosen), *view.words]
    words += truth.setting_words(options, chosen)
    results = truth.statistics(*view.flat(), **options)
    expected = {each: results[each] for each in chosen}
    if random.random() < 0.4:
        quantile_words, quantiles = random_quantiles(view.flat()[0], options["nan"], random)
        words[4] += "," + ",".join(quantiles)
        words += quantile_words
        expected.update(quantiles)
    if random.random() < 0.2:
        words += ["--csv", "-"]
        return Command(words, lambda outcome: differences(_cells(outcome), expected))
    words += ["--json", "-"]
    return Command(words, lambda outcome: differences(outcome.results, expected))


def random_quantiles(values, nan, random):
    """The words that choose a method, and by name what it has to give."""
    method = str(random.choice(["linear", "lower", "higher", "midpoint", "nearest"]))
    names = _some(list(FRACTIONS), random)
    expected = {name: truth.quantile(values, FRACTIONS[name], method, nan) for name in names}
    return ["--quantile-method", method], expected


def _cells(outcome):
    """The results in a CSV report, as Outcome.results of JSON."""
    rows = csv.DictReader(outcome.stdout.splitlines())
    return {row["statistic"]: _number_of_cell(row["value"]) for row in rows}


def _number_of_cell(text):
    if not text:
        return None
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


def compact_command(dataset, view, random):
    output = dataset.path.with_name("out.h5")
    indices = random.random() < 0.5
    words = ["compact", dataset.path, dataset.name, "-o", f"{output}:kept", "--json", "-",
             *view.words]  # fmt: skip
    if not any(word.startswith(("--where", "--fill-value", "--mask")) for word in view.words
               if word != "--fill-value=none"):  # fmt: skip
        words += ["--where", "finite"]
        view.kept = view.kept & np.isfinite(view.values)
    kept, places = view.flat()
    words += storage_words(random, kept.shape)
    out = integer_type(view.type)

    def check(outcome):
        problem = compare_arrays(stored_numbers(output, "kept", out), kept)
        if not problem and not view.unpacked:
            problem = compare_bits(support.read(output, out, "kept"), view.raw.ravel()[places])
        if problem or not indices:
            return problem
        with h5py.File(output, "r") as file:
            found = file["kept_indices"][...]
        return None if np.array_equal(found, places) else f"indices {found}, expected {places}"

    return Command(words + ["--indices"] * indices, check, output)


def reduce_axis_command(dataset, view, random):
    return axis_reduction(dataset, view, random) or reduce_command(dataset, view, random)


def info_command(dataset, view, random):
    """Describes a dataset as it is selected, or all datasets of a file."""
    if random.random() < 0.2:
        return Command(
            ["info", dataset.path, "--json", "-"], lambda outcome: _listed(dataset, outcome)
        )
    selection = [word for word in view.words if word.startswith("--select")]

    def check(outcome):
        results = outcome.report["results"]
        found = [outcome.report["shape"], results["stored_shape"], results["elements"]]
        expected = [list(view.values.shape), list(dataset.values.shape), view.values.size]
        return None if found == expected else f"found {found}, expected {expected}"

    return Command(["info", dataset.path, dataset.name, "--json", "-", *selection], check)


def _listed(dataset, outcome):
    found = {each["name"]: bool(each["unsupported"])
             for each in outcome.report["results"]["datasets"]}  # fmt: skip
    expected = {each.name: False for each in (dataset, *dataset.others)}
    expected |= dict.fromkeys(dataset.unreadable, True)
    return None if found == expected else f"lists {found}, expected {expected}"


KINDS = {
    "reduce": (reduce_command, 0.3),
    "scan": (scan_command, 0.3),
    "reduce-axis": (reduce_axis_command, 0.1),
    "reduce-by": (label_command, 0.1),
    "reduce-factors": (factor_command, 0.2),
    "compact": (compact_command, 0.1),
    "histogram": (histogram_command, 0.1),
    "several": (several_command, 0.06),
    "info": (info_command, 0.04),
    "sparse": (sparse_command, 0.04),
}
if netCDF4:
    from random_cells import cell_command
    from random_matching import joined_command, matching_command
    from random_records import record_command

    KINDS |= {
        "unpacking": (unpacking_command, 0.05),
        "matching": (matching_command, 0.08),
        "joined": (joined_command, 0.05),
        "records": (record_command, 0.04),
        "cells": (cell_command, 0.04),
    }


def random_command(dataset, random, kinds, views):
    """Returns a random command of `kinds`, names among KINDS, with `views`, names among
    random_views.OPTIONS."""
    weights = np.array([KINDS[kind][1] for kind in kinds])
    kind = kinds[random.choice(len(kinds), p=weights / weights.sum())]
    return KINDS[kind][0](dataset, random_views.random_view(dataset, random, views), random)


def random_run(dataset, command, random):
    """Options that must not change a result, and ranks: None is without mpirun."""
    words = []
    if random.random() < 0.7:
        odd = int(random.integers(4096, 40_000))
        words += ["--slab", str(random.choice(["4K", "8K", "64K", "1M", odd]))]
    if random.random() < 0.7:
        words += ["--threads", int(random.choice([1, 2, 3, 4, 9]))]
    if dataset.library_reads and random.random() < 0.3 and command.library_reads:
        words += ["--read-path", "library"]
    if random.random() < 0.2:
        words += ["--file-cache", str(random.choice(["through", "past"]))]
    ranks = int(random.integers(1, 5)) if random.random() < 0.6 else None
    return words, ranks
