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
