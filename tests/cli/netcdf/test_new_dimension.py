"""Files joined along a dimension that they lack, beside NumPy, fractions, xarray and CDO."""

import math
import shutil
import subprocess
from fractions import Fraction

import h5py
import numpy as np
import pytest

import reference
import samples
import support

GZIP = {"compression": "gzip", "shuffle": True}
# Storage of the values in each of five files.
STORAGE = {
    "contiguous": [{}] * 5,
    "big-endian": [{"order": "big"}] * 5,
    "chunks": [{"chunks": (4, 3, 4)}] * 5,
    "filtered chunks": [{"chunks": (2, 4, 4), "fletcher32": True, **GZIP}] * 5,
    "each another way": [{}, {"chunks": (2, 3, 4), **GZIP}, {"chunks": (5, 5, 5)}, {}, {}],
}
SHAPE = (5, 6, 7, 9)


def joined(paths, dataset="values"):
    return (*paths, dataset, "--concat", "new:member")


def along(folder, source, *words, command="reduce", **options):
    """Runs a command; returns its outputs by name."""
    out = folder / "out.h5"
    support.run(command, *source, "-o", out, "--force", *words, **options)
    return support.stored_bytes(out)


@pytest.mark.parametrize("storage", STORAGE)
def test_statistics_and_quantiles_of_all_members(folder, storage):
    values = samples.typed("f64", SHAPE, seed=2)
    paths = samples.write_parts(folder, "f64", values, STORAGE[storage])
    true = reference.statistics(values)
    true["median"] = float(np.median(np.sort(values, axis=None)))
    seen = set()
    for ranks, slab in ((None, "1M"), (3, "4K")):
        words = ("--ops", "all,median", "--slab", slab, "--json", "-")
        outcome = support.run("reduce", *joined(paths), *words, ranks=ranks)
        assert {each: outcome.results[each] for each in true} == true
        assert outcome.report["shape"] == list(SHAPE)
        assert outcome.report["files"] == [str(each) for each in paths]
        assert outcome.report["concat"] == "new:member"
        seen.add(outcome.result_bytes)
    assert len(seen) == 1


@pytest.mark.parametrize("storage", STORAGE)
def test_the_mean_of_members_is_exact(folder, storage):
    values = samples.typed("f32", SHAPE, seed=3)
    paths = samples.write_parts(folder, "f32", values, STORAGE[storage])
    outputs = {
        along(folder, joined(paths), "--axis", "member", "--ops", "mean", *words, ranks=ranks)[
            "values"
        ]
        for ranks, words in ((None, ("--threads", "2")), (3, ("--slab", "4K")))
    }
    assert len(outputs) == 1
    with h5py.File(folder / "out.h5") as file:
        made = file["values"][:]
    columns = values.reshape(5, -1).T.tolist()
    exact = [sum(map(Fraction, column)) / 5 for column in columns]
    true = np.array([float(each) for each in exact]).astype("f4")
    # Rounded twice is as once here: no mean of five f32 is so near the middle of two.
    assert np.array_equal(made.ravel(), true)


CASES = {
    "members": ("--axis", "member", "--ops", "sum,var,min,argmax"),
    "quantiles": ("--axis", "member", "--ops", "q10,median"),
    "one member": ("--axis", "1,2", "--select", "member=2", "--ops", "sum"),
    "some members": ("--axis", "-1", "--select", "member=1:5:2", "--ops", "max"),
    "two at a time": ("--axis", "member", "--every", "2", "--ops", "mean,max"),
    "others": ("--axis", "1", "--every", "4", "--ops", "mean"),
    "all": ("--axis", "0,1,2,3", "--ops", "sum"),
    "kept": ("--axis", "member,1", "--keepdims", "--ops", "mean"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("storage", STORAGE)
def test_along_axes_what_one_file_of_all_gives(folder, storage, case):
    values = samples.typed("f32", SHAPE, seed=4)
    paths = samples.write_parts(folder, "f32", values, STORAGE[storage])
    whole = support.write(folder / "whole.h5", values, "f32")
    with h5py.File(whole, "a") as file:
        file["values"].dims[0].label = "member"
    true = along(folder, (whole, "values"), *CASES[case])
    outputs = along(folder, joined(paths), *CASES[case], "--slab", "4K", ranks=2)
    assert outputs == true


@pytest.mark.parametrize("axis", (None, "member", "2"))
def test_scans(folder, axis):
    values = samples.typed("i32", SHAPE, seed=5)
    paths = samples.write_parts(folder, "i32", values, STORAGE["filtered chunks"])
    words = ("--axis", axis) if axis else ()
    along(folder, joined(paths), *words, command="scan", ranks=2)
    with h5py.File(folder / "out.h5") as file:
        made = file["values"][:]
    number = {None: None, "member": 0, "2": 2}[axis]
    assert np.array_equal(made, np.cumsum(values, number, dtype="i8").reshape(SHAPE))


def test_names_of_dimensions_without_scales(folder):
    values = samples.typed("f32", SHAPE, seed=5)
    paths = samples.write_parts(folder, "f32", values)
    for path in paths:
        with h5py.File(path, "a") as file:
            file["values"].dims[1].label = "lat"
    for axis, names in (("member", ["", "lat", ""]), ("2", ["member", "", ""])):
        along(folder, joined(paths), "--axis", axis, "--ops", "max")
        with h5py.File(folder / "out.h5") as file:
            assert list(file) == ["values"]
            labels = file["values"].attrs["DIMENSION_LABELS"]
            assert [each.decode() for each in labels] == names
    along(folder, joined(paths), "--axis", "1,2,member", "--ops", "max")
    with h5py.File(folder / "out.h5") as file:
        assert "DIMENSION_LABELS" not in file["values"].attrs


def test_compactions_and_histograms(folder):
    values = samples.typed("i16", SHAPE, seed=6)
    paths = samples.write_parts(folder, "i16", values, STORAGE["chunks"])
    along(folder, joined(paths), "--where", ">1000", "--indices", command="compact", ranks=2)
    with h5py.File(folder / "out.h5") as file:
        assert np.array_equal(file["values"][:], values[values > 1000])
        indices = next(file[each][:] for each in file if "ind" in each)
    assert np.array_equal(indices, np.flatnonzero(values > 1000))
    words = ("--bins", "5", "--range", "-9000,9000", "--json", "-")
    counts = support.run("histogram", *joined(paths), *words).results["counts"]
    assert counts == np.histogram(values, 5, (-9000, 9000))[0].tolist()


@pytest.mark.parametrize("name, order", support.TYPES_IN_TURNS)
def test_every_type(folder, name, order):
    values = samples.typed(name, (5, 8, 9), seed=7)
    paths = samples.write_parts(folder, name, values, [{"order": order, "chunks": (3, 9)}] * 5)
    whole = support.write(folder / "whole.h5", values, name, order=order)
    outcome = support.run("reduce", *joined(paths), "--ops", "all", "--json", "-")
    assert outcome.result_bytes == support.reduce(whole).result_bytes


@pytest.mark.parametrize("path", ("auto", "library"))
def test_one_number_of_each_file(folder, path):
    paths = samples.write_parts(folder, "f64", [1.5, -2.0, 7.25, 0.5, 3.0])
    words = ("--ops", "sum,argmax,median", "--read-path", path, "--json", "-")
    for ranks in (None, 2):
        outcome = support.run("reduce", *joined(paths), *words, ranks=ranks)
        assert outcome.report["shape"] == [5]
        assert outcome.results == {"sum": 10.25, "argmax": 2, "median": 1.5}
    along(folder, joined(paths), command="scan")
    with h5py.File(folder / "out.h5") as file:
        assert file["values"][:].tolist() == [1.5, -0.5, 6.75, 7.25, 10.25]


def test_members_of_tables_virtual_and_empty_datasets(folder):
    values = np.arange(24).reshape(2, 3, 4)
    paths = [folder / f"{k}.h5" for k in range(2)]
    for path, part in zip(paths, values):
        with h5py.File(path, "w") as file:
            table = np.zeros(3, [("a", "i4"), ("x", "f8", 4)])
            table["x"] = part
            file["table"] = table
            file["empty"] = np.zeros((0, 4))
            file["source"] = part
            layout = h5py.VirtualLayout((3, 4), "i8")
            layout[:] = h5py.VirtualSource(file["source"])
            file.create_virtual_dataset("virtual", layout)
    for name, true in (("table.x", 276), ("virtual", 276), ("empty", 0)):
        outcome = support.run("reduce", *joined(paths, name), "--ops", "sum", "--json", "-")
        assert outcome.results["sum"] == true
        assert outcome.report["shape"] == ([2, 0, 4] if name == "empty" else [2, 3, 4])
    chosen = ("--select", "member=1", "--ops", "max,min", "--json", "-")
    assert support.run("reduce", *joined(paths, "table.x"), *chosen).results == {"max": 23, "min": 12}


def test_chunks_that_were_never_written(folder):
    paths = [folder / f"{k}.h5" for k in range(3)]
    for k, path in enumerate(paths):
        with h5py.File(path, "w") as file:
            made = file.create_dataset("values", (8, 6), "i4", chunks=(2, 3), fillvalue=7)
            made[4:6] = k
    outputs = along(folder, joined(paths), "--axis", "member", "--ops", "sum")
    true = np.full((8, 6), 21)
    true[4:6] = 3
    assert outputs["values"] == true.astype("i8").tobytes()


def test_each_member_packed_in_its_own_way(folder):
    packed = np.arange(60, dtype="i2").reshape(3, 4, 5)
    scales, offsets = (0.5, 0.25, 2.0), (10.0, -3.0, 0.0)
    paths = samples.write_parts(folder, "i16", packed, [{"chunks": (2, 5), **GZIP}] * 3)
    for k, path in enumerate(paths):
        with h5py.File(path, "a") as file:
            attributes = {"scale_factor": scales[k], "add_offset": offsets[k]}
            file["values"].attrs.update({**attributes, "_FillValue": np.int16(20 * k + 3)})
    values = packed * np.reshape(scales, (3, 1, 1)) + np.reshape(offsets, (3, 1, 1))
    values[:, 0, 3] = np.nan
    outputs = along(folder, joined(paths), "--axis", "member", "--ops", "max", ranks=2)
    true = values.max(axis=0)  # where all or none count
    assert outputs["values"] == true.tobytes()


def test_more_members_than_may_be_open(folder):
    values = np.arange(300 * 3 * 4).reshape(300, 3, 4)
    for k, part in enumerate(values):
        support.write(folder / f"m{k}.h5", part, "i64", chunks=(1, 4), **GZIP)
    words = (f"{folder}/m*.h5", "values", "--concat", "new:member", "--ops", "all", "--json", "-")
    ordered = support.run("reduce", *words, prefix=("prlimit", "--nofile=64"))
    assert ordered.results["sum"] == int(values.sum())
    assert ordered.results["argmax"] == 299 * 12 + 11


# With dimension scales, coordinates and what is said of files.


def write_run(path, k, values, units="days since 2000-01-01", first=0.0, calendar=None, **scalars):
    with h5py.File(path, "w") as file:
        file["time"] = np.arange(len(values)) + first
        file["time"].attrs["units"] = units
        if calendar:
            file["time"].attrs["calendar"] = calendar
        file["lat"] = np.linspace(-60, 60, values.shape[1])
        file["tas"] = values
        file["tas"].attrs.update({"units": "K", "coordinates": "height realization"})
        file["height"] = 2.0
        file["realization"] = np.int32(10 + k)
        for name, value in scalars.items():
            file[name] = value
        for d, scale in enumerate(("time", "lat")):
            file[scale].make_scale(scale)
            file["tas"].dims[d].attach_scale(file[scale])
    return path


def write_runs(folder, values, **scalars):
    return [
        write_run(folder / f"r{k}.nc", k, part, **{n: each[k] for n, each in scalars.items()})
        for k, part in enumerate(values)
    ]


def runs(paths, name="new:realization"):
    return ("reduce", *paths, "tas", "--concat", name)


def test_outputs_have_the_coordinates_that_xarray_gives(folder):
    xarray = pytest.importorskip("xarray")
    values = samples.typed("f64", (3, 4, 5), seed=8)
    paths = write_runs(folder, values)
    opened = [xarray.open_dataset(path) for path in paths]
    for name, words in (
        ("realization", ("--axis", "time")),
        ("realization", ("--axis", "time", "--select", "realization=1:")),
        ("member", ("--axis", "time")),
        ("member", ("--axis", "member")),
        ("member", ("--axis", "lat", "--select", "member=1")),
    ):
        out = folder / "out.nc"
        support.run(*runs(paths, f"new:{name}"), *words, "--ops", "max", "-o", out, "--force")
        true = xarray.concat([each.tas for each in opened], dim=name)
        if "--select" in words:
            index = 1 if name == "member" else slice(1, None)
            true = true.isel({name: index})
        if words[1] != name or name != "member":
            true = true.max(words[1])
        else:
            true = true.max("member")
        with xarray.open_dataset(out) as made:
            assert made.tas.dims == true.dims
            assert np.array_equal(made.tas.values, true.values)
            kept = {each for each in true.coords if each != words[1]}
            assert kept <= set(made.coords)
            for each in kept:
                assert np.array_equal(made[each].values, true[each].values), each
                assert made[each].dims == true[each].dims
            if words[1] == "member":
                assert "realization" not in made.variables
    for each in opened:
        each.close()


def test_times_of_each_file_are_those_of_the_new_dimension(folder):
    values = samples.typed("f64", (5, 2, 3), seed=8)
    days = (3.0, 30.5, 31.0, 40.25, 400.0)  # since 2000-01-01
    paths = write_runs(folder, values, image=[24 * d if k % 2 else d for k, d in enumerate(days)])
    for k, path in enumerate(paths):
        with h5py.File(path, "a") as file:
            file["image"].attrs["units"] = ("hours" if k % 2 else "days") + " since 2000-01-01"
    words = (*runs(paths, "new:image"), "--ops", "max")

    def results(*more):
        report = support.run(*words, *more, "--json", "-").report["results"]
        return report["coordinates"][0], report["datasets"]["max"]["values"]

    groups = ([0, 1], [2, 3], [4])
    coordinate, found = results("--axis", "image,lat,time", "--every", "month")
    assert found == [values[group].max() for group in groups]
    assert coordinate["dates"] == ["2000-01-17T18:00:00", "2000-02-05T15:00:00", "2001-02-04"]
    coordinate, found = results("--axis", "image,lat,time", "--by", "month")
    assert coordinate["values"] == [1, 2]
    assert found == [values[:2].max(), values[2:].max()]
    some = ("--axis", "lat,time", "--select")
    assert results(*some, "image=2000-02")[1] == [each.max() for each in values[2:4]]
    assert results(*some, "image=:31.")[1] == [each.max() for each in values[:3]]
    conditions = ("--where", "year@image==2000", "--where", "image >= 31")
    kept = support.run(*words, *conditions, "--json", "-")
    assert kept.results == {"max": values[2:4].max()}
    image = support.run("info", *words[1:-2], "--json", "-").report["results"]["dimensions"][0]
    assert (image["first_date"], image["last_date"]) == ("2000-01-04", "2001-02-04")


def test_texts_of_each_file_select(folder):
    values = samples.typed("f64", (3, 2, 3), seed=8)
    paths = write_runs(folder, values, site=["bern", "basel", "zug"])
    words = (*runs(paths, "new:site"), "--select", "site=basel", "--ops", "max", "--json", "-")
    assert support.run(*words).results == {"max": values[1].max()}


def test_bounds_of_one_file_are_not_those_of_all(folder):
    paths = write_runs(folder, samples.typed("f64", (2, 4, 5), seed=8))
    for k, path in enumerate(paths):
        with h5py.File(path, "a") as file:
            file["cells"] = np.array([9.5, 10.5]) + k
            file["realization"].attrs["bounds"] = "cells"
    for name in ("realization", "member"):
        out = folder / f"{name}.nc"
        support.run(*runs(paths, f"new:{name}"), "--axis", "time", "-o", out)
        with h5py.File(out) as file:
            assert file["realization"][:].tolist() == [10, 11]
            assert "cells" not in file and "bounds" not in file["realization"].attrs


def test_times_may_have_other_units_but_must_be_the_same(folder):
    values = samples.typed("f64", (3, 4, 5), seed=9)
    units = ("days since 2000-01-01", "days since 1999-12-31", "days since 2000-01-02")
    paths = [
        write_run(folder / f"{k}.nc", k, values[k], units[k], first)
        for k, first in enumerate((0.0, 1.0, -1.0))
    ]
    outcome = support.run(*runs(paths), "--axis", "lat", "-o", folder / "out.nc", "--json", "-")
    assert outcome.report.get("notes", []) == []
    with h5py.File(folder / "out.nc") as file:
        assert file["time"][:].tolist() == [0, 1, 2, 3]
        assert file["time"].attrs["units"] == units[0].encode() or units[0]
    by_day = (*runs(paths), "--axis", "time", "--by", "day", "--ops", "max", "-o")
    support.run(*by_day, folder / "days.nc")
    with h5py.File(folder / "days.nc") as file:
        assert np.array_equal(file["tas"][:], values)


def test_what_does_not_match_is_an_error(folder):
    values = samples.typed("f64", (4, 5), seed=9)
    first = write_run(folder / "a.nc", 0, values)
    later = write_run(folder / "later.nc", 1, values, first=1.0)
    other = write_run(folder / "noleap.nc", 1, values, first=60.0, calendar="noleap")
    wide = write_run(folder / "wide.nc", 1, np.ones((4, 6)))
    flat = support.write(folder / "flat.h5", np.ones(5), "f64", dataset="tas")
    celsius = write_run(folder / "celsius.nc", 1, values)
    with h5py.File(celsius, "a") as file:
        file["tas"].attrs["units"] = "degC"
    for second, words in (
        (later, ("a.nc", "later.nc", "time", "match")),
        (other, ("a.nc", "noleap.nc")),
        (wide, ("4 x 5", "4 x 6", "wide.nc")),
        (flat, ("4 x 5", "flat.h5")),
        (celsius, ("'K'", "'degC'")),
        (folder / "missing.nc", ("missing.nc",)),
    ):
        for ranks in (None, 2):
            support.fail(*runs([first, second]), code=1, mentions=words, ranks=ranks)
    for second in (later, other, celsius):
        outcome = support.run(*runs([first, second]), "--match", "position", "--json", "-")
        assert outcome.results["count"] == 40


def test_names_that_are_none(folder):
    paths = write_runs(folder, samples.typed("f64", (2, 4, 5), seed=9))
    for name, words in (
        ("new:time", ("dimension 0", "--concat 'time'")),
        ("new:", ("new:member",)),
        ("new: ", ("new:member",)),
        ("new:a/b", ("'a/b'",)),
        ("member", ("'time', 'lat'", "new:NAME")),
    ):
        support.fail(*runs(paths, name), code=2, mentions=words)
    with h5py.File(folder / "deep.h5", "w") as file:
        file["tas"] = np.ones((1,) * 32)
    support.fail(*runs([folder / "deep.h5"]), code=2, mentions=("32",))


def test_one_file_and_the_same_twice(folder):
    values = samples.typed("f64", (2, 4, 5), seed=9)
    paths = write_runs(folder, values)
    alone = support.run(*runs(paths[:1]), "--json", "-")
    assert alone.report["shape"] == [1, 4, 5]
    twice = support.run(*runs([*paths, paths[0]]), "--json", "-", "--ops", "sum")
    assert twice.report["shape"] == [3, 4, 5]
    assert any("more than once" in each for each in twice.report["notes"])
    true = reference.statistics(np.concatenate([values, values[:1]]))
    assert twice.results["sum"] == true["sum"]


# Datasets beside them.


def beside(folder):
    """Five files, and what each has beside its values, by name."""
    values = samples.typed("f64", (5, 4, 6), seed=10)
    random = np.random.default_rng(11)
    same = random.integers(0, 2, (4, 6))
    own = random.integers(0, 9, (5, 4, 6)).astype("f8")
    paths = write_runs(
        folder, values, same=[same] * 5, own=own, weight=np.arange(5.0), kind=[0, 1, 0, 1, 1],
        model=[b"x", b"y", b"x", b"z", b"y"],
    )  # fmt: skip
    return paths, values, same, own


def test_masks_and_weights(folder):
    paths, values, same, own = beside(folder)
    support.write(folder / "w.h5", np.arange(1.0, 6.0), "f64", dataset="w")
    ones = np.ones(values.shape)
    for words, kept, weights in (
        (("--mask", "same"), same[None] * ones, ones),
        (("--mask", "own > 4"), own > 4, ones),
        (("--where", "own > 4"), own > 4, ones),
        (("--mask", f"{paths[2]}::own"), own[2][None] * ones, ones),
        (("--weights", "own"), ones, own),
        (("--weights", "weight"), ones, np.arange(5.0)[:, None, None] * ones),
        (("--weights", f"{folder}/w.h5::w@realization"), ones, np.arange(1, 6)[:, None, None] * ones),
        (("--mask", "same", "--weights", "own@time,lat"), same[None] * ones, own),
    ):
        weights = weights * (kept != 0)
        exact = [Fraction(v) * Fraction(w) for v, w in zip(values.flat, weights.flat)]
        outcome = support.run(*runs(paths), *words, "--ops", "sum", "--json", "-", ranks=2)
        assert outcome.results["sum"] == float(sum(exact)), words


def test_labels(folder):
    paths, values, same, own = beside(folder)
    support.write(folder / "l.h5", np.array([3, 3, 4, 4, 4]), "i64", dataset="l")
    kinds, models = np.array([0, 1, 0, 1, 1]), np.array(list("xyxzy"))
    of_member = np.repeat(np.arange(5), 24).reshape(values.shape)
    for by, labels in (
        ("kind", kinds[of_member]),
        ("model", models[of_member]),
        (f"{folder}/l.h5::l", np.array([3, 3, 4, 4, 4])[of_member]),
        ("same", np.broadcast_to(same, values.shape)),
    ):
        found = support.run(*runs(paths), "--by", by, "--ops", "sum,max", "--json", "-").results
        assert [each["label"] for each in found] == np.unique(labels).tolist()
        for each in found:
            there = values[labels == each["label"]]
            assert each["sum"] == reference.statistics(there)["sum"]
            assert each["max"] == there.max()
    out = folder / "out.nc"
    for by, labels in (("kind", kinds), ("model", models)):
        words = ("--axis", "realization", "--by", by, "--ops", "max", "-o", out, "--force")
        support.run(*runs(paths), *words)
        with h5py.File(out) as file:
            true = np.stack([values[labels == each].max(axis=0) for each in np.unique(labels)])
            assert np.array_equal(file["tas"][:], true)
    flags = np.random.default_rng(4).integers(0, 3, (5, 6))
    for path, part in zip(paths, flags):
        with h5py.File(path, "a") as file:
            file["flag"] = part
            file["flag"].dims[0].attach_scale(file["lat"])
    words = ("--axis", "lat,realization", "--by", "flag", "--ops", "sum", "-o", out, "--force")
    support.run(*runs(paths), *words, ranks=2)
    with h5py.File(out) as file:
        true = [[math.fsum(of_time[flags == flag]) for of_time in values.swapaxes(0, 1)] for flag in range(3)]
        assert np.array_equal(file["tas"][:], true)


def test_products_of_each_member(folder):
    paths, values, _, own = beside(folder)
    outcome = support.run(*runs(paths), "--times", "own", "--ops", "sum", "--json", "-")
    exact = sum(Fraction(a) * Fraction(b) for a, b in zip(values.flat, own.flat))
    assert outcome.results["sum"] == float(exact)


# Beside CDO, which computes in double and stores single precision.

needs_cdo = pytest.mark.skipif(shutil.which("cdo") is None, reason="needs CDO")


@needs_cdo
@pytest.mark.parametrize("operator, ops", (("ensmean", "mean"), ("ensmin", "min"), ("ensmax", "max")))
def test_what_cdo_gives(folder, operator, ops):
    netCDF4 = pytest.importorskip("netCDF4")
    values = np.random.default_rng(12).integers(2000, 3200, (4, 3, 4, 8)) / np.float32(8)
    paths = []
    for k, part in enumerate(values):
        paths.append(folder / f"m{k}.nc")
        with netCDF4.Dataset(paths[-1], "w") as file:
            for name, numbers in (
                ("time", np.arange(3.0)), ("lat", np.linspace(-60, 60, 4)), ("lon", np.arange(0, 360, 45.0)),
            ):  # fmt: skip
                file.createDimension(name, None if name == "time" else len(numbers))
                file.createVariable(name, "f8", (name,))[:] = numbers
            units = {"time": "days since 2000-01-01", "lat": "degrees_north", "lon": "degrees_east"}
            for name, text in units.items():
                file[name].units = text
            file.createVariable("tas", "f4", ("time", "lat", "lon"), zlib=True)[:] = part
    subprocess.run(["cdo", "-s", operator, *paths, folder / "cdo.nc"], check=True)
    support.run(*runs(paths, "new:member"), "--axis", "member", "--ops", ops, "-o", folder / "own.nc")
    with netCDF4.Dataset(folder / "cdo.nc") as cdo, netCDF4.Dataset(folder / "own.nc") as own:
        assert np.array_equal(cdo["tas"][:], own["tas"][:])
        assert cdo["tas"].dimensions == own["tas"].dimensions
        for name in ("time", "lat", "lon"):
            assert np.array_equal(cdo[name][:], own[name][:])
