"""Axes that NeXus' groups (NXdata) give their signals, beside NumPy."""

import h5py
import numpy as np
import pytest

import support

COUNTS = np.random.default_rng(5).integers(0, 1000, (3, 4, 5))
ENERGY = [7.0, 7.1, 7.25]


def write(path, **attributes):
    with h5py.File(path, "w") as file:
        group = file.create_group("entry/data")
        group.attrs.update({"NX_class": "NXdata", "signal": "counts", "axes": ["energy", ".", "x"]} | attributes)
        group["counts"] = COUNTS
        group["errors"] = np.sqrt(COUNTS)
        group["energy"] = ENERGY
        group["energy"].attrs["units"] = "keV"
        group["x"] = np.arange(6) - 0.5  # edges of pixels
    return path


def names_of(path, dataset="entry/data/counts"):
    report = support.run("info", path, dataset, "--json", "-").report
    return [each.get("name") for each in report["results"].get("dimensions", [])]


def test_axes_name_dimensions_and_select(folder):
    path = write(folder / "in.h5")
    assert names_of(path)[0::2] == ["energy", "x"]
    chosen = support.run("reduce", path, "entry/data/counts", "--select", "energy=7.1:7.3, x=2", "--ops", "sum",
                         "--json", "-")  # fmt: skip
    assert chosen.results == {"sum": COUNTS[1:, :, 2].sum()}


def test_outputs_have_the_coordinates(folder):
    path = write(folder / "in.h5")
    support.run("reduce", path, "entry/data/counts", "--axis", "1,x", "-o", folder / "out.h5", ranks=2)
    with h5py.File(folder / "out.h5") as file:
        output = file["entry/data/counts"]
        assert (output[:] == COUNTS.sum((1, 2))).all()
        assert output.dims[0][0].name == "/entry/data/energy"
        assert output.dims[0][0][:].tolist() == ENERGY
        assert output.dims[0][0].attrs["units"] == "keV"


def test_an_axis_is_its_own_coordinate(folder):
    path = write(folder / "in.h5")
    for words in (("--weights", "entry/data/energy"), ("--where", "entry/data/energy > 7")):
        outcome = support.run("reduce", path, "entry/data/counts", *words)
        assert "note" not in outcome.stderr
    assert names_of(path, "entry/data/energy") == ["energy"]
    support.run("reduce", path, "entry/data/energy", "--axis", "energy", "-o", folder / "out.h5")
    with h5py.File(folder / "out.h5") as file:
        assert file["entry/data/energy_bnds"][...].tolist() == [7.0, 7.25]


@pytest.mark.parametrize(
    "attributes, names",
    [({"auxiliary_signals": ["errors"]}, ["energy", "x"]), ({}, None), ({"signal": "errors"}, ["energy", "x"])],
)
def test_other_signals(folder, attributes, names):
    found = names_of(write(folder / "in.h5", **attributes), "entry/data/errors")
    assert (found[0::2] if names else [name for name in found if name]) == (names or [])


@pytest.mark.parametrize("axes", [["energy", "x"], ["energy", "y", "x", "z"], [".", ".", "."]])
def test_axes_of_another_number_are_none(folder, axes):
    path = write(folder / "in.h5", axes=axes)
    outcome = support.attempt("reduce", path, "entry/data/counts", "--axis", "energy", "-o", folder / "out.h5")
    assert outcome.code == 2 and "its dimensions have no names" in outcome.stderr


@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_a_signal_that_is_a_link(folder, kind):
    """As those of detectors, whose data lie in the instrument's group."""
    path = write(folder / "in.h5", signal="linked")
    with h5py.File(path, "a") as file:
        file["entry/instrument/detector/data"] = COUNTS
        target = "/entry/instrument/detector/data"
        file["entry/data/linked"] = file[target] if kind == "hard" else h5py.SoftLink(target)
    sums = support.run("reduce", path, "entry/data/linked", "--axis", "1,x", "--json", "-").report
    (energies,) = sums["results"]["coordinates"]
    assert (energies["name"], energies["values"], energies["units"]) == ("energy", ENERGY, "keV")


def test_attached_scales_come_first(folder):
    path = write(folder / "in.h5")
    with h5py.File(path, "a") as file:
        file["entry/data/step"] = [1, 2, 3]
        file["entry/data/step"].make_scale("step")
        file["entry/data/counts"].dims[0].attach_scale(file["entry/data/step"])
    assert names_of(path)[0::2] == ["step", "x"]
