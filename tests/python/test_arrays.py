"""Reductions and scans of arrays in memory."""

import inspect

import numpy as np
import pytest
import warpfold
from exact import exact_sum, prefixes

VALUES = (
    np.random.default_rng(4).normal(size=(9, 8, 7))
    * 10.0 ** np.random.default_rng(5).integers(-6, 6, (9, 8, 7))
)


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f8", "f8"])
def test_reductions_of_floats(dtype):
    with np.errstate(over="ignore"):
        values = np.clip(VALUES, -6e4, 6e4).astype(dtype)
    answer = warpfold.reduce(values, ops="count,sum,mean,min,max,argmin")
    assert answer == {
        "count": values.size,
        "sum": float(exact_sum(values)),
        "mean": float(exact_sum(values) / values.size),
        "min": values.min(),
        "max": values.max(),
        "argmin": values.argmin(),
    }
    assert warpfold.reduce(values, ops="sum") == answer["sum"]


def test_strides_keep_their_order():
    part = VALUES.T[::2, ::-1, 1:]
    assert warpfold.reduce(part, ops="argmax") == part.argmax()
    assert warpfold.reduce(part, ops="sum") == float(exact_sum(part))
    assert np.array_equal(warpfold.scan(part), prefixes(part, np.float64))


def test_elements_anywhere_in_memory():
    numbers = np.arange(6.0)
    for dtype in ("f8", ">f8", "i2"):
        stored = numbers.astype(dtype)
        shifted = np.frombuffer(b"x" + stored.tobytes(), dtype, offset=1).reshape(2, 3)
        assert not shifted.flags.aligned
        assert warpfold.reduce(shifted, ops="sum,argmax") == {"sum": 15, "argmax": 5}
        assert warpfold.scan(shifted).tolist() == np.cumsum(stored).reshape(2, 3).tolist()


def test_integers_and_booleans():
    assert warpfold.reduce(np.full(5, 2**63, "u8"), ops="sum") == 5 * 2**63
    assert warpfold.reduce(np.full(5, 2**63, "u8"), ops="sum", overflow="wrap") == 2**63
    assert warpfold.reduce(np.array([True, False, True]), ops="sum") == 2
    assert warpfold.reduce([1, 2, 3], ops="mean") == 2
    assert list(warpfold.reduce([1])) == ["count", "sum", "min", "max", "mean", "std"]
    assert warpfold.reduce([1, 2], ops=["var"], ddof=1) == {"var": 0.5}


def test_masks_and_nan():
    masked = np.ma.masked_greater(VALUES, 0)
    answer = warpfold.reduce(masked, ops="count,sum,argmax")
    assert answer["count"] == masked.count()
    assert answer["sum"] == float(exact_sum(VALUES[VALUES <= 0]))
    assert VALUES.flat[answer["argmax"]] == masked.max()
    values = np.array([1.0, np.nan, 3.0])
    assert np.isnan(warpfold.reduce(values, ops="sum"))
    assert warpfold.reduce(values, ops="sum", nan="skip") == 4


def test_no_elements():
    assert warpfold.reduce(np.zeros((0, 3)), ops="count,sum,min") == {
        "count": 0,
        "sum": 0.0,
        "min": None,
    }
    assert warpfold.scan(np.zeros((0, 3))).shape == (0, 3)


def test_scans():
    assert np.array_equal(warpfold.scan(VALUES), prefixes(VALUES, np.float64))
    single = VALUES.astype("f4")
    assert np.array_equal(warpfold.scan(single), prefixes(single, np.float32))
    counts = np.arange(100, dtype="i2")
    sums = warpfold.scan(counts, exclusive=True)
    assert sums.dtype == np.int64 and np.array_equal(sums, np.cumsum(counts) - counts)
    assert np.array_equal(warpfold.scan(single.ravel(), op="min"), np.minimum.accumulate(single.ravel()))
    assert warpfold.scan(counts, output_type=np.float32).dtype == np.float32


def test_an_overflow():
    values = np.array([100, 27, 1], "i1")
    with pytest.raises(warpfold.Error, match="2"):
        warpfold.scan(values, output_type="int8")
    wrapped = warpfold.scan(values, output_type="int8", overflow="wrap")
    assert np.array_equal(wrapped, np.array([100, 127, -128], "i1"))


@pytest.mark.parametrize(
    "options, words",
    [
        ({"ops": "total"}, "total"),
        ({"axis": 0}, "axis cannot be given here"),
        ({"where": ">0"}, "where cannot be given here"),
        ({"ops": "median"}, "median is not supported for arrays in memory"),
        ({"ops": "sum,q05"}, "q05 is not supported for arrays in memory"),
        ({"ops": ["q0.5"]}, "q0.5 is not supported for arrays in memory"),
        ({"ops": "q5.5"}, "bad ops 'q5.5'"),
        ({"ops": "median", "axis": 0}, "axis cannot be given here"),
        ({"nan": "drop"}, "bad nan"),
    ],
)
def test_usage_errors(options, words):
    with pytest.raises(warpfold.UsageError) as caught:
        warpfold.reduce(VALUES, **options)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "name",
    set(inspect.signature(warpfold.reduce).parameters)
    - {"file", "ops", "nan", "overflow", "ddof", "comm"},
)
def test_options_of_files_are_refused(name):
    with pytest.raises(warpfold.UsageError, match=f"^{name} cannot be given here"):
        warpfold.reduce(VALUES, ops="sum", **{name: True})


def test_other_elements_are_refused():
    for values in (np.array([1j]), np.array(["text"]), np.zeros(3, np.longdouble)):
        with pytest.raises(warpfold.UsageError, match="has elements of"):
            warpfold.reduce(values, ops="sum")
    with pytest.raises(warpfold.UsageError, match="masked"):
        warpfold.scan(np.ma.masked_greater(VALUES, 0))


class OnDevice:
    """An array that says it is on a device."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = dict(array.__array_interface__, version=3, stream=1)


def test_arrays_on_devices_need_one():
    array = OnDevice(VALUES)
    with pytest.raises(warpfold.Error, match="GPU|CUDA|device memory"):
        warpfold.reduce(array, ops="sum")
    with pytest.raises(warpfold.Error, match="GPU|CUDA|device memory"):
        warpfold.scan(array, out=array)
    with pytest.raises(warpfold.UsageError, match="output is missing"):
        warpfold.scan(array)
    with pytest.raises(warpfold.UsageError, match="another size"):
        warpfold.scan(array, out=OnDevice(VALUES[:3]))
    for other in (VALUES.T, VALUES[::2], VALUES.astype(">f8")):
        with pytest.raises(warpfold.UsageError, match="not C-contiguous"):
            warpfold.reduce(OnDevice(other), ops="sum")
