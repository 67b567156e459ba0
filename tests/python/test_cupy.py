"""Arrays of CuPy, where there is a GPU."""

import gc

import h5py
import numpy as np
import pytest
import warpfold
from exact import exact_sum, prefixes
from read_samples import datasets_of, make_file, same

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
        with pytest.raises(warpfold.UsageError, match="not C-contiguous"):
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


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    name = tmp_path_factory.mktemp("read") / "in.h5"
    make_file(name)
    return name


@pytest.mark.parametrize("options", [{}, {"slab": "4K"}, {"device_memory": "8M"}])
def test_datasets_are_read_into_gpu_memory(samples, options):
    with h5py.File(samples) as file:
        for dataset in datasets_of(samples):
            if dataset == "bfloat16":
                continue
            array = warpfold.read(samples, dataset, device="cuda", **options)
            assert same(cupy.from_dlpack(array).get(), file[dataset][()]), dataset


def test_parts_are_read_into_gpu_memory(samples):
    with h5py.File(samples) as file:
        for dataset in ("<f4/gzip_shuffle", ">u8/gzip", ">f2/chunked", "<i2/fletcher32"):
            for select in (np.s_[3:20:4, ::3, 5:6], np.s_[7], np.s_[..., -1], np.s_[22:]):
                array = warpfold.read(samples, dataset, select=select, device="cuda")
                assert same(cupy.from_dlpack(array).get(), file[dataset][select]), dataset
        array = warpfold.read(samples, "points.x", device="cuda")
        assert same(cupy.from_dlpack(array).get(), file["points"][()]["x"])


def test_many_compressed_chunks_are_read(tmp_path):
    values = np.cumsum(np.random.default_rng(6).integers(-9, 10, (1000, 64, 30)), 0).astype(">i2")
    with h5py.File(tmp_path / "many.h5", "w") as file:
        options = {"chunks": (3, 20, 11), "compression": "gzip"}
        file.create_dataset("x", data=values, shuffle=True, **options)
        file["x"].attrs.update(scale_factor=np.float32(0.5), add_offset=np.float32(3))
        file["x"].attrs["_FillValue"] = np.array([7], ">i2")
    unpacked = np.where(values == 7, np.float32(np.nan), values * np.float32(0.5) + np.float32(3))
    for threads in (1, 8):
        array = warpfold.read(tmp_path / "many.h5", "x", device="cuda", threads=threads)
        read = cupy.from_dlpack(array).get()
        assert read.dtype == np.float32 and np.array_equal(read, unpacked, equal_nan=True)
        array = warpfold.read(tmp_path / "many.h5", "x", device="cuda", raw=True, threads=threads)
        assert same(cupy.from_dlpack(array).get(), values)


def test_gpu_arrays_are_taken_without_a_copy(samples):
    array = warpfold.read(samples, "row", device="cuda")
    taken = cupy.from_dlpack(array)
    assert taken.data.ptr == array.__cuda_array_interface__["data"][0]
    assert cupy.asarray(array).data.ptr == taken.data.ptr
    assert array.shape == taken.shape and array.dtype == taken.dtype == np.float32
    assert array.__dlpack_device__() == (2, taken.device.id) and "cuda:" in repr(array)
    assert warpfold.reduce(array, ops="max") == taken.max()
    del array
    gc.collect()
    taken += 1
    with h5py.File(samples) as file:
        assert same(taken.get(), file["row"][()] + np.float32(1))


def test_bfloat16_stays_so_in_gpu_memory(samples):
    array = warpfold.read(samples, "bfloat16", device="cuda")
    assert array.dtype == "bfloat16" and not hasattr(array, "__cuda_array_interface__")
    with h5py.File(samples) as file:
        values = file["bfloat16"][()].astype(float)
    assert warpfold.reduce(array, ops="sum") == float(exact_sum(values))


def test_memory_is_freed_with_the_last_array(samples):
    warpfold.read(samples, "row", device="cuda")
    free, _ = cupy.cuda.runtime.memGetInfo()
    for _ in range(20):
        taken = cupy.from_dlpack(warpfold.read(samples, "row", device="cuda"))
    del taken
    gc.collect()
    assert cupy.cuda.runtime.memGetInfo()[0] >= free - 2**22


def test_arrays_that_gpu_memory_cannot_hold_are_refused(tmp_path):
    with h5py.File(tmp_path / "huge.h5", "w") as file:
        file.create_dataset("x", (2**20, 2**20), "f8", chunks=(2**10, 2**10))
    with pytest.raises(warpfold.Error, match="memory is too small"):
        warpfold.read(tmp_path / "huge.h5", "x", device="cuda")
