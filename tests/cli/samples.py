"""Data on which sums are hard, or types are distinguished; the same on every machine."""

import h5py
import numpy as np

import reference
import support
from support import FLOAT_TYPES, INTEGER_TYPES, NUMPY_TYPES

GENERATED_TYPES = (*INTEGER_TYPES, *FLOAT_TYPES, "bool", "enum")


def typed(name, shape, seed=0):
    """Values over much of a type's range whose running sum stays inside 64 bits."""
    random = np.random.default_rng([seed, GENERATED_TYPES.index(name)])
    if name == "bool":
        return random.integers(0, 2, shape)
    if name == "enum":
        return random.integers(-5, 300, shape)
    if name in INTEGER_TYPES:
        limits = np.iinfo(NUMPY_TYPES[name])
        low, high = max(limits.min, -(2**40)), min(limits.max, 2**40)
        return random.integers(low, high, shape, endpoint=True, dtype=NUMPY_TYPES[name])
    wide = random.standard_normal(shape) * np.exp2(random.integers(-12, 4, shape))
    if name == "bf16":
        return reference.to_bfloat16(wide)
    return wide.astype(NUMPY_TYPES[name])


def smooth_and_noisy(shape, dtype):
    """Rows that walk in small steps, with noise in one of ten places: compressors find both."""
    random = np.random.default_rng(3)
    smooth = 1000 + np.cumsum(random.integers(-9, 10, shape), axis=1)
    noise = random.integers(0, 2**15, shape)
    return np.where(random.random(shape) < 0.1, noise, smooth % 200).astype(dtype)


def _as(name, values):
    if name == "bf16":
        return reference.to_bfloat16(values)
    with np.errstate(over="ignore"):
        return values.astype(NUMPY_TYPES[name])


LARGEST_EXPONENT = {"f16": 15, "bf16": 127, "f32": 127, "f64": 1023}
SMALLEST_EXPONENT = {"f16": -24, "bf16": -133, "f32": -149, "f64": -1074}


def uniform(name, count, random):
    return _as(name, random.random(count))


def wide(name, count, random):
    """Signed values over all but the type's top exponents."""
    exponents = random.integers(SMALLEST_EXPONENT[name] // 2, LARGEST_EXPONENT[name] // 2, count)
    return _as(name, np.ldexp(random.uniform(-1, 1, count), exponents))


def cancelling(name, count, random):
    """Huge terms that cancel exactly, around small ones that remain."""
    huge = np.ldexp(random.uniform(0.5, 1, count // 2), LARGEST_EXPONENT[name] - 1)
    small = _as(name, random.uniform(-1, 1, count - 2 * len(huge) + 50))
    huge = _as(name, huge)
    negated = huge ^ np.uint16(0x8000) if name == "bf16" else -huge
    return random.permutation(np.concatenate([huge, negated, small]))


def subnormal(name, count, random):
    """Multiples of the type's smallest value, of either sign."""
    multiples = random.integers(-100, 100, count).astype("f8")
    return _as(name, np.ldexp(multiples, SMALLEST_EXPONENT[name]))


def constant(name, count, random):
    return _as(name, np.full(count, 1.23))


def large_mean(name, count, random):
    """Deviations in the last bits only: textbook variances cancel entirely."""
    base = {"f16": 1024.0, "bf16": 128.0, "f32": 2.0**23, "f64": 1e15}[name]
    return _as(name, base + random.integers(0, 8, count))


def random_walk(name, count, random):
    """Steps whose running sum crosses zero again and again."""
    return _as(name, random.standard_normal(count))


HARD = {
    kind.__name__: kind for kind in (uniform, wide, cancelling, subnormal, constant, large_mean)
}


def hard(kind, name, count):
    return HARD[kind](name, count, np.random.default_rng([len(kind), count]))


def of_several_files(folder):
    """Virtual datasets that rest on another one, a plain one and one in a raw file."""
    values = np.arange(6, dtype="i4")
    with h5py.File(folder / "plain.h5", "w") as file:
        file["values"] = values
    with h5py.File(folder / "raw.h5", "w") as file:
        file.create_dataset("values", data=values, external=[(str(folder / "raw"), 0, 24)])
    for name, source in (("inner.h5", "plain.h5"), ("outer.h5", "inner.h5"), ("over.h5", "raw.h5")):
        with h5py.File(folder / name, "w") as file:
            layout = h5py.VirtualLayout((6,), "i4")
            layout[...] = h5py.VirtualSource(source, "values", (6,))
            file.create_virtual_dataset("values", layout)
    return {"outer.h5": ["inner.h5", "plain.h5"], "raw.h5": ["raw"], "over.h5": ["raw.h5", "raw"]}


# Extents of parts along an axis.
EXTENTS = (8, 12, 5)


def shape_along(axis):
    shape = [9, 7, 10]
    shape[axis] = sum(EXTENTS)
    return tuple(shape)


def split(values, axis, extents=EXTENTS):
    return np.split(values, np.cumsum(extents)[:-1], axis)


def write_parts(folder, name, parts, storage=({},) * 10, dataset="values"):
    """A file for each part, in an order that is not that of their names."""
    paths = [folder / f"{letter}.h5" for letter in "bcadefghij"[: len(parts)]]
    for path, part, options in zip(paths, parts, storage):
        support.write(path, part, name, dataset, **options)
    return paths


GRID = (3, 4)


def write_times(path, times, units, calendar, chunks=None, **attributes):
    """Integers of times and a grid, in a file whose time coordinate has these attributes."""
    values = np.random.default_rng(1).integers(-(10**6), 10**6, (len(times), *GRID))
    with h5py.File(path, "w") as file:
        file["time"] = times
        file["time"].make_scale("time")
        file["time"].attrs.update({"units": units, "calendar": calendar, **attributes})
        file.create_dataset("x", data=values, chunks=chunks)
        file["x"].dims[0].attach_scale(file["time"])
        for d, name in ((1, "lat"), (2, "lon")):
            file[name] = np.arange(float(GRID[d - 1]))
            file[name].make_scale(name)
            file["x"].dims[d].attach_scale(file[name])
    return values
