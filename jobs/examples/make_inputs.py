#!/usr/bin/env python3
"""Makes small files like those that the jobs in README.md are for, in this folder."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import measuring  # noqa: E402

measuring.require("h5py", "netCDF4", "numpy")

import h5py  # noqa: E402
import netCDF4  # noqa: E402
import numpy as np  # noqa: E402

HOURS, LATITUDES, LONGITUDES = 72, 9, 12
YEARS = (1990, 1991, 1992)
MEMBERS = 5
random = np.random.default_rng(1)


def climate_file(path, hours, since):
    """A netCDF-4 file with coordinates, to be filled with variables."""
    file = netCDF4.Dataset(path, "w")
    for name, values, units in (
        ("time", np.arange(hours), f"hours since {since}-01-01"),
        ("lat", np.linspace(-80, 80, LATITUDES), "degrees_north"),
        ("lon", np.arange(LONGITUDES) * 30, "degrees_east"),
    ):
        file.createDimension(name, len(values))
        coordinate = file.createVariable(name, "f8", (name,))
        coordinate.units = units
        coordinate[:] = values
    return file


def variable(file, name, units, kind="f4", **options):
    made = file.createVariable(
        name, kind, ("time", "lat", "lon"), zlib=True, chunksizes=(1, LATITUDES, LONGITUDES),
        **options,
    )  # fmt: skip
    made.units = units
    return made


def temperatures(hours):
    return random.uniform(230, 310, (hours, LATITUDES, LONGITUDES))


def make_era5():
    """Packed temperatures with fill values, a wind, and rain that is mostly none."""
    with climate_file("era5.nc", HOURS, 1990) as file:
        packed = variable(file, "t2m", "K", "i2", fill_value=-32767)
        packed.scale_factor, packed.add_offset = 0.0013, 270.0
        values = np.ma.masked_array(temperatures(HOURS), random.random(packed.shape) < 0.05)
        packed[:] = values
        variable(file, "u10", "m s-1")[:] = random.normal(0, 8, packed.shape)
        rain = random.exponential(1e-3, packed.shape) * (random.random(packed.shape) < 0.1)
        variable(file, "tp", "m")[:] = rain


def make_years():
    for year in YEARS:
        with climate_file(f"tas_{year}.nc", 24, 1990) as file:
            file["time"][:] += (year - YEARS[0]) * 8760
            variable(file, "tas", "K")[:] = temperatures(24)


def make_members():
    for member in range(1, MEMBERS + 1):
        with climate_file(f"member_{member}.nc", 24, 1990) as file:
            variable(file, "tas", "K")[:] = temperatures(24)


def make_detector():
    """Frames in three files, a master file that links to them, and a mask of pixels."""
    shape = (40, 30)
    layout = h5py.VirtualLayout((15, *shape), "u2")
    with h5py.File("master.h5", "w") as master:
        for i in range(3):
            frames = random.poisson(3, (5, *shape)).astype("u2")
            frames[:, 7, 11] = 65535
            name = f"data_{i + 1:06d}"
            with h5py.File(f"{name}.h5", "w") as file:
                file.create_dataset(
                    "entry/data", data=frames, chunks=(1, *shape), compression="gzip", shuffle=True
                )
            master[f"entry/data/{name}"] = h5py.ExternalLink(f"{name}.h5", "entry/data")
            layout[5 * i : 5 * i + 5] = h5py.VirtualSource(f"{name}.h5", "entry/data", (5, *shape))
        master.create_virtual_dataset("entry/frames", layout)
    good = np.ones(shape, "u1")
    good[7, 11] = 0
    with h5py.File("pixels.h5", "w") as file:
        file["good"] = good


def make_events():
    events = np.zeros(1000, [("time", "f8"), ("energy", "f4"), ("channel", "i2")])
    events["time"] = np.sort(random.uniform(0, 60, events.shape))
    events["energy"] = random.exponential(20, events.shape)
    events["channel"] = random.integers(0, 16, events.shape)
    with h5py.File("events.h5", "w") as file:
        file["events"] = events


def make_snapshot():
    """Particles that are mostly near others of their halo."""
    halos = np.repeat(random.choice(10**6, 300), random.integers(1, 60, 300))
    halos[random.random(halos.shape) < 0.2] = -1
    with h5py.File("snapshot.h5", "w") as file:
        file.create_dataset(
            "mass", data=random.lognormal(0, 2, halos.shape).astype("f4"), chunks=(1000,),
            compression="gzip", shuffle=True,
        )  # fmt: skip
        file.create_dataset("halo", data=halos, chunks=(1000,), compression="gzip", shuffle=True)
        file["halo"].attrs["_FillValue"] = np.int64(-1)


def make_matrix():
    with h5py.File("matrix.h5", "w") as file:
        file["entries_of_row"] = random.integers(0, 9, 500)


if __name__ == "__main__":
    make_era5()
    make_years()
    make_members()
    make_detector()
    make_events()
    make_snapshot()
    make_matrix()
