"""Arrays of JAX on the host: those that read() makes, and JAX's own, by DLPack."""

import os

import h5py
import numpy as np
import pytest
import warpfold
from exact import exact_sum, prefixes
from read_samples import datasets_of, make_file, same

os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)


def test_read_arrays_go_into_jax(tmp_path):
    path = tmp_path / "in.h5"
    make_file(path)
    taken = 0
    with h5py.File(path) as file:
        for dataset in datasets_of(path):
            read = warpfold.read(path, dataset)
            if read.dtype.kind not in "biuf" or read.dtype.itemsize > 8 or read.size == 0:
                continue
            array = jax.dlpack.from_dlpack(read)
            assert array.shape == read.shape and array.dtype == read.dtype
            assert same(np.asarray(array), file[dataset][()]), dataset
            taken += 1
    assert taken > 20


def test_results_along_axes_go_into_jax(tmp_path):
    values = np.random.default_rng(1).normal(size=(40, 64))
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["x"] = values
    maxima = jax.dlpack.from_dlpack(warpfold.reduce(tmp_path / "in.h5", "x", ops="max", axis=0))
    assert np.array_equal(jax.numpy.sin(maxima), jax.numpy.sin(values.max(0)))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u8", "?"])
def test_arrays_of_jax(dtype):
    values = np.abs(np.random.default_rng(2).normal(0, 30, (9, 8, 7))).astype(dtype)
    array = jax.numpy.asarray(values)
    assert warpfold.reduce(array, ops="sum") == float(exact_sum(values))
    assert warpfold.ExactSum(array).as_fraction() == exact_sum(values)
    if dtype == "f8":
        assert np.array_equal(warpfold.scan(array), prefixes(values, np.float64))


def test_bfloat16_of_jax():
    array = jax.numpy.arange(1, 300, dtype="bfloat16") / 7
    values = np.asarray(array.astype("float32"))
    assert warpfold.reduce(array, ops="sum,max") == {"sum": float(exact_sum(values)), "max": values.max()}
