#!/usr/bin/env python3
"""What a netCDF user does with a field, without warpfold: climate_field.py HOW TASK IN OUT

HOW is `xarray` (with dask, on all cores) or `h5py` (with NumPy, step by step in bounded memory).
TASK is `mean` or `statistics` (minimum, maximum, mean and standard deviation) over time, or
`running` (the running sum of all elements). The variable is `temp`, its first dimension the time.
Sums are taken in f64, results are f32. Run by jobs/front_page.py.
"""

import pathlib
import sys

STEPS = 24  # read at a time


def by_xarray(task, source, target):
    import xarray

    field = xarray.open_dataset(source, chunks={"time": STEPS})["temp"]
    if task == "running":
        prefixes = field.data.ravel().astype("f8").cumsum(axis=0)  # dtype= leaves totals in f32
        results = {"running": ("element", prefixes)}
    elif task == "mean":
        results = {"mean": field.mean("time", dtype="f8")}
    else:
        results = {
            "min": field.min("time"),
            "max": field.max("time"),
            "mean": field.mean("time", dtype="f8"),
            "std": field.std("time", dtype="f8"),
        }
    xarray.Dataset(results).astype("f4").to_netcdf(target, engine="netcdf4")


def pieces_of(field):
    for first in range(0, len(field), STEPS):
        yield first, field[first : first + STEPS]


def statistics_of(field, task):
    import numpy

    total = numpy.zeros(field.shape[1:])
    if task == "mean":
        for _, piece in pieces_of(field):
            total += piece.sum(axis=0, dtype="f8")
        return {"mean": total / len(field)}
    squares = numpy.zeros(field.shape[1:])
    low, high = numpy.full(field.shape[1:], numpy.inf), numpy.full(field.shape[1:], -numpy.inf)
    for _, piece in pieces_of(field):
        wide = piece.astype("f8")
        total += wide.sum(axis=0)
        squares += (wide * wide).sum(axis=0)
        numpy.minimum(low, piece.min(axis=0), out=low)
        numpy.maximum(high, piece.max(axis=0), out=high)
    mean = total / len(field)
    deviation = numpy.sqrt(squares / len(field) - mean**2)
    return {"min": low, "max": high, "mean": mean, "std": deviation}


def by_h5py(task, source, target):
    import h5py
    import numpy

    with h5py.File(source) as read, h5py.File(target, "w") as written:
        field = read["temp"]
        if task != "running":
            for name, values in statistics_of(field, task).items():
                written[name] = values.astype("f4")
            return
        output = written.create_dataset("running", field.shape, "f4")
        carry = 0.0
        for first, piece in pieces_of(field):
            prefixes = numpy.cumsum(piece, dtype="f8") + carry
            output[first : first + len(piece)] = prefixes.reshape(piece.shape)
            carry = prefixes[-1]


if __name__ == "__main__":
    how, task, source, target = sys.argv[1:]
    pathlib.Path(target).unlink(missing_ok=True)
    {"xarray": by_xarray, "h5py": by_h5py}[how](task, source, target)
