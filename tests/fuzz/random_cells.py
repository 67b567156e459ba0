"""Coordinates and cells of outputs, of inputs whose coordinates and bounds are packed or not."""

import netCDF4
import numpy as np

import random_grids
from expected import Command
from random_values import chance


def _cells_of(values):
    """Around each of several values, half-way to its neighbours."""
    half = (values[1] - values[0]) / 2
    return [(each - half, each + half) for each in values]


def _add_coordinate(file, each, cells, random):
    """Bounds are unpacked by attributes of their own; they have the units of the coordinate."""
    stored, own = random_grids.stored_line(each.line, random)
    variable = file.createVariable(each.name, stored.dtype.newbyteorder("="), [each.name])
    variable.setncatts(own)
    variable.set_auto_maskandscale(False)
    variable[:] = stored
    if not cells:
        return
    variable.bounds = f"{each.name}_bnds"
    packing = {name: own[name] for name in ("scale_factor", "add_offset") if name in own}
    bounds = file.createVariable(variable.bounds, "f8", (each.name, "nv"))
    if chance(random, 0.5):
        bounds.setncatts(packing)
    numbers = stored * float(packing.get("scale_factor", 1)) + float(packing.get("add_offset", 0))
    half = (numbers[1] - numbers[0]) / 2
    bounds[:] = np.stack([numbers - half, numbers + half], 1)


def _means(variable, units_of, line):
    """Returns the meaning of an output's numbers, in the line's units, to a ten-thousandth."""
    if line.calendar:
        return random_grids.hours(variable, units_of)
    return [round(float(each), 4) for each in np.ravel(np.ma.getdata(variable[...]))]


def _expected(line, has_cells, groups):
    """The values and bounds of the cells of groups of indices."""
    cells = _cells_of(line.values) if has_cells else [(each, each) for each in line.values]
    outer = [(cells[group[0]][0], cells[group[-1]][1]) for group in groups]
    middles = [line.values[group[0]] if len(group) == 1 else (low + high) / 2
               for group, (low, high) in zip(groups, outer)]  # fmt: skip
    return middles, outer


def _rounded(values):
    return [round(float(each), 4) for each in values]


def _wrong(file, each, has_cells, groups):
    """None, or what is wrong with an output's coordinate of a dimension."""
    values, outer = _expected(each.line, has_cells, groups)
    found = file.variables.get(each.name)
    if found is None:
        return f"no {each.name}"
    if _means(found, found, each.line) != _rounded(values):
        return f"{each.name} {_means(found, found, each.line)}, expected {_rounded(values)}"
    widest = max(map(len, groups))
    if not hasattr(found, "bounds"):
        return f"{each.name} has no bounds" if has_cells or widest > 1 else None
    bounds = _means(file[found.bounds], found, each.line)
    flat = _rounded(edge for pair in outer for edge in pair)
    return None if bounds == flat else f"{found.bounds} {bounds}, expected {flat}"


def cell_command(dataset, view, random):
    """A mean along one dimension, whole or by groups; all that is left keeps its own cells."""
    dimensions = [each for each in random_grids.random_dimensions(random)
                  if each.line is None or not each.line.is_text]  # fmt: skip
    path, output = dataset.path.with_name("cells.nc"), dataset.path.with_name("out.nc")
    if not dimensions:
        dimensions = [random_grids.Dimension("lev", random_grids.random_line("lev", 4, random), 4)]
    has_cells = {each.name: each.extent > 1 and each.line is not None and chance(random, 0.5)
                 for each in dimensions}  # fmt: skip
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("nv", 2)
        for each in dimensions:
            file.createDimension(each.name, each.extent)
            if each.line is not None:
                _add_coordinate(file, each, has_cells[each.name], random)
        variable = file.createVariable("v", "f4", [each.name for each in dimensions])
        variable[...] = random.integers(0, 100, variable.shape)
    along = dimensions[random.integers(len(dimensions))]
    every = int(random.integers(1, along.extent + 2)) if chance(random, 0.5) else along.extent
    words = ["reduce", path, "v", "--axis", along.name, "--ops", "mean", "-o", output, "--json", "-"]
    words += ["--every", every] * (every != along.extent)
    indices = list(range(along.extent))
    groups = {each.name: [[index] for index in range(each.extent)] for each in dimensions}
    groups[along.name] = [indices[begin : begin + every] for begin in range(0, along.extent, every)]

    def check(outcome):
        with netCDF4.Dataset(output) as file:
            wrong = [_wrong(file, each, has_cells[each.name], groups[each.name])
                     for each in dimensions if each.line is not None]  # fmt: skip
        return "; ".join(filter(None, wrong)) or None

    return Command(words, check, output)
