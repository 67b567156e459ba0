"""Pictures of outputs, beside what Matplotlib's objects and the SVG have."""

import builtins
import re
import subprocess
import sys

import h5py
import numpy as np
import pytest
import warpfold

pytest.importorskip("matplotlib")
cftime = pytest.importorskip("cftime")

from warpfold import plot  # noqa: E402

UNITS = "hours since 2000-12-30 06:00:00"


@pytest.fixture
def path(tmp_path):
    """A series in time, a map, and means of labels."""
    path = tmp_path / "in.nc"
    with h5py.File(path, "w") as file:
        file["time"] = np.arange(20) * 12
        file["time"].attrs.update(units=UNITS, calendar="360_day")
        file["lat"] = np.array([-60, 0, 60], "i2")
        file["lat"].attrs.update(units="degrees_north", scale_factor=0.5, add_offset=1.0)
        file["zone"] = np.array(["wet", "dry", "sea"], object)
        for name in ("time", "lat", "zone"):
            file[name].make_scale(name)
        rain = np.arange(20.0)
        rain[3] = -999
        file["rain"] = rain
        file["rain"].attrs.update(units="mm", long_name="amount of rain", _FillValue=-999.0)
        file["rain"].dims[0].attach_scale(file["time"])
        file["map"] = np.arange(60, dtype="f4").reshape(3, 20)
        file["map"].dims[0].attach_scale(file["lat"])
        file["map"].dims[1].attach_scale(file["time"])
        file["by_zone"] = np.array([3, 1, 2])
        file["by_zone"].dims[0].attach_scale(file["zone"])
        file["bare"] = np.arange(4.0)
        file["bare"].dims[0].label = "place"
        file["cube"] = np.zeros((2, 2, 2))
    return path


def dates():
    found = cftime.num2date(np.arange(20) * 12, UNITS, "360_day")
    return [date.isoformat().removesuffix("T00:00:00") for date in found]


def test_a_line_has_coordinates_gaps_and_units(path):
    axes = plot.draw(path, "rain").axes[0]
    (line,) = axes.lines
    assert line.get_xdata().tolist() == (np.arange(20) * 12.0).tolist()
    assert np.array_equal(line.get_ydata(), [np.nan if i == 3 else i for i in range(20)], equal_nan=True)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time", "amount of rain (mm)")
    assert [tick.get_text() for tick in axes.get_xticklabels()] == dates()[::3]
    assert axes.get_xticks().tolist() == (np.arange(20) * 12)[::3].tolist()


def test_a_map_has_both_coordinates(path):
    figure = plot.draw(path, "map")
    axes, colours = figure.axes
    (mesh,) = axes.collections
    assert mesh.get_array().reshape(3, 20).tolist() == np.arange(60.0).reshape(3, 20).tolist()
    assert axes.get_xlim() == (-6, 234) and axes.get_ylim() == (-44, 46)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time", "lat (degrees_north)")
    assert colours.get_ylabel() == "map"


def test_labels_are_ticks(path):
    axes = plot.draw(path, "by_zone").axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["wet", "dry", "sea"]
    assert axes.lines[0].get_ydata().tolist() == [3, 1, 2] and axes.get_xlabel() == "zone"


def test_dimensions_without_coordinates(path):
    axes = plot.draw(path, "bare").axes[0]
    assert axes.lines[0].get_xdata().tolist() == [0, 1, 2, 3] and axes.get_xlabel() == "place"


def test_outputs_of_reductions(tmp_path, path):
    warpfold.reduce(path, "map", ops="mean", axis="lat", output=tmp_path / "out.nc")
    axes = plot.draw(tmp_path / "out.nc", "map").axes[0]
    with h5py.File(path) as file:
        assert axes.lines[0].get_ydata().tolist() == file["map"][()].mean(0).tolist()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == dates()[::3]
    warpfold.reduce(path, "rain", ops="sum", axis="time", by="season", output=tmp_path / "by.nc")
    axes = plot.draw(tmp_path / "by.nc", "rain").axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["DJF"]


def test_the_command_writes_the_same_svg(tmp_path, path):
    for name in ("a.svg", "b.svg"):
        words = [sys.executable, "-m", "warpfold.plot", path, "rain", "-o", tmp_path / name]
        subprocess.run(words, check=True)
    picture = (tmp_path / "a.svg").read_text()
    assert picture == (tmp_path / "b.svg").read_text()
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
    assert {"time", "amount of rain (mm)", *dates()[::3]} <= set(texts)
    for name in ("cube", "absent"):
        words = [sys.executable, "-m", "warpfold.plot", path, name, "-o", tmp_path / "c.svg"]
        outcome = subprocess.run(words, capture_output=True, text=True)
        assert outcome.returncode == 1 and name in outcome.stderr
        assert outcome.stderr.startswith("warpfold: error: ") and not (tmp_path / "c.svg").exists()


def test_without_matplotlib_or_cftime(path, monkeypatch):
    really_import = builtins.__import__

    def without(missing):
        def look(name, *more, **options):
            if name.partition(".")[0] == missing:
                raise ImportError(missing)
            return really_import(name, *more, **options)

        monkeypatch.setattr(builtins, "__import__", look)

    without("matplotlib")
    with pytest.raises(warpfold.Error, match="matplotlib is not installed"):
        plot.draw(path, "rain")
    without("cftime")
    assert plot.draw(path, "rain").axes[0].get_xlabel() == f"time ({UNITS})"
