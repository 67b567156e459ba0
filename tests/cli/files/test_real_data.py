"""The world's coastlines, as Debian's package gmt-gshhg-low stores them in netCDF-4."""

import math

import h5py
import numpy as np
import pytest

import reference
import support
from reference import assert_results

pytestmark = pytest.mark.skipif(
    not (support.COASTLINES / "binned_GSHHS_l.nc").exists(),
    reason="the coastlines of gmt-gshhg-low are not here",
)


def numeric_datasets(path):
    """All but netCDF's placeholders for dimensions without a variable."""
    with h5py.File(path) as file:
        return {name: each[...] for name, each in file.items()
                if each.dtype.kind in "iuf" and not name.startswith("Dimension_of_")}  # fmt: skip


def test_areas_of_the_shores(folder):
    path = support.COASTLINES / "binned_GSHHS_i.nc"
    with h5py.File(path) as file:
        areas = file["The_km_squared_area_of_polygons"][...]
    found = support.reduce(path, "The_km_squared_area_of_polygons", ranks=2).results
    assert found["sum"] == math.fsum(areas)
    assert_results(found, reference.statistics(areas))


def test_every_dataset():
    path = support.COASTLINES / "binned_GSHHS_l.nc"
    for dataset, values in numeric_datasets(path).items():
        found = support.reduce(path, dataset, "--raw").results
        assert_results(found, reference.statistics(values))


def test_dimensions_without_a_variable():
    path = support.COASTLINES / "binned_GSHHS_l.nc"
    support.fail("reduce", path, "Dimension_of_point_arrays", code=1, ranks=2,
                 mentions=["dimension of netCDF's without a variable"])  # fmt: skip
    entries = support.run("reduce", path, "--all", "--ops", "sum", "--json", "-").report["datasets"]
    named = {entry["dataset"] for entry in entries if "skipped" not in entry}
    assert named == set(numeric_datasets(path))


def test_running_sum_of_the_latitudes(folder):
    path = support.COASTLINES / "binned_GSHHS_i.nc"
    dataset = "Relative_latitude_from_SW_corner_of_bin"
    with h5py.File(path) as file:
        steps = file[dataset][...]
    support.scan(path, folder / "out.h5", dataset, "--raw", "--slab", "64K", ranks=3)
    assert np.array_equal(support.read(folder / "out.h5", "i64", dataset), np.cumsum(steps))


def test_running_sum_of_the_areas(folder):
    path = support.COASTLINES / "binned_GSHHS_i.nc"
    dataset = "The_km_squared_area_of_polygons"
    with h5py.File(path) as file:
        areas = file[dataset][...]
    support.scan(path, folder / "out.h5", dataset, ranks=2)
    outputs = support.read(folder / "out.h5", "f64", dataset)
    assert outputs.tolist() == reference.rounded_prefixes("f64", areas)


def test_info_lists_the_datasets():
    path = support.COASTLINES / "binned_GSHHS_l.nc"
    listing = support.run("info", path).stdout
    for dataset in numeric_datasets(path):
        assert dataset in listing
