"""HDF5's class of times, as PyTables writes it: whole seconds, or seconds and microseconds."""

import fractions

import h5py
import numpy as np
import pytest

import support

MICROSECONDS = [1_000_000_000_142_857, -250_000, 1_999_999, -1_500_000, 0]


def written(path, dtype, words):
    with h5py.File(path, "w") as file:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk(words.shape)
        space = h5py.h5s.create_simple(words.shape)
        made = h5py.h5d.create(file.id, b"t", dtype, space, properties)
        made.write_direct_chunk((0,), words.tobytes(), 0)
    return path


@pytest.mark.parametrize("dtype, order", [("UNIX_D32LE", "<i4"), ("UNIX_D32BE", ">i4")])
def test_seconds_are_integers(folder, dtype, order):
    seconds = [10**9 + 7, -3, 0, 2**31 - 1]
    path = written(folder / "in.h5", getattr(h5py.h5t, dtype), np.array(seconds, order))
    results = support.run("reduce", path, "t", "--ops", "sum,min,max", "--json", "-").results
    assert results == {"sum": sum(seconds), "min": -3, "max": 2**31 - 1}


@pytest.mark.parametrize("dtype, order", [("UNIX_D64LE", "<i8"), ("UNIX_D64BE", ">i8")])
def test_seconds_and_microseconds_are_the_nearest_doubles(folder, dtype, order):
    pairs = [(int(time / 10**6), time - int(time / 10**6) * 10**6) for time in MICROSECONDS]
    words = [seconds << 32 | microseconds & 0xFFFFFFFF for seconds, microseconds in pairs]
    path = written(folder / "in.h5", getattr(h5py.h5t, dtype), np.array(words, order))
    times = [float(fractions.Fraction(time, 10**6)) for time in MICROSECONDS]
    results = support.run("reduce", path, "t", "--ops", "sum,min,max", "--json", "-").results
    total = float(sum(map(fractions.Fraction, times)))
    assert results == {"sum": total, "min": min(times), "max": max(times)}
