"""Arrays of CuPy, where there is a GPU."""

import gc

import numpy as np
import pytest
import warpfold
from exact import exact_sum, prefixes

cupy = pytest.importorskip("cupy")

VALUES = np.random.default_rng(4).normal(size=(9, 8, 7)) * 10.0 ** np.random.default_rng(5).integers(
    -4, 4, (9, 8, 7)
)


class ByInterface:
    """A CuPy array that has the CUDA array interface alone."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


class ByDLPack:
    """A CuPy array that has DLPack alone."""

    def __init__(self, array):
        self.array = array
        self.asked = []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        self.asked.append(options)
        return self.array.__dlpack__(**options)


WAYS = [lambda array: array, ByInterface, ByDLPack]
WAY_NAMES = ["cupy", "interface", "dlpack"]


@pytest.fixture(params=WAYS, ids=WAY_NAMES)
def way(request):
    return request.param


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i4", "i8", "u2", "u8", "?"])
def test_reductions(way, dtype):
    values = np.clip(np.abs(VALUES), 0, 100).astype(dtype)
    answer = warpfold.reduce(way(cupy.asarray(values)), ops="count,sum,min,max,argmax")
    assert answer == {
        "count": values.size,
        "sum": float(exact_sum(values)),
        "min": values.min(),
        "max": values.max(),
        "argmax": values.argmax(),
    }


def test_one_result_is_a_value(way):
    total = warpfold.reduce(way(cupy.asarray(VALUES)), ops="sum")
    assert type(total) is np.float64 and total == float(exact_sum(VALUES))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_scans(way, dtype):
    values = VALUES.astype(dtype)
    array = cupy.asarray(values)
    out = cupy.empty_like(array)
    given = way(out)
    assert warpfold.scan(way(array), out=given) is given
    assert np.array_equal(out.get(), prefixes(values, np.dtype(dtype).type))
    warpfold.scan(way(array), out=way(array))
    assert np.array_equal(array.get(), out.get())


def test_scans_of_integers(way):
    counts = np.arange(1000, dtype="i4")
    sums = cupy.empty(1000, "i8")
    warpfold.scan(way(cupy.asarray(counts)), out=way(sums), exclusive=True, output_type=np.int64)
    assert np.array_equal(sums.get(), np.cumsum(counts) - counts)
    maxima = cupy.empty(1000, "i4")
    warpfold.scan(way(cupy.asarray(counts[::-1].copy())), out=way(maxima), op="max")
    assert np.array_equal(maxima.get(), np.full(1000, 999))


def test_streams_are_waited_for(way):
    elements, times = 1 << 22, 300
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        array = cupy.zeros(elements)
        for _ in range(times):
            array += 1
        given = way(array)
        assert warpfold.reduce(given, ops="sum") == float(elements * times)
        for _ in range(times):
            array -= 1
        array += 2
        out = cupy.empty_like(array)
        warpfold.scan(way(array), out=way(out))
        assert int((out == cupy.arange(2, 2 * elements + 2, 2)).sum()) == elements
    stream.synchronize()


def test_streams_see_what_was_written(way):
    elements = 1 << 22
    array, out = cupy.ones(elements), cupy.zeros(elements)
    ours, others = way(array), way(out)
    cupy.cuda.Device().synchronize()
    warpfold.scan(ours, out=others)
    with cupy.cuda.Stream(non_blocking=True):
        assert int((out == cupy.arange(1, elements + 1)).sum()) == elements


def test_dlpack_passes_the_stream():
    given = ByDLPack(cupy.asarray(VALUES))
    warpfold.reduce(given, ops="sum")
    assert given.asked[0]["stream"] == 1


def test_parts_have_to_be_copied(way):
    array = cupy.asarray(VALUES)
    for part in (array.T, array[::2]):
        with pytest.raises(warpfold.UsageError, match="one behind another"):
            warpfold.reduce(way(part), ops="sum")
    part = array[3:5]
    assert warpfold.reduce(way(part), ops="sum") == float(exact_sum(VALUES[3:5]))


def test_no_elements(way):
    answer = warpfold.reduce(way(cupy.zeros((0, 3))), ops="count,sum,min")
    assert answer == {"count": 0, "sum": 0.0, "min": None}


def test_managed_memory():
    managed = cupy.cuda.malloc_managed(VALUES.nbytes)
    array = cupy.ndarray(VALUES.shape, "f8", managed)
    array.set(VALUES)
    assert warpfold.reduce(array, ops="sum") == float(exact_sum(VALUES))


def test_nothing_is_kept(way):
    array = cupy.ones(1 << 20)
    out = cupy.empty_like(array)
    pool = cupy.get_default_memory_pool()
    warpfold.reduce(way(array), ops="sum")
    warpfold.scan(way(array), out=way(out))
    gc.collect()
    cupy.cuda.Device().synchronize()
    used, free = pool.used_bytes(), cupy.cuda.Device().mem_info[0]
    for _ in range(50):
        warpfold.reduce(way(array), ops="sum")
        warpfold.scan(way(array), out=way(out))
    gc.collect()
    assert pool.used_bytes() == used
    assert free - cupy.cuda.Device().mem_info[0] < 64 << 20
    del array, out
    gc.collect()
    assert pool.used_bytes() == used - 2 * (8 << 20)


def test_exact_sums_are_of_the_host():
    with pytest.raises(warpfold.UsageError, match="on a device"):
        warpfold.ExactSum(cupy.asarray(VALUES))


def test_errors(way):
    array = cupy.asarray(np.array([100, 27, 1], "i1"))
    with pytest.raises(warpfold.Error, match="overflows at index 2"):
        warpfold.scan(way(array), out=way(cupy.empty_like(array)))
    with pytest.raises(warpfold.UsageError, match="total"):
        warpfold.reduce(way(array), ops="total")
    with pytest.raises(warpfold.UsageError, match="another size"):
        warpfold.scan(way(array), out=way(cupy.empty(2, "i1")))
