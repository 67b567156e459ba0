"""What a study ends with: a table, and summary.json for programs."""

import dataclasses
import json

from .figures import of_ceiling
from .folder import write_whole

SCHEMA = "warpfold.study-summary/1"
SHARED = "*"  # marks more ranks than cores

HEADER = ("workload", "scaling", "quantity", "ranks", "hosts", "GPUs", "median s", "least s",
          "most s", "GB/s", "speed-up", "efficiency", "of ceiling's", "bottleneck")  # fmt: skip


def line_of(series, point, scaling_of_ceiling):
    def figure(times, digits, scale=1.0):
        return f"{times.median * scale:.{digits}f}" if times else ""

    ranks = str(point.ranks) + SHARED * point.shares_cores
    return (series.workload, series.scaling, series.quantity, ranks, str(point.hosts),
            str(point.gpus), f"{point.seconds.median:.4g}", f"{point.seconds.least:.4g}",
            f"{point.seconds.most:.4g}", figure(point.rate, 3, 1e-9), figure(point.speedup, 3),
            figure(point.efficiency, 3),
            f"{scaling_of_ceiling:.3f}" if scaling_of_ceiling else "",
            point.bottleneck.partition(":")[0])  # fmt: skip


def aligned(lines, names):
    """Columns side by side: the first `names` and sentences to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    text = []
    for line in lines:
        cells = [cell.ljust(width) if column < names or "," in cell else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(line, widths))]
        text.append("  ".join(cells).rstrip())
    return "\n".join(text)


def table_of(all_series):
    """What each workload is about, at every number of ranks."""
    lines = [line_of(series, point, ratio) for series in all_series if series.is_headline
             for point, ratio in zip(series.points, of_ceiling(series, all_series))]
    text = aligned([HEADER, *lines], 3)
    shared = any(point.shares_cores for series in all_series for point in series.points)
    return text + f"\n{SHARED} more ranks than cores" * shared


def as_json(series, all_series):
    """A series with all of its points."""
    points = []
    for point, ratio in zip(series.points, of_ceiling(series, all_series)):
        points.append({**dataclasses.asdict(point), "shares_cores": point.shares_cores,
                       "of_ceiling": ratio})  # fmt: skip
    return {"workload": series.workload, "scaling": series.scaling, "quantity": series.quantity,
            "points": points}  # fmt: skip


def write(folder, all_series):
    """summary.json: seconds, and bytes a second."""
    about = {name: folder.content[name] for name in ("commit", "program", "machine", "plan", "command")}
    content = {"schema": SCHEMA, **about, "series": [as_json(each, all_series) for each in all_series]}
    write_whole(folder.path / "summary.json", json.dumps(content, indent=1) + "\n")
    return folder.path / "summary.json"
