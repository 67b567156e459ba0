"""The table that a study ends with."""

from .figures import of_ceiling

HEADER = ("workload", "scaling", "quantity", "ranks", "hosts", "GPUs", "median s", "least s",
          "most s", "GB/s", "speed-up", "efficiency", "of ceiling's")  # fmt: skip


def line_of(series, point, scaling_of_ceiling):
    def figure(times, digits, scale=1.0):
        return f"{times.median * scale:.{digits}f}" if times else ""

    return (series.workload, series.scaling, series.quantity, str(point.ranks), str(point.hosts),
            str(point.gpus), f"{point.seconds.median:.4g}", f"{point.seconds.least:.4g}",
            f"{point.seconds.most:.4g}", figure(point.rate, 3, 1e-9), figure(point.speedup, 3),
            figure(point.efficiency, 3),
            f"{scaling_of_ceiling:.3f}" if scaling_of_ceiling else "")  # fmt: skip


def aligned(lines, names):
    """Columns side by side: the first `names` to the left, the others, numbers, to the right."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    text = []
    for line in lines:
        cells = [cell.ljust(width) if column < names else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(line, widths))]
        text.append("  ".join(cells).rstrip())
    return "\n".join(text)


def table_of(all_series):
    """What each workload is about, at every number of ranks."""
    lines = [line_of(series, point, ratio) for series in all_series if series.is_headline
             for point, ratio in zip(series.points, of_ceiling(series, all_series))]
    return aligned([HEADER, *lines], 3)
