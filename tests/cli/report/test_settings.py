"""Reports have everything that their numbers depend on."""

import h5py
import numpy as np
import pytest

import support

VALUES = np.array([1.0, np.nan, -9.0, 4.0, 7.0, np.nan])


@pytest.fixture
def path(folder):
    with h5py.File(folder / "in.h5", "w") as file:
        file["v"] = VALUES
        file["v"].attrs["_FillValue"] = -9.0
        file["m"] = [1, 1, 1, 0, 1, 1]
        file["i"] = np.arange(6)
    return folder / "in.h5"


def test_the_command_line_is_there(path):
    words = ["reduce", str(path), "i", "--ops", "sum", "--json", "-"]
    report = support.run(*words).report
    assert report["arguments"][:8] == ["warpfold", *words]


@pytest.mark.parametrize("ranks", [None, 3])
def test_left_out_elements_are_counted(path, ranks):
    words = ["--mask", "m", "--nan", "skip", "--ops", "count,sum,std", "--ddof", 1, "--json", "-"]
    report = support.run("reduce", path, "v", *words, ranks=ranks).report
    assert report["left_out"] == {"by_view": 2, "nan": 2}
    assert (report["nan"], report["ddof"], report["overflow"]) == ("skip", 1, "error")
    assert report["results"] == {"count": 2, "sum": 8.0, "std": float(np.std([1.0, 7.0], ddof=1))}
    plain = support.run("reduce", path, "i", "--ops", "max", "--json", "-").report
    assert plain["left_out"] == {"by_view": 0, "nan": 0}
    assert "ddof" not in plain and "overflow" not in plain


def test_a_scan_says_what_it_did(path, folder):
    words = ["--op", "max", "--exclusive", "-o", folder / "o.h5", "--json", "-"]
    report = support.run("scan", path, "i", *words).report
    settings = (report["operation"], report["exclusive"], report["overflow"])
    assert settings == ("max", True, "error")
