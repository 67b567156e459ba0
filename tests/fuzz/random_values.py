"""Random elements of every type, of the kinds on which arithmetic goes wrong."""

import numpy as np

import reference
import samples
import support


def _floats(name, count, random):
    kind = random.choice([*samples.HARD, "random_walk", "special"])
    if kind == "special":
        return _with_specials(name, samples.uniform(name, count, random), random)
    values = getattr(samples, kind)(name, count, random)[:count]
    return _with_specials(name, values, random) if random.random() < 0.2 else values


def _with_specials(name, values, random):
    """NaN, infinities and zeros of either sign in some places."""
    choices = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])
    chosen = choices[random.random(len(choices)) < 0.4]
    places = random.random(len(values)) < random.choice([0.001, 0.02, 0.3])
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
