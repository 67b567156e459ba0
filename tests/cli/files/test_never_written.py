"""Chunks that were never written: their elements count, but take no time."""

import math
from fractions import Fraction

import h5py
import numpy as np
import pytest

import reference
import support

SHAPE = (21, 10)
RANKS = (1, 2, 3)
FILLS = (-0.0, 1e-310, 2.5)


def write(path, fill, chunks=(4, 4), user_block=0, version="earliest", filters=None):
    """Chunks at the start and the end of some rows alone."""
    with h5py.File(path, "w", userblock_size=user_block, libver=version) as file:
        made = file.create_dataset(
            "d", SHAPE, "f8", chunks=chunks, fillvalue=fill, compression=filters
        )
        made[5:7, 3:5] = [[1, -7], [0, 2]]
        made[20, 9] = 9
        file["mask"] = np.arange(SHAPE[0] * SHAPE[1]).reshape(SHAPE) % 3 == 0
        return made[...]


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("filters", [None, "gzip"])
def test_are_reduced_as_if_they_had_been_written(tmp_path, fill, filters):
    values = write(tmp_path / "f.h5", fill, filters=filters)
    for ranks in RANKS:
        found = support.reduce(tmp_path / "f.h5", "d", "--slab", "4K", ranks=ranks).results
        reference.assert_results(found, reference.statistics(values))


@pytest.mark.parametrize("fill", [math.nan, -math.inf])
def test_are_nan_and_infinities_where_the_fill_value_is(tmp_path, fill):
    values = write(tmp_path / "f.h5", fill)
    found = support.reduce(tmp_path / "f.h5", "d", ops="all", ranks=2).results
    assert found["count"] == values.size
    assert found["nan_count"] == np.isnan(values).sum()
    assert found["inf_count"] == np.isinf(values).sum()
    assert found["argmax"] == (np.argmax(np.isnan(values)) if np.isnan(fill) else values.argmax())
    kept = support.reduce(tmp_path / "f.h5", "d", "--where", "finite", ops="count,sum,l2").results
    expected = reference.statistics(values[np.isfinite(values)])
    assert kept == {name: expected[name] for name in kept}


@pytest.mark.parametrize("version", ["earliest", support.NEW_FORMAT])
@pytest.mark.parametrize("chunks", [(1, 1), (1, 10), (20, 9), (21, 10)])
def test_are_found_in_any_index(tmp_path, version, chunks):
    for user_block in (0, 1024):
        values = write(tmp_path / "f.h5", 3, chunks, user_block, version, "gzip")
        found = support.reduce(tmp_path / "f.h5", "d", ranks=2).results
        reference.assert_results(found, reference.statistics(values))


def test_count_by_conditions_masks_and_selections(tmp_path):
    values = write(tmp_path / "f.h5", -1)
    with h5py.File(tmp_path / "f.h5") as file:
        mask = file["mask"][...]
    file = tmp_path / "f.h5"
    for words, taken in (
        (["--where", "<0"], values[values < 0]),
        (["--where", ">0"], values[values > 0]),
        (["--fill-value", "-1"], values[values != -1]),
        (["--mask", "mask"], values[mask]),
        (["--select", "1:20:3,2:9:2"], values[1:20:3, 2:9:2].ravel()),
    ):
        found = support.reduce(file, "d", *words, ops="count,sum,min,max,var", ranks=3).results
        expected = reference.statistics(taken)
        assert found == {name: expected[name] for name in found}, words


def test_have_bins_and_quantiles(tmp_path):
    values = write(tmp_path / "f.h5", 3)
    for ranks in RANKS:
        made = support.run(
            "histogram", tmp_path / "f.h5", "d", "--bins=-8,0,3,9", "--json", "-", ranks=ranks
        )
        assert made.results["counts"] == np.histogram(values, [-8, 0, 3, 9])[0].tolist()
        found = support.reduce(tmp_path / "f.h5", "d", ops="median,q01,q99", ranks=ranks).results
        assert found["median"] == np.median(values)
        assert [found["q01"], found["q99"]] == np.percentile(values, [1, 99]).tolist()


def test_have_their_own_indices(tmp_path):
    """Never-written elements that come after others of the same slab, and are the least or the
    greatest."""
    with h5py.File(tmp_path / "f.h5", "w") as file:
        made = file.create_dataset("d", (4, 200000), "u2", chunks=(2, 100), fillvalue=3)
        made[:2, :100] = 5
        made[:2, 100:200] = 1
        lines = made[...]
    for ranks in RANKS:
        for where, taken in (("<5", lines < 5), (">1", lines > 1), (">=0", lines >= 0)):
            found = support.reduce(
                tmp_path / "f.h5", "d", "--where", where, ops="argmin,argmax", ranks=ranks
            ).results
            values = np.where(taken, lines, 4).ravel().astype(int)
            assert found["argmin"] == int(np.argmin(np.where(taken.ravel(), values, 9)))
            assert found["argmax"] == int(np.argmax(np.where(taken.ravel(), values, -1)))


@pytest.mark.parametrize("chunk", [2**20, 2**13])
def test_take_no_time_where_there_are_half_a_tebibyte_of_them(tmp_path, chunk):
    with h5py.File(tmp_path / "f.h5", "w") as file:
        made = file.create_dataset("d", (2**36,), "f8", chunks=(chunk,), fillvalue=0.1)
        made[2**35] = -1
    found = support.reduce(tmp_path / "f.h5", "d", ops="count,sum,max,argmin,argmax", ranks=2)
    missing = 2**36 - 1
    assert found.results == {
        "count": 2**36,
        "sum": float(Fraction(0.1) * missing - 1),
        "max": 0.1,
        "argmin": 2**35,
        "argmax": 0,
    }
    assert [note for note in found.report["notes"] if str(2**36 // chunk - 1) in note]


@pytest.mark.parametrize("version", ["earliest", "latest"])
@pytest.mark.parametrize("most", [(None, 40), (40, None), (None, None), (40, 40)])
def test_written_chunks_are_found_whichever_dimension_grows(tmp_path, version, most):
    with h5py.File(tmp_path / "f.h5", "w", libver=version) as file:
        made = file.create_dataset("d", (40, 40), "i2", chunks=(2, 2), maxshape=most)
        made[0:2, 6:8] = 5
    found = support.reduce(tmp_path / "f.h5", "d", ops="sum,argmax").results
    assert found == {"sum": 20, "argmax": 6}
