"""Coordinates of a dataset that --append --force replaces: those that nothing else uses go, too."""

import h5py
import numpy as np
import pytest

import support

netCDF4 = pytest.importorskip("netCDF4")


def write_year(path, first, size=4, sites=("a", "bb")):
    """Times with bounds, and sites that have texts and a latitude."""
    with netCDF4.Dataset(path, "w") as file:
        longest = max(map(len, sites))
        extents = {"time": size, "site": len(sites), "nv": 2, "length": longest}
        for name, extent in extents.items():
            file.createDimension(name, extent)
        time = file.createVariable("time", "f8", ("time",))
        time.units, time.bounds = "days since 2001-01-01", "time_bnds"
        time[:] = first + np.arange(size)
        bounds = file.createVariable("time_bnds", "f8", ("time", "nv"))
        bounds[:] = first + np.arange(size)[:, None] + [0, 1]
        texts = b"".join(site.encode().ljust(longest, b"\0") for site in sites)
        file.createVariable("site", "S1", ("site", "length"))[:] = np.frombuffer(
            texts, "S1"
        ).reshape(-1, longest)
        file.createVariable("lat", "f4", ("site",))[:] = first + np.arange(len(sites))
        variable = file.createVariable("v", "f4", ("time", "site"))
        variable.coordinates = "lat"
        variable[:] = np.arange(size * len(sites)).reshape(size, -1)
    return path


@pytest.fixture
def years(tmp_path):
    one = write_year(tmp_path / "one.nc", 0)
    return one, write_year(tmp_path / "two.nc", 10, 6, ("c", "dd", "eeeee"))


def scan_to(out, year, dataset="v"):
    support.run("scan", year, "v", "-o", f"{out}::{dataset}", "--append", "--force")


def names(path):
    with h5py.File(path) as file:
        found = []
        file.visit(found.append)
    return found


def shown(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        variables = {
            name: (each.dimensions, each[:].tolist(), vars(each).get("coordinates"))
            for name, each in file.variables.items()
        }
        return variables, {name: each.size for name, each in file.dimensions.items()}


def test_coordinates_go_with_the_dataset_they_were_written_for(tmp_path, years):
    out, fresh = tmp_path / "out.nc", tmp_path / "fresh.nc"
    for year in (*years, *years):
        scan_to(out, year)
    scan_to(fresh, years[1])
    assert names(out) == names(fresh) and shown(out) == shown(fresh)


def test_coordinates_of_several_outputs_go_with_all_of_them(tmp_path, years):
    out = tmp_path / "out.nc"
    words = ["--axis", "time", "--ops", "min,max", "-o", out, "--append", "--force"]
    for year in years:
        support.run("reduce", year, "v", *words)
    fresh = tmp_path / "fresh.nc"
    support.run("reduce", years[1], "v", *words[:4], "-o", fresh)
    assert shown(out) == shown(fresh)


def test_coordinates_that_another_output_has_stay(tmp_path, years):
    out = tmp_path / "out.nc"
    scan_to(out, years[0])
    scan_to(out, years[0], "other")
    before = shown(out)[0]
    scan_to(out, years[1])
    scan_to(out, years[1])
    after = shown(out)[0]
    assert {name: after[name] for name in before if name != "v"} == {
        name: each for name, each in before.items() if name != "v"
    }
    assert after["v"][0] == ("time_2", "site_2")
    scan_to(out, years[1], "other")
    last, dimensions = shown(out)
    assert last["other"][0] == ("time", "site") and "string2" not in dimensions
    assert last["v"] == after["v"] and last["time_2"] == after["time_2"]


def attach(file, name):
    file["mine"] = np.zeros(file[name].shape[0])
    file["mine"].dims[0].attach_scale(file[name])


USES = {
    "dimension": lambda file: attach(file, "site"),
    "coordinates": lambda file: file.create_group("g").attrs.update(coordinates="x lat site"),
    "measures": lambda file: file.attrs.update(cell_measures="area: /site"),
    "soft link": lambda file: file.update({"name": h5py.SoftLink("/site")}),
    "hard link": lambda file: file.update({"name": file["site"]}),
    "reference": lambda file: file.attrs.update(mine=file["site"].ref),
    "references": lambda file: file.create_dataset(
        "mine", data=np.array([file["site"].ref], h5py.ref_dtype)
    ),
}


@pytest.mark.parametrize("use", USES)
def test_what_anything_refers_to_stays(tmp_path, years, use):
    out = tmp_path / "out.nc"
    scan_to(out, years[0])
    with h5py.File(out, "a") as file:
        USES[use](file)
    before = shown(out)[0]
    scan_to(out, years[1])
    after = shown(out)[0]
    assert after["site"] == before["site"]
    assert after["v"][0][1] == "site_2"
    with h5py.File(out) as file:
        scales = [file[scale] for scale in file["_nc4_non_coord_site"].attrs["DIMENSION_LIST"][0]]
        assert [scale.name for scale in scales] == ["/site"]


def test_what_others_wrote_stays(tmp_path, years):
    out = tmp_path / "out.nc"
    out.write_bytes(years[0].read_bytes())
    before = shown(out)[0]
    scan_to(out, years[1])
    after = shown(out)[0]
    assert {name: after[name] for name in before if name != "v"} == {
        name: each for name, each in before.items() if name != "v"
    }


def test_a_replaced_link_leaves_the_dataset_its_dimensions(tmp_path, years):
    out = tmp_path / "out.nc"
    scan_to(out, years[0])
    with h5py.File(out, "a") as file:
        file["link"] = h5py.SoftLink("/v")
        file["again"] = file["v"]
    before = shown(out)[0]
    for name in ("link", "again"):
        scan_to(out, years[1], name)
    after = shown(out)[0]
    assert after["v"] == before["v"] and after["site"] == before["site"]
