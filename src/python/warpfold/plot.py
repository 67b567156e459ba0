"""Pictures of outputs of one or two dimensions: python -m warpfold.plot FILE DATASET -o OUT.svg

A line of one dimension, colours of two, with their coordinates as axes: names of labels, dates of
times, units. Missing values are gaps. Needs Matplotlib and h5py, for dates also cftime.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from warpfold._errors import Error, UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from warpfold._sources import Path

_MOST_TICKS = 8


class _Axis(NamedTuple):
    """A dimension as it is drawn."""

    label: str
    places: Any  #: a number for each index
    names: list[str]  #: texts for ticks at the places; empty where numbers are to be shown


def _needed(name: str, purpose: str) -> Any:
    try:
        return __import__(name, fromlist=["*"])
    except ImportError as failure:
        package = name.partition(".")[0]
        raise Error(
            f"cannot {purpose}", f"{package} is not installed", f"pip install {package}"
        ) from failure


def _text_of(item: Any, name: str) -> str:
    value = item.attrs.get(name, "")
    return value.decode() if isinstance(value, bytes) else str(value)


def _label_of(item: Any, name: str, units: str) -> str:
    title = _text_of(item, "long_name") or name
    return f"{title} ({units})" if units not in ("", "1") else title


def _numbers_of(dataset: Any) -> Any:
    """The values as doubles, NaN where one is missing."""
    values = np.asarray(dataset[()])
    numbers = values.astype("f8")
    for name in ("_FillValue", "missing_value"):
        if name in dataset.attrs:
            numbers[np.isin(values, dataset.attrs[name])] = np.nan
    scale, offset = (dataset.attrs.get(name) for name in ("scale_factor", "add_offset"))
    if scale is not None:
        numbers = numbers * np.float64(scale)
    return numbers if offset is None else numbers + np.float64(offset)


def _dates_of(numbers: Any, units: str, calendar: str) -> list[str]:
    """Times as dates, midnight without the time of day; none without cftime."""
    try:
        import cftime
    except ImportError:
        return []
    if not np.isfinite(numbers).all():
        return []
    dates = cftime.num2date(numbers, units, calendar)
    return [date.isoformat().removesuffix("T00:00:00") for date in dates]


def _axis_of(dataset: Any, dimension: int) -> _Axis:
    """Reads a dimension from its scale; the indices where there is none."""
    count = dataset.shape[dimension]
    indices = np.arange(float(count))
    scales = dataset.dims[dimension].values()
    if not scales:
        name = dataset.dims[dimension].label or f"dimension {dimension}"
        return _Axis(name, indices, [])
    scale = scales[0]
    name = scale.name.rpartition("/")[2]
    if scale.dtype.kind in "SO":
        texts = [
            each.decode() if isinstance(each, bytes) else str(each) for each in scale[()].ravel()
        ]
        if len(texts) == count:
            return _Axis(_label_of(scale, name, ""), indices, texts)
    is_coordinate = scale.dtype.kind in "iuf" and scale.shape == (count,)
    if not is_coordinate or _text_of(scale, "NAME").startswith("This is a netCDF dimension but"):
        return _Axis(name, indices, [])
    numbers = _numbers_of(scale)
    if not np.isfinite(numbers).all():
        return _Axis(name, indices, [])
    units = _text_of(scale, "units")
    if " since " in units:
        dates = _dates_of(numbers, units, _text_of(scale, "calendar") or "standard")
        if dates:
            return _Axis(_label_of(scale, name, ""), numbers, dates)
    return _Axis(_label_of(scale, name, units), numbers, [])


def _draw_axis(of_figure: Any, axis: _Axis) -> None:
    of_figure.set_label_text(axis.label)
    if axis.names:
        step = -(-len(axis.names) // _MOST_TICKS)
        of_figure.set_ticks(axis.places[::step], axis.names[::step])


def draw(file: Path, dataset: str) -> Figure:
    """Draws a dataset of one or two dimensions as a Matplotlib figure.

    Raises UsageError for other dimensions, Error where Matplotlib or h5py is not installed.
    """
    figures = _needed("matplotlib.figure", "draw")
    h5py = _needed("h5py", "read the output")
    with h5py.File(file, "r") as opened:
        if not isinstance(opened.get(dataset), h5py.Dataset):
            raise UsageError(f"'{file}' has no dataset '{dataset}'", "", "Name one that it has.")
        drawn = opened[dataset]
        if drawn.ndim not in (1, 2) or drawn.size == 0:
            shape = " x ".join(map(str, drawn.shape)) or "a scalar"
            raise UsageError(
                f"cannot draw '{dataset}'", f"it is {shape}", "Choose one of one or two dimensions."
            )
        if drawn.dtype.kind not in "iuf":
            raise UsageError(f"cannot draw '{dataset}'", "it has no numbers", "Choose another.")
        numbers = _numbers_of(drawn)
        axes = [_axis_of(drawn, d) for d in range(drawn.ndim)]
        label = _label_of(drawn, dataset.rpartition("/")[2], _text_of(drawn, "units"))
    figure: Figure = figures.Figure(layout="constrained")
    plot: Any = figure.add_subplot()
    if len(axes) == 1:
        plot.plot(axes[0].places, numbers, marker=".")
        plot.set_ylabel(label)
    else:
        mesh = plot.pcolormesh(axes[1].places, axes[0].places, numbers, shading="nearest")
        figure.colorbar(mesh, label=label)
        _draw_axis(plot.yaxis, axes[0])
    _draw_axis(plot.xaxis, axes[-1])
    if axes[-1].names:
        for tick in plot.get_xticklabels():
            tick.set(rotation=30, ha="right")
    return figure


def save(file: Path, dataset: str, output: Path) -> None:
    """Writes the picture of a dataset; its format is that of the output's suffix, such as .svg. The
    same dataset makes the same file.

    Raises as draw().
    """
    figure = draw(file, dataset)
    matplotlib = _needed("matplotlib", "draw")
    with matplotlib.rc_context({"svg.hashsalt": "warpfold", "svg.fonttype": "none"}):
        is_svg = str(output).endswith(".svg")
        figure.savefig(output, metadata={"Date": None} if is_svg else None)


def main() -> int:
    parser = argparse.ArgumentParser("python -m warpfold.plot", description=__doc__)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("dataset", metavar="DATASET")
    parser.add_argument("-o", "--output", metavar="OUT.svg", required=True)
    words = parser.parse_args()
    try:
        save(words.file, words.dataset, words.output)
    except (Error, OSError, ValueError) as error:
        print(f"warpfold: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
