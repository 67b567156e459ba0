"""netCDF variables that lack records, or elements, beside netCDF4-python."""

import h5py
import numpy as np
import pytest

import support

netCDF4 = pytest.importorskip("netCDF4")
KINDS = {"one a chunk": (1, 2), "several a chunk": (3, 2), "of 2": (2, 1)}


def write(path, stored, records=7, first=0, chunks=(1, 2), fill=-1.0, dtype="f4"):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 2)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-29"
        time[:] = first + np.arange(records)
        variable = file.createVariable(
            "v", dtype, ("time", "x"), chunksizes=chunks, fill_value=fill, zlib=True
        )
        if stored:
            variable[:stored] = first + np.arange(2 * stored).reshape(stored, 2)
        mask = file.createVariable("m", "i1", ("time", "x"))
        mask[:records] = 1
    return path


def elements(*paths):
    parts = []
    for path in paths:
        with netCDF4.Dataset(path) as file:
            parts.append(np.ma.masked_array(file["v"][:]))
    return np.ma.concatenate(parts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stored", [0, 4, 5, 7])
@pytest.mark.parametrize("fill", [-1.0, None])
def test_missing_records_are_fill_values(folder, stored, kind, fill):
    paths = [
        write(folder / "a.nc", stored, chunks=KINDS[kind], fill=fill),
        write(folder / "b.nc", 7, first=7, chunks=KINDS[kind], fill=fill),
    ]
    values = elements(*paths)
    joined = [*paths, "v", "--concat", "time"]
    for path in ("auto", "library"):
        report = support.run(
            "reduce", *joined, "--ops", "count,sum", "--read-path", path, "--json", "-"
        ).report
        assert report["results"] == {"count": int(values.count()), "sum": float(values.sum())}
        assert len(report.get("notes", [])) == (stored < 7)
        masked = support.run(
            "reduce", paths[0], "v", "--ops", "count", "--mask", "m", "--read-path", path,
            "--json", "-",
        ).results  # fmt: skip
        assert masked == {"count": int(values[:7].count())}
    out = folder / "o.nc"
    support.run("reduce", *joined, "--axis", "x", "--ops", "count", "-o", out, ranks=3)
    with netCDF4.Dataset(out) as file:
        assert file["time"][:].tolist() == list(range(14))
        assert file["v"][:].tolist() == values.count(1).tolist()


def test_records_are_grouped_by_their_own_times(folder):
    path = write(folder / "a.nc", 4)
    support.run("reduce", path, "v", "--axis", "time", "--by", "month", "--ops", "count",
                "-o", folder / "o.nc")  # fmt: skip
    with h5py.File(folder / "o.nc") as file:
        assert (file["month"][()].tolist(), file["v"][:, 0].tolist()) == ([1, 2], [3, 1])
    found = support.run("reduce", path, "v", "--select", "time=2.:5.", "--json", "-").results
    assert (found["count"], found["max"]) == (4, 7.0)


@pytest.mark.parametrize("groups", ["", "/model"])
def test_a_record_dimension_without_a_variable_is_as_long_as_its_longest(folder, groups):
    path = folder / "in.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 2)
        place = file.createGroup(groups) if groups else file
        for name, records in (("v", 2), ("w", 5)):
            place.createVariable(name, "f4", ("time", "x"))[:records] = np.arange(1, 2 * records + 1).reshape(-1, 2)
        shape, valid = place["v"][:].shape, int(np.ma.count(place["v"][:]))
    report = support.run("reduce", path, f"{groups}/v", "--ops", "count,sum", "--json", "-").report
    assert (report["shape"], report["results"]) == (list(shape), {"count": valid, "sum": 10})
    weighted = support.run(
        "reduce", path, f"{groups}/w", "--weights", f"{groups}/v", "--ops", "mean,count", "--json", "-"
    ).results
    assert weighted == {"mean": (1 + 4 + 9 + 16) / 10, "count": valid}


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "i4", "i8", "u2", "u4", "u8", "i1", "u1"])
def test_the_default_fill_value_is_missing_as_in_netcdf4_python(folder, dtype):
    path = folder / "default.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 6)
        file.createVariable("v", dtype, ("x",))[:3] = [1, 2, 3]
        never = file.createVariable("never", dtype, ("x",), fill_value=False)
        never[:3] = [1, 2, 3]
    for name in ("v", "never"):
        with netCDF4.Dataset(path) as file:
            # The netCDF manual gives bytes no default fill value.
            file[name].set_auto_mask(np.dtype(dtype).itemsize > 1)
            masked = np.ma.masked_array(file[name][:])
        for words, expected in (((), masked), (("--raw",), masked.data),
                                (("--fill-value", "none"), masked.data)):  # fmt: skip
            expected = np.ma.masked_array(expected).compressed()
            found = support.run("reduce", path, name, *words, "--json", "-").results
            assert found["count"] == expected.size
            assert (found["min"], found["max"]) == (expected.min().item(), expected.max().item())


def test_a_fill_value_of_hdf5_is_a_number_where_the_file_is_not_netcdf(folder):
    with h5py.File(folder / "plain.h5", "w") as file:
        file.create_dataset("u2", (4,), "u2", fillvalue=65535)[:2] = 1
        file.create_dataset("f4", (4,), "f4", fillvalue=1e20)[:2] = 1
    for name, most in (("u2", 65535), ("f4", float(np.float32(1e20)))):
        found = support.run("reduce", folder / "plain.h5", name, "--json", "-").results
        assert (found["count"], found["max"]) == (4, most)


def test_chunks_never_written_are_noted_where_they_count(folder):
    path = folder / "sparse.h5"
    with h5py.File(path, "w") as file:
        data = file.create_dataset("v", (100,), "f8", chunks=(10,), fillvalue=2.5)
        data[15] = 1.0
    found = support.run("reduce", path, "v", "--ops", "sum", "--json", "-").report
    assert found["results"] == {"sum": 248.5}
    assert found["notes"] == ["9 chunks of 'v' were never written: their elements count as 2.5."]
    with h5py.File(path, "a") as file:
        file["v"].attrs["_FillValue"] = 2.5
    assert "notes" not in support.run("reduce", path, "v", "--json", "-").report


@pytest.mark.parametrize("fill", [None, 1e9])
def test_times_that_were_never_written_are_in_no_cell(folder, fill):
    path = folder / "in.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createVariable("time", "f8", ("time",), fill_value=fill).units = "days since 2000-01-01"
        file["time"][:3] = [0, 1, 2]
        file.createVariable("v", "f8", ("time",))[:] = [1.0, 2.0, 3.0, 4.0]
    for words in ([], ["--keepdims"], ["--every", "2"]):
        support.run("reduce", path, "v", "--axis", "time", "--ops", "sum", *words, "-o",
                    folder / "o.nc", "--force")  # fmt: skip
        with netCDF4.Dataset(folder / "o.nc") as file:
            assert "time" not in file.variables
    support.run("reduce", path, "v", "--axis", "time", "--select", "time=:3", "--ops", "sum", "-o",
                folder / "o.nc", "--force")  # fmt: skip
    with netCDF4.Dataset(folder / "o.nc") as file:
        assert file["time"][...] == 1 and file["time_bnds"][:].tolist() == [0, 2]


def test_chunks_never_written_count_as_each_file_has_it(folder):
    for name, fill in (("a.h5", 3.0), ("b.h5", 5.0)):
        with h5py.File(folder / name, "w") as file:
            file.create_dataset("v", (8,), "f4", chunks=(4,), fillvalue=fill)[:4] = 1
    report = support.run("reduce", folder / "a.h5", folder / "b.h5", "v", "--concat", "0", "--ops",
                         "sum", "--json", "-").report  # fmt: skip
    assert report["results"]["sum"] == 40
    assert report["notes"] == ["2 chunks of 'v' were never written: their elements count as 3, 5."]


def test_files_without_records_are_noted_for_nothing(folder):
    none = write(folder / "none.nc", 0, records=0)
    some = write(folder / "some.nc", 3, records=3)
    for words in ([], ["--keepdims"], ["--every", "2"]):
        for paths in ([none], [none, some], [some, none]):
            concat = ["--concat", "time"] if len(paths) > 1 else []
            outcome = support.run("reduce", *paths, "v", *concat, "--axis", "time", "--ops", "mean",
                                  *words, "-o", folder / "o.nc", "--force")  # fmt: skip
            assert outcome.stderr == ""


def test_coordinates_that_mark_missing_ones_otherwise_are_not_joined(folder):
    for name, first, fill in (("a.nc", 0, -1), ("same.nc", 3, -1), ("other.nc", 3, -2)):
        with netCDF4.Dataset(folder / name, "w") as file:
            file.createDimension("time", None)
            file.createVariable("time", "f8", ("time",), fill_value=np.nan)[:] = first + np.arange(3)
            file.createVariable("lead", "i4", ("time",), fill_value=fill)[:] = [1, fill, 3]
            file.createVariable("v", "f4", ("time",))[:] = first + np.arange(3)
            file["v"].coordinates = "lead"
    for name, joined in (("same.nc", True), ("other.nc", False)):
        outcome = support.run("scan", folder / "a.nc", folder / name, "v", "--concat", "time", "-o",
                              folder / "o.nc", "--force")  # fmt: skip
        assert ("outputs lack the coordinate 'lead'" in outcome.stderr) != joined
        with netCDF4.Dataset(folder / "o.nc") as file:
            assert file["time"][:].tolist() == list(range(6))
            assert ("lead" in file.variables) == joined
            if joined:
                assert file["lead"][:].mask.tolist() == [False, True, False] * 2
