"""Random choices of what a command sees of a dataset: options beside the values they leave."""

import dataclasses
import fractions
import math
import operator

import numpy as np

import samples
import support
import truth
from expected import integer_type
from random_values import chance


@dataclasses.dataclass
class View:
    """The elements that a command sees."""

    type: str
    raw: np.ndarray  # as in the file, bfloat16 as its bits, in the selected shape
    stored: np.ndarray  # their truth.numbers()
    values: np.ndarray  # unpacked
    kept: np.ndarray  # whether an element counts
    words: list
    names: list  # of dimensions, where they have some
    unpacked: bool = False
    index: object = Ellipsis  # of the dataset's elements, as NumPy has it

    def flat(self):
        """Values that count, and their flat indices."""
        indices = np.flatnonzero(self.kept)
        return self.values.ravel()[indices], indices


def mask(view, dataset, random):
    """--mask: of the whole shape or of its last dimensions, in a file of its own, before --select."""
    shape = dataset.values.shape
    first = int(random.integers(len(shape) + 1))
    leading = (1,) * int(random.integers(first + 1))
    size = int(np.prod(shape[first:], dtype="i8"))
    masked = np.repeat(random.integers(0, 2, size + 1), random.integers(1, 100, size + 1))
    bits = masked[:size].reshape(leading + shape[first:])
    kind = str(random.choice([each for each in samples.GENERATED_TYPES if each != "bf16"]))
    storage = {}
    if bits.size and bits.ndim and chance(random, 0.5):
        chunks = tuple(int(random.integers(1, extent + 1)) for extent in bits.shape)
        storage = {"chunks": chunks, "compression": "gzip"}
    path = support.write(dataset.path.with_name("mask.h5"), bits, kind, "bits", **storage)
    view.kept = view.kept & (bits != 0)
    view.words.append(f"--mask={path}::bits")


def _random_slice(extent, random):
    """NumPy's notation of some indices of a dimension, and what it means."""
    kind = random.choice(["all", "part", "step", "one"], p=[0.3, 0.4, 0.2, 0.1])
    if kind == "one" and extent > 0:
        index = int(random.integers(-extent, extent))
        return str(index), index
    if kind == "all":
        return ":", slice(None)
    begin, end = (int(each) for each in random.integers(-extent - 2, extent + 3, 2))
    first = None if chance(random, 0.3) else begin
    last = None if chance(random, 0.3) else end
    most = 5 if chance(random, 0.7) else extent + 3
    step = int(random.integers(1, most)) if kind == "step" else None
    text = f"{'' if first is None else first}:{'' if last is None else last}"
    return text + ("" if step is None else f":{step}"), slice(first, last, step)


def select(view, dataset, random):
    """--select: before all others."""
    shape = dataset.values.shape
    if not shape:
        return
    slices = [_random_slice(extent, random) for extent in shape]
    if chance(random, 0.3):
        slices = slices[: random.integers(1, len(slices) + 1)]
    elif chance(random, 0.2):
        place = int(random.integers(len(slices)))
        slices[place] = ("...", Ellipsis)
    texts, index = zip(*slices)
    if view.names and Ellipsis not in index and chance(random, 0.6):
        texts = [f"{name}={text}" for name, text in zip(view.names, texts)]
        random.shuffle(texts)
    every = list(index) + [Ellipsis] * (Ellipsis not in index)
    place = every.index(Ellipsis)
    every[place : place + 1] = [slice(None)] * (len(shape) - len(every) + 1)
    view.names = [name for name, each in zip(view.names, every) if isinstance(each, slice)]
    view.index = index
    view.raw = np.asarray(view.raw[index])
    view.stored = np.asarray(view.stored[index])
    view.values = np.asarray(view.values[index])
    view.kept = np.asarray(view.kept[index])
    view.words.append("--select=" + ", ".join(texts))


def _number_text(value):
    """A number exactly: of floats the shortest decimal is another real number."""
    return value.hex() if isinstance(value, float) and np.isfinite(value) else str(value)


def _some_value(values, random):
    flat = values.ravel()
    return flat[random.integers(len(flat))].item() if len(flat) else flat.dtype.type(1).item()


def _held(name, number):
    """The value of a type that a number stands for, or None."""
    if name in truth.FORMATS:
        if not math.isfinite(number):
            return float(number)
        nearest = truth.rounded(name, fractions.Fraction(number))
        return nearest if math.isfinite(nearest) else None
    if not math.isfinite(number) or number != int(number):
        return None
    return None if truth.first_outside([int(number)], integer_type(name)) is not None else int(number)


def _stored_as(view, dataset, number):
    """The value of an element that is stored as a number; of integers taken as unsigned either one
    of its bits."""
    value = _held(view.type, number)
    if value is None and view.type != dataset.type:
        value = _held(dataset.type, number)
        value = None if value is None else value + (1 << 8 * view.stored.itemsize)
    return value


def _numbers_of(dataset, name):
    attribute = np.atleast_1d(dataset.attributes.get(name, []))
    return attribute.tolist() if attribute.dtype.kind in "iuf" else []


def _bounds(view, dataset):
    """Returns the bounds by valid_* attributes: those that the type can't hold, or that have too
    many values, have no effect."""

    def held(name, count):
        values = [_stored_as(view, dataset, number) for number in _numbers_of(dataset, name)]
        return values if len(values) == count and None not in values else None

    both = held("valid_range", 2)
    if both:
        return both
    return (held("valid_min", 1) or [None])[0], (held("valid_max", 1) or [None])[0]


def _leave_out(view, fills):
    for fill in fills:
        if fill is None:
            continue
        is_fill = np.isnan(view.stored) if fill != fill else view.stored == fill
        view.kept = view.kept & ~is_fill


def _leave_out_by_attributes(view, dataset):
    for name in ("_FillValue", "missing_value"):
        fills = [_stored_as(view, dataset, number) for number in _numbers_of(dataset, name)]
        _leave_out(view, fills)
    least, most = _bounds(view, dataset)
    if least is not None:
        view.kept = view.kept & ~(view.stored < view.stored.dtype.type(least))
    if most is not None:
        view.kept = view.kept & ~(view.stored > view.stored.dtype.type(most))


def _take_as_unsigned(view, dataset):
    if dataset.attributes.get("_Unsigned") == "true":
        view.type = view.type.replace("i", "u")
        shape = view.stored.shape
        unsigned = np.ascontiguousarray(view.stored).view(f"u{view.stored.itemsize}").reshape(shape)
        view.stored = view.values = unsigned


def _packing(dataset):
    """scale_factor and add_offset, but for those that change nothing."""
    scale = dataset.attributes.get("scale_factor")
    offset = dataset.attributes.get("add_offset")
    both = scale is not None and offset is not None
    if offset is not None and offset == 0 and (scale is None or scale == 1):
        offset = None
    return None if not both and scale is not None and scale == 1 else scale, offset


def _unpack(view, dataset):
    """In NumPy's types, rounding at each step."""
    scale, offset = _packing(dataset)
    if scale is None and offset is None:
        return
    dtype = np.dtype(support.NUMPY_TYPES.get(view.type, "f4"))
    dtype = {"bool": np.dtype("i1"), "enum": np.dtype("i2")}.get(view.type, dtype)
    unpacked = view.values
    with np.errstate(all="ignore"):
        for operate, operand in ((np.multiply, scale), (np.add, offset)):
            if operand is not None:
                dtype = np.result_type(dtype, operand.dtype)
                unpacked = operate(unpacked.astype(dtype), operand.astype(dtype))
    view.type = {4: "f32", 8: "f64"}[dtype.itemsize]
    view.values = np.asarray(unpacked, "f8").reshape(view.values.shape)
    view.unpacked = True


def raw(view, dataset, random):
    """--raw: no attribute is applied."""
    view.words.append("--raw")


def fill_value(view, dataset, random):
    """--fill-value: of stored values, as given or by attributes."""
    kind = random.choice(["value", "none", "auto"])
    if kind == "auto" and "--raw" not in view.words:
        _leave_out_by_attributes(view, dataset)
        view.words.append("--fill-value=auto")
    elif kind == "value":
        fill = view.stored.dtype.type(_some_value(view.stored, random))
        _leave_out(view, [fill])
        view.words.append("--fill-value=" + _number_text(fill.item()))
    else:
        view.words.append("--fill-value=none")


RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
             "==": operator.eq, "!=": operator.ne}  # fmt: skip


def where(view, dataset, random):
    """--where: of values as they are unpacked."""
    for _ in range(random.integers(1, 3)):
        word = random.choice(["finite", "!=nan", "relation"], p=[0.1, 0.1, 0.8])
        if word == "finite":
            meets = np.isfinite(view.values)
        elif word == "!=nan":
            meets = ~np.isnan(view.values)
        else:
            relation = str(random.choice(list(RELATIONS)))
            value = _some_value(view.values, random)
            if value != value:
                continue
            meets = RELATIONS[relation](view.values, view.values.dtype.type(value))
            word = relation + _number_text(value)
        view.kept = view.kept & meets
        view.words.append(f"--where={word}")


# How often each is there.
OPTIONS = {mask: 0.2, select: 0.35, raw: 0.25, fill_value: 0.2, where: 0.3}


def _some_numbers(dataset, random, most):
    """Numbers that elements have, or that are next to them in other types."""
    stored = truth.numbers(dataset.type, dataset.values)
    numbers = [_some_value(stored, random) for _ in range(random.integers(1, most + 1))]
    if chance(random, 0.3):
        numbers.append(random.choice([0.1, 1e20, -1.5, 1e300, math.inf, math.nan]))
    return numbers


def _as_attribute(dataset, numbers, random):
    """Returns numbers in the dataset's type or another; one number as such or as an array."""
    own = support.NUMPY_TYPES.get(dataset.type, "f8")
    dtype = np.dtype(str(random.choice([own, own, "i2", "i4", "i8", "f4", "f8"])))
    with np.errstate(all="ignore"):
        numbers = np.array(numbers, "f8" if dtype.kind == "f" else None)
        if dtype.kind != "f":
            limits = np.iinfo(dtype)
            inside = [int(each) for each in numbers.tolist()
                      if math.isfinite(each) and limits.min <= each <= limits.max]  # fmt: skip
            numbers = np.array(inside or [1], dtype)
        numbers = numbers.astype(dtype)
    return numbers[0] if numbers.size == 1 and chance(random, 0.5) else numbers


def fill_attributes(dataset, random):
    """_FillValue and missing_value, as other programs leave them."""
    attributes = {}
    if chance(random, 0.3):
        attributes["_FillValue"] = _as_attribute(dataset, _some_numbers(dataset, random, 1), random)
    if chance(random, 0.3):
        attributes["missing_value"] = _as_attribute(
            dataset, _some_numbers(dataset, random, 4), random
        )
    if chance(random, 0.03):
        attributes["missing_value"] = "none"
    return attributes


def valid_attributes(dataset, random):
    """valid_range, valid_min and valid_max; seldom with more values than they should have."""
    attributes = {}
    for name, count in (("valid_range", 2), ("valid_min", 1), ("valid_max", 1)):
        if chance(random, 0.12):
            numbers = [_some_numbers(dataset, random, 1)[-1] for _ in range(count)]
            numbers = sorted(numbers) if chance(random, 0.8) else numbers
            numbers += numbers[:1] * chance(random, 0.1)
            attributes[name] = _as_attribute(dataset, numbers, random)
    return attributes


def packing_attributes(dataset, random):
    """scale_factor and add_offset, or one of them; a number or an array of one."""
    attributes = {}
    if dataset.type in ("i8", "i16", "i32", "i64") and chance(random, 0.15):
        attributes["_Unsigned"] = str(random.choice(["true", "false"]))
    if chance(random, 0.6):
        return attributes
    scale_type, offset_type = (np.dtype(str(each)) for each in random.choice(["f4", "f8"], 2))
    limits = np.finfo(scale_type)
    scale = random.choice([0.1, 2.0, -0.25, 1e-3, 0.0, 1.0, 1.0, limits.tiny, limits.max])
    offset = random.choice([random.normal() * 10, 273.15, 0.0, -0.0, np.finfo(offset_type).max])
    numbers = {"scale_factor": scale_type.type(scale), "add_offset": offset_type.type(offset)}
    if chance(random, 0.3):
        del numbers[str(random.choice(list(numbers)))]
    if chance(random, 0.5):
        numbers = {name: number.reshape(1) for name, number in numbers.items()}
    return attributes | numbers


def labels(dataset, random):
    """Names of dimensions."""
    if dataset.values.ndim == 0 or chance(random, 0.5):
        return {}
    return {"DIMENSION_LABELS": [f"dimension {d}" for d in range(dataset.values.ndim)]}


def axis_word(view, axis, random):
    """A number of an axis of the view, also from the last, or its name."""
    if view.names and chance(random, 0.5):
        return view.names[axis]
    return str(axis - view.values.ndim * int(chance(random, 0.3)))


# Each takes a Dataset and a random generator, and gives attributes for the dataset.
ATTRIBUTES = [fill_attributes, valid_attributes, packing_attributes, labels]


def random_view(dataset, random, options):
    """`options` are names among OPTIONS."""
    stored = truth.numbers(dataset.type, dataset.values).reshape(dataset.values.shape)
    names = dataset.attributes.get("DIMENSION_LABELS", [])
    view = View(
        dataset.type, dataset.values, stored, stored, np.ones(stored.shape, bool), [], names
    )
    chosen = [option for option, probability in OPTIONS.items()
              if chance(random, probability) and option.__name__ in options]  # fmt: skip
    for option in (mask, select, raw):
        if option in chosen:
            option(view, dataset, random)
    if raw not in chosen:
        _take_as_unsigned(view, dataset)
    if fill_value in chosen:
        fill_value(view, dataset, random)
    elif raw not in chosen:
        _leave_out_by_attributes(view, dataset)
    if raw not in chosen:
        _unpack(view, dataset)
    if where in chosen:
        where(view, dataset, random)
    return view


def default_view(dataset):
    """Returns the view of a command without options."""
    return random_view(dataset, np.random.default_rng(0), ())
