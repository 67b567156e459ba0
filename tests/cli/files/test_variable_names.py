"""Variables that netCDF stores under other names than its users know: those called as a dimension that
they are no coordinate of."""

import json

import netCDF4
import numpy as np
import pytest

import support

VALUES = np.arange(24, dtype="f4").reshape(2, 3, 4)


@pytest.fixture
def grid(tmp_path):
    path = tmp_path / "grid.nc"
    with netCDF4.Dataset(path, "w") as file:
        for name, extent in (("x", 2), ("y", 3), ("z", 4)):
            file.createDimension(name, extent)
        file.createVariable("z", "f4", ("x", "y", "z"), chunksizes=(1, 3, 4))[:] = VALUES
    return path


@pytest.mark.parametrize("name", ["z", "/z", "_nc4_non_coord_z", "[z]", "--all"])
def test_is_read_by_its_name(grid, name):
    report = json.loads(support.run("reduce", grid, name, "--ops", "sum", "--json", "-").stdout)
    found = report["datasets"][-1] if "datasets" in report else report  # dimensions come first
    assert found["dataset"] in ("z", name)
    assert found["results"]["sum"] == VALUES.sum(dtype="f8")


def test_is_listed_by_its_name_alone(grid):
    lines = support.run("info", grid).stdout
    assert "_nc4" not in lines
    assert [line.split()[0] for line in lines.splitlines() if line.split()[:1] == ["z"]] == ["z"]


def test_is_written_as_netcdf_reads_it(grid, tmp_path):
    out = tmp_path / "out.nc"
    support.run("reduce", grid, "z", "--axis", "y", "--ops", "max", "-o", out)
    with netCDF4.Dataset(out) as file:
        assert file["z"].dimensions == ("x", "z")
        assert np.array_equal(file["z"][:], VALUES.max(axis=1))


def test_a_coordinate_keeps_its_name(tmp_path):
    path = tmp_path / "coordinate.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("z", 3)
        file.createVariable("z", "f8", ("z",))[:] = [1, 2, 4]
        file.createVariable("_nc4_non_coord_z2", "f8", ("z",))[:] = [1, 1, 1]
    report = json.loads(support.run("reduce", path, "z", "--ops", "sum", "--json", "-").stdout)
    assert report["results"]["sum"] == 7
