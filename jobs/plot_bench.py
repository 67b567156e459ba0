#!/usr/bin/env python3
"""Draws what `warpfold bench` and `warpfold ladder` measured.

plot_bench.py REPORT.json... [-o FOLDER]

Each report, written by --json, becomes a picture of the same name: for every group of measurements
over sizes the rate of each contender (or its time, where that is what was requested) with a band
from the slowest to the fastest run and the rate of a device-to-device copy; for a group at one size
a bar for each contender.
"""

import argparse
import json
import math
import pathlib
import sys

import measuring

measuring.require("matplotlib")

import matplotlib  # noqa: E402

matplotlib.use("Agg")

import matplotlib.pyplot as pyplot  # noqa: E402
import matplotlib.ticker as ticker  # noqa: E402

from measuring import size_text  # noqa: E402

SCHEMAS = ("warpfold.bench/1", "warpfold.ladder/1")
COLUMNS = 2
PANEL_INCHES = (7.0, 4.2)
MARKERS = "os^Dv"
WIDE_RANGE = 20


class Refusal(Exception):
    """A file that can't be drawn, and why."""


def measured_rows(path):
    """The rows of a report that were run, and the report."""
    try:
        report = json.loads(path.read_text())
    except (OSError, ValueError) as failure:
        raise Refusal(f"{path}: {failure}") from failure
    schema = report.get("schema") if isinstance(report, dict) else None
    if schema not in SCHEMAS:
        raise Refusal(f"{path}: its schema is {schema!r}, not one of {', '.join(SCHEMAS)}")
    rows = [row for row in report["results"] if row["seconds"] is not None]
    if not rows:
        raise Refusal(f"{path}: nothing was measured")
    return report, rows


def grouped(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def is_copy(row):
    """Whether this is the ceiling that others are held against."""
    return row["kernel"] == row["operation"] == "copy"


def labels_of(rows):
    """What tells a group's contenders apart: (operation, kernel) to text."""
    names = dict.fromkeys((row["operation"], row["kernel"]) for row in rows)
    operations = {row["operation"] for row in rows if not is_copy(row)}
    kernels = {row["kernel"] for row in rows if not is_copy(row)}
    if len(operations) == 1:
        return {name: name[1] for name in names}
    if len(kernels) == 1:
        return {name: name[0] for name in names}
    return {name: " ".join(dict.fromkeys(name)) for name in names}


def is_timed_on_host(rows):
    return all(row["clock"] == "host" for row in rows)


def figures_of(row, in_microseconds):
    """Median and the ends of the band: microseconds, or GB/s of the row's useful bytes."""
    times = [row["seconds"][name] for name in ("median", "min", "max")]
    if in_microseconds:
        return [time * 1e6 for time in times]
    return [row["GB/s"] * times[0] / time for time in times]


def style_of(row, rows):
    """One colour a kernel, one marker an operation; the copy is a dashed line."""
    if is_copy(row):
        return {"color": "black", "linestyle": "--"}
    others = [other for other in rows if not is_copy(other)]
    kernels = list(dict.fromkeys(other["kernel"] for other in others))
    operations = list(dict.fromkeys(other["operation"] for other in others))
    by_kernel = len(kernels) > 1
    colour = kernels.index(row["kernel"]) if by_kernel else operations.index(row["operation"])
    marker = MARKERS[operations.index(row["operation"]) % len(MARKERS)]
    return {"color": f"C{colour}", "marker": marker, "markersize": 4}


def draw_over_sizes(axes, rows):
    in_microseconds = is_timed_on_host(rows)
    for name, label in labels_of(rows).items():
        series = [row for row in rows if (row["operation"], row["kernel"]) == name]
        series.sort(key=lambda row: row["bytes"])
        sizes = [row["bytes"] for row in series]
        medians, ends, other_ends = zip(*(figures_of(row, in_microseconds) for row in series))
        (line,) = axes.plot(sizes, medians, label=label, **style_of(series[0], rows))
        axes.fill_between(sizes, ends, other_ends, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda size, _: size_text(size)))
    axes.set_xlabel("size of the larger array")
    axes.set_ylabel("microseconds" if in_microseconds else "GB/s")
    lowest, highest = axes.dataLim.intervaly
    if in_microseconds and highest > WIDE_RANGE * lowest:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize="small")


def draw_bars(axes, rows):
    in_microseconds = any(row["GB/s"] is None for row in rows)
    copies = [row for row in rows if is_copy(row)]
    bars = [row for row in rows if not is_copy(row)]
    names = labels_of(rows)
    labels = [names[row["operation"], row["kernel"]] for row in bars]
    values = [figures_of(row, in_microseconds)[0] for row in bars]
    unit = "us" if in_microseconds else "GB/s"
    drawn = axes.barh(range(len(bars)), values)
    axes.bar_label(drawn, [f"{value:.4g} {unit}" for value in values], padding=3, fontsize="small")
    for copy in copies:
        axes.axvline(copy["GB/s"], color="black", linestyle="--", label="copy")
        axes.legend(fontsize="small")
    axes.set_yticks(range(len(bars)), labels, fontsize="small")
    axes.invert_yaxis()
    axes.margins(x=0.2)
    axes.set_xlabel("microseconds" if in_microseconds else "GB/s")


def draw(report, rows, picture):
    groups = grouped(rows, lambda row: row["group"])
    lines = math.ceil(len(groups) / COLUMNS)
    columns = min(COLUMNS, len(groups))
    figure, panels = pyplot.subplots(
        lines, columns, squeeze=False, figsize=(columns * PANEL_INCHES[0], lines * PANEL_INCHES[1])
    )
    for axes, (group, members) in zip(panels.flat, groups.items()):
        one_size = len({row["bytes"] for row in members}) == 1
        (draw_bars if one_size else draw_over_sizes)(axes, members)
        axes.set_title(group, fontsize="medium")
    for axes in list(panels.flat)[len(groups):]:
        axes.set_visible(False)
    devices = ", ".join(dict.fromkeys(report["devices"]))
    ranks = report["ranks"]
    figure.suptitle(
        f"warpfold {report['command']} {report['measured']}: {devices}, "
        f"{ranks} rank{'' if ranks == 1 else 's'}"
    )
    figure.tight_layout(rect=(0, 0, 1, 0.98))
    figure.savefig(picture, dpi=120)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", nargs="+", type=pathlib.Path, metavar="REPORT.json")
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="FOLDER",
                        help="where the pictures go; beside the reports if not given")
    arguments = parser.parse_args()
    try:
        for path in arguments.reports:
            report, rows = measured_rows(path)
            folder = arguments.output or path.parent
            folder.mkdir(parents=True, exist_ok=True)
            picture = folder / (path.stem + ".png")
            draw(report, rows, picture)
            print(picture)
    except Refusal as refusal:
        print(f"plot_bench.py: error: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
