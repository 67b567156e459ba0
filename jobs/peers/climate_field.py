#!/usr/bin/env python3
"""What a netCDF user does with a field, without warpfold: climate_field.py HOW TASK IN OUT

HOW is `xarray` (with dask, on all cores) or `h5py` (with NumPy, step by step in bounded memory).
TASK is `mean` or `statistics` (minimum, maximum, mean and standard deviation) over time, `running` (the
running sum of all elements), `running-time` (along time), `fields` (the mean of each time step), or
`all-mean` or `all-statistics` (of everything). The variable is `temp`, its first dimension the time.
Packed values are unpacked. Sums are taken in f64, results are f32, of everything f64. Run by
jobs/front_page.py and jobs/compare_tools.py.
"""

import pathlib
import sys

STEPS = 24  # read at a time


def by_xarray(task, source, target):
    import xarray

    field = xarray.open_dataset(source, chunks={"time": STEPS})["temp"]
    along = field.dims if task.startswith("all-") else "time"
    if task == "running":
        prefixes = field.data.ravel().astype("f8").cumsum(axis=0)  # dtype= leaves totals in f32
        results = {"running": ("element", prefixes)}
    elif task == "running-time":
        results = {"running": field.astype("f8").cumsum("time")}
    elif task == "fields":
        results = {"mean": field.mean(field.dims[1:], dtype="f8")}
    elif task.endswith("mean"):
        results = {"mean": field.mean(along, dtype="f8")}
    else:
        results = {
            "min": field.min(along),
            "max": field.max(along),
            "mean": field.mean(along, dtype="f8"),
            "std": field.std(along, dtype="f8"),
        }
    type_name = "f8" if task.startswith("all-") else "f4"
    xarray.Dataset(results).astype(type_name).to_netcdf(target, engine="netcdf4")


def pieces_of(field):
    """Some steps at a time, unpacked; packed values that are missing are none of the test's."""
    scale, offset = (field.attrs.get(name) for name in ("scale_factor", "add_offset"))
    for first in range(0, len(field), STEPS):
        piece = field[first : first + STEPS]
        yield first, piece if scale is None else piece * scale + offset


def statistics_of_all(field, task):
    import numpy

    count, total, squares, low, high = field.size, 0.0, 0.0, numpy.inf, -numpy.inf
    for _, piece in pieces_of(field):
        total += piece.sum(dtype="f8")
        if task == "all-mean":
            continue
        wide = piece.astype("f8").ravel()
        squares += wide @ wide
        low, high = min(low, piece.min()), max(high, piece.max())
    mean = total / count
    if task == "all-mean":
        return {"mean": mean}
    return {"min": low, "max": high, "mean": mean, "std": (squares / count - mean**2) ** 0.5}


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
        if task.startswith("all-"):
            for name, value in statistics_of_all(field, task).items():
                written[name] = value
            return
        if task == "fields":
            means = [piece.mean(axis=(1, 2), dtype="f8") for _, piece in pieces_of(field)]
            written["mean"] = numpy.concatenate(means).astype("f4")
            return
        if not task.startswith("running"):
            for name, values in statistics_of(field, task).items():
                written[name] = values.astype("f4")
            return
        output = written.create_dataset("running", field.shape, "f4")
        carry = 0.0
        for first, piece in pieces_of(field):
            if task == "running-time":
                prefixes = numpy.cumsum(piece, axis=0, dtype="f8") + carry
            else:
                prefixes = numpy.cumsum(piece, dtype="f8") + carry
            output[first : first + len(piece)] = prefixes.reshape(piece.shape)
            carry = prefixes[-1]


if __name__ == "__main__":
    how, task, source, target = sys.argv[1:]
    pathlib.Path(target).unlink(missing_ok=True)
    {"xarray": by_xarray, "h5py": by_h5py}[how](task, source, target)
