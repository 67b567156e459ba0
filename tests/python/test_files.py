"""Functions on files, against NumPy and fractions by ==."""

import json
import os
import pathlib
import re
import subprocess
import sys
import types
import warnings

import h5py
import numpy as np
import pytest
import warpfold
from exact import exact_sum, prefixes, rounded_to, sums_along


def test_one_statistic_is_a_value(path, field):
    total = warpfold.reduce(path, "temp", ops="sum")
    assert type(total) is np.float64
    assert total == float(exact_sum(field))
    assert warpfold.reduce(str(path), "temp", ops="max") == field.max()
    assert warpfold.reduce(path, "temp", ops="argmax") == field.argmax()


def test_several_statistics_are_a_dict(path, field):
    answer = warpfold.reduce(path, "temp", ops=["count", "mean", "median", "q0.25"])
    assert answer == {
        "count": field.size,
        "mean": float(exact_sum(field) / field.size),
        "median": np.quantile(field.astype("f8"), 0.5),
        "q0.25": np.quantile(field.astype("f8"), 0.25),
    }
    assert type(answer["count"]) is int
    assert list(warpfold.reduce(path, "temp", ops="sum,max")) == ["sum", "max"]
    assert list(warpfold.reduce(path, "temp")) == ["count", "sum", "min", "max", "mean", "std"]


def test_integers_are_exact(path):
    exact = sum(range(2**63, 2**63 + 24))
    assert warpfold.reduce(path, "run2/wind", ops="sum") == exact
    wrapped = warpfold.reduce(path, "run2/wind", ops="sum", overflow="wrap")
    assert wrapped == exact % 2**64


def test_conditions_and_selections(path, field):
    where = warpfold.reduce(path, "temp", ops="count", where=[">0", "<1e3"])
    assert where == np.count_nonzero((field > 0) & (field < 1e3))
    part = warpfold.reduce(path, "temp", ops="sum", select=np.s_[1:5:2, ..., -1])
    assert part == float(exact_sum(field[1:5:2, ..., -1]))
    assert warpfold.reduce(path, "temp", ops="sum", select="1:5:2, ..., -1") == part


@pytest.mark.parametrize("axis", [0, -1, "lat"])
def test_sums_along_an_axis_are_an_array(path, field, axis):
    number = 1 if axis == "lat" else axis
    sums = warpfold.reduce(path, "temp", ops="sum", axis=axis)
    assert sums.dtype == np.float32
    assert np.array_equal(sums, sums_along(field, number, np.float32))


def test_places_are_coordinates_on_request(path, field):
    with h5py.File(path, "a") as file:
        for d, name in enumerate(("time", "lat", "lon")):
            file[name] = np.arange(float(field.shape[d])) * 10 + d
            file[name].make_scale(name)
            file["temp"].dims[d].attach_scale(file[name])
    times = warpfold.reduce(path, "temp", ops="argmax", axis="time", places="coordinates")
    assert np.array_equal(times, field.argmax(0) * 10.0)
    places = warpfold.reduce(path, "temp", ops="argmin", axis="lat,lon", places="coordinates")
    lat, lon = np.unravel_index(field.reshape(6, -1).argmin(1), (5, 4))
    assert list(places) == ["argmin_lat", "argmin_lon"]
    assert np.array_equal(places["argmin_lat"], lat * 10.0 + 1)
    assert np.array_equal(places["argmin_lon"], lon * 10.0 + 2)


def test_extrema_and_quantiles_along_axes(path, field):
    answer = warpfold.reduce(path, "temp", ops="max,argmin,median", axis=[1, 2], keepdims=True)
    assert np.array_equal(answer["max"], field.max(axis=(1, 2), keepdims=True))
    flat = field.reshape(6, -1)
    assert np.array_equal(answer["argmin"].ravel(), flat.argmin(axis=1))
    medians = np.quantile(flat.astype("f8"), 0.5, axis=1)
    assert np.array_equal(answer["median"].ravel(), medians.astype(answer["median"].dtype))
    assert answer["median"].shape == (6, 1, 1)


def test_types_of_outputs(path, field):
    sums = warpfold.reduce(path, "temp", ops="sum", axis=0, output_type=np.float64)
    assert sums.dtype == np.float64
    assert np.array_equal(sums, sums_along(field, 0, np.float64))
    narrow = warpfold.reduce(path, "run1/wind", ops="max", axis=0, every=2)
    assert np.array_equal(narrow, [np.arange(6, 12), np.arange(18, 24)])
    halves = warpfold.scan(path, "run1/wind", output_type="bfloat16")
    exact = np.cumsum(np.arange(24)).reshape(4, 6)
    assert halves.dtype == np.float32
    assert np.max(np.abs(halves - exact) / np.maximum(exact, 1)) <= 2.0**-8


def test_labels(path, field):
    answer = warpfold.reduce(path, "temp", ops="max", axis="time", by="group")
    seasons = np.array([0, 0, 1, 1, 0, 1])
    assert np.array_equal(answer, [field[seasons == each].max(axis=0) for each in (0, 1)])
    sums = warpfold.reduce(path, "group", ops="count,max", by="group")
    assert sums == {0: {"count": 3, "max": 0}, 1: {"count": 3, "max": 1}}
    assert warpfold.reduce(path, "group", ops="count", by="group") == {0: 3, 1: 3}
    medians = {each: np.median(field[seasons == each].astype("f8")) for each in (0, 1)}
    assert warpfold.reduce(path, "temp", ops="median", by="group@time") == medians


def test_scans(path, field):
    assert np.array_equal(warpfold.scan(path, "temp"), prefixes(field, np.float32))
    along = warpfold.scan(path, "temp", op="max", axis="time")
    assert np.array_equal(along, np.maximum.accumulate(field, axis=0))
    offsets = warpfold.scan(path, "run1/wind", offsets=True)
    assert np.array_equal(offsets, [0, *np.cumsum(np.arange(24))])


def test_outputs_stay(path, field, tmp_path):
    out = tmp_path / "out.h5"
    made = warpfold.scan(path, "temp", output=out, chunks=(3, 5, 4), deflate=3, shuffle=True)
    assert made.dataset == "temp" and made.elements == field.size
    assert made.last == prefixes(field, np.float32).flat[-1]
    names = warpfold.reduce(path, "temp", ops="mean,max", axis=0, output=out, append=True)
    assert names == {"mean": "temp_mean", "max": "temp_max"}
    with h5py.File(out) as file:
        assert file["temp"].chunks == (3, 5, 4) and file["temp"].compression_opts == 3
        assert np.array_equal(file["temp_max"], field.max(axis=0))
        assert b"--axis 0" in file["temp_max"].attrs["warpfold_command"]


def test_outputs_are_compressed(path, field, tmp_path):
    storage = {"chunks": "auto", "deflate": 2, "shuffle": True, "fletcher32": True}
    out = tmp_path / "out.h5"
    warpfold.reduce(path, "temp", ops="max", axis=0, output=out, **storage)
    warpfold.compact(path, "temp", where=">0", output=f"{out}:kept", append=True, **storage)
    with h5py.File(out) as file:
        assert np.array_equal(file["temp"], field.max(axis=0))
        assert np.array_equal(file["kept"], field[field > 0])
        for made in (file["temp"], file["kept"]):
            assert made.compression_opts == 2 and made.shuffle and made.fletcher32
    with pytest.raises(warpfold.UsageError, match="no output is given"):
        warpfold.compact(path, "temp", where=">0", deflate=True)
    with pytest.raises(warpfold.UsageError, match="deflate needs axis"):
        warpfold.reduce(path, "temp", deflate=True)


def test_deflate_without_a_level(path, tmp_path):
    warpfold.scan(path, "temp", output=tmp_path / "out.h5", deflate=True)
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["temp"].compression_opts == 6


def test_compaction(path, field, tmp_path):
    kept = warpfold.compact(path, "temp", where=">0")
    assert np.array_equal(kept, field[field > 0])
    values, indices = warpfold.compact(path, "temp", where=">0", indices=True)
    assert np.array_equal(values, kept)
    assert np.array_equal(indices, np.flatnonzero(field > 0))
    made = warpfold.compact(path, "temp", where=">0", output=tmp_path / "out.h5")
    assert made == ("temp", None, field.size, kept.size)
    assert warpfold.compact(path, "temp", where=">1e30").shape == (0,)


def test_histograms(path, field):
    made = warpfold.histogram(path, "run1/wind", bins=7)
    counts, edges = np.histogram(np.arange(24), bins=7)
    assert np.array_equal(made.counts, counts) and made.counts.dtype == np.int64
    assert np.array_equal(made.edges, edges)
    made = warpfold.histogram(path, "temp", bins=[-1, 0, 0.5, 10])
    assert np.array_equal(made.counts, np.histogram(field, bins=[-1, 0, 0.5, 10])[0])
    assert made.below == np.count_nonzero(field < -1)
    assert made.above == np.count_nonzero(field > 10)
    made = warpfold.histogram(path, "temp", bins=3, range=(-1, 1))
    assert np.array_equal(made.counts, np.histogram(field, bins=3, range=(-1, 1))[0])


def test_several_datasets_are_a_dict(path, field):
    answer = warpfold.reduce(path, ["temp", "run1/wind"], ops="max")
    assert answer == {"temp": field.max(), "run1/wind": 23}
    assert warpfold.reduce(path, "run*/wind", ops="min") == {"run1/wind": 0, "run2/wind": 2**63}
    along = warpfold.reduce(path, "run*/wind", ops="max", axis=0)
    assert np.array_equal(along["run1/wind"], np.arange(18, 24))
    with pytest.warns(warpfold.SkippedDatasetWarning, match="skipped text: "):
        assert "text" not in warpfold.reduce(path, all=True, ops="count")


def test_files_that_h5py_has_open(path, field):
    with h5py.File(path) as file:
        assert warpfold.reduce(file, "temp", ops="max") == field.max()
        assert warpfold.reduce(file["temp"], ops="max") == field.max()
        assert warpfold.reduce(file["run1"], "wind", ops="max") == 23
        assert np.array_equal(warpfold.scan(file["run1/wind"])[-1][-1], 276)


def has_hdf5_of_its_own(package):
    """Whether a wheel brought it, as wheels for Linux do."""
    return pathlib.Path(package.__file__).parents[1].joinpath("h5py.libs").exists()


def test_files_that_h5py_writes(path):
    with h5py.File(path, "r+") as file:
        file["temp"][0, 0, 0] = 1e30
        file["new"] = np.ones(5)
        if has_hdf5_of_its_own(h5py):
            for given in (file, path, os.path.relpath(path)):
                with pytest.raises(warpfold.Error, match="h5py has it open .* Close it first"):
                    warpfold.reduce(given, "new", ops="sum")
            with pytest.raises(warpfold.Error, match="Close it first"):
                warpfold.info(path, "new")
        else:
            assert warpfold.reduce(file["temp"], ops="max") == np.float32(1e30)
            assert warpfold.reduce(file, "new", ops="sum") == 5
    assert warpfold.reduce(path, "new", ops="sum") == 5


def test_several_files(path, tmp_path, field):
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as file:
        file["temp"] = field[::-1] * 2
    total = warpfold.reduce([path, other], "temp", concat=0, ops="sum", raw=True)
    assert total == float(exact_sum(field) + exact_sum(field * 2))


def test_other_files_are_named_by_options(path, tmp_path, field):
    with h5py.File(tmp_path / "mask.h5", "w") as file:
        file["land"] = (np.arange(20) % 3 == 0).reshape(5, 4)
    land = np.broadcast_to((np.arange(20) % 3 == 0).reshape(5, 4), field.shape)
    total = warpfold.reduce(path, "temp", ops="sum", mask=f"{tmp_path / 'mask.h5'}::land")
    assert total == float(exact_sum(field[land]))


def test_info_is_the_commands(path):
    program = os.environ["WARPFOLD"]
    for options in ([], ["temp"], ["--all"], ["temp", "--plan", "reduce", "--axis", "0"]):
        words = [program, "info", str(path), *options, "--json", "-"]
        printed = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
        assert printed.pop("arguments") == ["warpfold", *words[1:]]
        given = {"all": "--all" in options}
        if "--plan" in options:
            given.update(plan="reduce", axis=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mine = warpfold.info(path, "temp" if "temp" in options else None, **given)
        assert mine == printed


def test_progress(path):
    seen = []
    warpfold.reduce(path, "temp", progress=seen.append)
    assert seen and all(isinstance(each, warpfold.Progress) for each in seen)
    assert seen[-1].pass_number == 1 and seen[-1].done == seen[-1].total > 0


def test_a_bar(path, capsys, monkeypatch):
    made = types.ModuleType("tqdm.auto")
    drawn = []

    class Bar:
        def __init__(self, total, desc, **_):
            self.n = 0
            drawn.append((desc, total))

        def reset(self, total):
            self.n = 0

        def set_description(self, desc):
            pass

        def update(self, more):
            self.n += more

        def close(self):
            drawn.append(self.n)

    made.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm.auto", made)
    total = warpfold.reduce(path, "temp", ops="sum", progress=True)
    assert drawn[0][0] == "warpfold pass 1" and drawn[0][1] == drawn[-1] > 0
    assert warpfold.reduce(path, "temp", ops="sum", progress=False) == total and len(drawn) == 2
    assert capsys.readouterr().err == ""


def test_a_line_in_place_of_a_bar(path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    warpfold.reduce(path, "temp", ops="median", progress=True)
    line = capsys.readouterr().err
    assert re.fullmatch(r"warpfold pass \d+: 100% of 0.0 MB, [0-9.]+ MB/s\n", line)
    warpfold.reduce(path, "run*/wind", progress=True)
    assert capsys.readouterr().err.startswith("run2/wind pass 1: 100% of ")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    warpfold.scan(path, "temp", progress=True)
    shown = capsys.readouterr().err
    assert shown.startswith("\rwarpfold pass 1: ") and shown.endswith("\n")
    with pytest.raises(warpfold.Error):
        warpfold.reduce(path, "none", progress=True)
    assert capsys.readouterr().err == ""


def test_nothing_is_left_in_the_folder_for_temporary_files(path, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    warpfold.reduce(path, "temp", axis=0)
    with pytest.raises(warpfold.Error):
        warpfold.reduce(path, "temp", axis=7)
    warpfold.scan(path, "temp")
    assert list(folder.iterdir()) == []


def test_empty_and_scalar_datasets(tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["none"] = np.zeros((0, 3))
        file["one"] = 2.5
    answer = warpfold.reduce(tmp_path / "in.h5", "none", ops="count,sum,min")
    assert answer == {"count": 0, "sum": 0.0, "min": None}
    assert warpfold.scan(tmp_path / "in.h5", "none").shape == (0, 3)
    assert warpfold.scan(tmp_path / "in.h5", "one") == 2.5
    assert warpfold.reduce(pathlib.Path(tmp_path / "in.h5"), "one", ops="sum") == rounded_to(
        exact_sum([2.5]), np.float64
    )
