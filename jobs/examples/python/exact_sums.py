#!/usr/bin/env python3
"""A year of temperatures, and what adding them up in 32 bits makes of them: exact_sums.py [FOLDER]

Cells (# %%) for Jupyter, Spyder or VS Code; run as a script, it writes its pictures to FOLDER.
"""

# %% A file as models write them: 16-bit numbers with a scale, and ocean without values
import pathlib
import sys
import tempfile

import h5py
import matplotlib
import numpy as np

if not hasattr(sys, "ps1"):
    matplotlib.use("Agg")
import matplotlib.pyplot as plt
import warpfold

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
path = folder / "year.h5"
days, latitudes, longitudes = 365, 36, 72
latitude = np.linspace(-87.5, 87.5, latitudes)
season = np.cos(2 * np.pi * np.arange(days) / days)[:, None, None]
celsius = 27 - 45 * np.sin(np.radians(latitude))[:, None] ** 2
celsius = celsius - 12 * season * np.sin(np.radians(latitude))[:, None]
celsius = celsius + np.random.default_rng(1).normal(scale=3, size=(days, latitudes, longitudes))
ocean = np.random.default_rng(2).random((latitudes, longitudes)) < 0.6
stored = np.where(ocean, -32768, np.round(celsius / 0.01)).astype("i2")

with h5py.File(path, "w") as file:
    temp = file.create_dataset("temp", data=stored, chunks=(30, 36, 72), compression="gzip")
    temp.attrs.update(scale_factor=np.float32(0.01), add_offset=np.float32(273.15))
    temp.attrs["_FillValue"] = np.int16(-32768)
    for d, (name, values) in enumerate(
        {
            "time": np.arange(days),
            "lat": latitude,
            "lon": np.arange(2.5, 360, 5),
        }.items()
    ):
        file[name] = values
        file[name].make_scale(name)
        temp.dims[d].attach_scale(file[name])

# %% How it will be read
found = warpfold.info(path, "temp")["results"]
print(found["stored_type"], found["filters"], "read by", found["read_path"])

# %% The mean of all, and weighted by the cells' area, along the year
print("mean of all:", warpfold.reduce(path, "temp", ops="mean"))
means = warpfold.reduce(path, "temp", ops="mean", axis=["lat", "lon"], weights="cos:lat")
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.plot(means)
axes.set(xlabel="day", ylabel="K", title="Mean temperature on land, weighted by area")
figure.savefig(folder / "means.png")

# %% Medians of each month's days, at each latitude
every = warpfold.reduce(path, "temp", ops="median", axis=["time", "lon"], every=30)
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
picture = axes.pcolormesh(np.arange(every.shape[0]), latitude, every.T, shading="nearest")
figure.colorbar(picture, label="K")
axes.set(xlabel="30 days", ylabel="latitude", title="Median temperature")
figure.savefig(folder / "medians.png")

# %% How often each temperature is
histogram = warpfold.histogram(path, "temp", bins=60)
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.stairs(histogram.counts, histogram.edges, fill=True)
axes.set(xlabel="K", ylabel="elements")
figure.savefig(folder / "histogram.png")

# %% A running sum, by NumPy in the elements' 32 bits and exactly
values = warpfold.compact(path, "temp", where=">0")
running = warpfold.scan(values)
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.plot(np.cumsum(values, dtype=np.float32) - running.astype("f8"), label="np.cumsum, 32 bits")
axes.plot(np.cumsum(values.astype("f8")) - running, label="np.cumsum, 64 bits")
axes.set(xlabel="elements", ylabel="K", title="How far from the exact running sum, rounded once")
axes.legend()
figure.savefig(folder / "running_sum.png")

# %% Parts of a sum that anyone may make, in any order
parts = [warpfold.ExactSum(part) for part in np.array_split(values, 100)]
total = sum(reversed(parts))
assert total == warpfold.ExactSum(values)
assert float(total) == warpfold.reduce(values, ops="sum")
print("sum:", float(total), "of", total.count)
print("np.sum is off by", float(np.sum(values)) - float(total))
