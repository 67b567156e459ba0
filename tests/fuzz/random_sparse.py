"""Huge datasets of which few chunks were ever written: the truth counts what they lack."""

import fractions

import h5py
import numpy as np

import support
from expected import Command
from random_histograms import compare_counts, counted
from random_values import chance, values_of

TYPES = ("f64", "f32", "i32", "i64", "u8", "u16")
SIZES = (10_000, 1_000_000, 2**30, 2**36)
CHUNK = 5000  # elements, at most
HUGE_CHUNK = 2**20  # of datasets of more than a few
FEW = 2_000_000


class Sparse:
    """A dataset, its written elements by flat index, and the fill value of all others."""

    def __init__(self, path, random):
        self.path, self.type = path, str(random.choice(TYPES))
        size = int(random.choice(SIZES, p=[0.4, 0.3, 0.15, 0.15]))
        rows = int(random.choice([0, 1, 3, 7, 64]))
        self.shape = (size,) if rows == 0 else (rows, size // rows + int(random.integers(9)))
        self.size = int(np.prod(self.shape, dtype="i8"))
        numbers = self._numbers((1,), random)
        self.fill = numbers[0] if chance(random, 0.7) else numbers.dtype.type(0)
        self.indices, self.values = self._write(random)

    def _numbers(self, shape, random):
        numbers = values_of(self.type, shape, random)
        return np.where(np.isfinite(numbers), numbers, 1).astype(numbers.dtype)

    def _write(self, random):
        rows = 1 if len(self.shape) == 1 else int(random.integers(1, self.shape[0] + 1))
        along = min(self.shape[-1], (CHUNK if self.size <= FEW else HUGE_CHUNK) // rows)
        chunk = (rows, int(random.integers(max(1, along // 3), along + 1)))[-len(self.shape) :]
        places, numbers = [np.zeros(0, "i8")], [np.zeros(0, support.NUMPY_TYPES[self.type])]
        packing = {"compression": "gzip", "shuffle": True} if chance(random, 0.3) else {}
        with h5py.File(self.path, "w") as file:
            made = file.create_dataset("v", self.shape, support.NUMPY_TYPES[self.type],
                                       chunks=chunk, fillvalue=self.fill, **packing)  # fmt: skip
            for corner in self._corners(chunk, random):
                box = tuple(slice(at, min(at + extent, whole))
                            for at, extent, whole in zip(corner, chunk, self.shape))  # fmt: skip
                end = min(box[-1].stop, box[-1].start + CHUNK // rows)
                box = (*box[:-1], slice(box[-1].start, end))
                part = self._numbers([each.stop - each.start for each in box], random)
                made[box] = part
                grid = np.meshgrid(*(np.arange(each.start, each.stop) for each in box), indexing="ij")
                places.append(np.ravel_multi_index(grid, self.shape).ravel())
                numbers.append(part.ravel())
        indices, values = np.concatenate(places), np.concatenate(numbers)
        order = np.argsort(indices)
        return indices[order], values[order]

    def _corners(self, chunk, random):
        grid = [-(-whole // extent) for whole, extent in zip(self.shape, chunk)]
        chosen = {tuple(int(random.integers(each)) for each in grid)
                  for _ in range(int(random.integers(0, 5)))}  # fmt: skip
        if chance(random, 0.4):
            chosen.add((0,) * len(grid))
        return [tuple(np.multiply(each, chunk).tolist()) for each in chosen]

    def first_unwritten(self):
        """Its flat index, or None."""
        gaps = np.flatnonzero(self.indices != np.arange(len(self.indices)))
        index = int(gaps[0]) if len(gaps) else len(self.indices)
        return index if index < self.size else None


def _groups(sparse, condition):
    """(value, how often, first index) of elements that count."""
    taken = condition(sparse.values)
    pairs = list(zip(sparse.values[taken].tolist(), sparse.indices[taken].tolist()))
    groups = [(value, 1, index) for value, index in pairs]
    unwritten = sparse.size - len(sparse.indices)
    if unwritten and condition(np.array([sparse.fill]))[0]:
        groups.append((sparse.fill.item(), unwritten, sparse.first_unwritten()))
    return groups


def _statistics(groups):
    count = sum(often for _, often, _ in groups)
    exact = [(fractions.Fraction(value), often) for value, often, _ in groups]
    total = sum((value * often for value, often in exact), fractions.Fraction(0))
    integers = all(isinstance(value, int) for value, _, _ in groups)
    results = {"count": count, "sum": int(total) if integers else float(total)}
    if not count:
        return results
    squares = sum((value * value * often for value, often in exact), fractions.Fraction(0))
    least, most = min(value for value, _, _ in groups), max(value for value, _, _ in groups)
    return results | {
        "mean": float(total / count), "var": float(squares / count - (total / count) ** 2),
        "min": least, "max": most,
        "argmin": min(index for value, _, index in groups if value == least),
        "argmax": min(index for value, _, index in groups if value == most),
    }  # fmt: skip


def _conditions(sparse, random):
    if chance(random, 0.6):
        return [], lambda values: np.ones(values.shape, bool)
    limit = sparse.fill if chance(random, 0.5) else sparse.values.dtype.type(1)
    text = limit.item().hex() if sparse.type.startswith("f") else str(limit)
    return [f"--where=>{text}"], lambda values: values > limit


def sparse_command(dataset, view, random):
    with np.errstate(all="ignore"):
        sparse = Sparse(dataset.path.with_name("sparse.h5"), random)
    words, condition = _conditions(sparse, random)
    few = sparse.size <= FEW
    kind = str(random.choice(["reduce", "histogram", "compact"], p=[0.6, 0.25, 0.15]))
    groups = _groups(sparse, condition)
    counts = sum(often for _, often, _ in groups)
    if kind == "compact" and few and counts < 100_000 and words:
        return _compaction(sparse, words, condition)
    if kind == "histogram":
        edges = [-10.5, 0.0, 0.25, 1.0, 40.0, 1e9]
        expected = _histogram(groups, edges, sparse.type)
        words = ["histogram", sparse.path, "v", "--bins=" + ",".join(map(str, edges)),
                 "--json", "-", *words]  # fmt: skip
        return Command(words, lambda outcome: compare_counts(outcome.report["results"], expected),
                       library_reads=few)  # fmt: skip
    try:
        expected = _statistics(groups)
    except OverflowError:  # of what no double holds
        expected = {"count": counts}
    words = ["reduce", sparse.path, "v", "--ops", ",".join(expected), "--json", "-", *words]

    def check(outcome):
        found = outcome.results
        wrong = {key: (found[key], value) for key, value in expected.items() if found[key] != value}
        return f"{sparse.shape} filled with {sparse.fill}: found, expected {wrong}" if wrong else None

    return Command(words, check, library_reads=few)


def _histogram(groups, edges, name):
    once = [value for value, often, _ in groups if often == 1]
    expected = counted(np.array(once), edges, name)
    for value, often, _ in groups:
        if often > 1:
            more = counted(np.array([value]), edges, name)
            expected["counts"] = [a + often * b for a, b in zip(expected["counts"], more["counts"])]
            for key in ("below", "above", "nan_count"):
                expected[key] += often * more[key]
    return expected


def _compaction(sparse, words, condition):
    """Returns a compaction of few elements in the order of their indices."""
    output = sparse.path.with_name("out.h5")
    whole = np.arange(sparse.size)
    values = np.full(whole.shape, sparse.fill)
    values[sparse.indices] = sparse.values
    kept = condition(values)

    def check(outcome):
        with h5py.File(output) as file:
            same = np.array_equal(file["kept_indices"][...], whole[kept])
            return None if same and np.array_equal(file["kept"][...], values[kept]) else "other elements"

    words = ["compact", sparse.path, "v", "-o", f"{output}:kept", "--indices", *words]
    return Command(words, check, output)
