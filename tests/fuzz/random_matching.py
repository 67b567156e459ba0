"""Masks, weights, factors, labels and joined files whose grids are equal, differ, or are not known:
commands that have to go on, to note something, or to fail."""

import dataclasses
import fractions

import netCDF4
import numpy as np

import random_grids
from expected import Command
from random_grids import Dimension, Line
from random_values import chance


def _changed(line, random):
    """The line of another grid, or of nearly the same."""
    values = list(line.values)
    place = int(random.integers(len(values)))
    kind = str(random.choice(["reversed", "moved", "one", "nudged", "calendar", "units"]))
    if line.is_text:
        values = values[::-1] if kind == "reversed" else values[:place] + ["other"] + values[place + 1 :]
    elif kind == "reversed":
        values.reverse()
    elif kind == "moved":
        values = [each + 6 for each in values]
    elif kind == "calendar" and line.calendar:
        return dataclasses.replace(line, calendar=str(random.choice(list(random_grids.CALENDARS))))
    elif kind == "units" and not line.calendar:
        return dataclasses.replace(line, units="km")
    elif kind == "nudged" and len(values) > 1 and not line.calendar:
        step = abs(values[1] - values[0]) / int(random.choice([1000, 20_000]))
        values[place] += step * int(random.choice([-1, 1]))
        return dataclasses.replace(line, values=values, store_as="f8")
    else:
        values[place] += 6
    return dataclasses.replace(line, values=values)


def other_grid(dimensions, random, swaps=True):
    """Dimensions of the same extents as other files have them; sometimes exactly the same."""
    made = [dataclasses.replace(each) for each in dimensions]
    for _ in range(int(random.choice([0, 1, 2], p=[0.3, 0.6, 0.1]))):
        place = int(random.integers(len(made)))
        each = made[place]
        kind = random.choice(["line", "no line", "nothing", "name", "order"], p=[0.6, 0.1, 0.1, 0.1, 0.1])
        if kind == "line" and each.line is not None:
            each.line = _changed(each.line, random)
        elif kind == "no line":
            each.line = None
        elif kind == "nothing":
            each.name = each.line = None
        elif kind == "name" and each.name:
            each.name = "other"
        elif kind == "order" and swaps:
            place = int(random.integers(len(made)))
            if each.extent == made[place].extent:
                made[made.index(each)], made[place] = made[place], each
    names = [each.name for each in made if each.name]
    return made if len(names) == len(set(names)) else [dataclasses.replace(each) for each in dimensions]


@dataclasses.dataclass
class Meeting:
    """Expected outcome of matching two grids."""

    problems: list = dataclasses.field(default_factory=list)  # texts, one of which the error has
    unmatched: list = dataclasses.field(default_factory=list)  # names that the note has
    units: list = dataclasses.field(default_factory=list)  # names of equal numbers of two units


def meeting_of(ones, others, indices):
    """Matches shared dimensions, pair by pair; `indices` are those of each that are compared."""
    meeting = Meeting()
    names = [{each.name for each in some if each.name} for some in (ones, others)]
    for one, other, some in zip(ones, others, indices):
        both = one.line is not None and other.line is not None
        if one.name and other.name and one.name != other.name:
            if not both or one.name in names[1] or other.name in names[0]:
                meeting.problems.append("different names")
        if both:
            index = random_grids.first_difference(one.line, other.line, some) if some else None
            if index is not None:
                meeting.problems += [f"'{each}' differ; index {index} has" for each in
                                     {one.name, other.name}]  # fmt: skip
            elif one.line.units != other.line.units:
                meeting.units.append(one.name)
        elif one.line is not None or other.line is not None:
            meeting.unmatched.append(one.name if one.line is not None else other.name)
    return meeting


def wrong_error(outcome, problems, files):
    """None, or what an error does not say."""
    line = outcome.errors[0]
    missing = [f"'{each}'" for each in map(str, files) if each not in line]
    if not any(each in line for each in problems):
        missing.append(" or ".join(problems))
    return f"no mention of {missing}: {line}" if missing else None


def wrong_notes(outcome, meeting):
    """None, or what is wrong with what is noted of coordinates."""
    notes = [each for each in outcome.report.get("notes", []) if "coordinates" in each]
    expected = bool(meeting.unmatched or meeting.units)
    text = " ".join(notes)
    names = [*meeting.unmatched, *meeting.units]
    if bool(notes) == expected and all(f"'{each}'" in text for each in names):
        return None
    return f"notes {notes}, expected {meeting}"


def _selection(dimensions, random):
    """Words, and the indices that each dimension keeps."""
    if chance(random, 0.6):
        return [], [list(range(each.extent)) for each in dimensions]
    parts, indices = [], []
    for each in dimensions:
        begin = int(random.integers(each.extent))
        end, step = int(random.integers(begin, each.extent)) + 1, int(random.integers(1, 3))
        parts.append(f"{begin}:{end}:{step}")
        indices.append(list(range(begin, end, step)))
    return ["--select=" + ", ".join(parts)], indices


OPTIONS = {"mask": [0, 1], "weights": [0, 1, 2, 3], "times": [-2, 0, 1, 3], "by": [-1, 0, 7]}


def _expected(option, values, beside):
    """The results that a command reports."""
    if option == "by":
        return [{"label": label, "count": int((beside == label).sum()),
                 "sum": values[beside == label].sum().item()}
                for label in sorted(set(beside.ravel().tolist()))]  # fmt: skip
    if option == "mask":
        return {"count": int(beside.sum()), "sum": values[beside != 0].sum().item()}
    total = float((values.astype("i8") * beside).sum())
    if option == "times":
        return {"sum": total}
    weights = int(beside.sum())
    return {"sum": total, "mean": float(fractions.Fraction(int(total), weights)) if weights else None}


OPS = {"by": "count,sum", "mask": "count,sum", "weights": "sum,mean", "times": "sum"}


def _same(found, expected):
    """Numbers of reports; NaN where nothing is expected."""
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(_same, found, expected))
    return all(
        found[key] == value if value is not None else found[key] != found[key]
        for key, value in expected.items()
    )


def matching_command(dataset, view, random):
    """Two files of their own."""
    dimensions = random_grids.random_dimensions(random)
    values = random.integers(-50, 50, [each.extent for each in dimensions])
    values = values.astype(str(random.choice(["f4", "f8", "i4"])))
    shared = int(random.integers(len(dimensions)))
    others = other_grid(dimensions[shared:], random)
    option = str(random.choice(list(OPTIONS)))
    beside = random.choice(OPTIONS[option], [each.extent for each in others])
    beside = beside.astype(str(random.choice(["i4", "i8", "i2"])))
    paths = [dataset.path.with_name(name) for name in ("data.nc", "beside.nc")]
    random_grids.write(paths[0], "v", dimensions, values, random)
    random_grids.write(paths[1], "w", others, beside, random)
    words, indices = _selection(dimensions, random)
    words = ["reduce", paths[0], "v", f"--{option}={paths[1]}::w", "--ops", OPS[option], *words]
    words += ["--json", "-"]
    meeting = meeting_of(dimensions[shared:], others, indices[shared:])
    if chance(random, 0.25):
        words += ["--match", "position"]
        meeting = Meeting()
    if meeting.problems:
        return Command(words, lambda outcome: wrong_error(
            outcome, meeting.problems, [*paths, "--match position"]), code=1)  # fmt: skip
    chosen = np.ix_(*indices)
    expected = _expected(option, values[chosen], np.broadcast_to(beside, values.shape)[chosen])

    def check(outcome):
        if not _same(outcome.report["results"], expected):
            return f"found {outcome.report['results']}, expected {expected}"
        return wrong_notes(outcome, meeting)

    return Command(words, check)


class Parts:
    """Files that are joined along a dimension."""

    def __init__(self, folder, random):
        self.random = random
        self.dimensions = random_grids.random_dimensions(random)
        self.along = int(random.integers(len(self.dimensions)))
        self.units = [str(random.choice(["K", "degC", ""], p=[0.85, 0.1, 0.05])) for _ in range(3)]
        self.store_as = "f8" if chance(random, 0.6) else None  # the coordinates along it
        self.grids, self.values, self.paths = [], [], []
        for number in range(int(random.integers(2, 4))):
            extent = int(random.integers(1, 5))
            grid = self._grid(extent)
            shape = [each.extent for each in grid]
            self.grids.append(grid)
            self.values.append(random.integers(-50, 50, shape).astype("f4"))
            self.paths.append(folder / f"part{number}.nc")
            attributes = {"units": self.units[number]} if self.units[number] else {}
            # Files by netCDF have a default fill value, those by h5py have none.
            attributes["_FillValue"] = np.float32(1000)
            random_grids.write(self.paths[-1], "v", grid, self.values[-1], random, **attributes)

    def _grid(self, extent):
        random = self.random
        grid = [dataclasses.replace(each) for each in self.dimensions]
        others = [each for place, each in enumerate(grid) if place != self.along]
        if self.grids and others and chance(random, 0.4):
            others = other_grid(others, random)
        line = grid[self.along].line
        if line is not None:
            line = self._next_line(line, extent)
        here = Dimension(grid[self.along].name, line, extent)
        if any(each.name == here.name for each in others):
            others = [each for place, each in enumerate(self.dimensions) if place != self.along]
        return [*others[: self.along], here, *others[self.along :]]

    def _next_line(self, line, extent):
        """Behind the one before it, mostly."""
        if line.is_text:
            return Line([f"t{len(self.grids)}{each}" for each in range(extent)])
        before = self.grids[-1][self.along].line if self.grids else None
        step = fractions.Fraction(6 if line.calendar else 1)
        begin = before.values[-1] + step if before else line.values[0]
        if self.grids and chance(self.random, 0.15):
            begin -= 2 * step * int(self.random.integers(1, 4))
        calendar = line.calendar
        if calendar and self.grids and chance(self.random, 0.1):
            calendar = str(self.random.choice(list(random_grids.CALENDARS)))
        return Line([begin + step * each for each in range(extent)], line.units, calendar,
                    self.store_as)  # fmt: skip

    def problems(self):
        """Returns the texts of which the error must have one, and the names of both files."""
        for number in range(1, len(self.grids)):
            first, grid = self.grids[0], self.grids[number]
            indices = [range(each.extent) if place != self.along else []
                       for place, each in enumerate(first)]  # fmt: skip
            found = meeting_of(first, grid, [list(each) for each in indices]).problems
            if self.units[number] and self.units[0] and self.units[number] != self.units[0]:
                found.append("units (")
            if found:
                return found, [self.paths[0], self.paths[number]]
        return [], []

    def meetings(self):
        made = Meeting()
        for grid in self.grids[1:]:
            indices = [[] if place == self.along else list(range(each.extent))
                       for place, each in enumerate(grid)]  # fmt: skip
            one = meeting_of(self.grids[0], grid, indices)
            if one.unmatched or one.units:
                return one
        return made

    def lines(self):
        return [grid[self.along].line for grid in self.grids]

    def have_one_calendar(self):
        return len({line.calendar for line in self.lines() if line}) == 1

    def is_disordered(self):
        """None where it is not said."""
        lines = self.lines()
        if any(line is None or line.is_text for line in lines) or not self.have_one_calendar():
            return None
        steps = [b.values[0] - a.values[-1] for a, b in zip(lines, lines[1:])]
        rises = any(len(line.values) > 1 for line in lines[:2]) or lines[0].calendar
        if not rises and any(len(line.values) > 1 for line in lines):
            return None
        falls = not rises and all(each < 0 for each in steps)
        return not falls and any(each <= 0 for each in steps)


def joined_command(dataset, view, random):
    parts = Parts(dataset.path.parent, random)
    name = parts.grids[0][parts.along].name
    word = name if name and chance(random, 0.7) else str(parts.along)
    words = ["reduce", *parts.paths, "v", f"--concat={word}", "--json", "-"]
    by_position = chance(random, 0.2)
    words += ["--match", "position"] if by_position else []
    problems, files = ([], []) if by_position else parts.problems()
    whole = np.concatenate(parts.values, parts.along)
    others = [str(each) for each in range(whole.ndim) if each != parts.along]
    output, ops = None, "count,sum,argmax"
    if others and chance(random, 0.5):
        output = dataset.path.with_name("out.nc")
        words += ["--axis=" + ",".join(others), "-o", output]
        ops = "sum"
    words += ["--ops", ops]
    if problems:
        return Command(words, lambda outcome: wrong_error(outcome, problems, files), output, 1)

    def check(outcome):
        if output is None:
            expected = {"count": whole.size, "sum": float(whole.sum()), "argmax": int(whole.argmax())}
            if {key: outcome.results[key] for key in expected} != expected:
                return f"found {outcome.results}, expected {expected}"
        else:
            problem = _wrong_output(outcome, output, parts, whole.sum(tuple(map(int, others))))
            if problem:
                return problem
        return None if by_position else _wrong_joined_notes(outcome, parts)

    return Command(words, check, output)


def _wrong_joined_notes(outcome, parts):
    notes = outcome.report.get("notes", [])
    disordered = parts.is_disordered()
    if disordered is not None and any("do not rise" in each for each in notes) != disordered:
        return f"notes {notes} of lines {parts.lines()}"
    only = parts.meetings().unmatched
    noted = [each for each in notes if "only one of them" in each]
    if bool(noted) != bool(only) or not all(f"'{each}'" in noted[0] for each in only):
        return f"notes {notes}, expected of {only}"
    one_sided = len({bool(each) for each in parts.units[: len(parts.grids)]}) > 1
    if one_sided != any("has units in only one" in each for each in notes):
        return f"notes {notes} of units {parts.units}"
    return None


def _wrong_output(outcome, output, parts, sums):
    """Returns a description of wrong numbers or wrong coordinates of joined inputs."""
    lines = parts.lines()
    with netCDF4.Dataset(output) as file:
        found = np.ma.getdata(file["v"][...])
        if not np.array_equal(found, sums):
            return f"found {found}, expected {sums}"
        name = parts.grids[0][parts.along].name
        if any(line is None for line in lines) or lines[0].is_text:
            return None
        expected = [float(each) for line in lines for each in line.values]
        if not parts.have_one_calendar():
            alike = {random_grids.ALIKE.get(line.calendar, line.calendar) for line in lines}
            kept = name in file.variables
            return f"{name} is kept" if kept and len(alike) > 1 else None
        if name not in file.variables:
            noted = any("lack the coordinate" in each for each in outcome.report.get("notes", []))
            return None if noted and not parts.store_as else f"no coordinate {name}"
        got = random_grids.hours(file[name]) if lines[0].calendar else file[name][...].tolist()
        if len(got) != len(expected) or not np.allclose(got, expected, 0, 1e-4):
            return f"{name} is {got}, expected {expected}"
    return None
