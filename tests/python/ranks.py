"""Calls by the ranks of mpi4py: mpirun -np N python3 -m mpi4py ranks.py FOLDER"""

import importlib.util
import operator
import os
import pathlib
import sys

import h5py
import numpy as np
from mpi4py import MPI

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import warpfold  # noqa: E402
from exact import exact_sum, prefixes, sums_along  # noqa: E402

WORLD = MPI.COMM_WORLD
RANDOM = np.random.default_rng(8)
FIELD = RANDOM.normal(size=(24, 10, 5)) * 10.0 ** RANDOM.integers(-8, 8, (24, 10, 5))


def make_file(folder):
    name = os.path.join(folder, "in.h5")
    if WORLD.rank == 0:
        with h5py.File(name, "w") as file:
            file.create_dataset("x", data=FIELD, chunks=(3, 10, 5), compression="gzip")
            file["y"] = np.arange(100)
    WORLD.barrier()
    return name


def is_on_root(value):
    """Requires that other ranks have nothing; tells whether this one has to look."""
    if WORLD.rank == 0:
        return True
    assert value is None
    return False


def check_files(name):
    total = warpfold.reduce(name, "x", ops="sum", comm=WORLD)
    if is_on_root(total):
        assert total == float(exact_sum(FIELD))
    means = warpfold.reduce(name, "x", ops="sum", axis=0, comm=WORLD)
    if is_on_root(means):
        assert np.array_equal(means, sums_along(FIELD, 0, np.float64))
    running = warpfold.scan(name, "x", comm=WORLD, slab="4K")
    if is_on_root(running):
        assert np.array_equal(running, prefixes(FIELD, np.float64))
    kept = warpfold.compact(name, "x", where=">0", comm=WORLD)
    if is_on_root(kept):
        assert np.array_equal(kept, FIELD[FIELD > 0])
    counts = warpfold.histogram(name, "x", bins=5, comm=WORLD)
    if is_on_root(counts):
        assert np.array_equal(counts.counts, np.histogram(FIELD, 5)[0])
    several = warpfold.reduce(name, ["x", "y"], ops="max", comm=WORLD)
    if is_on_root(several):
        assert several == {"x": FIELD.max(), "y": 99}
    for dataset, whole in (("x", FIELD), ("y", np.arange(100))):
        for select in (np.s_[:], np.s_[1:3], np.s_[:0]):
            for slab in (None, "4K"):
                part = warpfold.read(name, dataset, select=select, slab=slab, comm=WORLD)
                parts = WORLD.allgather(part)
                assert np.array_equal(np.concatenate(parts), whole[select])
                assert np.ptp([len(each) for each in parts]) <= 1
    found = warpfold.info(name, "x", comm=WORLD)
    if is_on_root(found):
        assert found["ranks"] == WORLD.size
    alone = warpfold.reduce(name, "y", ops="sum")
    assert alone == 4950


def check_errors(name):
    for options in ({"ops": "nothing"}, {"axis": 5}, {"where": ">>"}):
        try:
            warpfold.reduce(name, "x", comm=WORLD, **options)
        except warpfold.UsageError:
            continue
        raise AssertionError(f"{options} raised nothing")
    try:
        warpfold.reduce(name + ".none", "x", comm=WORLD)
    except warpfold.Error as error:
        assert "none" in error.what
    else:
        raise AssertionError("a missing file raised nothing")

    def stop(now):
        raise RuntimeError("enough")

    try:
        warpfold.reduce(name, "x", comm=WORLD, progress=stop)
    except RuntimeError as error:
        assert "enough" in str(error) or "progress" in str(error)
    else:
        raise AssertionError("progress raised nothing")


def check_arrays_beside(name):
    mask = FIELD[0] > 0
    total = warpfold.reduce(name, "x", ops="sum", mask=mask, comm=WORLD)
    if is_on_root(total):
        assert total == float(exact_sum(FIELD[:, mask]))
    is_last = WORLD.rank == WORLD.size - 1 > 0
    for mine in (mask & (not is_last), "y" if is_last else mask, None if is_last else mask):
        try:
            warpfold.reduce(name, "x", ops="sum", mask=mine, comm=WORLD)
        except warpfold.UsageError as error:
            assert "ranks pass different arrays: as mask." in str(error)
        else:
            assert WORLD.size == 1
    try:
        warpfold.reduce(name, "x", mask=np.array([None]) if WORLD.rank == 0 else mask, comm=WORLD)
    except warpfold.UsageError as error:
        assert "elements of object" in str(error)
    else:
        raise AssertionError("an array of objects raised nothing")


def check_dataarrays(folder):
    import xarray

    name = os.path.join(folder, "in.nc")
    expected = xarray.DataArray(FIELD, dims=("t", "y", "x"), name="v")
    if WORLD.rank == 0:
        expected.to_netcdf(name)
    WORLD.barrier()
    with xarray.open_dataset(name) as opened:
        made = opened.v[:, 2:].warpfold.max("y", comm=WORLD)
    if is_on_root(made):
        assert made.equals(expected[:, 2:].max("y"))


def check_arrays():
    mine = np.array_split(FIELD.ravel(), WORLD.size)[WORLD.rank]
    answer = warpfold.reduce(mine, ops="sum,argmax,count", comm=WORLD)
    assert answer == {
        "sum": float(exact_sum(FIELD)),
        "argmax": FIELD.argmax(),
        "count": FIELD.size,
    }
    part = np.array_split(prefixes(FIELD, np.float64).ravel(), WORLD.size)[WORLD.rank]
    assert np.array_equal(warpfold.scan(mine, comm=WORLD), part)
    try:
        warpfold.reduce(mine, ops="sum" if WORLD.rank else "sums", comm=WORLD)
    except warpfold.Error as error:
        assert WORLD.size == 1 or str(error)
    else:
        raise AssertionError("a rank's mistake raised nothing")


def check_arrays_on_devices(cupy):
    cupy.cuda.Device(WORLD.rank % cupy.cuda.runtime.getDeviceCount()).use()
    mine = cupy.asarray(np.array_split(FIELD.ravel(), WORLD.size)[WORLD.rank])
    answer = warpfold.reduce(mine, ops="sum,argmin", comm=WORLD)
    assert answer == {"sum": float(exact_sum(FIELD)), "argmin": FIELD.argmin()}
    out = cupy.empty_like(mine)
    warpfold.scan(mine, out=out, comm=WORLD)
    part = np.array_split(prefixes(FIELD, np.float64).ravel(), WORLD.size)[WORLD.rank]
    assert np.array_equal(out.get(), part)
    refused = mine if WORLD.rank else mine[::2]
    try:
        warpfold.reduce(refused, ops="sum", comm=WORLD)
    except warpfold.Error as error:
        assert WORLD.rank or "not C-contiguous" in str(error)
    else:
        raise AssertionError("a rank's mistake raised nothing")


def check_exact_sums():
    mine = warpfold.ExactSum(np.array_split(FIELD.ravel(), WORLD.size)[WORLD.rank])
    for total in (
        WORLD.allreduce(mine, op=MPI.SUM),
        sum(WORLD.allgather(mine)),
        WORLD.allreduce(mine, op=operator.add),
    ):
        assert total.as_fraction() == exact_sum(FIELD) and total.count == FIELD.size


def check_other_communicators(name):
    half = WORLD.Split(WORLD.rank % 2, WORLD.rank)
    total = warpfold.reduce(name, "x", ops="count", comm=half)
    assert total == (FIELD.size if half.rank == 0 else None)
    half.Free()


def main():
    name = make_file(sys.argv[1])
    check_files(name)
    check_errors(name)
    check_arrays()
    check_arrays_beside(name)
    if importlib.util.find_spec("xarray") and importlib.util.find_spec("netCDF4"):
        check_dataarrays(sys.argv[1])
    if importlib.util.find_spec("cupy"):
        import cupy

        check_arrays_on_devices(cupy)
    check_exact_sums()
    check_other_communicators(name)
    WORLD.barrier()
    if WORLD.rank == 0:
        print("as promised, on", WORLD.size)


if __name__ == "__main__":
    main()
