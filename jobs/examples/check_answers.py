#!/usr/bin/env python3
"""Checks that what the jobs in README.md wrote into this folder is what exact arithmetic gives."""

import decimal
import fractions
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import measuring  # noqa: E402

measuring.require("h5py", "netCDF4", "numpy")

import h5py  # noqa: E402
import netCDF4  # noqa: E402
import numpy as np  # noqa: E402


def exact_sums(values, axis=0):
    """Sums along an axis, of what is not masked, as fractions."""
    columns = np.moveaxis(np.ma.asarray(values, "f8"), axis, -1)
    kept = columns.shape[:-1]
    lines = columns.reshape(-1, columns.shape[-1])
    sums = [sum(map(fractions.Fraction, line.compressed().tolist())) for line in lines]
    return np.array(sums, object).reshape(kept)


def exact_means(values, axis=0):
    return exact_sums(values, axis) / np.ma.count(values, axis).astype(object)


def exact_deviations(values):
    """Standard deviations along the first axis, of single precision, to 50 digits."""
    decimal.getcontext().prec = 50
    variances = exact_means(np.square(values.astype("f8"))) - exact_means(values) ** 2
    roots = [(decimal.Decimal(v.numerator) / v.denominator).sqrt() for v in variances.flat]
    return np.array(roots, object).reshape(variances.shape)


def cosine(degrees):
    """That of an angle in degrees, to 50 digits, and then rounded to a double."""
    decimal.getcontext().prec = 50
    pi = decimal.Decimal("3.14159265358979323846264338327950288419716939937510582097494")
    angle = decimal.Decimal(float(degrees)) * pi / 180
    term = total = decimal.Decimal(1)
    for n in range(2, 80, 2):
        term *= -angle * angle / (n * (n - 1))
        total += term
    return float(total)


def weighted_mean(values, weights):
    """Of what is not masked, as a fraction."""
    pairs = [(fractions.Fraction(x), fractions.Fraction(w))
             for x, w in zip(values.ravel().tolist(), weights.ravel().tolist()) if x is not None]
    return sum(x * w for x, w in pairs) / sum(w for _, w in pairs)


def require_equal(what, found, true, kind="f8"):
    equal = np.array_equal(np.asarray(found, kind), np.asarray(true).astype("f8").astype(kind))
    if not equal:
        raise SystemExit(f"{what} is not what it should be")
    print(f"{what}: right")


def variable(path, name):
    with netCDF4.Dataset(path) as file:
        return file[name][...]


def dataset(path, name):
    with h5py.File(path) as file:
        return file[name][()]


def results(path):
    with open(path) as file:
        return json.load(file)["results"]


if __name__ == "__main__":
    hourly = variable("era5.nc", "t2m")
    by_day = hourly.reshape(-1, 24, *hourly.shape[1:])
    require_equal("daily means", variable("daily.nc", "t2m"), exact_means(by_day, 1))

    areas = [[cosine(each)] for each in variable("era5.nc", "lat")]
    areas = np.broadcast_to(areas, hourly.shape[1:])
    globally = [weighted_mean(hour, areas) for hour in hourly]
    require_equal("global means", variable("global.nc", "t2m"), np.array(globally, object))

    wind, rain = (variable("era5.nc", name).astype("f8") for name in ("u10", "tp"))
    require_equal("mean temperature", variable("means.nc", "t2m"), exact_means(hourly))
    require_equal("mean wind", variable("means.nc", "u10"), exact_means(wind), "f4")
    require_equal("total rain", variable("rain.nc", "tp"), exact_sums(rain), "f4")
    soaked = [exact_sums(rain[: hours + 1]) for hours in range(len(rain))]
    require_equal("rain until each hour", variable("rain_until.nc", "tp"), soaked, "f4")

    median = np.median(hourly.compressed())
    require_equal("median temperature", results("quantiles.json")["median"], median)

    years = np.concatenate([variable(f"tas_{year}.nc", "tas") for year in (1990, 1991, 1992)])
    require_equal("mean of three years", variable("years.nc", "tas_mean"), exact_means(years), "f4")
    require_equal("maximum of three years", variable("years.nc", "tas_max"), years.max(0), "f4")

    members = np.stack([variable(f"member_{i}.nc", "tas") for i in range(1, 6)])
    require_equal("mean of members", variable("ensemble.nc", "tas_mean"), exact_means(members), "f4")
    spread = exact_deviations(members)
    require_equal("spread of members", variable("ensemble.nc", "tas_std"), spread, "f4")
    high = np.quantile(members.astype("f8"), 0.9, axis=0)
    require_equal("quantile of members", variable("ensemble.nc", "tas_q90"), high, "f4")

    frames = np.concatenate([dataset(f"data_{i:06d}.h5", "entry/data") for i in (1, 2, 3)])
    require_equal("sum of frames", dataset("sum.h5", "entry/frames"), frames.sum(0, "u8"), "u8")
    good = frames[:, dataset("pixels.h5", "good") != 0]
    require_equal("brightest good pixel", results("brightest.json")["max"], good.max())

    events = dataset("events.h5", "events")["energy"]
    require_equal("energetic events", dataset("energetic.h5", "events.energy_indices"),
                  np.flatnonzero(events > 50), "u8")  # fmt: skip

    masses, halos = dataset("snapshot.h5", "mass"), dataset("snapshot.h5", "halo")
    of_halos = [masses[halos == halo] for halo in dataset("halos.h5", "halo")]
    sums = np.array([sum(map(fractions.Fraction, each.tolist())) for each in of_halos], object)
    require_equal("masses of halos", dataset("halos.h5", "mass_sum"), sums, "f4")
    particles = [np.count_nonzero(halos == halo) for halo in np.unique(halos[halos >= 0])]
    require_equal("particles of halos", dataset("halos.h5", "mass_count"), particles, "u8")
    heaviest = [each.max() for each in of_halos]
    require_equal("heaviest particles", dataset("halos.h5", "mass_max"), heaviest, "f4")

    counts = dataset("matrix.h5", "entries_of_row")
    require_equal("offsets of rows", dataset("offsets.h5", "indptr"), [0, *np.cumsum(counts)], "i8")
