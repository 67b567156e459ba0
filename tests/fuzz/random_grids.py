"""Variables with dimensions and coordinates, and one grid as different files store it."""

import dataclasses
import fractions

import cftime
import h5py
import netCDF4
import numpy as np

from random_values import chance

EPOCH = "2000-01-01"
REFERENCES = ("2000-01-01", "2000-01-01 00:00:00", "2001-01-01", "1999-12-30T06:00:00Z",
              "1970-1-1 00:00:0.0", "2000-01-01 06:00:00 +06:00")  # fmt: skip
UNITS = {
    "seconds": 1, "s": 1, "minutes": 60, "min": 60, "hours": 3600, "hr": 3600, "h": 3600,
    "days": 86400, "day": 86400, "d": 86400,
}  # fmt: skip
CALENDARS = {
    "standard": ("standard", "gregorian", "Gregorian", None),
    "proleptic_gregorian": ("proleptic_gregorian",),
    "noleap": ("noleap", "365_day"),
    "360_day": ("360_day",),
    "all_leap": ("all_leap", "366_day"),
    "julian": ("julian",),
}
# From 1582 on these are one calendar.
ALIKE = {"proleptic_gregorian": "standard"}
NUMBER_UNITS = {"lat": "degrees_north", "lon": "degrees_east", "lev": "m", "member": "1"}
TOLERANCE = fractions.Fraction(1, 10_000)  # of a grid's distance: the manual's


@dataclasses.dataclass
class Line:
    """Meaning of coordinates: fractions; for times the hours since the epoch in a calendar;
    texts."""

    values: list
    units: str = ""
    calendar: str | None = None  # of times alone
    store_as: str | None = None  # its type, where that is not any

    @property
    def is_text(self):
        return isinstance(self.values[0], str)

    def kept(self, indices):
        return dataclasses.replace(self, values=[self.values[each] for each in indices])


@dataclasses.dataclass
class Dimension:
    name: str | None
    line: Line | None
    extent: int


def _distance(values, index):
    near = [abs(values[index] - values[each]) for each in (index - 1, index + 1)
            if 0 <= each < len(values)]  # fmt: skip
    return min(near, default=fractions.Fraction(0))


def first_difference(one, other, indices):
    """The first of some indices at which two lines mean different places, or None."""
    if one.is_text != other.is_text:
        return indices[0]
    calendars = {ALIKE.get(line.calendar, line.calendar) for line in (one, other)}
    for index in indices:
        a, b = one.values[index], other.values[index]
        if one.is_text:
            differ = a != b
        else:
            differ = len(calendars) > 1 or abs(a - b) > TOLERANCE * _distance(one.values, index)
        if differ:
            return index
    return None


def random_line(name, extent, random):
    """Monotonic, in steps of quarters, or of six hours."""
    if name == "time":
        first, step = (int(each) for each in random.integers([-2000, 1], [90_000, 9]))
        calendar = str(random.choice(list(CALENDARS), p=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1]))
        values = [fractions.Fraction(6 * (first + step * each)) for each in range(extent)]
        return Line(values, calendar=calendar)
    if name == "station":
        return Line([f"s{each}" + "é" * int(each % 3 == 2) for each in random.permutation(extent)])
    first, step = int(random.integers(-200, 200)), int(random.choice([-10, -1, 1, 4, 7]))
    values = [fractions.Fraction(first + step * each, 4) for each in range(extent)]
    return Line(values, NUMBER_UNITS[name])


def random_dimensions(random, most=3):
    """One to three, often of equal extents."""
    names = random.permutation(["time", "lat", "lon", "lev", "station"])[: random.integers(1, most + 1)]
    same = int(random.integers(1, 7))
    return [
        Dimension(str(name), random_line(name, extent, random) if chance(random, 0.85) else None, extent)
        for name, extent in zip(
            names, (same if chance(random, 0.6) else int(random.integers(1, 7)) for _ in names)
        )
    ]


def _packed(values, random):
    """Stored integers, their scale_factor and add_offset, of which all products are exact."""
    dtype = str(random.choice(["f4", "f8"]))
    scale, offset = fractions.Fraction(1, 4), int(random.choice([0, 10, -300]))
    stored = [(each - offset) / scale for each in values]
    if any(each.denominator != 1 or abs(each) > 30_000 for each in stored):
        return None
    attributes = {"scale_factor": np.dtype(dtype).type(0.25)}
    if offset or chance(random, 0.5):
        attributes["add_offset"] = np.dtype(dtype).type(offset)
    return np.array([int(each) for each in stored], "i2"), attributes


def _tenths(values):
    """As _packed(), but only nearly exact."""
    if any(each.denominator != 1 or abs(each) > 3000 for each in values):
        return None
    return np.array([10 * int(each) for each in values], "i2"), {"scale_factor": 0.1}


def _as(dtype, values):
    if np.dtype(dtype).kind == "i" and any(each.denominator != 1 for each in values):
        return None
    numbers = [int(each) if np.dtype(dtype).kind == "i" else float(each) for each in values]
    if np.dtype(dtype).kind == "i" and max(map(abs, numbers)) >= 2 ** (8 * np.dtype(dtype).itemsize - 1):
        return None
    with np.errstate(over="ignore"):
        stored = np.array(numbers, dtype)
    exact = all(fractions.Fraction(each) == value for each, value in zip(stored.tolist(), values))
    return (stored, {}) if exact else None


def stored_numbers(values, store_as, random):
    """An array and attributes that mean fractions: exactly, or nearly where `values` are no
    doubles. `store_as` is a type, or None."""
    if store_as:
        return np.array([float(each) for each in values], store_as), {}
    kinds = {"f8": lambda: _as("f8", values), ">f8": lambda: _as(">f8", values),
             "f4": lambda: _as("f4", values), "i4": lambda: _as("i4", values),
             "i8": lambda: _as("i8", values), "packed": lambda: _packed(values, random),
             "tenths": lambda: _tenths(values)}  # fmt: skip
    for kind in random.permutation(list(kinds)):
        made = kinds[kind]()
        if made is not None:
            return made
    return np.array([float(each) for each in values]), {}


def _stored_times(line, random):
    """In random units from a random date, by one of the names of the calendar."""
    word = str(random.choice(list(UNITS)))
    date = str(random.choice(REFERENCES))
    begin = cftime.num2date(0, f"hours since {date}", line.calendar)
    away = begin - cftime.num2date(0, f"hours since {EPOCH}", line.calendar)
    seconds = round(away.total_seconds())
    numbers = [(each * 3600 - seconds) / UNITS[word] for each in line.values]
    stored, attributes = stored_numbers(numbers, line.store_as, random)
    attributes["units"] = f"{word} since {date}"
    names = CALENDARS[line.calendar]
    name = names[random.integers(len(names))]
    return stored, attributes | ({} if name is None else {"calendar": name})


def stored_line(line, random):
    """Its array and attributes."""
    if line.is_text:
        return np.array(line.values, object), {}
    if line.calendar:
        return _stored_times(line, random)
    stored, attributes = stored_numbers(line.values, line.store_as, random)
    return stored, attributes | {"units": line.units}


def _write_with_h5py(path, name, dimensions, values, attributes, random):
    with h5py.File(path, "w") as file:
        variable = file.create_dataset(name, data=values)
        variable.attrs.update(attributes)
        for number, each in enumerate(dimensions):
            if each.line is not None:
                stored, own = stored_line(each.line, random)
                dtype = h5py.string_dtype() if each.line.is_text else None
                scale = file.create_dataset(each.name, data=stored, dtype=dtype)
                scale.attrs.update(own)
                scale.make_scale(each.name if chance(random, 0.5) else "")
                variable.dims[number].attach_scale(scale)
            elif each.name is not None:
                variable.dims[number].label = each.name


def _write_with_netcdf(path, name, dimensions, values, attributes, random):
    with netCDF4.Dataset(path, "w") as file:
        for each in dimensions:
            file.createDimension(each.name, each.extent)
            if each.line is None:
                continue
            stored, own = stored_line(each.line, random)
            dtype = str if each.line.is_text else stored.dtype
            order = "big" if not each.line.is_text and dtype.byteorder == ">" else "native"
            scale = file.createVariable(each.name, dtype, [each.name], endian=order)
            scale.setncatts(own)
            scale.set_auto_maskandscale(False)
            scale[:] = stored
        variable = file.createVariable(
            name, values.dtype, [each.name for each in dimensions],
            fill_value=attributes.pop("_FillValue", None),
        )  # fmt: skip
        variable.setncatts(attributes)
        variable[...] = values


def write(path, name, dimensions, values, random, **attributes):
    """A file of one variable, which the truth knows from `dimensions`, by netCDF4-python or h5py."""
    by_netcdf = all(each.name for each in dimensions) and chance(random, 0.6)
    made_by = _write_with_netcdf if by_netcdf else _write_with_h5py
    made_by(path, name, dimensions, values, attributes, random)
    return path


def hours(variable, units_of=None):
    """The times of a netCDF4 variable, as hours since the epoch, to a ten-thousandth; its units and
    calendar are another's, if given."""
    units_of = variable if units_of is None else units_of
    calendar = getattr(units_of, "calendar", "standard")
    dates = np.ravel(cftime.num2date(np.ma.getdata(variable[...]), units_of.units, calendar))
    begin = cftime.num2date(0, f"hours since {EPOCH}", calendar)
    return [round((each - begin).total_seconds() / 3600, 4) for each in dates]
