"""Advice on what users most likely mean."""

import h5py
import numpy as np
import pytest

import support


@pytest.fixture
def path(folder):
    """Three years of days, from 2001 on."""
    with h5py.File(folder / "in.nc", "w") as file:
        file["time"] = np.arange(1200.0) * 20
        file["time"].attrs["units"] = "hours since 2001-01-01"
        file["lat"] = [-30.0, 30.0]
        file["x"] = np.zeros((1200, 2))
        for d, name in enumerate(("time", "lat")):
            file[name].make_scale(name)
            file["x"].dims[d].attach_scale(file[name])
    return folder / "in.nc"


@pytest.mark.parametrize("words, code, mentions", [
    (["--axis", "time", "--every", "monthly"], 2, ["bad --every 'monthly'", "Did you mean month?"]),
    (["--axis", "time", "--every", "years"], 2, ["Did you mean year?", "N hours"]),
    (["--axis", "time", "--every", "daily"], 2, ["Did you mean day?"]),
    (["--axis", "lat,time", "--every", "month"], 2, ["dimension 1", "an axis of times as the first"]),
    (["--axis", "lat,time", "--by", "month"], 2, ["an axis of times as the first"]),
    (["--min-count", "5"], 2, ["Name the axes with --axis."]),
    (["--weights", "coslat"], 1, ["'coslat'", "no such dataset", "'cos:DIMENSION'"]),
    (["--weights", "cos(lat)"], 1, ["'cos:DIMENSION'"])])  # fmt: skip
def test_likely_meanings(path, words, code, mentions):
    support.fail("reduce", path, "x", *words, code=code, mentions=mentions)


def test_a_year_may_be_an_index(folder, path):
    """A number is an index, also where the times have such a year."""
    with h5py.File(path, "a") as file:
        for name in ("x", "time"):
            del file[name]
        file["time"] = np.arange(3000.0)
        file["time"].attrs["units"] = "days since 2000-01-01"
        file["x"] = np.arange(3000.0)
        file["time"].make_scale("time")
        file["x"].dims[0].attach_scale(file["time"])
    outcome = support.run("reduce", path, "x", "--select", "time=2003", "--json", "-", "--ops", "sum")
    assert outcome.results == {"sum": 2003}
    assert "'time=2003' is an index; its time is 2005-06-26" in outcome.stderr
    assert "Write 'time=2003-01:2003-12' for the year." in outcome.stderr
    whole = support.run("reduce", path, "x", "--select", "time=2003-01:2003-12", "--json", "-", "--ops", "count")
    assert whole.results == {"count": 365}
    part = support.run("reduce", path, "x", "--select", "time=2003:2005", "--json", "-", "--ops", "sum")
    assert part.results == {"sum": 2003 + 2004}
    assert "times are 2005-06-26 to 2005-06-27. Write 'time=2003-01:2005-12' for years." in part.stderr
    for selection in ("time=1999", "time=2009", "time=2003:2900", "time=-2003"):
        assert "for the year" not in support.run("reduce", path, "x", "--select", selection).stderr
