"""Random elements of every type, of the kinds on which arithmetic goes wrong."""

import numpy as np

import reference
import samples
import support


def chance(random, probability):
    return random.random() < probability


def _floats(name, count, random):
    kind = random.choice([*samples.HARD, "random_walk", "special", "extreme"])
    if kind == "special":
        return _with_specials(name, samples.uniform(name, count, random), random)
    if kind == "extreme":
        return _extreme_floats(name, count, random)
    values = getattr(samples, kind)(name, count, random)[:count]
    return _with_specials(name, values, random) if random.random() < 0.2 else values


# Bits of a type's values.
BITS = {"f16": "u2", "bf16": "u2", "f32": "u4", "f64": "u8"}
MANTISSA_BITS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}


def _extreme_floats(name, count, random):
    """Finite values beside infinity, beside 1, and around the least normal one."""
    bits = np.dtype(BITS[name])
    sign, unit = 1 << (8 * bits.itemsize - 1), 1 << MANTISSA_BITS[name]
    infinity = (sign - 1) // unit * unit
    one = (infinity // 2) // unit * unit
    magnitudes = [0, 1, unit - 1, unit, one - 1, one, one + 1, infinity - 1]
    chosen = random.choice(magnitudes, random.integers(1, 5), replace=False)
    values = random.choice(chosen.astype(bits), count)
    values |= random.choice(np.array([0, sign], bits), count)
    return values if name == "bf16" else values.view(support.NUMPY_TYPES[name])


def _nans(name, count, random):
    """Quiet and signalling ones, of any sign and payload."""
    bits = np.dtype(BITS[name])
    infinity = (1 << (8 * bits.itemsize - 1)) - (1 << MANTISSA_BITS[name])
    values = random.integers(0, np.iinfo(bits).max, count, endpoint=True, dtype=bits)
    values |= bits.type(infinity | 1)
    return values if name == "bf16" else values.view(support.NUMPY_TYPES[name])


def _with_specials(name, values, random):
    """NaN, infinities and zeros of either sign in some places."""
    choices = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])
    chosen = choices[random.random(len(choices)) < 0.4]
    places = random.random(len(values)) < random.choice([0.001, 0.02, 0.3])
    if chance(random, 0.2):
        return np.where(places, _nans(name, len(values), random), values)
    if len(chosen) == 0:
        return values
    specials = random.choice(chosen, len(values))
    if name == "bf16":
        return np.where(places, reference.to_bfloat16(specials), values).astype("u2")
    return np.where(places, specials, values).astype(values.dtype)


def _integers(name, count, random):
    limits = np.iinfo(support.NUMPY_TYPES[name])
    kind = random.choice(["full", "small", "few", "extreme"])
    if kind == "small":
        low, high = max(limits.min, -100), min(limits.max, 100)
    elif kind == "few":
        low, high = 0, 3
    else:
        low, high = limits.min, limits.max
    if kind == "extreme":
        return random.choice(np.array([low, high, 0, 1], limits.dtype), count)
    return random.integers(low, high, count, endpoint=True, dtype=limits.dtype)


def values_of(name, shape, random):
    """Elements called `name` ("i8" to "f64", "bool", "enum"); bfloat16 as its bits."""
    count = int(np.prod(shape, dtype="i8"))
    if name == "bool":
        flat = random.integers(0, 2, count, dtype="i1")
    elif name == "enum":
        flat = random.integers(-5, 300, count, dtype="i2")
    elif name in support.FLOAT_TYPES:
        flat = _floats(name, count, random)
    else:
        flat = _integers(name, count, random)
    return np.asarray(flat).reshape(shape)
