"""Sixty-four ranks on whatever cores there are give the bytes that one gives."""

import pytest

import samples
import support
from test_identical import SHAPE, output_type, results_and_outputs


@pytest.mark.parametrize("name", ["f64", "i32"])
def test_same_bytes(folder, name):
    values = samples.typed(name, SHAPE)
    path = support.write(folder / "in.h5", values, name, order="big", chunks=(100, 64))
    alone = results_and_outputs(path, name, folder)
    many = results_and_outputs(
        path, name, folder, "--slab", "64K", "--threads", "1", ranks=64, timeout=300
    )
    assert many == alone


def test_more_ranks_than_elements(folder):
    path = support.write(folder / "in.h5", [3, 1, 2], "i16")
    assert support.reduce(path, ranks=64, timeout=300).results["sum"] == 6
    support.scan(path, folder / "out.h5", ranks=64, timeout=300)
    assert support.read(folder / "out.h5", output_type("i16")).tolist() == [3, 4, 6]
