#!/usr/bin/env python3
"""Computes what `warpfold reduce --ops all` has to find in the samples, without warpfold.

    inputs/make_answers.py [SAMPLES] > inputs/answers.json

SAMPLES is the folder of the samples, by default this one. netCDF4-python unpacks, hdf5plugin
decompresses, PyTables reads tables, and fractions add: each result is the true one, rounded once.
"""

import json
import pathlib
import sys

import h5py
import hdf5plugin  # noqa: F401 (gives h5py bitshuffle)
import netCDF4
import numpy as np
import tables

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "cli"))

import reference  # noqa: E402


def answers(values):
    """The statistics of an array that may be masked; indices count what it hides, too."""
    present = np.ma.compressed(values)
    places = np.flatnonzero(~np.ma.getmaskarray(values))
    results = reference.statistics(present)
    for key in ("argmin", "argmax"):
        results[key] = int(places[results[key]])
    return results


def members(table):
    return {f"events.{name}": answers(table[name]) for name in table.dtype.names}


def main():
    samples = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    with netCDF4.Dataset(samples / "sea_surface_temperature.nc") as file:
        temperatures = file["sst"][...]
    with h5py.File(samples / "diffraction_patterns.h5") as file:
        patterns = file["entry/data/data"][...]
    with tables.open_file(samples / "chandra_events.h5") as file:
        events = file.root.events.read()
    everything = {
        "sea_surface_temperature.nc": {"sst": answers(temperatures)},
        "diffraction_patterns.h5": {"entry/data/data": answers(patterns)},
        "chandra_events.h5": members(events),
    }
    print(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
