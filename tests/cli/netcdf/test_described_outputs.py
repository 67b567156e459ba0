"""Metadata of outputs: their origin, and how readers of netCDF interpret them."""

import shutil
import subprocess
import zlib

import h5py
import numpy as np
import pytest

import support

netCDF4 = pytest.importorskip("netCDF4")
ORIGIN = {
    "Conventions": "CF-1.8", "title": "a title", "institution": "here", "source": "a model",
    "references": "a paper", "comment": "a remark",
}  # fmt: skip


@pytest.fixture(scope="module")
def climate(tmp_path_factory):
    """Records of hybrid levels, whose attributes name other variables."""
    path = tmp_path_factory.mktemp("climate") / "climate.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.setncatts(ORIGIN)
        for name, extent in (("time", None), ("lev", 2), ("x", 3)):
            file.createDimension(name, extent)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        time[:] = [0.5, 1.5, 2.5, 3.5]
        lev = file.createVariable("lev", "f8", ("lev",))
        lev.setncatts({"formula_terms": "a: a b: b ps: ps", "units": "1"})
        lev[:] = [0.9, 0.5]
        packed = file.createVariable("x", "i2", ("x",))
        packed.set_auto_maskandscale(False)
        packed.setncatts({"scale_factor": 0.5, "add_offset": 1.0, "units": "m"})
        packed[:] = [2, 4, 6]
        v = file.createVariable("v", "f4", ("time", "lev", "x"))
        v.setncatts({"ancillary_variables": "flag", "cell_measures": "area: area", "units": "degC"})
        v[:] = np.arange(24).reshape(4, 2, 3)
    return path


def test_outputs_keep_their_origin(climate, folder):
    for name in ("out.nc", "more.nc"):
        support.run("reduce", climate, "v", "--axis", "x", "--ops", "mean", "-o", folder / name)
    support.run(
        "reduce", climate, "v", "--axis", "lev", "--ops", "mean", "-o", f"{folder}/more.nc:w",
        "--append",
    )  # fmt: skip
    for name in ("out.nc", "more.nc"):
        with netCDF4.Dataset(folder / name) as file:
            assert {each: file.getncattr(each) for each in ORIGIN} == ORIGIN


@pytest.mark.parametrize("ranks", [None, 2])
def test_netcdf_reads_compressed_outputs(climate, folder, ranks):
    out = folder / "out.nc"
    storage = ("--chunks", "auto", "--deflate", 4, "--shuffle")
    commands = [
        ("reduce", climate, "v", "--axis", "lev", "--ops", "mean,max", "-o", out, *storage),
        ("compact", climate, "v", "--where", ">3", "-o", f"{out}:kept", "--append", *storage),
    ]
    for words in commands:
        support.run(*words, ranks=ranks)
    values = np.arange(24, dtype="f4").reshape(4, 2, 3)
    with netCDF4.Dataset(out) as file:
        assert np.array_equal(file["v_mean"][:], values.mean(axis=1))
        assert np.array_equal(file["v_max"][:], values.max(axis=1))
        assert np.array_equal(file["kept"][:], values[values > 3])
        assert file["v_mean"].dimensions == ("time", "x")
        for name in ("v_mean", "v_max", "kept"):
            filters = file[name].filters()
            assert filters["zlib"] and filters["shuffle"] and filters["complevel"] == 4
            assert file[name].chunking() == list(file[name].shape)
    for words in (["ncdump", "-s", out], ["cdo", "-s", "infon", "-selname,v_mean", out]):
        if shutil.which(words[0]) is not None:
            subprocess.run(words, capture_output=True, check=True)


def test_no_attribute_names_what_is_not_there(climate, folder):
    support.run("reduce", climate, "v", "--axis", "time", "--ops", "mean,std", "-o", folder / "o.nc")
    with netCDF4.Dataset(folder / "o.nc") as file:
        assert "formula_terms" not in file["lev"].ncattrs()
        for name in ("v_mean", "v_std"):
            named = {"ancillary_variables", "cell_measures"} & set(file[name].ncattrs())
            assert not named
        assert [file[name].units for name in ("v_mean", "v_std")] == ["degC", "K"]


def test_records_stay_records(climate, folder):
    one, more = folder / "one.nc", folder / "more.nc"
    support.run("reduce", climate, "v", "--axis", "x", "--ops", "mean", "-o", one)
    support.run("scan", climate, "v", "--axis", "x", "-o", more)
    support.run("reduce", climate, "v", "--axis", "x", "--ops", "max", "-o", f"{more}:w", "--append")
    for path in (one, more):
        with netCDF4.Dataset(path) as file:
            unlimited = {name for name, each in file.dimensions.items() if each.isunlimited()}
            assert unlimited == {"time"}
            assert file["time"][:].tolist() == [0.5, 1.5, 2.5, 3.5]
            assert not [name for name in file.dimensions if "_2" in name]


def test_cells_of_packed_coordinates_are_unpacked(climate, folder):
    support.run("reduce", climate, "v", "--axis", "x", "--ops", "mean", "-o", folder / "o.nc")
    support.run("reduce", climate, "v", "--axis", "lev", "--ops", "mean", "-o", folder / "k.nc")
    with netCDF4.Dataset(folder / "o.nc") as file:
        assert file["x"].dtype == np.float64 and "scale_factor" not in file["x"].ncattrs()
        assert (float(file["x"][...]), file[file["x"].bounds][:].tolist()) == (3.0, [2.0, 4.0])
    with netCDF4.Dataset(folder / "k.nc") as file:
        assert file["x"][:].tolist() == [2.0, 3.0, 4.0]


def test_info_tells_null_dataspaces_from_scalars(folder):
    with h5py.File(folder / "in.h5", "w") as file:
        file["null"] = h5py.Empty("f4")
        file["scalar"] = 1.0
    lines = [line.split() for line in support.run("info", folder / "in.h5").stdout.splitlines()]
    assert [line[::2] for line in lines] == [["null", "null"], ["scalar", "scalar"]]


def test_a_coordinate_whose_chunk_is_too_short_is_named_and_missing(folder):
    """HDF5 itself takes what its memory held before for the rest of the chunk."""
    path, output = folder / "short.h5", folder / "out.h5"
    with h5py.File(path, "w") as file:
        file["values"] = np.arange(24.0).reshape(8, 3)
        row = file.create_dataset("row", (8,), "f8", chunks=(4,), compression="gzip")
        row.id.write_direct_chunk((0,), zlib.compress(np.arange(4.0).tobytes()))
        row.id.write_direct_chunk((4,), zlib.compress(np.arange(2.0).tobytes()))
        row.make_scale("row")
        file["values"].dims[0].attach_scale(row)
    words = ("reduce", path, "values", "--axis", 1, "-o", output, "--json", "-")
    report = support.run(*words).report
    notes = [note for note in report["notes"] if note.startswith("outputs lack the coordinate 'row'")]
    assert len(notes) == 1 and "it has 16 bytes without its filters, 32 are a chunk" in notes[0]
    with h5py.File(output) as file:
        assert file["values"][...].tolist() == np.arange(24.0).reshape(8, 3).sum(1).tolist()
        assert file["row"].attrs["NAME"].startswith(b"This is a netCDF dimension but not")


def test_blanks_pad_texts(folder):
    """As programs in Fortran write them."""
    days = np.array([15.0, 45.0, 75.0])
    with h5py.File(folder / "in.nc", "w") as file:
        for name, values, texts in (
            ("time", days, {"units": "days since 2001-01-01", "calendar": "360_day", "bounds": "cells"}),
            ("cells", np.stack([days - 15, days + 15], 1), {}),
            ("v", np.arange(6, dtype="i1").reshape(3, 2) - 3, {"units": "K", "_Unsigned": "true"}),
        ):
            file[name] = values
            file[name].attrs.update({key: np.bytes_(text.ljust(32)) for key, text in texts.items()})
        file["time"].make_scale("time")
        file["v"].dims[0].attach_scale(file["time"])
    words = ("--axis", "time", "--every", "month", "--ops", "var,max", "-o", folder / "out.nc")
    support.run("reduce", folder / "in.nc", "v", *words)
    with netCDF4.Dataset(folder / "out.nc") as file:
        assert file["v_var"].units == "K2"
        assert file["v_max"][:].tolist() == [[253, 254], [255, 0], [1, 2]]
        assert file["cells"][:].tolist() == [[0, 30], [30, 60], [60, 90]]
        assert file["time"][:].tolist() == days.tolist()
