"""Random commands over a dataset, each with what has to come of it."""

import bisect
import dataclasses
import fractions
import typing

import h5py
import numpy as np

import reference
import support
import truth
import random_views
from test_reduce import STATISTICS


@dataclasses.dataclass
class Command:
    """`check` takes the Outcome; it returns None, or tells what is wrong."""

    words: list
    check: typing.Callable
    output: object = None  # a file that every run makes anew
    code: int = 0


def _some(choices, random):
    chosen = [each for each in choices if random.random() < 0.5]
    return chosen or [random.choice(choices)]


def differences(found, expected):
    wrong = {
        key: (found.get(key), value)
        for key, value in expected.items()
        if not truth.same(found.get(key), value)
    }
    return f"found, expected: {wrong}" if wrong else None


def reduce_command(dataset, view, random):
    options = {"nan": str(random.choice(["propagate", "skip"])),
               "overflow": str(random.choice(["error", "wrap"])),
               "ddof": int(random.choice([0, 1, 1000]))}  # fmt: skip
    chosen = [str(each) for each in _some(STATISTICS, random)]
    words = ["reduce", dataset.path, dataset.name, "--json", "-", "--ops", ",".join(chosen)]
    for option, value in options.items():
        words += [f"--{option}", value]
    results = truth.statistics(*view.flat(), **options)
    expected = {each: results[each] for each in chosen}
    return Command([*words, *view.words], lambda outcome: differences(outcome.results, expected))


def _output_words(random, shape):
    """How a scan's output is stored."""
    if not shape or 0 in shape or random.random() < 0.7:
        return []
    chunks = ",".join(str(random.integers(max(1, each // 4), each + 1)) for each in shape)
    words = ["--chunks", "auto" if random.random() < 0.3 else chunks]
    if random.random() < 0.5:
        words += ["--deflate", int(random.integers(0, 10))]
    return words + [each for each in ("--shuffle", "--fletcher32") if random.random() < 0.4]


def _scanned(output, name, out):
    """What a scan wrote, as numbers; the HDF5 type of the elements has to be the promised one."""
    with h5py.File(output, "r") as file:
        stored = file[name].id.get_type()
        if not stored.equal(support.file_type(out)):
            raise AssertionError(f"the output's type is {stored}, not {out}")
    values = support.read(output, out, name)
    return truth.numbers(out, values).reshape(values.shape)


def _compare_prefixes(found, expected):
    if found.shape != expected.shape:
        return f"shape {found.shape}, expected {expected.shape}"
    if np.array_equal(found, expected, equal_nan=found.dtype.kind == "f"):
        return None
    place = int(np.flatnonzero(~((found == expected) | (found != found)))[0])
    return f"at {place} is {found[place]}, expected {expected[place]}"


def _extremum_scan(view, operation, exclusive):
    out = integer_type(view.type)
    identity = np.array(_identity(view, operation), view.values.dtype)
    filled = np.where(view.kept.ravel(), view.values.ravel(), identity)
    expected = truth.running_extrema(filled, operation, exclusive)
    return out, [], 0, lambda found: _compare_prefixes(found, expected)


def _identity(view, operation):
    if view.values.dtype.kind == "f":
        return {"min": np.inf, "max": -np.inf}[operation]
    limits = np.iinfo(view.values.dtype)
    return {"min": limits.max, "max": limits.min}[operation]


def _float_sum_scan(view, exclusive, random):
    out = str(random.choice([view.type, *truth.FORMATS]))
    values = np.where(view.kept, view.values, 0.0).ravel()

    def compare(found):
        wrong = truth.scan_errors(out, found, values, exclusive)
        return f"prefixes too far from the truth at {wrong[:5]}" if wrong else None

    return out, ["--output-type", out], 0, compare


def _integer_sum_scan(view, exclusive, random):
    """Where the output can't hold a prefix, the run has to fail."""
    values = np.where(view.kept, view.values, 0).ravel()
    sums = truth.prefixes(values, exclusive)
    default = "u64" if view.type.startswith("u") else "i64"
    out = str(random.choice([default, *support.INTEGER_TYPES, *truth.FORMATS]))
    words = ["--output-type", out]
    if out in truth.FORMATS:
        expected = np.array([truth.rounded(out, fractions.Fraction(each)) for each in sums])
        return out, words, 0, lambda found: _compare_prefixes(found, expected)
    if random.random() < 0.5:
        expected = truth.wrapped_prefixes(sums, out)
        return out, [*words, "--overflow", "wrap"], 0, lambda f: _compare_prefixes(f, expected)
    outside = truth.first_outside(sums, out)
    if outside is not None:
        return out, words, 1, outside
    expected = np.array(sums, support.NUMPY_TYPES[out])
    return out, words, 0, lambda found: _compare_prefixes(found, expected)


def scan_command(dataset, view, random):
    operation = str(random.choice(["sum", "min", "max"], p=[0.6, 0.2, 0.2]))
    exclusive = random.random() < 0.4
    if operation != "sum":
        out, words, code, compare = _extremum_scan(view, operation, exclusive)
    elif view.values.dtype.kind == "f":
        out, words, code, compare = _float_sum_scan(view, exclusive, random)
    else:
        out, words, code, compare = _integer_sum_scan(view, exclusive, random)
    output = dataset.path.with_name("out.h5")
    words = ["scan", dataset.path, dataset.name, "-o", f"{output}:scanned", "--json", "-", "--op",
             operation, *words, *_output_words(random, view.values.shape), *view.words]  # fmt: skip
    if exclusive:
        words.append("--exclusive")

    def check(outcome):
        if code:
            return None if str(compare) in outcome.errors[0] else f"no mention of index {compare}"
        found = _scanned(output, "scanned", out)
        if found.shape != view.values.shape:
            return f"the output's shape is {found.shape}"
        return compare(found.ravel())

    return Command(words, check, output, code)


def info_command(dataset, view, random):
    def check(outcome):
        report = outcome.report
        shape = list(dataset.values.shape)
        return None if report["shape"] == shape else f"shape {report['shape']}"

    return Command(["info", dataset.path, dataset.name, "--json", "-"], check)


def integer_type(name):
    """Booleans and enumerations are their integers."""
    return {"bool": "i8", "enum": "i16"}.get(name, name)


def compact_command(dataset, view, random):
    output = dataset.path.with_name("out.h5")
    indices = random.random() < 0.5
    words = ["compact", dataset.path, dataset.name, "-o", f"{output}:kept", "--json", "-",
             *view.words]  # fmt: skip
    if not any(word.startswith(("--where", "--fill-value")) for word in view.words):
        words += ["--where", "finite"]
        view.kept = np.isfinite(view.values)
    kept, places = view.flat()
    out = integer_type(view.type)

    def check(outcome):
        problem = _compare_prefixes(_scanned(output, "kept", out), kept)
        if problem or not indices:
            return problem
        with h5py.File(output, "r") as file:
            found = file["kept_indices"][...]
        return None if np.array_equal(found, places) else f"indices {found}, expected {places}"

    return Command(words + ["--indices"] * indices, check, output)


def _bin_edges(values, random):
    """Rising edges among the values, in exact doubles."""
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    exact = [each for each in finite.tolist() if abs(each) <= 2**53 or isinstance(each, float)]
    chosen = set(random.choice(exact, 5).tolist()) if exact else {0.0, 1.0}
    return sorted({float(each) for each in chosen} | {-1.5, 7.25})


def histogram_command(dataset, view, random):
    values, _ = view.flat()
    edges = _bin_edges(values, random)
    counts = [0] * (len(edges) - 1)
    below = above = nan = 0
    for value in values.tolist():
        if value != value:
            nan += 1
        elif value < edges[0]:
            below += 1
        elif value > edges[-1]:
            above += 1
        else:
            counts[min(bisect.bisect_right(edges, value), len(counts)) - 1] += 1
    expected = {"counts": counts, "below": below, "above": above, "nan_count": nan}
    text = ",".join(map(repr, edges))
    words = ["histogram", dataset.path, dataset.name, "--json", "-", "--bins=" + text, *view.words]

    def check(outcome):
        found = {key: outcome.report["results"][key] for key in expected}
        return None if found == expected else f"found {found}, expected {expected}"

    return Command(words, check)


def reduce_axis_command(dataset, view, random):
    """Every output is what truth.statistics() gives for its elements."""
    shape = view.values.shape
    axes = [axis for axis in range(len(shape)) if random.random() < 0.4] or [len(shape) - 1]
    kept_shape = [extent for axis, extent in enumerate(shape) if axis not in axes]
    rounds_twice = view.type in truth.FORMATS and view.type != "f64"
    statistics = ["min", "max", "count", "argmin", "argmax", "nan_count"]
    statistics += [] if rounds_twice else ["sum", "mean", "l1", "var"]
    statistic = str(random.choice(statistics))
    # No element is no extremum: refused.
    if not shape or 0 in shape or not view.kept.all() or np.prod(kept_shape) > 600:
        return reduce_command(dataset, view, random)
    output = dataset.path.with_name("out.h5")
    words = ["reduce", dataset.path, dataset.name, "--json", "-", "--axis=" + ",".join(map(str, axes)),
             "--ops", statistic, "-o", f"{output}:reduced", *view.words]  # fmt: skip
    lines = np.moveaxis(view.values, axes, range(-len(axes), 0)).reshape(
        int(np.prod(kept_shape)), -1
    )
    places = np.arange(lines.shape[1])
    true = [truth.statistics(line, places)[statistic] for line in lines]

    def check(outcome):
        with h5py.File(output, "r") as file:
            name = file["reduced"].id.get_type()
            shape = file["reduced"].shape
        if list(shape) != kept_shape:
            return f"the output's shape is {shape}, expected {kept_shape}"
        out = next(each for each in (*support.INTEGER_TYPES, *truth.FORMATS)
                   if name.equal(support.file_type(each)))  # fmt: skip
        found = truth.numbers(out, support.read(output, out, "reduced"))
        return _compare_prefixes(found, _in_type(out, true))

    return Command(words, check, output)


def _in_type(out, values):
    """True results as truth.numbers() gives those of the output's type."""
    return np.array(values, "f8" if out in truth.FORMATS else support.NUMPY_TYPES[out])


KINDS = {
    "reduce": (reduce_command, 0.4),
    "scan": (scan_command, 0.3),
    "info": (info_command, 0.05),
    "compact": (compact_command, 0.1),
    "histogram": (histogram_command, 0.1),
    "reduce-axis": (reduce_axis_command, 0.05),
}


def random_command(dataset, random, kinds, views):
    """Of `kinds`, names among KINDS, with `views`, names among random_views.OPTIONS."""
    weights = np.array([KINDS[kind][1] for kind in kinds])
    kind = kinds[random.choice(len(kinds), p=weights / weights.sum())]
    return KINDS[kind][0](dataset, random_views.random_view(dataset, random, views), random)


def random_run(dataset, random):
    """Options that must not change a result, and ranks: None is without mpirun."""
    words = []
    if random.random() < 0.7:
        words += ["--slab", str(random.choice(["4K", "8K", "64K", "1M"]))]
    if random.random() < 0.7:
        words += ["--threads", int(random.integers(1, 5))]
    if dataset.library_reads and random.random() < 0.3:
        words += ["--read-path", "library"]
    if random.random() < 0.2:
        words += ["--file-cache", str(random.choice(["through", "past"]))]
    ranks = int(random.integers(1, 5)) if random.random() < 0.25 else None
    return words, ranks
