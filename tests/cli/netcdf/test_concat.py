"""Several files as one dataset, beside h5py, NumPy, fractions and the file that holds it all."""

import h5py
import numpy as np
import pytest

import reference
import samples
import support

GZIP = {"compression": "gzip", "shuffle": True}
# How each file has its part, along a dimension of which they have 8, 12 and 5 indices.
STORAGE = {
    "contiguous": [{}] * 3,
    "big-endian": [{"order": "big"}] * 3,
    "chunks that meet": [{"chunks": (4, 4, 4)}] * 3,
    "filtered chunks that meet": [{"chunks": (2, 4, 4), "fletcher32": True, **GZIP}] * 3,
    "chunks of one index": [{"chunks": (1, 1, 1), **GZIP}] * 3,
    "chunks that don't meet": [{"chunks": (3, 5, 5), **GZIP}] * 3,
    "each another way": [{}, {"chunks": (2, 3, 4), **GZIP}, {"chunks": (5, 5, 5)}],
}


def reduce(paths, axis, *words, ops="all", **options):
    return support.run(
        "reduce", *paths, "values", "--concat", axis, "--ops", ops, "--json", "-", *words,
        **options,
    )  # fmt: skip


def along(folder, command, paths, axis, *words, **options):
    """Runs `reduce --axis`; returns its outputs by name."""
    out = folder / "out.h5"
    support.run(
        "reduce", *paths, "values", *axis, "-o", out, "--force", *command, *words, **options
    )
    return support.stored_bytes(out)


@pytest.mark.parametrize("axis", (0, -1))
@pytest.mark.parametrize("storage", STORAGE)
def test_statistics_and_quantiles_of_all_files(folder, storage, axis):
    values = samples.typed("f64", samples.shape_along(axis), seed=2)
    paths = samples.write_parts(folder, "f64", samples.split(values, axis), STORAGE[storage])
    true = reference.statistics(values)
    true["median"] = float(np.median(np.sort(values, axis=None)))
    seen = set()
    for ranks, slab in ((None, "1M"), (3 + axis, "4K")):
        outcome = reduce(paths, axis, "--slab", slab, ops="all,median", ranks=ranks)
        assert {each: outcome.results[each] for each in true} == true
        assert outcome.report["shape"] == list(values.shape)
        assert outcome.report["files"] == [str(each) for each in paths]
        seen.add(outcome.result_bytes)
    assert len(seen) == 1


@pytest.mark.parametrize("storage", STORAGE)
def test_along_axes_what_one_file_gives(folder, storage):
    axis = list(STORAGE).index(storage) % 3
    values = samples.typed("f32", samples.shape_along(axis), seed=4)
    paths = samples.write_parts(folder, "f32", samples.split(values, axis), STORAGE[storage])
    whole = support.write(folder / "whole.h5", values, "f32")
    for ranks, words in (
        (None, ("--axis", "0")),
        (None, ("--axis", "1,2", "--select", "2:, 1:, 1:")),
        (3, ("--axis", axis, "--every", "3", "--select", "1:, ::2, 2:")),
    ):
        command = ("--ops", "sum,mean,var,min,argmax", *words)
        true = along(folder, command, [whole], ())
        made = along(folder, command, paths, ("--concat", axis), "--slab", "4K", ranks=ranks)
        assert made == true


@pytest.mark.parametrize("name, order", support.TYPES_IN_TURNS)
def test_every_type(folder, name, order):
    values = samples.typed(name, (25, 40), seed=5)
    storage = [{"order": order, "chunks": (4, 16)}] * 3
    paths = samples.write_parts(folder, name, samples.split(values, 0), storage)
    whole = support.write(folder / "whole.h5", values, name, order=order)
    results = reduce(paths, 0).result_bytes
    assert results == support.reduce(whole).result_bytes
    of_integers = name in support.INTEGER_TYPES
    true = reference.statistics(values if of_integers else reference.to_double(name, values))
    assert true["sum"] == reduce(paths, 0, ops="sum").results["sum"]


@pytest.mark.parametrize("select", ("3:22:5, :, -1", "8:20", "7:8", "19, 2", "::2, 3:"))
@pytest.mark.parametrize("storage", ("contiguous", "chunks that meet", "chunks that don't meet"))
def test_selections_across_files(folder, storage, select):
    values = samples.typed("i32", samples.shape_along(0), seed=6)
    paths = samples.write_parts(folder, "i32", samples.split(values, 0), STORAGE[storage])
    true = reference.statistics(eval(f"values[{select}]"))
    results = reduce(paths, 0, "--select", select, "--threads", "3").results
    assert {each: results[each] for each in true} == true


def test_histogram_conditions_and_fill_values(folder):
    values = np.arange(25 * 30, dtype="i2").reshape(25, 30) % 101
    paths = samples.write_parts(folder, "i16", samples.split(values, 0))
    for path in paths:
        with h5py.File(path, "a") as file:
            file["values"].attrs["_FillValue"] = np.int16(50)
    outcome = support.run(
        "histogram", *paths, "values", "--concat", "0", "--bins", "7", "--range", "0,70",
        "--where", "<60", "--json", "-", ranks=3,
    )  # fmt: skip
    kept = values[(values != 50) & (values < 60)]
    assert outcome.results["counts"] == np.histogram(kept, 7, (0, 70))[0].tolist()


def test_a_mask_of_what_files_have_in_common(folder):
    values = samples.typed("i32", (25, 40), seed=7)
    paths = samples.write_parts(folder, "i32", samples.split(values, 0), [{"chunks": (4, 16)}] * 3)
    mask = np.arange(40) % 3 == 1
    support.write(folder / "mask.h5", mask, "bool", dataset="mask")
    results = reduce(paths, 0, "--mask", f"{folder}/mask.h5::mask", ranks=2).results
    true = reference.statistics(values[:, mask])
    assert {each: results[each] for each in ("count", "sum", "var", "max")} == {
        each: true[each] for each in ("count", "sum", "var", "max")
    }


def test_patterns_are_sorted_and_mixed_with_names(folder):
    values = np.arange(25)
    b, c, a = samples.write_parts(folder, "i64", samples.split(values, 0))
    support.run("reduce", c, "values", "--ops", "sum", cwd=folder)
    outcome = reduce(["b.h5", "[ac].h5"], 0, cwd=folder)
    assert outcome.report["files"] == ["b.h5", "a.h5", "c.h5"]
    assert outcome.results["argmax"] == 12
    outcome = reduce([f"{folder}/*.h5"], 0, ranks=2)
    assert outcome.report["files"] == sorted(map(str, (a, b, c)))
    named_so = support.write(folder / "[ac].h5", values, "i64")
    assert reduce(["[ac].h5"], 0, cwd=folder).report["files"] == [named_so.name]


def test_files_without_indices_and_alone(folder):
    values = np.arange(12).reshape(4, 3)
    paths = samples.write_parts(folder, "i64", [values[:0], values, values[:0]])
    for ranks in (None, 2):
        outcome = reduce(paths, 0, ranks=ranks)
        assert outcome.report["shape"] == [4, 3]
        assert outcome.results["sum"] == 66
        assert reduce(paths[1:2], 0, ranks=ranks).results["argmax"] == 11
        empty = reduce([paths[0], paths[2]], 0, ops="count", ranks=ranks)
        assert empty.report["shape"] == [0, 3]
        assert empty.results["count"] == 0


def test_chunks_that_were_never_written(folder):
    paths = [folder / "a.h5", folder / "b.h5"]
    for path in paths:
        with h5py.File(path, "w") as file:
            made = file.create_dataset("values", (8, 6), "i4", chunks=(2, 3), fillvalue=7)
            made[4:6] = 1
    outcome = reduce(paths, 0, ops="sum,count")
    assert outcome.results == {"sum": 2 * (36 * 7 + 12), "count": 96}


@pytest.mark.parametrize("storage", ({}, {"chunks": (1, 4)}, {"chunks": (2, 3)}))
def test_more_files_than_may_be_open(folder, storage):
    """A process that may have 64 files open reads 700."""
    values = np.arange(700 * 3 * 4).reshape(700, 3, 4)
    paths = []
    for i, part in enumerate(values):
        paths.append(folder / f"{i:03}.h5")
        support.write(paths[-1], part, "i64", **storage)
    outcome = support.run(
        "reduce", f"{folder}/*.h5", "values", "--concat", "0", "--json", "-", "--threads", "3",
        prefix=("prlimit", "--nofile=64"),
    )  # fmt: skip
    assert outcome.report["shape"] == [2100, 4]
    assert outcome.results["sum"] == int(values.sum())


def test_info_tells_of_the_whole(folder):
    values = samples.typed("f32", samples.shape_along(0))
    for storage, path in (
        ("contiguous", "direct"),
        ("filtered chunks that meet", "chunk"),
        ("chunks that don't meet", "library"),
    ):
        paths = samples.write_parts(folder, "f32", samples.split(values, 0), STORAGE[storage])
        outcome = support.run("info", *paths, "values", "--concat", "0", "--json", "-", ranks=2)
        assert outcome.report["shape"] == [25, 7, 10]
        assert outcome.report["results"]["read_path"] == path
        assert outcome.report["files"] == [str(each) for each in paths]


def write_climate(path, first, count, units="days since 2000-01-01", **attributes):
    """A file of `count` days, with dimension scales as netCDF-4's."""
    with h5py.File(path, "w") as file:
        file["time"] = np.arange(first, first + count, dtype="f8")
        file["time"].attrs["units"] = units
        file["lat"] = np.linspace(-80, 80, 5)
        data = np.arange(first * 5, (first + count) * 5, dtype="f4").reshape(count, 5)
        file["tas"] = data
        file["tas"].attrs.update(attributes)
        for d, scale in enumerate(("time", "lat")):
            file[scale].make_scale(scale)
            file["tas"].dims[d].attach_scale(file[scale])
    return path


def test_dimensions_and_coordinates_by_name(folder):
    paths = [write_climate(folder / f"{i}.nc", 10 * i, 10) for i in range(3)]
    words = (*paths, "tas", "--concat", "time", "--json", "-")
    outcome = support.run(
        "reduce", *words, "--ops", "min,max", "--select", "time=7.5:21., lat=-1", ranks=2
    )
    assert outcome.report["shape"] == [14]
    assert outcome.results == {"min": 8 * 5 + 4, "max": 21 * 5 + 4}
    dimensions = support.run("info", *words).report["results"]["dimensions"]
    assert [(each["name"], each["first"], each["last"]) for each in dimensions] == [
        ("time", 0, 29), ("lat", -80, 80)
    ]  # fmt: skip


def write_netcdf(path, first, count, units="hours since 2000-01-01"):
    """A file of `count` hours, with bounds and an auxiliary coordinate of each."""
    netCDF4 = pytest.importorskip("netCDF4")
    with netCDF4.Dataset(path, "w") as file:
        for name, extent in (("time", None), ("lat", 3), ("bnds", 2)):
            file.createDimension(name, extent)
        time = file.createVariable("time", "f8", ("time",), chunksizes=(7,))
        time.setncatts({"units": units, "calendar": "noleap", "bounds": "time_bnds"})
        steps = np.arange(first, first + count)
        time[:] = steps
        file.createVariable("time_bnds", "f8", ("time", "bnds"))[:] = np.stack(
            [steps - 0.5, steps + 0.5], 1
        )
        file.createVariable("lat", "f4", ("lat",))[:] = [-10, 0, 10]
        file.createVariable("lead", "i4", ("time",))[:] = steps % 5
        tas = file.createVariable("tas", "f4", ("time", "lat"), zlib=True, chunksizes=(1, 3))
        tas.coordinates = "lead"
        tas.units = "K"
        tas[:] = steps[:, None] + np.arange(3)
    return path


NETCDF_CASES = {
    "mean": ("reduce", "--axis", "time", "--ops", "mean"),
    "groups": ("reduce", "--axis", "time", "--every", "6", "--ops", "max"),
    "kept": ("reduce", "--axis", "lat"),
    "selected": ("reduce", "--axis", "lat", "--select", "time=2:-1:3"),
    "first": ("reduce", "--axis", "lat", "--select", "time=1:4"),
    "index": ("reduce", "--axis", "lat", "--select", "time=13"),
    "scan": ("scan", "--axis", "time"),
    "compact": ("compact", "--where", ">11"),
}


@pytest.mark.parametrize("case", NETCDF_CASES)
def test_outputs_have_the_coordinates_of_all_files(folder, case):
    """The output equals that of one file of all, to the last byte of each variable and
    attribute."""
    netCDF4 = pytest.importorskip("netCDF4")
    parts = [write_netcdf(folder / f"{i}.nc", first, 5) for i, first in enumerate((0, 5, 10))]
    whole = write_netcdf(folder / "whole.nc", 0, 15)
    command, *words = NETCDF_CASES[case]
    support.run(command, whole, "tas", *words, "-o", folder / "one.nc")
    support.run(
        command, *parts, "tas", "--concat", "time", *words, "-o", folder / "several.nc", ranks=2
    )
    assert support.stored_bytes(folder / "several.nc") == support.stored_bytes(folder / "one.nc")
    with netCDF4.Dataset(folder / "one.nc") as one, netCDF4.Dataset(folder / "several.nc") as made:
        assert list(made.variables) == list(one.variables)
        for name, variable in one.variables.items():
            other = made[name]
            assert other.dimensions == variable.dimensions
            ours = {"warpfold_command", "warpfold_input"}
            assert set(other.ncattrs()) == set(variable.ncattrs())
            for attribute in set(other.ncattrs()) - ours:
                assert repr(other.getncattr(attribute)) == repr(variable.getncattr(attribute))
    with h5py.File(folder / "several.nc") as file:
        assert file["tas"].attrs["warpfold_input"].decode() == f"{','.join(map(str, parts))}:tas"


def test_a_file_is_opened_few_times(folder, fault):
    """Opening is what costs on a parallel file system: a step opens a file once for all that it needs of
    a variable."""
    parts = [write_netcdf(folder / f"{i}.nc", first, 5) for i, first in enumerate((0, 5, 10))]
    support.run(
        "reduce", *parts, "tas", "--concat", "time", "--axis", "time", "--every", "6 hours", "--ops", "mean",
        "-o", folder / "out.nc", prefix=fault("open", "1.nc", "delay 0"),
    )  # fmt: skip
    assert 0 < fault.count() <= 11


def test_times_of_several_units_are_those_of_the_first(folder):
    netCDF4 = pytest.importorskip("netCDF4")
    paths = [
        write_netcdf(folder / f"{i}.nc", 0, 5, f"{unit} since 2000-01-0{i + 1}")
        for i, unit in enumerate(["hours", "days", "minutes"])
    ]
    out = folder / "out.nc"
    support.run("reduce", *paths, "tas", "--concat", "time", "--axis", "lat", "-o", out)
    numbers = [*range(5), *(24 + 24 * i for i in range(5)), *(48 + i / 60 for i in range(5))]
    halves = [0.5] * 5 + [12.0] * 5 + [0.5 / 60] * 5
    with netCDF4.Dataset(out) as file:
        assert (file["time"].units, file["time"].calendar) == ("hours since 2000-01-01", "noleap")
        assert file["time"][:].tolist() == numbers
        bounds = [[n - half, n + half] for n, half in zip(numbers[:10], halves)]
        assert file["time_bnds"][:10].tolist() == bounds
        assert file["lead"][:].tolist() == [0, 1, 2, 3, 4] * 3


def test_coordinates_of_several_units_are_those_of_the_first(folder):
    paths = [
        write_climate(folder / f"{i}.nc", 10 * i, 10, f"days since 200{i}-01-01") for i in range(2)
    ]
    words = ("reduce", *paths, "tas", "--concat", "time", "--ops", "count", "--json", "-")
    assert support.run(*words, "--select", "time=7.5:377.").results["count"] == 20
    info = support.run("info", *paths, "tas", "--concat", "time", "--json", "-").report
    assert info["results"]["dimensions"][0]["last"] == 366 + 19


def test_coordinates_of_several_calendars_are_no_coordinate(folder):
    paths = [write_climate(folder / f"{i}.nc", 10 * i, 10) for i in range(2)]
    with h5py.File(paths[1], "a") as file:
        file["time"].attrs["calendar"] = "noleap"
    words = ("reduce", *paths, "tas", "--concat", "time")
    support.fail(
        *words, "--select", "time=7.5:21.", code=1,
        mentions=("0.nc", "1.nc", "days since 2000-01-01", "noleap"),
    )  # fmt: skip
    assert support.run(*words, "--select", "time=5:15", "--json", "-").results["count"] == 50


def with_times(path, times, dtype):
    with h5py.File(path, "w") as file:
        file["v"] = np.ones((len(times), 2), "f4")
        file["time"] = np.array(times, dtype)
        file["time"].attrs["units"] = "days since 2000-01-01"
        file["time"].make_scale("time")
        file["v"].dims[0].attach_scale(file["time"])
    return path


@pytest.mark.parametrize("types", [("i4", "f8"), ("f8", "i4"), ("i8", "f4"), ("u1", ">i2")])
def test_times_of_several_types_are_doubles(folder, types):
    paths = [with_times(folder / f"{t}.nc", [t, t + 1], types[t // 2]) for t in (0, 2)]
    words = ("reduce", *paths, "v", "--concat", "time", "--axis", "1", "-o", folder / "out.nc")
    assert support.run(*words, "--json", "-").report.get("notes", []) == []
    with h5py.File(folder / "out.nc") as file:
        assert (file["time"].dtype, file["time"][:].tolist()) == ("f8", [0, 1, 2, 3])


def test_times_that_no_double_holds_are_noted(folder):
    paths = [with_times(folder / f"{t}.nc", [t], f"i{4 + 4 * (t > 0)}") for t in (0, 2**53 + 2)]
    words = ("reduce", *paths, "v", "--concat", "time", "--axis", "1", "-o", folder / "out.nc")
    assert any("f64" in note for note in support.run(*words, "--json", "-").report["notes"])
    with h5py.File(folder / "out.nc") as file:
        assert file["time"].attrs["NAME"].startswith(b"This is a netCDF dimension")


@pytest.mark.parametrize("attribute, value, reported", [
    ("bounds", "cells", "the names of its bounds"),
    ("scale_factor", 2.0, "its scale_factor, add_offset or _Unsigned"),
    ("missing_value", 9.0, "its missing values"),
])  # fmt: skip
def test_attributes_of_coordinates_that_differ_are_named(folder, attribute, value, reported):
    paths = [with_times(folder / f"{t}.nc", [t, t + 1], "f8") for t in (0, 2)]
    with h5py.File(paths[1], "a") as file:
        file["time"].attrs[attribute] = value
    words = ("reduce", *paths, "v", "--concat", "time", "--axis", "1", "-o", folder / "out.nc")
    said = f"outputs lack the coordinate 'time': {reported} differ in '{paths[0]}' and '{paths[1]}'."
    assert said in support.run(*words).stderr


@pytest.mark.parametrize(
    "attributes, true",
    (
        ({"scale_factor": np.float32(0.5)}, sum(range(20)) + sum(range(20, 40)) / 2),
        ({"_FillValue": np.float32(23)}, sum(range(40)) - 23),
        ({"valid_min": np.float32(30)}, sum(range(20)) + sum(range(30, 40))),
    ),
)
def test_attributes_that_differ_are_those_of_each_file(folder, attributes, true):
    paths = [
        write_climate(folder / "a.nc", 0, 4),
        write_climate(folder / "b.nc", 4, 4, **attributes),
    ]
    words = ("reduce", *paths, "tas", "--concat", "time", "--json", "-")
    assert support.run(*words, ranks=3).results["sum"] == true
    assert support.run(*words, "--raw").results["sum"] == sum(range(40))


def test_fill_values_that_differ_or_one_for_all(folder):
    paths = [
        write_climate(folder / f"{i}.nc", 4 * i, 4, _FillValue=np.float32(19 * i)) for i in range(2)
    ]
    words = ("reduce", *paths, "tas", "--concat", "time", "--json", "-")
    assert support.run(*words).results["count"] == 39
    assert support.run(*words, "--fill-value", "7").results["sum"] == sum(range(40)) - 7


def test_attributes_that_are_nan_are_the_same(folder):
    paths = [
        write_climate(folder / f"{i}.nc", 4 * i, 4, _FillValue=np.float32("nan")) for i in range(2)
    ]
    outcome = support.run("reduce", *paths, "tas", "--concat", "0", "--json", "-")
    assert outcome.results["count"] == 40


def test_bad_inputs_are_one_error(folder):
    values = np.arange(12.0).reshape(4, 3)
    good = support.write(folder / "good.h5", values, "f64")
    f32 = support.write(folder / "f32.h5", values, "f32")
    big = support.write(folder / "big.h5", values, "f64", order="big")
    wide = support.write(folder / "wide.h5", np.ones((4, 5)), "f64")
    flat = support.write(folder / "flat.h5", np.ones(4), "f64")
    other = support.write(folder / "other.h5", values, "f64", dataset="other")
    damaged = folder / "damaged.h5"
    damaged.write_bytes(good.read_bytes()[:600])
    concat = ("values", "--concat", "0")
    for ranks, second, words in (
        (2, f32, ("good.h5", "f32.h5", "float64", "float32")),
        (None, big, ("good.h5", "big.h5", "types", "big-endian")),
        (None, wide, ("good.h5", "wide.h5", "4 x 3", "4 x 5")),
        (None, flat, ("good.h5", "flat.h5", "4 x 3")),
        (None, other, ("other.h5", "values")),
        (None, damaged, ("damaged.h5",)),
        (2, folder / "missing.h5", ("missing.h5",)),
        (2, folder / "none*.h5", ("none*.h5",)),
    ):
        support.fail("reduce", good, second, *concat, code=1, mentions=words, ranks=ranks)
    for words in (
        ("reduce", good, good, "values", "--concat", "2"),
        ("reduce", good, good, "values", "--concat", "time"),
        ("reduce", good, good, "values", "--concat", "0,1"),
        ("reduce", good, good, "val*", "--concat", "0"),
        ("reduce", good, "--all", "--concat", "0"),
        ("reduce", good, "--concat", "0"),
        ("info", good, "--concat", "0"),
    ):
        support.fail(*words, code=2)


def test_a_damaged_chunk_is_named_by_its_own_file(folder):
    values = np.random.default_rng(1).integers(0, 99, (8, 50))
    paths = samples.write_parts(folder, "i64", [values, values], [{"chunks": (2, 50), **GZIP}] * 2)
    with h5py.File(paths[1], "r") as file:
        stored = file["values"].id.get_chunk_info(2)
    with open(paths[1], "r+b") as file:
        file.seek(stored.byte_offset + 4)
        file.write(b"\xff" * 30)
    support.fail(
        "reduce", *paths, "values", "--concat", "0", code=1,
        mentions=(paths[1].name, "chunk [2, 0]", f"byte {stored.byte_offset}"),
    )  # fmt: skip


def test_outputs_and_reports_replace_no_input(folder):
    values = np.arange(12.0).reshape(4, 3)
    paths = samples.write_parts(folder, "f64", [values, values])
    words = ("reduce", *paths, "values", "--concat", "0")
    before = paths[1].read_bytes()
    support.fail(*words, "--json", paths[1], code=2)
    support.fail(*words, "--axis", "0", "-o", paths[1], "--force", code=2)
    assert paths[1].read_bytes() == before


def test_a_name_may_have_brackets(folder):
    paths = [support.write(folder / f"{part}.h5", np.arange(5) + part, "i32", "a[0]")
             for part in range(2)]  # fmt: skip
    outcome = support.run("reduce", *paths, "a[0]", "--concat", 0, "--ops", "sum", "--json", "-")
    assert outcome.results == {"sum": 25}
