"""Random bins, and how many values they have to count."""

import bisect

import numpy as np

import reference
import support
from expected import Command


def _finite(values):
    return values[np.isfinite(values)] if values.dtype.kind == "f" else values


def _chosen_edges(values, random):
    """Rising doubles: values, or of integers the doubles near them, and their neighbours."""
    finite = _finite(values)
    chosen = {float(each) for each in random.choice(finite, 5)} if len(finite) else {0.0, 1.0}
    with np.errstate(over="ignore"):
        chosen |= {float(np.nextafter(each, random.choice([-np.inf, np.inf])))
                   for each in chosen if random.random() < 0.3}  # fmt: skip
    chosen |= {each for each in (-np.inf, -1.5, -0.1, 7.25, np.inf) if random.random() < 0.4}
    return sorted(chosen | {1e-300, 7.5})


def _equal_edges(least, greatest, bins):
    """numpy.linspace()'s, around a single value as numpy.histogram() has them; None where the
    width is no double or subnormal steps are rounded to such that don't rise."""
    with np.errstate(over="ignore"):
        if least == greatest:
            around = least - 0.5, least + 0.5
            if around[0] == around[1]:
                around = np.nextafter(least, -np.inf).item(), np.nextafter(least, np.inf).item()
            least, greatest = around
        if greatest - least == np.inf:
            return None
        edges = np.linspace(least, greatest, bins + 1).tolist()
        return edges if edges == sorted(edges) else None


def _rounded(edge, name):
    """In the values' type, unless it is infinite there."""
    if not np.isfinite(edge):
        return edge
    rounded = reference.rounded_units(name, reference.in_units([edge])[0])
    return rounded if np.isfinite(rounded) else edge


def _range_of(values):
    """The extrema as doubles: the next ones outside where an integer has none."""
    finite = _finite(values).tolist()
    if not finite:
        return 0.0, 1.0
    least, greatest = float(min(finite)), float(max(finite))
    if least > min(finite):
        least = np.nextafter(least, -np.inf).item()
    if greatest < max(finite):
        greatest = np.nextafter(greatest, np.inf).item()
    return least, greatest


def random_bins(values, random, kinds=("edges", "range", "number")):
    """The words that ask for some bins, and a function from values to the edges, if any."""
    kind = random.choice(kinds)
    if kind == "edges":
        edges = _chosen_edges(values, random)
        return ["--bins=" + ",".join(map(repr, edges))], lambda values: edges
    bins = int(random.choice([1, 2, 7, 64, 1000, 20_000]))
    words = ["--bins", bins]
    if kind == "number":
        return words, lambda values: _equal_edges(*_range_of(values), bins)
    least, greatest = _range_of(random.choice(values, 3) if len(values) else values)
    words += [f"--range={least!r},{greatest!r}"]
    return words, lambda values: _equal_edges(least, greatest, bins)


def counted(values, edges, name):
    """The `results` of a histogram of values of type `name`, by comparisons of Python's numbers,
    which are exact."""
    if name in ("f16", "bf16", "f32"):
        edges = [_rounded(each, name) for each in edges]
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
    return {"edges": edges, "counts": counts, "below": below, "above": above, "nan_count": nan}


def compare_counts(results, expected):
    """None, or the fields in which two histograms differ."""
    for key, value in expected.items():
        if results[key] != value:
            return f"{key} {_first_difference(results[key], value)}"
    return None


def _first_difference(found, expected):
    if not isinstance(expected, list) or len(found) != len(expected):
        return f"is {found}, expected {expected}"
    place = next(place for place, pair in enumerate(zip(found, expected)) if pair[0] != pair[1])
    return f"at {place} is {found[place]}, expected {expected[place]}"


def histogram_command(dataset, view, random):
    values, _ = view.flat()
    bin_words, edges_of = random_bins(values, random)
    words = ["histogram", dataset.path, dataset.name, "--json", "-", *bin_words, *view.words]
    edges = edges_of(values)
    if edges is None:
        return Command(words, lambda outcome: None, code=2)
    expected = counted(values, edges, view.type)
    return Command(words, lambda outcome: compare_counts(outcome.report["results"], expected))
