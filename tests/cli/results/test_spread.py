"""Variances, standard deviations and norms of many outputs, beside Python's fractions."""

import math
from fractions import Fraction

import h5py
import numpy as np
import pytest

import support

SHAPE = (7, 60)


def kinds():
    random = np.random.default_rng(5)
    normal = random.normal(size=SHAPE)
    return {
        "normal": 280 + 10 * normal,
        "f4": (280 + 10 * normal).astype("f4"),
        "i8": random.integers(-(2**63), 2**63, SHAPE, dtype="i8"),
        "cancelling": 1e6 + 1e-9 * normal,
        "constant": np.repeat(normal[:1], SHAPE[0], 0),
        "ties": random.integers(0, 3, SHAPE) * (2.0**27 + 1),
        "far_apart": normal * 10.0 ** random.integers(-120, 120, SHAPE),
        "subnormal": normal * 10.0 ** random.integers(-308, -150, SHAPE),
    }


KINDS = kinds()
WEIGHTS = np.random.default_rng(6).uniform(0.1, 2, SHAPE)


def root(value):
    """The double nearest to the root of a fraction."""
    shift = 1300
    scaled = math.isqrt(int(value * 4**shift))
    sticky = scaled**2 != value * 4**shift
    return float(Fraction(2 * scaled + sticky, 2 ** (shift + 1)))


def moments(elements, weights):
    exact = [Fraction(x) for x in elements]
    by = [Fraction(w) for w in weights]
    total = sum(by)
    squares = sum(w * x * x for w, x in zip(by, exact))
    variance = squares / total - (sum(w * x for w, x in zip(by, exact)) / total) ** 2
    return variance, squares


def expected(values, weights):
    columns = zip(values.T.tolist(), weights.T.tolist())
    variances, squares = zip(*(moments(*column) for column in columns))
    found = {"var": [float(v) for v in variances], "std": [root(v) for v in variances]}
    return found | {"l2": [root(s) for s in squares]}


def outputs(folder, values, ops, *words):
    with h5py.File(folder / "in.h5", "w") as file:
        file["x"] = values
        file["w"] = WEIGHTS
    options = ("--axis", "0", "--ops", ops, "--output-type", "f64", *words)
    support.run("reduce", folder / "in.h5", "x", *options, "-o", folder / "o.h5", "--force")
    with h5py.File(folder / "o.h5") as file:
        return {op: file[f"x_{op}"][...].tolist() for op in ops.split(",")}


@pytest.mark.parametrize("kind", KINDS)
def test_spread_of_outputs_is_rounded_once(folder, kind):
    values = KINDS[kind]
    found = outputs(folder, values, "var,std,l2")
    assert found == expected(values, np.ones(SHAPE))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "subnormal"])
def test_weighted_spread_of_outputs_is_rounded_once(folder, kind):
    values = KINDS[kind]
    found = outputs(folder, values, "var,std", "--weights", "w")
    found_all = expected(values, WEIGHTS)
    assert found == {op: found_all[op] for op in found}
