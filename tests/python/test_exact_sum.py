"""ExactSum against fractions by ==."""

import concurrent.futures
import copy
import math
import multiprocessing
import pickle
from fractions import Fraction

import numpy as np
import pytest
import warpfold
from exact import exact_sum
from warpfold import ExactSum

TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


def numbers(dtype, shape=(7, 11, 13)):
    random = np.random.default_rng(3)
    if np.dtype(dtype).kind == "f":
        with np.errstate(over="ignore"):
            values = random.normal(size=shape) * 2.0 ** random.integers(-24, 14, shape)
        return values.astype(dtype)
    return random.integers(0, 256, (*shape, 8), "u1").view("u8")[..., 0].astype(dtype)


def fraction_of(values):
    return sum((Fraction(each) for each in values.ravel().tolist()), Fraction(0))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", "<>")
def test_every_type_and_byte_order(dtype, order):
    values = numbers(dtype).astype(np.dtype(dtype).newbyteorder(order))
    total = ExactSum(values)
    assert total.as_fraction() == fraction_of(values)
    assert float(total) == float(fraction_of(values))
    assert total.count == values.size


@pytest.mark.parametrize(
    "view",
    [
        np.s_[::2, 1::3, ::-1],
        np.s_[::-1],
        np.s_[..., 3],
        np.s_[2, 3, 4],
        np.s_[0:0],
        np.s_[:, :, None, 5:],
    ],
)
def test_any_strides(view):
    values = numbers("f8")
    for each in (values, values.T, np.asfortranarray(values)):
        part = each[view]
        total = ExactSum(part)
        assert total.as_fraction() == exact_sum(part) and total.count == part.size


def test_strides_of_more_than_a_block():
    values = np.random.default_rng(5).normal(size=(700, 300))
    assert ExactSum(values[:, ::2]) == ExactSum(np.ascontiguousarray(values[:, ::2]))
    assert ExactSum(values.astype(">f4")).as_fraction() == exact_sum(values.astype("f4"))
    assert ExactSum(np.broadcast_to(np.float32(0.1), (1000, 500))).as_fraction() == 500000 * Fraction(
        float(np.float32(0.1))
    )


def test_fields_of_records_lie_unaligned():
    records = np.zeros(100, dtype=[("flag", "u1"), ("value", "f8")])
    records["value"] = np.arange(100) / 8
    assert ExactSum(records["value"]).as_fraction() == Fraction(4950, 8)


def test_masked_arrays():
    values = numbers("f4")
    mask = np.random.default_rng(2).random(values.shape) < 0.4
    for step in (1, 2):
        masked = np.ma.array(values, mask=mask)[::step]
        total = ExactSum(masked)
        assert total.as_fraction() == exact_sum(values[::step][~mask[::step]])
        assert total.count == masked.count()
    assert ExactSum(np.ma.array(values)).count == values.size


def test_read_only_arrays():
    values = numbers("f8")
    values.flags.writeable = False
    assert ExactSum(values).as_fraction() == exact_sum(values)


def test_numbers():
    total = ExactSum(1, 2.5, np.float32(0.1), True, Fraction(1, 2**1074), 10**300, -(10**300))
    assert total.as_fraction() == Fraction(9, 2) + Fraction(float(np.float32(0.1))) + Fraction(
        1, 2**1074
    )
    assert total.count == 7
    assert float(ExactSum(2**63, 1)) == float(2**63 + 1)
    assert ExactSum([1, 2, 3]) == 6


def test_sums_beyond_doubles():
    largest = np.finfo("f8").max
    total = ExactSum(np.full(1000, largest), np.full(999, -largest))
    assert float(total) == largest
    assert float(ExactSum([largest, largest])) == math.inf
    assert ExactSum(np.full(3, 5e-324)).as_fraction() == Fraction(3, 2**1074)


def test_nan_and_infinities():
    assert math.isnan(float(ExactSum([1.0, math.nan])))
    assert ExactSum([1.0, math.nan]).nan_count == 1
    assert float(ExactSum([1.0, math.inf])) == math.inf
    assert float(ExactSum(-math.inf, 3)) == -math.inf
    assert math.isnan(float(ExactSum([math.inf, -math.inf])))
    with pytest.raises(warpfold.UsageError):
        ExactSum(math.inf).as_fraction()


@pytest.mark.parametrize(
    "value",
    [np.longdouble(1), 1j, "text", [2**70], Fraction(1, 3), 2**1024, np.array([None])],
    ids=str,
)
def test_what_can_not_be_added_exactly_is_refused(value):
    total = ExactSum(1)
    with pytest.raises(warpfold.UsageError):
        total.add(value)
    assert total == 1 and total.count == 1


def test_merging():
    values = numbers("f8")
    parts = [ExactSum(part) for part in values]
    merged = ExactSum()
    for part in reversed(parts):
        merged.merge(part)
    assert merged == ExactSum(values) == sum(parts) == parts[0] + ExactSum(values[1:])
    merged += values
    merged += 1
    assert merged.as_fraction() == 2 * exact_sum(values) + 1
    assert merged.count == 2 * values.size + 1


def test_comparing():
    assert ExactSum(1e16, 1) > ExactSum(1e16) and ExactSum(1e16) < ExactSum(1e16, 1)
    assert ExactSum(0.1, 0.2) != ExactSum(0.3) and ExactSum(0.5) == 0.5 <= ExactSum(1)
    assert ExactSum(math.inf) > 10**300 and ExactSum(-math.inf) < -(10**300)
    assert ExactSum(math.inf) == math.inf
    nan = ExactSum(math.nan)
    assert nan != nan and not nan < 1 and not nan >= 1
    with pytest.raises(TypeError):
        hash(nan)


def test_pickling_and_copying():
    total = ExactSum(numbers("f8"), math.inf, math.nan)
    for again in (pickle.loads(pickle.dumps(total)), copy.copy(total), copy.deepcopy(total)):
        assert again.count == total.count and again.nan_count == 1
        assert again._units() == total._units()
        again.add(1)
        assert again.count == total.count + 1
    assert len(pickle.dumps(ExactSum(1.0))) < 400


def test_processes():
    values = numbers("f8", (64, 100))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        parts = pool.map(ExactSum, list(values))
    assert sum(parts).as_fraction() == exact_sum(values)


def test_threads():
    values = numbers("f8", (64, 5000))
    total = ExactSum()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(total.add, values))
    assert total.as_fraction() == exact_sum(values)


def test_dask():
    array = pytest.importorskip("dask.array")
    values = numbers("f4", (100, 70))
    lazy = array.from_array(values, chunks=(30, 20))
    blocks = [ExactSum]
    parts = lazy.map_blocks(
        lambda block: np.array([[blocks[0](block)]], dtype=object), chunks=(1, 1), dtype=object
    )
    assert sum(parts.compute(scheduler="threads").ravel()) == ExactSum(values)
