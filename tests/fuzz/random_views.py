"""Random choices of what a command sees of a dataset: options beside the values they leave."""

import dataclasses
import operator

import numpy as np

import support
import truth
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

    def flat(self):
        """Values that count, and their flat indices."""
        indices = np.flatnonzero(self.kept)
        return self.values.ravel()[indices], indices


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


def fill_value(view, dataset, random):
    """--fill-value: of stored values, by attributes or as given."""
    attributes = [dataset.attributes[name] for name in ("_FillValue", "missing_value")
                  if name in dataset.attributes]  # fmt: skip
    if attributes and chance(random, 0.7):
        fills = [truth.numbers(dataset.type, each)[0] for each in attributes]
        view.words.append("--fill-value=auto")
    else:
        fills = [view.stored.dtype.type(_some_value(view.stored, random))]
        view.words.append("--fill-value=" + _number_text(fills[0].item()))
    for fill in fills:
        is_fill = np.isnan(view.stored) if fill != fill else view.stored == fill
        view.kept = view.kept & ~is_fill


def cf(view, dataset, random):
    """--cf: unpacks by the attributes, in NumPy's types, rounding at each step."""
    scale = dataset.attributes.get("scale_factor")
    offset = dataset.attributes.get("add_offset")
    if scale is None and offset is None:
        return
    dtype = np.dtype(support.NUMPY_TYPES.get(dataset.type, "f4"))
    unpacked = view.values
    with np.errstate(all="ignore"):
        for operate, operand in ((np.multiply, scale), (np.add, offset)):
            if operand is not None:
                dtype = np.result_type(dtype, operand.dtype)
                unpacked = operate(unpacked.astype(dtype), operand)
    view.type = {4: "f32", 8: "f64"}[dtype.itemsize]
    view.values = np.asarray(unpacked, "f8").reshape(view.values.shape)
    view.words.append("--cf")


RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
             "==": operator.eq, "!=": operator.ne}  # fmt: skip


def where(view, dataset, random):
    """--where: of values as they are after --cf."""
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


# In the order in which they take effect, and how often each is there.
OPTIONS = {select: 0.35, fill_value: 0.2, cf: 0.15, where: 0.3}


def fill_attributes(dataset, random):
    """_FillValue and missing_value, as other programs leave them."""
    if dataset.type not in support.NUMPY_TYPES or dataset.values.size == 0:
        return {}
    names = [name for name in ("_FillValue", "missing_value") if chance(random, 0.3)]
    flat = dataset.values.ravel()
    return {name: flat[random.integers(len(flat))].reshape(1) for name in names}


def packing_attributes(dataset, random):
    """scale_factor and add_offset, or one of them; a number or an array of one."""
    if chance(random, 0.6):
        return {}
    scale_type, offset_type = (np.dtype(str(each)) for each in random.choice(["f4", "f8"], 2))
    limits = np.finfo(scale_type)
    scale = random.choice([0.1, 2.0, -0.25, 1e-3, 0.0, limits.tiny, limits.max])
    offset = random.choice([random.normal() * 10, 273.15, -0.0, np.finfo(offset_type).max])
    numbers = {"scale_factor": scale_type.type(scale), "add_offset": offset_type.type(offset)}
    if chance(random, 0.3):
        del numbers[str(random.choice(list(numbers)))]
    if chance(random, 0.5):
        return numbers
    return {name: number.reshape(1) for name, number in numbers.items()}


# Each takes a Dataset and a random generator, and gives attributes for the dataset.
ATTRIBUTES = [fill_attributes, packing_attributes]


def random_view(dataset, random, options):
    """`options` are names among OPTIONS."""
    stored = truth.numbers(dataset.type, dataset.values).reshape(dataset.values.shape)
    view = View(dataset.type, dataset.values, stored, stored, np.ones(stored.shape, bool), [])
    for option, probability in OPTIONS.items():
        if chance(random, probability) and option.__name__ in options:
            option(view, dataset, random)
    return view
