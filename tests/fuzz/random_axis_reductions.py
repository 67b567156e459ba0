"""Random reductions along axes and by labels: each output is what truth.statistics() gives for its
elements."""

import fractions
import math

import h5py
import numpy as np

import random_views
import support
import truth
from expected import (
    Command, compare_arrays, differences, integer_type, mentions, stored_numbers,
)  # fmt: skip
from random_scans import storage_words
from random_values import chance
from reference import STATISTICS

MOST_OUTPUTS = 600  # but sometimes
MOST_OF_FEW = 6000
MOST_DIMENSIONS = 32
MOST_LABELS = 40
INDICES = ("argmin", "argmax")
EXTREMA = ("min", "max")
NEED_ELEMENTS = (*EXTREMA, *INDICES)
QUANTILES = {"median": 0.5, "q05": 0.05, "q0.999": 0.999, "q00": 0.0, "q1.0": 1.0, "q33": 0.33}
METHODS = ("linear", "midpoint", "lower", "higher", "nearest")
BYTES_OF_ELEMENT = 9  # with whether it counts


class AxisReduction:
    """One reduction of a view along axes."""

    def __init__(self, view, random):
        self.view, self.random = view, random
        shape = view.values.shape
        self.integers = view.values.dtype.kind != "f"
        self.axes = [axis for axis in range(len(shape)) if random.random() < 0.4]
        self.axes = self.axes or [int(random.integers(len(shape)))]
        self.every = int(random.integers(1, shape[self.axes[0]] + 3)) if random.random() < 0.3 else 0
        self.outputs = int(np.prod(self._output_shape(), dtype="i8"))
        self.along = int(np.prod([shape[axis] for axis in self.axes], dtype="i8"))
        self.options = {"nan": str(random.choice(["propagate", "skip"])),
                        "ddof": int(random.choice([0, 1, 5]))}  # fmt: skip
        self.empty = int(random.integers(100))
        self.wraps = random.random() < 0.4
        self.keeps_dimensions = random.random() < 0.2
        self.asked = self._type_to_ask_for()
        self.method = str(random.choice(METHODS))
        self.chosen = self._statistics() + self._quantiles()

    def _output_shape(self, of_axis=()):
        shape = list(self.view.values.shape)
        whole = self.axes[1:] if self.every else self.axes
        if self.every:
            shape[self.axes[0]] = -(-shape[self.axes[0]] // self.every)
        return sum(((extent,) if axis not in whole else of_axis
                    for axis, extent in enumerate(shape)), ())  # fmt: skip

    def _type_to_ask_for(self):
        if self.random.random() < 0.5:
            return None
        integers = support.INTEGER_TYPES if self.integers else ()
        return str(self.random.choice([*truth.FORMATS, *integers]))

    def _statistics(self):
        """Returns statistics that the requested type can hold."""
        allowed = list(STATISTICS)
        if self.asked in support.INTEGER_TYPES:
            allowed = [each for each in allowed if each not in ("mean", "var", "std", "l2")]
        most = int(self.random.choice([1, 2, 4]))
        return [str(each) for each in self.random.choice(allowed, most, replace=False)]

    def _interpolates(self):
        return self.method in ("linear", "midpoint")

    def _quantiles(self):
        if self.random.random() < 0.6 or (
            self._interpolates() and self.asked in support.INTEGER_TYPES
        ):
            return []
        most = int(self.random.choice([1, 2, len(QUANTILES)]))
        return [str(each) for each in self.random.choice(list(QUANTILES), most, replace=False)]

    def type_of(self, statistic):
        """Returns the output's type, as NumPy names it."""
        if statistic in QUANTILES:
            own = integer_type(self.view.type)
            return (self.asked or ("f64" if self.integers else own)) if self._interpolates() else own
        if statistic in ("count", "nan_count", "inf_count"):
            return "u64"
        if statistic in INDICES:
            return "i64"
        own = integer_type(self.view.type)
        if statistic in EXTREMA:
            return own
        if statistic == "linf":
            return "u64" if self.integers else own
        if self.asked:
            return self.asked
        if not self.integers:
            return own
        if statistic == "sum":
            return "u64" if own.startswith("u") else "i64"
        return "u64" if statistic == "l1" else "f64"

    def lines(self):
        """Yields for each output the valid elements, and their flat indices along the axes."""
        shape = self.view.values.shape
        along = [extent if axis in self.axes else 1 for axis, extent in enumerate(shape)]
        indices = np.broadcast_to(np.arange(self.along).reshape(along), shape)
        for at in np.ndindex(self._output_shape(of_axis=(1,))):
            place = tuple(slice(None) if axis in self.axes else index
                          for axis, index in enumerate(at))  # fmt: skip
            if self.every:
                first = at[self.axes[0]] * self.every
                group = slice(first, first + self.every)
                place = (*place[: self.axes[0]], group, *place[self.axes[0] + 1 :])
            counts = self.view.kept[place]
            yield self.view.values[place][counts], indices[place][counts]

    def results(self, statistic):
        """Elements of the output's type, or a reason (with `output N` in it) why there are none."""
        out = self.type_of(statistic)
        elements = []
        for number, (values, places) in enumerate(self.lines()):
            if statistic in QUANTILES:
                elements.append(self._quantile(values, statistic))
                continue
            results = truth.statistics(values, places, **self.options, out=out)
            result = results[statistic]
            if results["count"] == 0 and statistic in (*EXTREMA, "sum"):
                result = self.empty
            elif result is None:
                result = -1 if statistic in INDICES else truth.NAN
            element = self._element(statistic, out, result)
            if element is None:
                return f"output {number}"
            elements.append(element)
        dtype = "f8" if out in truth.FORMATS else support.NUMPY_TYPES[out]
        return np.array(elements, dtype).reshape(
            self._output_shape(of_axis=(1,) if self.keeps_dimensions else ())
        )

    def _quantile(self, values, name):
        if not self.integers and self.options["nan"] == "skip":
            values = values[~np.isnan(values)]
        if len(values) == 0:
            return truth.NAN if self._interpolates() else self.empty
        result = truth.quantile(values, QUANTILES[name], self.method)
        out = self.type_of(name)
        if out not in truth.FORMATS:
            return result
        finite = math.isfinite(result)
        return truth.rounded(out, fractions.Fraction(result)) if finite else float(result)

    def _element(self, statistic, out, result):
        if out in truth.FORMATS:
            exact = isinstance(result, int)
            return truth.rounded(out, fractions.Fraction(result)) if exact else result
        if result != result:
            return None
        if self.wraps and statistic == "sum":
            return truth.wrapped(result, np.dtype(support.NUMPY_TYPES[out]))
        return None if truth.first_outside([result], out) is not None else result

    def expected(self):
        """Results by statistic, and what an error has to mention. Of the statistics that fail the
        first one is kept, so that no other can fail before it."""
        nothing = self.along == 0 and self.outputs > 0
        wanted, problem = {}, None
        for statistic in self.chosen:
            refused = nothing and statistic in (*NEED_ELEMENTS, *QUANTILES)
            name = "quantiles" if statistic in QUANTILES else statistic
            result = "no " + name if refused else self.results(statistic)
            if isinstance(result, str):
                if problem is not None:
                    continue
                problem = result
            wanted[statistic] = result
        return wanted, problem

    def words(self, statistics):
        axes = [random_views.axis_word(self.view, axis, self.random) for axis in self.axes]
        words = ["--axis=" + ",".join(axes), "--ops", ",".join(statistics)]
        words += ["--every", self.every] * bool(self.every)
        words += ["--overflow", "wrap"] * (self.wraps and "sum" in statistics)
        words += ["--keepdims"] * self.keeps_dimensions
        words += truth.setting_words(self.options, statistics)
        quantiles = set(QUANTILES) & set(statistics)
        if quantiles:
            words += ["--quantile-method", self.method]
            lines = int(self.random.choice([0, 1, 3, 100]))
            memory = lines * self.along * BYTES_OF_ELEMENT
            words += ["--quantile-memory", memory] * bool(memory)
        if {*EXTREMA, "sum"} & set(statistics) or quantiles:
            words += ["--empty", self.empty]
        return words + (["--output-type", self.asked] if self.asked else [])

    def command(self, dataset):
        wanted, problem = self.expected()
        output = dataset.path.with_name("out.h5")
        words = ["reduce", dataset.path, dataset.name, "--json", "-", "-o", f"{output}:reduced",
                 *self.words(wanted), *self.view.words]  # fmt: skip
        if problem is not None:
            return Command(words, mentions(problem), output, 1)
        names = {each: "reduced" if len(wanted) == 1 else f"reduced_{each}" for each in wanted}
        words += storage_words(self.random, next(iter(wanted.values())).shape)

        def check(outcome):
            wrong = {each: compare_arrays(stored_numbers(output, names[each], self.type_of(each)),
                                          wanted[each]) for each in wanted}  # fmt: skip
            wrong = {each: problem for each, problem in wrong.items() if problem}
            return str(wrong) if wrong else None

        return Command(words, check, output)


def axis_reduction(dataset, view, random):
    """A Command, or None where a view has no dimensions or too many outputs for Python."""
    if not view.values.shape:
        return None
    reduction = AxisReduction(view, random)
    most = MOST_OF_FEW if random.random() < 0.1 else MOST_OUTPUTS
    return reduction.command(dataset) if reduction.outputs <= most else None


def _labels(dataset, random):
    """Integers in the shape of the dataset's last dimensions, in a file of their own, there perhaps
    as texts."""
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
    path = dataset.path.with_name("labels.h5")
    # HDF5 1.10 divides by zero when it writes texts of the most dimensions in chunks.
    if chance(random, 0.8) or labels.ndim == MOST_DIMENSIONS:
        support.write(path, labels, kind, "label", **storage)
        return path, kind, labels
    with h5py.File(path, "w") as file:
        texts, dtype = labels.astype("S24"), None
        if chance(random, 0.5):
            texts, dtype = labels.astype(str).astype(object), h5py.string_dtype()
        file.create_dataset("label", data=texts, dtype=dtype, **storage)
    return path, "text", labels


def _in_order(labels, kind):
    return sorted(labels, key=str if kind == "text" else None)


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
    if chance(random, 0.3):
        return _into_a_file(words, dataset, view, kind, labels, options, random)
    words += [*truth.setting_words(options, chosen), "--json", "-", "--ops", ",".join(chosen)]

    def check(outcome):
        entries = outcome.report["results"]
        found = {int(entry["label"]) if kind == "text" else entry["label"]: entry
                 for entry in entries}  # fmt: skip
        if list(found) != _in_order(expected, kind):
            return f"labels {list(found)}, expected {_in_order(expected, kind)}"
        wrong = {}
        for label, results in expected.items():
            wrong[label] = differences(found[label], results)
        wrong = {label: each for label, each in wrong.items() if each}
        return str(wrong) if wrong else None

    return Command(words, check)


def _into_a_file(words, dataset, view, kind, labels, options, random):
    """The counts of elements, beside their labels."""
    output = dataset.path.with_name("out.h5")
    every = _in_order(np.unique(labels).tolist(), kind)
    counts = []
    for label in every:
        places = np.flatnonzero(view.kept & (labels == label))
        values = view.values.ravel()[places]
        counts.append(truth.statistics(values, places, **options)["count"])

    def check(outcome):
        if kind == "text":
            with h5py.File(output, "r") as file:
                stored = file["label"].asstr()[...].tolist() if every else []
            problem = None if stored == list(map(str, every)) else f"labels {stored}"
        else:
            problem = compare_arrays(
                stored_numbers(output, "label", kind), np.array(every, labels.dtype)
            )
        return problem or compare_arrays(
            stored_numbers(output, "count", "u64"), np.array(counts, "u8")
        )

    words = [*words, *truth.setting_words(options, ["count"]), "--ops", "count"]
    words += storage_words(random, (len(every),))
    return Command([*words, "-o", f"{output}:count"], check, output)
