"""Coordinates of texts, which netCDF-4 shows as characters and h5py as texts."""

import h5py
import numpy as np
import pytest

import support

netCDF4 = pytest.importorskip("netCDF4")
SEASONS = ["DJF", "JJA", "MAM", "SON"]


def write_months(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 2)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2001-01-15"
        time[:] = np.arange(0, 360, 30)
        file.createVariable("v", "f4", ("time", "x"))[:] = np.arange(24).reshape(12, 2)
    return path


def write_texts(path, texts, length=5, name="name"):
    """A coordinate of characters, as the netCDF library makes it."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension(name, len(texts))
        file.createDimension("length", length)
        file.createDimension("x", 2)
        names = file.createVariable(name, "S1", (name, "length"))
        names.long_name = "names"
        padded = b"".join(text.encode().ljust(length, b"\0") for text in texts)
        names[:] = np.frombuffer(padded, "S1").reshape(-1, length)
        file.createVariable("v", "f4", (name, "x"))[:] = np.arange(2 * len(texts)).reshape(-1, 2)
    return path


def shown(path, name):
    """The texts as netCDF4 and as h5py have them."""
    with netCDF4.Dataset(path) as file:
        variable = file[name]
        file.set_auto_mask(False)
        assert variable.dtype == "S1"
        assert variable.dimensions[0] == name
        variable.set_auto_chartostring(False)
        texts = [b"".join(row).rstrip(b"\0").decode() for row in variable[:]]
    with h5py.File(path) as file:
        assert [each.decode() for each in file[name][()]] == texts
    return texts


def by_season(folder):
    path, out = write_months(folder / "months.nc"), folder / "seasons.nc"
    support.run("reduce", path, "v", "--axis", "time", "--by", "season", "--ops", "sum", "-o", out)
    return out


def test_labels_are_characters(tmp_path):
    out = by_season(tmp_path)
    assert shown(out, "season") == SEASONS
    with netCDF4.Dataset(out) as file:
        assert file["v"].dimensions == ("season", "x")
        assert file["season"]._Encoding == "utf-8"
        assert file["v"][1, 0] == sum(2 * month for month in (5, 6, 7))


def test_xarray_selects_by_them(tmp_path):
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(by_season(tmp_path), engine="netcdf4") as file:
        assert float(file["v"].sel(season="JJA")[0]) == sum(2 * month for month in (5, 6, 7))


def test_are_carried_over_and_matched(tmp_path):
    seasons, carried = by_season(tmp_path), tmp_path / "carried.nc"
    support.run("reduce", seasons, "v", "--axis", "x", "--ops", "sum", "-o", carried)
    assert shown(carried, "season") == SEASONS
    support.run("scan", seasons, "v", "--select", "1:3,:", "-o", f"{carried}:part", "--append")
    assert shown(carried, "season_2") == SEASONS[1:3]
    others = write_texts(tmp_path / "others.nc", ["DJF", "MAM", "JJA", "SON"], name="season")
    support.fail(
        "reduce", seasons, "v", "--mask", f"{others}::v", code=1, mentions=("MAM", "JJA", "season")
    )


def test_of_netcdfs_characters_are_carried_over(tmp_path):
    texts = ["ab", "ångs", "", "abcde"]
    path, out = write_texts(tmp_path / "in.nc", texts), tmp_path / "out.nc"
    support.run("reduce", path, "v", "--axis", "x", "--ops", "sum", "-o", out)
    assert shown(out, "name") == texts
    with netCDF4.Dataset(out) as file:
        assert file["name"].long_name == "names"
    support.run("scan", path, "v", "--select", "1:,:", "-o", out, "--force")
    assert shown(out, "name") == texts[1:]


def test_outputs_of_the_same_labels_share_them(tmp_path):
    path = write_texts(tmp_path / "in.nc", ["b", "a", "b", ""])
    with netCDF4.Dataset(path, "a") as file:
        file.createVariable("w", "f4", ("name", "x"))[:] = 1
    out = tmp_path / "out.nc"
    support.run(
        "reduce", path, "v", "w", "--axis", "name", "--by", "name", "--ops", "sum", "-o", out
    )
    assert shown(out, "name") == ["a", "b"]
    with netCDF4.Dataset(out) as file:
        assert set(file.variables) == {"name", "v", "w"}
        assert file["v"][:].tolist() == [[2, 3], [4, 6]]


@pytest.mark.parametrize("as_characters", [True, False])
def test_select_an_index(tmp_path, as_characters):
    texts = ["bern", "2001-03", "ulm", "ulm", "7", ""]
    path = write_texts(tmp_path / "in.nc", texts, length=7)
    if not as_characters:
        with netCDF4.Dataset(path, "w") as file:
            file.createDimension("name", len(texts))
            file.createDimension("x", 2)
            file.createVariable("name", str, ("name",))[:] = np.array(texts, object)
            file.createVariable("v", "f4", ("name", "x"))[:] = np.arange(12).reshape(6, 2)
    for text, index in (("bern", 0), ("2001-03", 1), ("4", 4), ("-1", 5)):
        found = support.run("reduce", path, "v", "--select", f"name={text}, x=1", "--ops", "sum", "--json", "-")
        assert found.results == {"sum": 2 * index + 1}
    for text, mentions in (
        ("ulm", ["several"]), ("Bern", ["there are '2001-03', '7', 'bern', 'ulm'"]),
        ("bern:ulm", ["bounds"]), ("~bern", ["there are"]),
    ):  # fmt: skip
        support.fail("reduce", path, "v", "--select", f"name={text}", code=2, mentions=mentions)
    out = tmp_path / "out.nc"
    support.run("reduce", path, "v", "--select", "name=bern", "--axis", "x", "-o", out)
    with netCDF4.Dataset(out) as file:
        assert "name" in file["v"].coordinates.split()
        text = file["name"][...]
        assert (b"".join(text[:4]).decode() if as_characters else text) == "bern"
        assert file["name"].shape == ((7,) if as_characters else ())


def test_select_an_index_of_joined_files(tmp_path):
    paths = [write_texts(tmp_path / "0.nc", ["bern", "ulm"]), write_texts(tmp_path / "1.nc", ["oslo", "bern"])]
    words = ("reduce", *paths, "v", "--concat", "name", "--ops", "sum")
    for text, total in (("ulm", 2 + 3), ("oslo", 0 + 1)):
        assert support.run(*words, "--select", f"name={text}", "--json", "-").results == {"sum": total}
    support.fail(*words, "--select", "name=bern", code=2, mentions=["several"])
    support.fail(*words, "--select", "name=rome", code=2, mentions=["there are 'bern', 'oslo', 'ulm'"])
