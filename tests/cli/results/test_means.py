"""Means of many outputs that lie on, or next to, halves of an output type's last place."""

from fractions import Fraction

import h5py
import numpy as np
import pytest

import support

BITS = {"f16": 11, "f32": 24, "f64": 53}
COUNTS = [1, 3, 5, 24, 31, 1000]


def rounded(exact, bits):
    """The number of so many bits nearest to a fraction in [1, 2), ties to even."""
    unit = Fraction(1, 2 ** (bits - 1))
    return round(exact / unit) * unit


def sums(count, random):
    """Doubles whose `count`-th part is halfway between two numbers of 11 or 24 bits, or about so."""
    found = []
    for bits in (11, 24):
        for place in random.integers(0, 2 ** (bits - 1), 40).tolist():
            halfway = float((1 + Fraction(2 * place + 1, 2**bits)) * count)
            found += [halfway, np.nextafter(halfway, 0), np.nextafter(halfway, np.inf)]
    return np.array(found)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("output_type", list(BITS))
def test_means_are_rounded_once(tmp_path, count, output_type):
    random = np.random.default_rng(count)
    values = np.zeros((count, 240))
    values[random.integers(0, count)] = sums(count, random)
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["x"] = values
    support.run("reduce", tmp_path / "in.h5", "x", "--axis", "0", "--ops", "mean", "--output-type",
                output_type, "-o", tmp_path / "out.h5")  # fmt: skip
    with h5py.File(tmp_path / "out.h5") as file:
        means = file["x"][()]
    expected = [rounded(Fraction(x) / count, BITS[output_type]) for x in values.sum(0).tolist()]
    assert [Fraction(float(mean)) for mean in means] == expected
