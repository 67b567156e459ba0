"""Random reductions by labels: of each label what truth.statistics() gives for its elements."""

import numpy as np

import support
import truth
from expected import Command, compare_arrays, differences, stored_numbers
from random_values import chance
from reference import STATISTICS

MOST_LABELS = 40


def _labels(dataset, random):
    """Integers in the shape of the dataset's last dimensions, and which of them are labels; in a
    file of their own."""
    shape = dataset.values.shape
    first = int(random.integers(len(shape) + 1)) if chance(random, 0.5) else 0
    leading = (1,) * int(random.integers(first + 1))
    size = int(np.prod(shape[first:], dtype="i8"))
    kind = str(random.choice(support.INTEGER_TYPES))
    limits = np.iinfo(support.NUMPY_TYPES[kind])
    some = random.integers(
        limits.min, limits.max, random.integers(1, MOST_LABELS), limits.dtype, endpoint=True
    )
    runs = np.repeat(random.choice(some, size + 1), random.integers(1, 50, size + 1))[:size]
    labels = np.where(chance(random, 0.5), runs, random.choice(some, size))
    labels = labels.astype(limits.dtype).reshape(leading + shape[first:])
    storage = {}
    if labels.size and labels.ndim and chance(random, 0.5):
        chunks = tuple(int(random.integers(1, extent + 1)) for extent in labels.shape)
        storage = {"chunks": chunks, "compression": "gzip"}
    path = support.write(dataset.path.with_name("labels.h5"), labels, kind, "label", **storage)
    return path, kind, labels


def label_command(dataset, view, random):
    path, kind, labels = _labels(dataset, random)
    labels = np.broadcast_to(labels, dataset.values.shape)[view.index]
    options = {"nan": str(random.choice(["propagate", "skip"])),
               "overflow": str(random.choice(["error", "wrap"])),
               "ddof": int(random.choice([0, 1, 5]))}  # fmt: skip
    chosen = [str(each) for each in random.choice(STATISTICS, 3, replace=False)]
    expected = {}
    for label in np.unique(labels).tolist():
        places = np.flatnonzero(view.kept & (labels == label))
        results = truth.statistics(view.values.ravel()[places], places, **options)
        expected[label] = {each: results[each] for each in chosen}
    words = ["reduce", dataset.path, dataset.name, f"--by={path}::label", *view.words]
    for option, value in options.items():
        words += [f"--{option}", value]
    if chance(random, 0.3):
        return _into_a_file(words, dataset, view, kind, labels, options)
    words += ["--json", "-", "--ops", ",".join(chosen)]

    def check(outcome):
        entries = outcome.report["results"]
        found = {support.number(entry["label"]): entry for entry in entries}
        if list(found) != sorted(expected):
            return f"labels {list(found)}, expected {sorted(expected)}"
        wrong = {}
        for label, results in expected.items():
            numbers = {key: support.number(value) for key, value in found[label].items()}
            wrong[label] = differences(numbers, results)
        wrong = {label: each for label, each in wrong.items() if each}
        return str(wrong) if wrong else None

    return Command(words, check)


def _into_a_file(words, dataset, view, kind, labels, options):
    """The counts of elements, beside their labels."""
    output = dataset.path.with_name("out.h5")
    every = np.unique(labels)
    counts = []
    for label in every:
        places = np.flatnonzero(view.kept & (labels == label))
        values = view.values.ravel()[places]
        counts.append(truth.statistics(values, places, **options)["count"])

    def check(outcome):
        problem = compare_arrays(stored_numbers(output, "label", kind), every)
        return problem or compare_arrays(
            stored_numbers(output, "count", "u64"), np.array(counts, "u8")
        )

    return Command([*words, "--ops", "count", "-o", f"{output}:count"], check, output)
