"""Commands with what has to come of them, and how results are compared."""

import dataclasses
import typing

import h5py
import numpy as np

import support
import truth


@dataclasses.dataclass
class Command:
    """`check` takes the Outcome; it returns None, or tells what is wrong."""

    words: list
    check: typing.Callable
    output: object = None  # a file that every run makes anew
    code: int = 0
    library_reads: bool = True  # HDF5 reads the dataset in a reasonable time


def integer_type(name):
    """Booleans and enumerations are their integers."""
    return {"bool": "i8", "enum": "i16"}.get(name, name)


def mentions(text):
    """A check that a command's error has some words in it."""

    def check(outcome):
        return None if text in outcome.errors[0] else f"no mention of '{text}': {outcome.errors[0]}"

    return check


def differences(found, expected):
    wrong = {
        key: (found.get(key), value)
        for key, value in expected.items()
        if not truth.same(found.get(key), value)
    }
    return f"found, expected: {wrong}" if wrong else None


def stored_numbers(output, name, out):
    """Returns a command's output, as truth.numbers() in the stored shape; the HDF5 type of the
    elements has to be `out`'s."""
    with h5py.File(output, "r") as file:
        stored = file[name].id.get_type()
        if not stored.equal(support.file_type(out)):
            raise AssertionError(f"the output's type is {stored}, not {out}")
    values = support.read(output, out, name)
    return truth.numbers(out, values).reshape(values.shape)


def compare_bits(found, expected):
    """Compares elements as in memory: NaN and the signs of zeros count, too."""
    if found.shape != expected.shape:
        return f"shape {found.shape}, expected {expected.shape}"
    unsigned = f"u{found.dtype.itemsize}"
    found, expected = (np.ascontiguousarray(each).view(unsigned) for each in (found, expected))
    wrong = np.flatnonzero(found != expected)
    if wrong.size == 0:
        return None
    place = wrong[0]
    return f"bits at {place} are {found[place]:x}, expected {expected[place]:x}"


def compare_arrays(found, expected):
    """Compares numbers; zeros are equal whatever their signs."""
    if found.shape != expected.shape:
        return f"shape {found.shape}, expected {expected.shape}"
    if np.array_equal(found, expected, equal_nan=found.dtype.kind == "f"):
        return None
    found, expected = found.ravel(), expected.ravel()
    place = int(
        np.flatnonzero(~((found == expected) | (found != found) & (expected != expected)))[0]
    )
    return f"at {place} is {found[place]}, expected {expected[place]}"
