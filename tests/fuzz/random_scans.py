"""Random scans, of datasets as a whole and along an axis."""

import fractions

import numpy as np

import random_views
import support
import truth
from expected import Command, compare_arrays, integer_type, mentions, stored_numbers

MANY_CHUNKS = 1 << 16


def storage_words(random, shape):
    """How an output is stored."""
    if MANY_CHUNKS <= np.prod(shape, dtype="i8") < 1.5 * MANY_CHUNKS and random.random() < 0.5:
        return ["--chunks", ",".join("1" for _ in shape)]
    if not shape or 0 in shape or random.random() < 0.7:
        return []
    chunks = ",".join(str(random.integers(max(1, each // 4), each + 1)) for each in shape)
    words = ["--chunks", "auto" if random.random() < 0.3 else chunks]
    if random.random() < 0.5:
        words += ["--deflate", int(random.integers(0, 10))]
    return words + [each for each in ("--shuffle", "--fletcher32") if random.random() < 0.4]


def _lines(array, axis):
    """An array as the rows that are scanned: the lines along an axis, or all of it."""
    if axis is None:
        return array.reshape(1, -1)
    moved = np.moveaxis(array, axis, -1)
    return moved.reshape(int(np.prod(moved.shape[:-1], dtype="i8")), moved.shape[-1])


def _from_lines(rows, shape, axis, dtype):
    """Undoes _lines()."""
    if axis is None:
        return np.array(rows, dtype).reshape(shape)
    moved = (*(extent for place, extent in enumerate(shape) if place != axis), shape[axis])
    return np.moveaxis(np.array(rows, dtype).reshape(moved), -1, axis)


class Scan:
    """One scan of a view: the words that ask for it and how its output is judged."""

    def __init__(self, view, random):
        self.view, self.random = view, random
        self.shape = view.values.shape
        self.operation = str(random.choice(["sum", "min", "max"], p=[0.6, 0.2, 0.2]))
        self.exclusive = random.random() < 0.4
        self.words = ["--op", self.operation] + ["--exclusive"] * self.exclusive
        self.axis = None
        if self.shape and random.random() < 0.4:
            self.axis = int(random.integers(len(self.shape)))
            self.words.append(f"--axis={random_views.axis_word(view, self.axis, random)}")
            others = self.shape[: self.axis] + self.shape[self.axis + 1 :]
            if np.prod(others, dtype="i8") == 1:
                self.axis = None  # one line is scanned as a whole

    def command(self, dataset):
        if self.operation != "sum":
            out, code, check = self._extrema()
        elif self.view.values.dtype.kind == "f":
            out, code, check = self._sums_of_floats()
        else:
            out, code, check = self._sums_of_integers()
        output = dataset.path.with_name("out.h5")
        words = ["scan", dataset.path, dataset.name, "-o", f"{output}:scanned", "--json", "-"]
        words += [*self.words, *storage_words(self.random, self.shape), *self.view.words]
        if code:
            return Command(words, check, output, code)
        return Command(words, lambda outcome: check(stored_numbers(output, "scanned", out)), output)

    def _filled(self, identity):
        """The values, `identity` where an element does not count."""
        values = self.view.values
        return np.where(self.view.kept, values, np.array(identity, values.dtype))

    def _expect(self, rows, dtype):
        expected = _from_lines(rows, self.shape, self.axis, dtype)
        return lambda found: compare_arrays(found, expected)

    def _extrema(self):
        values = self._filled(truth.identity(self.view.values.dtype, self.operation))
        rows = [truth.running_extrema(line, self.operation, self.exclusive)
                for line in _lines(values, self.axis)]  # fmt: skip
        return integer_type(self.view.type), 0, self._expect(rows, values.dtype)

    def _choose_type(self, *usual):
        out = str(self.random.choice([*usual, *truth.FORMATS]))
        self.words += ["--output-type", out]
        return out

    def _sums_of_floats(self):
        out = self._choose_type(self.view.type)
        values = self._filled(0.0)
        rows = [truth.rounded_prefixes(out, line, self.exclusive)
                for line in _lines(values, self.axis)]  # fmt: skip
        return out, 0, self._expect(rows, "f8")

    def _sums_of_integers(self):
        """Expects failure if the output can't hold a prefix."""
        rows = [truth.prefixes(line, self.exclusive) for line in _lines(self._filled(0), self.axis)]
        default = "u64" if self.view.type.startswith("u") else "i64"
        out = self._choose_type(default, *support.INTEGER_TYPES)
        if out in truth.FORMATS:
            rows = [[truth.rounded(out, fractions.Fraction(each)) for each in row] for row in rows]
            return out, 0, self._expect(rows, "f8")
        dtype = support.NUMPY_TYPES[out]
        if self.random.random() < 0.5:
            self.words += ["--overflow", "wrap"]
            return out, 0, self._expect([truth.wrapped_prefixes(row, out) for row in rows], dtype)
        sums = _from_lines(rows, self.shape, self.axis, object).ravel()
        outside = truth.first_outside(sums, out)
        if outside is not None:
            return out, 1, mentions(f"index {outside}:")
        return out, 0, self._expect(rows, dtype)


def scan_command(dataset, view, random):
    return Scan(view, random).command(dataset)
