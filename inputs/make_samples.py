#!/usr/bin/env python3
"""Makes the samples of real data beside this script anew, from packages of Debian and PyPI.

    inputs/make_samples.py PACKAGES OUTPUT

PACKAGES is a folder with what these commands download into it:

    apt-get download ferret-datasets
    python3 -m pip download --no-deps kikuchipy==0.13.1 stingray==2.3.2

Needs astropy, h5py, netCDF4 and PyTables (Debian's python3-astropy and so on), and hdf5plugin of PyPI.
"""

import argparse
import pathlib
import subprocess
import tempfile
import zipfile

import h5py
import hdf5plugin
import netCDF4
import numpy as np
import tables
from astropy.io import fits


def only(folder, pattern):
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"error: {folder} has {len(found)} files {pattern}: download that package there")
    return found[0]


def unpack(packages, folder):
    """The three source files, as the packages have them."""
    subprocess.run(["dpkg-deb", "-x", only(packages, "ferret-datasets_*.deb"), folder], check=True)
    for wheel, member in (
        ("kikuchipy-*.whl", "kikuchipy/data/kikuchipy_h5ebsd/patterns.h5"),
        ("stingray-*.whl", "stingray/tests/data/chandra_test.fits"),
    ):
        with zipfile.ZipFile(only(packages, wheel)) as archive:
            archive.extract(member, folder)
    return (
        folder / "usr/share/ferret-vis/data/coads_climatology.cdf",
        folder / "kikuchipy/data/kikuchipy_h5ebsd/patterns.h5",
        folder / "stingray/tests/data/chandra_test.fits",
    )


def make_sea_surface_temperature(source, path):
    """Packed in hundredths of a degree, a chunk for each month."""
    with netCDF4.Dataset(source) as climatology, netCDF4.Dataset(path, "w") as file:
        file.title = "Sea surface temperature of each month, averaged over the years 1946 to 1989"
        file.source = "COADS (NOAA), by way of coads_climatology.cdf of NOAA/PMEL's Ferret"
        for name, original, units in (
            ("time", "TIME", "hours since 2001-01-01 00:00:00"),
            ("lat", "COADSY", "degrees_north"),
            ("lon", "COADSX", "degrees_east"),
        ):
            values = climatology[original][:]
            file.createDimension(name, len(values))
            file.createVariable(name, "f8", (name,), contiguous=True)[:] = values
            file[name].units = units
        file["time"].comment = "a year that stands for all"
        sst = file.createVariable(
            "sst", "i2", ("time", "lat", "lon"), zlib=True, complevel=9, shuffle=True,
            chunksizes=(1, 90, 180), fill_value=-32768,
        )  # fmt: skip
        sst.setncatts({
            "long_name": "sea surface temperature", "standard_name": "sea_surface_temperature",
            "units": "degree_Celsius", "scale_factor": np.float32(0.01), "add_offset": np.float32(15),
        })  # fmt: skip
        sst[:] = climatology["SST"][:]


def make_diffraction_patterns(source, path):
    """The detector's frames as they are, a chunk each, as Dectris's detectors write them."""
    with h5py.File(source) as file:
        frames = file["Scan 1/EBSD/Data/patterns"][...].reshape(9, 60, 60)
    with h5py.File(path, "w") as file:
        data = file.create_dataset(
            "entry/data/data", data=frames, chunks=(1, 60, 60), track_times=False,
            **hdf5plugin.Bitshuffle(cname="lz4"),
        )  # fmt: skip
        data.attrs["long_name"] = "electron backscatter diffraction patterns of nickel"


def make_chandra_events(source, path):
    """The table of events as PyTables stores one."""
    with fits.open(source) as file:
        rows = file["EVENTS"].data
        events = np.empty(len(rows), [(name, rows[name].dtype.newbyteorder("=")) for name in rows.names])
        for name in rows.names:
            events[name] = rows[name]
    with tables.open_file(path, "w") as file:
        file.create_table(
            "/", "events", events, title="Chandra ACIS, observation 10027, M82", track_times=False,
            filters=tables.Filters(complevel=9, shuffle=True), chunkshape=(2048,),
        )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        temperatures, patterns, events = unpack(arguments.packages, pathlib.Path(folder))
        make_sea_surface_temperature(temperatures, arguments.output / "sea_surface_temperature.nc")
        make_diffraction_patterns(patterns, arguments.output / "diffraction_patterns.h5")
        make_chandra_events(events, arguments.output / "chandra_events.h5")


if __name__ == "__main__":
    main()
