"""Files whose metadata HDF5 1.10 can't decode in part."""

import base64
import textwrap
import zlib

import h5py
import numpy as np
import pytest

import support

# A 3-element dimension scale `x` of km, attached to `d`, 2 x 3 elements of m, as h5py writes them with
# libver="v112": the scale's references are of a type that HDF5 1.10 doesn't know.
FILE = zlib.decompress(base64.b64decode(textwrap.dedent("""
eNrtlktLAlEUx8+9PhqmiSa1sjAQalcLFy6ijSPj2EijgtMyCEkhMW2hwSyDVi36Pu39AK2CoH0QQfQFwu6duaOjZQ
t3wvnB5T7Ouefxn2GYe7NQXJG35ZAkgc9QYCa9fUacJ48ePqtmoUbTu3dSOzgcGgte9JEpEICoAmwizkCEEfvGExEH
hzA3bwfvz25JLCBJAFBCSEjYRnMCyFo6B16DGmSXITtkxgirLiRLrPIwEUYQHcN6DMK/+1F2eNQoc2bGm26r34M4a4
KCN9odZT/goFt524Y4M6jCoVAqGxW7VK2c23reMkBJcfeI517Jlw3X2w/ngMouvlKvIsdveWOWFo9L0duRFnssBhOD
TmlB59AmKU2+BjO0Sf2pDRFJO8oZt68yLRJBIaySfQpbQqNNNngy/hTpVMXT8MCmNF6DHLS2tcvvqm6eKFde1gzPWj
OKRs2o6IaXtUi9rI16v95r9sfpG61Os9trXXdB4vawGzHtVkUC2Tn+O+zvPy5yTUAQBFk8vnJiof1/LolZFXNCO9ar
lvsRVCc/iP5fxWAq08sqqo0gCIIgCIIgCIIgi8YPsA6AIw==
""")))


@pytest.fixture
def newer(folder):
    path = folder / "newer.h5"
    path.write_bytes(FILE)
    return path


def test_attributes_before_an_undecodable_one_are_kept(newer, folder):
    report = support.run(
        "scan", newer, "d", "--axis", 1, "-o", folder / "out.h5", "--json", "-"
    ).report
    with h5py.File(folder / "out.h5") as file:
        assert np.array_equal(file["d"][()], np.cumsum(np.arange(6.0).reshape(2, 3), 1))
        units = [file[name].attrs["units"] for name in ("d", "x")]
        assert [np.bytes_(text).decode() for text in units] == ["m", "km"]
        assert file["d"].dims[1][0].name == "/x"
        assert np.array_equal(file["x"][()], np.arange(3.0))
    lacks = "'x' lacks attributes of the input's that this HDF5 cannot decode. A newer one can."
    is_old = report["build"]["hdf5"].startswith("1.10")
    assert report.get("notes") == ([lacks] if is_old else None)


def test_a_dataset_with_an_undecodable_attribute_is_refused_or_right(newer):
    outcome = support.attempt("reduce", newer, "x", "--ops", "sum", "--json", "-")
    if outcome.code:
        assert len(outcome.errors) == 1 and "newer HDF5" in outcome.errors[0]
    else:
        assert outcome.results == {"sum": 3.0}
