"""A picture of a model: what was measured, what it predicts, and how sure that is."""

import math

import matplotlib.pyplot as pyplot

from .figures import grouped
from .pictures import (
    COLOURS, DOTS_PER_INCH, PANEL_INCHES, add_legend, set_log_scale, set_ranks_axis,
    time_unit,
)  # fmt: skip
from .prediction import PARTS, limit_of

COLUMNS = 2
MEASURED, MODEL, HELD_OUT = COLOURS[0], COLOURS[1], COLOURS[2]


def curve_of(model, rows, predicted):
    """Estimates over measured and predicted numbers of ranks, ascending."""
    first = rows[0]
    fit = model.fits[first["workload"], first["quantity"]]
    measured = {int(row["ranks"]): model.situation(row) for row in rows}
    ranks = sorted(measured)
    curve = dict(zip(ranks, fit.estimates([measured[number] for number in ranks], "picture")))
    curve.update((each.ranks, each.seconds) for each in predicted if each.ranks not in measured)
    return sorted(curve.items())


def draw_panel(axes, curve, rows, check):
    ranks = [number for number, _ in curve]
    unit, scale = time_unit(min(estimate.median for _, estimate in curve))
    axes.plot(ranks, [estimate.median * scale for _, estimate in curve], color=MODEL,
              label="model")
    if all(estimate.least is not None for _, estimate in curve):
        axes.fill_between(ranks, [estimate.least * scale for _, estimate in curve],
                          [estimate.most * scale for _, estimate in curve], color=MODEL,
                          alpha=0.2, linewidth=0, label="90 % of runs")
    axes.plot([int(row["ranks"]) for row in rows], [float(row["seconds"]) * scale for row in rows],
              "o", color=MEASURED, markersize=4, label="measured")
    if check is not None:
        axes.plot(check.ranks, check.seconds.median * scale, "D", color=HELD_OUT, fillstyle="none",
                  markersize=9, label=f"from fewer ranks ({check.off_percent:+.1f} %)")
    set_ranks_axis(axes, ranks)
    set_log_scale(axes)
    axes.set_ylabel(f"time ({unit})")
    add_legend(axes)


def draw(model, checks, predicted, picture):
    """Of every quantity that a workload is about; returns the picture's path."""
    kind = ("workload", "scaling", "quantity")
    checks_by_kind = {(each.workload, each.scaling, each.quantity): each for each in checks}
    headlines = dict.fromkeys((each.workload, each.scaling, each.quantity) for each in predicted
                              if each.is_headline)
    rows_by_kind = grouped(model.rows, *kind)
    lines = math.ceil(len(headlines) / COLUMNS)
    figure, places = pyplot.subplots(
        lines, COLUMNS, squeeze=False, layout="constrained",
        figsize=(COLUMNS * PANEL_INCHES[0], lines * PANEL_INCHES[1] + 0.6),
    )  # fmt: skip
    for axes, name in zip(places.flat, headlines):
        own = [each for each in predicted if (each.workload, each.scaling, each.quantity) == name]
        curve = curve_of(model, rows_by_kind[name], own)
        draw_panel(axes, curve, rows_by_kind[name], checks_by_kind.get(name))
        workload, scaling, quantity = name
        farthest = max(own, key=lambda each: each.ranks)
        axes.set_title(f"{workload}, {scaling}: {quantity}\n{farthest.ranks} ranks are limited by "
                       f"{PARTS[limit_of(farthest.parts)]}", fontsize="medium")
    for axes in list(places.flat)[len(headlines):]:
        axes.set_visible(False)
    figure.suptitle("Measured and predicted times", fontsize="medium")
    figure.savefig(picture, dpi=DOTS_PER_INCH)
    pyplot.close(figure)
    return picture
