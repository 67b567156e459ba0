"""Arrays that are handed over by DLPack, as the host has them."""

import numpy as np
import pytest
import warpfold
from exact import exact_sum, prefixes
from exporters import Exporter
from support import gpu_count

VALUES = np.random.default_rng(6).normal(size=(9, 8, 7))
BFLOAT = 4
CUDA, CUDA_HOST, ROCM = 2, 3, 10

# Memory of the host passes for a device's here.
needs_no_gpu = pytest.mark.skipif(gpu_count() > 0, reason="a GPU here would be given the array")


def read_only(array):
    copy = array.copy()
    copy.flags.writeable = False
    return copy


@pytest.mark.parametrize("knows_versions", [True, False])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u8", "?"])
def test_every_type(dtype, knows_versions):
    values = np.abs(VALUES * 30).astype(dtype)
    exporter = Exporter(values, knows_versions=knows_versions)
    answer = warpfold.reduce(exporter, ops="count,sum,argmax")
    total = exact_sum(values)
    assert answer == {"count": values.size, "sum": float(total), "argmax": values.argmax()}
    assert warpfold.ExactSum(exporter).as_fraction() == total
    assert exporter.taken == 0


def test_views_keep_their_order():
    part = VALUES.T[::2, :, 1:]
    exporter = Exporter(part)
    assert warpfold.reduce(exporter, ops="argmin") == part.argmin()
    assert np.array_equal(warpfold.scan(exporter), prefixes(part, np.float64))
    assert warpfold.ExactSum(exporter).as_fraction() == exact_sum(part)
    assert exporter.taken == 0


def test_read_only_arrays():
    exporter = Exporter(read_only(VALUES))
    assert warpfold.reduce(exporter, ops="sum") == float(exact_sum(VALUES))
    assert exporter.taken == 0


def test_bfloat16():
    bits = (VALUES.astype("f4").view("u4") >> 16).astype("u2")
    values = (bits.astype("u4") << 16).view("f4")
    exporter = Exporter(bits, code=BFLOAT)
    assert warpfold.reduce(exporter, ops="sum,max") == {
        "sum": float(exact_sum(values)),
        "max": values.max(),
    }
    assert warpfold.ExactSum(exporter).as_fraction() == exact_sum(values)
    sums = warpfold.scan(exporter, output_type="float32")
    assert np.array_equal(sums, prefixes(values, np.float32))


def test_memory_of_the_host_that_a_device_can_read():
    exporter = Exporter(VALUES, device=(CUDA_HOST, 0))
    assert warpfold.reduce(exporter, ops="max") == VALUES.max()


def test_no_elements_and_one():
    assert warpfold.reduce(Exporter(np.zeros((0, 3))), ops="count") == 0
    assert warpfold.reduce(Exporter(np.array(2.5)), ops="sum") == 2.5


def test_what_numpy_exports():
    class OfNumpy:
        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

    assert warpfold.reduce(OfNumpy(VALUES), ops="sum") == float(exact_sum(VALUES))
    assert warpfold.ExactSum(OfNumpy(VALUES[::2])).as_fraction() == exact_sum(VALUES[::2])


@needs_no_gpu
@pytest.mark.parametrize("knows_versions", [True, False])
def test_arrays_on_devices_are_asked_for_in_the_stream_that_takes_them(knows_versions):
    exporter = Exporter(VALUES, device=(CUDA, 0), knows_versions=knows_versions)
    with pytest.raises(warpfold.Error):
        warpfold.reduce(exporter, ops="total")
    assert exporter.asked[-1]["stream"] == 1
    assert ("max_version" in exporter.asked[-1]) == knows_versions
    assert exporter.taken == 0


@needs_no_gpu
def test_arrays_on_devices_that_can_not_be_taken():
    for part in (VALUES.T, VALUES[::2]):
        with pytest.raises(warpfold.UsageError, match="not C-contiguous"):
            warpfold.reduce(Exporter(part, device=(CUDA, 0)), ops="sum")
    with pytest.raises(warpfold.UsageError, match="kind 10"):
        warpfold.reduce(Exporter(VALUES, device=(ROCM, 0)), ops="sum")
    with pytest.raises(warpfold.UsageError, match="elements of another type"):
        warpfold.reduce(Exporter(VALUES.astype("c16"), device=(CUDA, 0)), ops="sum")
    with pytest.raises(warpfold.Error) as caught:
        warpfold.reduce(Exporter(np.zeros((0, 3, 2)).T, device=(CUDA, 0)), ops="sum")
    assert "not C-contiguous" not in str(caught.value)
    array = Exporter(VALUES, device=(CUDA, 0))
    with pytest.raises(warpfold.UsageError, match="read-only"):
        warpfold.scan(array, out=Exporter(read_only(VALUES), device=(CUDA, 0)))
    with pytest.raises(warpfold.UsageError, match="another size"):
        warpfold.scan(array, out=Exporter(VALUES[:3], device=(CUDA, 0)))
    for output_type in (np.float64, "float64", "f64"):
        with pytest.raises(warpfold.Error) as caught:
            warpfold.scan(array, out=array, output_type=output_type)
        assert "another size or type" not in str(caught.value)
        del caught
    with pytest.raises(warpfold.UsageError, match="size or type"):
        warpfold.scan(array, out=array, output_type=np.float32)
    with pytest.raises(warpfold.UsageError, match="on a device"):
        warpfold.ExactSum(array)
    assert array.taken == 0


def test_arrays_that_refuse():
    class Refuses(Exporter):
        def __dlpack__(self, **options):
            raise BufferError("the gradient is needed")

    with pytest.raises(warpfold.UsageError, match="does not support DLPack"):
        warpfold.reduce(Refuses(VALUES, device=(CUDA, 0)), ops="sum")
    with pytest.raises(warpfold.UsageError, match="elements of object"):
        warpfold.reduce(Refuses(VALUES), ops="sum")
