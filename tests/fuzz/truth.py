"""True results of random commands: by fractions and NumPy, in definitions of their own."""

import fractions
import itertools
import math

import numpy as np

import reference
import support

NAN = math.nan
INF = math.inf
# Bits of the significand, least exponent of its last bit, largest exponent.
FORMATS = reference.FORMATS


def numbers(name, values):
    """Elements as a flat array of NumPy's: integers, or doubles of equal value."""
    flat = np.asarray(values).ravel()
    return reference.to_double(name, flat) if name in FORMATS else flat


def rounded(name, exact):
    """A fraction as the nearest value of a floating-point type, ties to even, as a double."""
    # More bits than any midpoint has, the last of which is odd when anything was cut off.
    bits = reference.UNIT_BITS + 2
    units, rest = divmod(abs(exact.numerator) << bits, exact.denominator)
    double = reference.rounded_units(name, 2 * units + (rest != 0), bits + 1)
    return -double if exact < 0 else double


def _nearest(name):
    """reference.nearest() for a floating-point type."""
    if name not in FORMATS or name == "f64":
        return reference.nearest
    return lambda numerator, denominator=1: rounded(
        name, fractions.Fraction(numerator, denominator)
    )


def _special_sum(values):
    """Returns the sum of values with NaN or infinities; None if there are none."""
    if np.isnan(values).any() or (np.isposinf(values).any() and np.isneginf(values).any()):
        return NAN
    infinite = values[np.isinf(values)]
    return float(infinite[0]) if len(infinite) else None


def wrapped(total, dtype):
    """An integer modulo 2^bits of an integer type."""
    bits = 8 * dtype.itemsize
    total %= 1 << bits
    return total - (1 << bits) if dtype.kind == "i" and total >= 1 << (bits - 1) else total


def _nothing(floating, nan_count):
    zero = 0.0 if floating else 0
    none = NAN if nan_count else None
    return {
        "count": 0, "sum": zero, "mean": NAN, "var": NAN, "std": NAN, "min": none, "max": none,
        "argmin": None, "argmax": None, "l1": zero, "l2": 0.0, "linf": zero,
        "nan_count": nan_count, "inf_count": 0,
    }  # fmt: skip


def _poisoned(values, indices):
    results = dict.fromkeys(("sum", "mean", "var", "std", "min", "max", "l1", "l2", "linf"), NAN)
    first = int(indices[np.isnan(values).argmax()])
    return {
        **results, "argmin": first, "argmax": first, "count": len(values),
        "nan_count": int(np.isnan(values).sum()), "inf_count": int(np.isinf(values).sum()),
    }  # fmt: skip


def _with_infinities(values, indices):
    least, most = int(values.argmin()), int(values.argmax())
    total = _special_sum(values)
    return {
        "count": len(values), "sum": total, "mean": total, "var": NAN, "std": NAN,
        "min": float(values[least]), "max": float(values[most]), "argmin": int(indices[least]),
        "argmax": int(indices[most]), "l1": INF, "l2": INF, "linf": INF, "nan_count": 0,
        "inf_count": int(np.isinf(values).sum()),
    }  # fmt: skip


# Statistics that an option affects; other options affect all.
EFFECTS = {"ddof": {"var", "std"}, "overflow": {"sum"}}


def setting_words(options, asked):
    """The words of options that have an effect on what is requested: others are refused."""
    return [word for option, value in options.items()
            if option not in EFFECTS or EFFECTS[option] & set(asked)
            for word in (f"--{option}", value)]  # fmt: skip


def statistics(values, indices, nan="propagate", overflow="error", ddof=0, out="f64"):
    """The results of `reduce` for numbers() whose flat indices are `indices`; those that are
    rounded are rounded once, to the floating-point type `out` (of an integer type to f64)."""
    floating = values.dtype.kind == "f"
    nan_count = int(np.isnan(values).sum()) if floating else 0
    if nan_count and nan == "propagate":
        return _poisoned(values, indices)
    if nan_count:
        kept = ~np.isnan(values)
        values, indices = values[kept], indices[kept]
    if len(values) == 0:
        return _nothing(floating, nan_count)
    if floating and np.isinf(values).any():
        return {**_with_infinities(values, indices), "nan_count": nan_count}
    degrees = ddof if ddof < len(values) else 0
    results = reference.statistics(values, ddof=degrees, nearest=_nearest(out))
    if ddof >= len(values):
        results.update(var=NAN, std=NAN)
    least, most = int(values.argmin()), int(values.argmax())
    # The first zero counts among zeros of either sign.
    results.update(min=values[least].item(), max=values[most].item())
    results.update(argmin=int(indices[least]), argmax=int(indices[most]), nan_count=nan_count)
    if not floating and overflow == "wrap":
        results["sum"] = wrapped(results["sum"], values.dtype)
    return results


def quantile(values, fraction, method, nan="propagate"):
    """A quantile of numbers(): an element, or a double between two."""
    ranked = np.sort(values[~np.isnan(values)] if values.dtype.kind == "f" else values)
    if len(ranked) == 0 or (len(ranked) < len(values) and nan == "propagate"):
        return NAN if len(values) else None
    place = (len(ranked) - 1) * fraction
    lower, upper = math.floor(place), math.ceil(place)
    if method in ("lower", "higher", "nearest") or lower == upper:
        return _element(ranked, {"lower": lower, "higher": upper}.get(method, round(place)))
    below, above = _element(ranked, lower), _element(ranked, upper)
    if below == above:
        return below
    weight = 0.5 if method == "midpoint" else place - lower
    distance = float(above - below)
    below, above = float(below), float(above)
    if not math.isfinite(distance):
        return below * (1 - weight) + above * weight
    return below + distance * weight if weight < 0.5 else above - distance * (1 - weight)


def _element(ranked, place):
    """As Python's number; zeros are positive."""
    return ranked[place].item() + 0


def same(found, expected):
    """Equal bit by bit, NaN to any NaN."""
    if isinstance(expected, float):
        if math.isnan(expected):
            return isinstance(found, float) and math.isnan(found)
        return found == expected and math.copysign(1, found) == math.copysign(1, expected)
    return type(found) is type(expected) and found == expected


def prefixes(values, exclusive):
    """Exact prefix sums of numbers() without NaN and infinities, as fractions' numerators over
    reference.UNITS for doubles, as integers otherwise."""
    exact = reference.in_units(values) if values.dtype.kind == "f" else list(map(int, values))
    sums = list(itertools.accumulate(exact))
    return [0, *sums[:-1]][: len(sums)] if exclusive else sums


def first_outside(prefixes, out):
    """The first index whose integer prefix the type `out` can't hold, or None."""
    limits = np.iinfo(support.NUMPY_TYPES[out])
    return next(
        (place for place, each in enumerate(prefixes) if not limits.min <= each <= limits.max), None
    )


def wrapped_prefixes(prefixes, out):
    dtype = np.dtype(support.NUMPY_TYPES[out])
    return np.array([wrapped(each, dtype) for each in prefixes], dtype)


def identity(dtype, operation):
    """Returns the "min" or "max" of no elements."""
    if dtype.kind == "f":
        return {"min": INF, "max": -INF}[operation]
    limits = np.iinfo(dtype)
    return {"min": limits.max, "max": limits.min}[operation]


def running_extrema(values, operation, exclusive):
    """Returns running extrema of numbers(), as doubles or integers; the identity first where
    exclusive."""
    accumulate = {"min": np.minimum, "max": np.maximum}[operation].accumulate
    inclusive = accumulate(values) if len(values) else values
    if not exclusive:
        return inclusive
    first = np.array([identity(values.dtype, operation)], values.dtype)
    return np.concatenate([first, inclusive])[: len(values)]


def rounded_prefixes(out, values, exclusive):
    """The true prefix sums of doubles, each rounded once, as doubles."""
    finite = np.where(np.isfinite(values), values, 0.0)
    return [
        reference.rounded_units(out, true) if special is None else special
        for true, special in zip(prefixes(finite, exclusive), specials(values, exclusive))
    ]


def specials(values, exclusive):
    """Returns NaN or the infinity of each prefix sum; None where none came before."""
    state, states = None, []
    for value in values.tolist():
        if exclusive:
            states.append(state)
        if math.isnan(value):
            state = NAN
        elif math.isinf(value):
            state = value if state is None else (state if state == value else NAN)
        if not exclusive:
            states.append(state)
    return states
