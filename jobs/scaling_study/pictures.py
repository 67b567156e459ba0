"""A study's pictures: time, speed-up, efficiency and stages over numbers of ranks."""

import itertools
import math

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as pyplot  # noqa: E402
import matplotlib.ticker as ticker  # noqa: E402

from measuring import size_text  # noqa: E402

from .figures import START, START_MPI  # noqa: E402
from .plan import file_name  # noqa: E402
from .table import WHOLE_RUN  # noqa: E402

# Okabe and Ito's, which those who don't see red and green apart tell from each other.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Greys and hatches of stages that move no data.
GREYS = {START: ("0.85", ""), START_MPI: ("0.7", "//"), "start GPU": ("0.55", ""),
         "open": ("0.8", "xx"), "reserve": ("0.65", ".."), "sync": ("0.4", "\\\\"),
         "finish": ("0.5", "++")}  # fmt: skip
SHARED = {"color": "0.93", "zorder": 0, "label": "more ranks than cores"}
MARKERS = "osD^vP"
IDEAL = {"color": "0.35", "linestyle": "--", "linewidth": 1.2, "label": "ideal", "zorder": 1}
PANEL_INCHES = (5.6, 4.4)
LEGEND_LETTERS, MARKER_LETTERS = 76, 8  # that fit in a panel's width
DOTS_PER_INCH = 150
SIDESTEP = 1.01  # of the number of ranks
NARROW_RANGE = 4
FEW_TICKS = (1, 2, 5)
MANY_TICKS = (1, 1.5, 2, 3, 4, 5, 6, 8)
TIME_UNITS = (("s", 1.0), ("ms", 1e3), ("us", 1e6))


def time_unit(seconds):
    """The unit in which a time has digits before the point."""
    return next((unit for unit in TIME_UNITS if seconds * unit[1] >= 1), TIME_UNITS[-1])


def set_ranks_axis(axes, ranks):
    axes.set_xscale("log", base=2)
    axes.set_xticks(ranks, [str(number) for number in ranks])
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.set_xlim(ranks[0] / 1.25, ranks[-1] * 1.25)
    axes.set_xlabel("ranks")
    axes.grid(True, which="major", alpha=0.3)


def set_log_scale(axes, base=10):
    """With numbers as they are, more of them where there is less than an order."""
    axes.set_yscale("log", base=base)
    lowest, highest = axes.get_ylim()
    if highest < NARROW_RANGE * lowest:
        middle = math.sqrt(lowest * highest)
        lowest, highest = middle / math.sqrt(NARROW_RANGE), middle * math.sqrt(NARROW_RANGE)
        axes.set_ylim(lowest, highest)
    if base == 10:
        between = FEW_TICKS if highest > 10 * lowest else MANY_TICKS
        axes.yaxis.set_major_locator(ticker.LogLocator(base=10, subs=between))
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(ticker.NullLocator())


def draw_spread(axes, points, what, style, scale=1.0):
    """Medians, with bars of their confidence intervals."""
    times = [getattr(point, what) for point in points]
    medians = [each.median * scale for each in times]
    below = [(each.median - each.low) * scale for each in times]
    above = [(each.high - each.median) * scale for each in times]
    aside = [point.ranks * style["aside"] for point in points]
    axes.errorbar(aside, medians, yerr=(below, above), capsize=3, markersize=5,
                  color=style["color"], marker=style["marker"], label=style["label"])


def styles(all_series):
    """Series side by side, so that no spread hides another."""
    middle = (len(all_series) - 1) / 2
    for number, (series, colour, marker) in enumerate(
        zip(all_series, itertools.cycle(COLOURS), itertools.cycle(MARKERS))
    ):
        yield series, {"color": colour, "marker": marker, "label": series.quantity,
                       "aside": SIDESTEP ** (number - middle)}


def draw_time(axes, all_series, ranks):
    unit, scale = time_unit(min(point.seconds.least for series in all_series
                                for point in series.points))
    for series, style in styles(all_series):
        draw_spread(axes, series.points, "seconds", style, scale)
        if series.points[0].rate is not None:
            axes.plot([point.ranks for point in series.points],
                      [point.seconds.median * point.efficiency.median * scale
                       for point in series.points], **IDEAL)
    set_log_scale(axes)
    axes.set_ylabel(f"time ({unit})")


def draw_speedup(axes, all_series, ranks):
    for series, style in styles(all_series):
        draw_spread(axes, series.points, "speedup", style)
    axes.plot(ranks, ranks, **IDEAL)
    set_log_scale(axes, base=2)
    axes.set_ylabel("speed-up")


def draw_efficiency(axes, all_series, ranks):
    for series, style in styles(all_series):
        draw_spread(axes, series.points, "efficiency", style)
    axes.axhline(1, **IDEAL)
    least, greatest = axes.get_ylim()
    bottom = next(limit for limit in (0.8, 0.5, 0) if limit <= max(least, 0))
    axes.set_ylim(bottom, max(1.1 - bottom / 16, greatest))
    axes.set_ylabel("parallel efficiency")


def draw_rate(axes, all_series, ranks):
    for series, style in styles(all_series):
        own = [point.ranks for point in series.points]
        draw_spread(axes, series.points, "rate", style, 1e-9)
        base = series.points[0]
        axes.plot(own, [base.rate.median * 1e-9 * number / base.ranks for number in own], **IDEAL)
    set_log_scale(axes)
    axes.set_ylabel("rate of all ranks (GB/s)")


def draw_stages(axes, stages, whole, ranks):
    """For each number of ranks a bar for the start and for each stage, busy below and waiting
    above; stages overlap, and the whole run, with the start of MPI before it, is a line across."""
    unit, scale = time_unit(max(point.seconds.median for point in whole.points))
    width = 0.8 / len(stages)
    colours = itertools.cycle(COLOURS)
    before = {point.ranks: point.seconds.median for stage in stages
              if stage.quantity == START_MPI for point in stage.points}  # fmt: skip
    for number, stage in enumerate(stages):
        colour, hatch = GREYS.get(stage.quantity) or (next(colours), "")
        places = [ranks.index(point.ranks) - 0.4 + width * (number + 0.5) for point in stage.points]
        busy = [point.seconds.median * scale for point in stage.points]
        waiting = [point.waiting.median * scale for point in stage.points]
        axes.bar(places, busy, width * 0.9, color=colour, hatch=hatch, label=stage.quantity)
        axes.bar(places, waiting, width * 0.9, bottom=busy, color=colour, alpha=0.25)
    for point in whole.points:
        place = ranks.index(point.ranks)
        seconds = point.seconds.median + before.get(point.ranks, 0.0)
        axes.hlines(seconds * scale, place - 0.45, place + 0.45, color="black",
                    label=None if point is not whole.points[0]
                    else f"{START_MPI}, {WHOLE_RUN}" if before else WHOLE_RUN)
    axes.set_xticks(range(len(ranks)), [str(number) for number in ranks])
    axes.set_xlabel("ranks")
    axes.set_ylabel(f"busy, waiting (pale), on the busiest rank ({unit})")
    axes.grid(True, axis="y", alpha=0.3)


def add_legend(axes):
    """Below the panel, where it hides nothing."""
    handles, labels = axes.get_legend_handles_labels()
    unique = dict(zip(labels, handles))
    columns = max(1, LEGEND_LETTERS // (max(map(len, labels)) + MARKER_LETTERS))
    axes.legend(unique.values(), unique.keys(), fontsize="small", ncols=columns,
                loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)


def panels_of(all_series):
    """What there is to draw of a workload, as (title, function of axes and ranks)."""
    headlines = [series for series in all_series if series.is_headline]
    rated = [series for series in headlines if series.points[0].rate is not None]
    stages = [series for series in all_series if series.is_stage]
    whole = next((series for series in all_series if series.quantity == WHOLE_RUN), None)
    panels = [("Time", lambda axes, ranks: draw_time(axes, headlines, ranks))]
    if rated:
        panels += [("Speed-up", lambda axes, ranks: draw_speedup(axes, rated, ranks)),
                   ("Efficiency", lambda axes, ranks: draw_efficiency(axes, rated, ranks))]
    if stages and whole:
        panels.append(("Stages", lambda axes, ranks: draw_stages(axes, stages, whole, ranks)))
    elif rated:
        panels.append(("Rate", lambda axes, ranks: draw_rate(axes, rated, ranks)))
    return panels


def mark_shared(axes, all_series):
    """Shades the numbers of ranks that have fewer cores."""
    shared = [point.ranks for series in all_series for point in series.points if point.shares_cores]
    if shared:
        axes.axvspan(min(shared) / SIDESTEP**5, axes.get_xlim()[1], **SHARED)


def title_of(rows, confidence):
    """What was measured, where and how often."""
    first, last = rows[0], max(rows, key=lambda row: int(row["ranks"]))
    size = int(first["bytes"])
    data = ""
    if size:
        each = size // int(first["ranks"]) if first["scaling"] == "weak" else size
        data = f", {size_text(each)} {'a rank' if first['scaling'] == 'weak' else 'in all'}"
    repeats = max(int(row["repeat"]) for row in rows)
    spread = f"medians of {repeats} runs, bars: {confidence:.0%} confidence" if repeats > 1 else "single runs"
    scaling = f"{first['scaling']} scaling" if size else "over ranks"
    hosts = int(last["hosts"])
    return (f"warpfold {first['workload']}, {scaling}{data}\n"
            f"up to {last['devices']} on {hosts} host{'s' if hosts > 1 else ''}; {spread}")


def draw(rows, all_series, picture):
    """One workload and scaling."""
    ranks = sorted({point.ranks for series in all_series for point in series.points})
    panels = panels_of(all_series)
    columns = min(2, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure, places = pyplot.subplots(
        lines, columns, squeeze=False, layout="constrained",
        figsize=(max(columns, 1.3) * PANEL_INCHES[0], lines * PANEL_INCHES[1] + 0.6),
    )  # fmt: skip
    for axes, (title, function) in zip(places.flat, panels):
        if title != "Stages":
            set_ranks_axis(axes, ranks)
        function(axes, ranks)
        if title != "Stages":
            mark_shared(axes, all_series)
        axes.set_title(title, fontsize="medium")
        add_legend(axes)
    for axes in list(places.flat)[len(panels):]:
        axes.set_visible(False)
    confidence = min(point.confidence for series in all_series for point in series.points)
    figure.suptitle(title_of(rows, confidence), fontsize="medium")
    figure.savefig(picture, dpi=DOTS_PER_INCH)
    pyplot.close(figure)


def draw_all(rows, all_series, folder):
    """A picture for each workload and scaling; their paths."""
    pictures = []
    for workload, scaling in dict.fromkeys((each.workload, each.scaling) for each in all_series):
        own = [each for each in all_series if (each.workload, each.scaling) == (workload, scaling)]
        picture = folder / f"{file_name(workload)}-{scaling}.png"
        own_rows = [row for row in rows
                    if (row["workload"], row["scaling"]) == (workload, scaling)]
        draw(own_rows, own, picture)
        pictures.append(picture)
    return pictures
