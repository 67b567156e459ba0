"""Dimension scales, which references lead to."""

import netCDF4
import numpy as np

import support


def test_scale_of_another_name_at_the_same_place(folder):
    path = folder / "in.nc"
    for name in ("first", "other"):
        with netCDF4.Dataset(path, "w") as file:
            file.createDimension(name, 3)
            file.createVariable("v", "f8", (name,))[:] = [1, 2, 4]
        words = ("reduce", path, "v", "--axis", name, "--ops", "sum")
        support.run(*words, "-o", folder / "o.nc", "--force")
        with netCDF4.Dataset(folder / "o.nc") as file:
            assert [float(each[...]) for each in file.variables.values()] == [7.0]


def test_names_of_many_dimensions(folder):
    path = folder / "in.nc"
    with netCDF4.Dataset(path, "w") as file:
        for i in range(20):
            file.createDimension(f"x{i}", 2)
            file.createVariable(f"v{i}", "f8", (f"x{i}",))[:] = [i, 1]
    for i in range(20):
        words = ("reduce", path, f"v{i}", "--axis", f"x{i}", "--ops", "sum")
        support.run(*words, "-o", folder / "o.nc", "--force")
        with netCDF4.Dataset(folder / "o.nc") as file:
            assert [float(each[...]) for each in file.variables.values()] == [i + 1.0]


def test_names_of_scales_in_groups_and_without_values(folder):
    path = folder / "in.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 2)
        file.createVariable("x", "f8", ("x",))[:] = [1, 2]
        file.createDimension("bare", 3)
        group = file.createGroup("g")
        group.createDimension("y", 2)
        group.createVariable("y", "f8", ("y",))[:] = [1, 2]
        group.createVariable("v", "f8", ("x", "bare", "y"))[:] = 1
    for name, count in ("x", 2), ("bare", 3), ("y", 2):
        words = ("reduce", path, "g/v", "--axis", name, "--ops", "sum")
        support.run(*words, "-o", folder / "o.nc", "--force")
        with netCDF4.Dataset(folder / "o.nc") as file:
            assert set(file["g/v"][...].flat) == {count}
            assert file["g/v"].dimensions == tuple(n for n in ("x", "bare", "y") if n != name)


def test_coordinates_of_several_dimensions_with_the_name_of_one(folder):
    path, out = folder / "in.nc", folder / "o.nc"
    with netCDF4.Dataset(path, "w") as file:
        for name, extent in {"time": 2, "lat": 3, "lon": 4}.items():
            file.createDimension(name, extent)
        file.createVariable("lat", "f8", ("lat", "lon"))[:] = np.arange(12).reshape(3, 4)
        file.createVariable("v", "f8", ("time", "lat", "lon"))[:] = np.arange(24).reshape(2, 3, 4)
    for axis, is_there in (("time", True), ("lat", False), ("lon", True)):
        outcome = support.run("reduce", path, "v", "--axis", axis, "-o", out, "--force")
        assert ("outputs lack the coordinate 'lat'" in outcome.stderr) == is_there
        with netCDF4.Dataset(out) as file:
            assert set(file.variables) == {"v"}
    found = support.run("reduce", path, "v", "--where", "lat > 4", "--ops", "sum", "--json", "-")
    assert found.results == {"sum": sum(i for i in range(24) if i % 12 > 4)}
    support.fail("reduce", path, "v", "--select", "lat=4.:9.", code=2, mentions=["--where 'lat >= 30'"])
