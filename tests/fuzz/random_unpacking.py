"""Packed datasets as netCDF4-python writes them, and reads them: masked and scaled."""

import warnings

import h5py
import numpy as np

from expected import Command, compare_arrays
from random_values import chance, values_of

try:
    import netCDF4
except ImportError:
    netCDF4 = None

TYPES = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"]
FALSE = "false"
LIMITS = ["valid_range", "valid_min", "valid_max"]


def _some(stored, random, count):
    """Numbers that elements have, as the elements' type."""
    return random.choice(stored.ravel(), count)


def _as_attribute(numbers, random):
    """Returns numbers as another type, if it holds them exactly: netCDF4-python ignores attributes
    that a variable's type can't hold."""
    with np.errstate(all="ignore"):
        converted = numbers.astype(str(random.choice(["i2", "i4", "i8", "f4", "f8"])))
    pairs = zip(converted.tolist(), numbers.tolist())
    if chance(random, 0.5) and all(a == b or (a != a and b != b) for a, b in pairs):
        numbers = converted
    return numbers[0] if len(numbers) == 1 and chance(random, 0.7) else numbers


def _float_no_wider(dtype, random):
    """A type that NumPy 1 and 2 agree on: 1 does not widen an array of floats for one number."""
    return np.dtype("f4" if dtype == "f4" else str(random.choice(["f4", "f8"])))


def _packing(stored, random):
    """scale_factor and add_offset, or one of them."""
    if chance(random, 0.3):
        return {}
    if stored.dtype.kind != "f" and chance(random, 0.3):
        own = stored.dtype.type
        scale, offset = (own(each) for each in random.integers(0, 9, 2))
        return {"scale_factor": scale, "add_offset": offset}
    of_scale = _float_no_wider(stored.dtype, random)
    of_offset = _float_no_wider(np.result_type(stored.dtype, of_scale), random)
    packing = {"scale_factor": of_scale.type(random.choice([0.1, 2.0, -0.25, 1.0, 0.0, 1e30])),
               "add_offset": of_offset.type(random.choice([0.0, -0.0, 273.15, 1e30]))}  # fmt: skip
    changes_nothing = packing["scale_factor"] == 1 and packing["add_offset"] == 0
    if changes_nothing or chance(random, 0.3):  # netCDF4-python converts to scale_factor's type
        del packing[str(random.choice(list(packing)))]
    return packing


def _attributes(stored, random):
    attributes = _packing(stored, random)
    of_integers = any(value.dtype.kind != "f" for value in attributes.values())
    if stored.dtype.kind == "i" and not of_integers and chance(random, 0.4):
        attributes["_Unsigned"] = "true" if chance(random, 0.5) else FALSE
    if chance(random, 0.4):
        count = int(random.integers(1, 4))
        attributes["missing_value"] = _as_attribute(_some(stored, random, count), random)
    for name in LIMITS:
        if chance(random, 0.2):
            count = 1 if name != "valid_range" else 2 + int(chance(random, 0.1))
            numbers = _some(stored, random, count)
            if chance(random, 0.8):
                numbers.sort()
            attributes[name] = _as_attribute(numbers, random)
    return attributes


def _unpacked_integers(stored, attributes):
    """Exactly, modulo 2^64, where netCDF4-python computes in fewer bits."""
    unsigned = stored.dtype.kind == "u"
    scale, offset = (int(attributes.get(name, default))
                     for name, default in (("scale_factor", 1), ("add_offset", 0)))  # fmt: skip
    exact = [(each * scale + offset) % 2**64 for each in stored.tolist()]
    return np.array(exact, "u8").view("u8" if unsigned else "i8")


def _changes(attributes):
    """Whether values are other than stored numbers, or of another type."""
    scale, offset = attributes.get("scale_factor"), attributes.get("add_offset")
    if scale is not None and offset is not None:
        return True
    return (scale is not None and scale != 1) or (offset is not None and offset != 0)


def unpacking_command(dataset, view, random):
    """`compact` of a dataset of its own: the elements that netCDF4-python does not mask, and their
    flat indices."""
    name = str(random.choice(TYPES))
    shape = tuple(random.integers(1, 40, random.integers(1, 4)).tolist())
    stored = values_of(name, shape, random)
    if stored.itemsize > 1:  # netCDF4-python masks the default fill values of other types
        stored[stored == netCDF4.default_fillvals[stored.dtype.str[1:]]] = 1
    attributes = _attributes(stored, random)
    path, output = (dataset.path.with_name(each) for each in ("packed.nc", "out.h5"))
    with netCDF4.Dataset(path, "w") as file:
        for d, extent in enumerate(shape):
            file.createDimension(f"d{d}", extent)
        fill = _some(stored, random, 1)[0] if chance(random, 0.4) else False
        order = str(random.choice(["little", "big"]))
        packed = file.createVariable(
            "x", stored.dtype.newbyteorder(order), [f"d{d}" for d in range(len(shape))],
            fill_value=fill, endian=order, zlib=chance(random, 0.5), shuffle=chance(random, 0.5),
        )  # fmt: skip
        others = {key: value for key, value in attributes.items() if value is not FALSE}
        packed.setncatts(others)
        packed.set_auto_maskandscale(False)
        packed[...] = stored
    with warnings.catch_warnings(), netCDF4.Dataset(path) as file, np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        values = np.ma.asarray(file["x"][...])
    if attributes.get("_Unsigned") is FALSE:
        with netCDF4.Dataset(path, "a") as file:  # netCDF4-python 1.6 takes it for true
            file["x"].setncattr("_Unsigned", FALSE)
    places = np.flatnonzero(~np.ma.getmaskarray(values))
    expected = values.data.ravel()[places].astype(values.dtype.newbyteorder("="))
    if expected.dtype.kind != "f" and _changes(attributes):
        taken = stored.ravel()[places]
        if attributes.get("_Unsigned") == "true":
            taken = taken.view(f"u{taken.itemsize}")
        expected = _unpacked_integers(taken, attributes)

    def check(outcome):
        with h5py.File(output, "r") as made:
            found, indices = made["kept"][...], made["kept_indices"][...]
        if not np.array_equal(indices, places):
            return f"{attributes} of {stored.dtype}: indices {indices}, expected {places}"
        if found.dtype != expected.dtype:
            return f"{attributes} of {stored.dtype}: {found.dtype}, expected {expected.dtype}"
        problem = compare_arrays(found, expected)
        return problem and f"{attributes} of {stored.dtype}: {problem}"

    words = ["compact", path, "x", "-o", f"{output}:kept", "--indices", "--fill-value=auto"]
    return Command(words, check, output)
