"""The two ways in which a scan goes from rank to rank: the same results, the same ends."""

import subprocess

import h5py
import numpy as np
import pytest

import samples
import support

VARIABLE = "WARPFOLD_DOUBLING_RANKS"
WAYS = {"exscan": 1000, "doubling": 1}
by_way = pytest.mark.parametrize("way", WAYS)


def going(way):
    return {VARIABLE: str(WAYS[way])}


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 7, 8])
def test_scans_give_the_same_bytes(folder, ranks):
    """Scans floats that cancel and integers, in several supersteps."""
    values = np.random.default_rng(ranks).uniform(-1, 1, 100_003)
    values[::3] *= 1e20
    path = support.write(folder / "in.h5", values, "f64")
    integers = support.write(folder / "integers.h5", samples.typed("i32", 100_003, seed=1), "i32")
    outputs = {}
    for way in WAYS:
        for source, name in ((path, "f64"), (integers, "i64")):
            support.scan(source, folder / "out.h5", "values", "--slab", "8K", ranks=ranks,
                         settings=going(way))  # fmt: skip
            outputs[way, name] = support.read(folder / "out.h5", name)
    for name in ("f64", "i64"):
        assert outputs["exscan", name].tobytes() == outputs["doubling", name].tobytes()
    with h5py.File(integers) as file:
        expected = np.cumsum(file["values"][...], dtype="i8")
    assert np.array_equal(outputs["doubling", "i64"], expected)


@by_way
@pytest.mark.parametrize("ranks", [3, 8])
def test_compaction_puts_ranks_elements_behind_each_other(folder, way, ranks):
    values = np.random.default_rng(2).integers(-100, 100, 30_011)
    path = support.write(folder / "in.h5", values, "i32")
    words = ("compact", path, "values", "-o", folder / "out.h5", "--where", ">7", "--slab", "4K")
    support.run(*words, ranks=ranks, settings=going(way))
    assert np.array_equal(support.read(folder / "out.h5", "i32"), values[values > 7])


@by_way
@pytest.mark.parametrize("ranks", [3, 8])
def test_an_overflow_on_some_ranks_ends_all(folder, way, ranks):
    path = support.write(folder / "in.h5", np.full(200_000, 2**47, "i8"), "i64")
    arguments = ("scan", path, "values", "-o", folder / "out.h5", "--slab", "8K")
    support.fail(*arguments, code=1, mentions=["65535"], ranks=ranks, settings=going(way))
    assert [each.name for each in folder.iterdir()] == ["in.h5"]


@by_way
@pytest.mark.parametrize("ranks", [3, 8])
@pytest.mark.parametrize("damaged", [0, 100, 199])
def test_a_rank_that_cant_read_ends_all(folder, way, ranks, damaged):
    with h5py.File(folder / "in.h5", "w") as file:
        dataset = file.create_dataset("values", data=np.arange(200_000.0), chunks=(1000,),
                                      compression="gzip")  # fmt: skip
        dataset.id.write_direct_chunk((1000 * damaged,), b"no stream of deflate")
    arguments = ("scan", folder / "in.h5", "values", "-o", folder / "out.h5", "--slab", "8K")
    support.fail(*arguments, code=1, mentions=["chunk"], ranks=ranks, settings=going(way))
    assert [each.name for each in folder.iterdir()] == ["in.h5"]


@pytest.mark.parametrize("text", ["0", "-3", "many", "8 ranks", "9999999999"])
def test_what_is_no_number_of_ranks_is_refused(folder, text):
    path = support.write(folder / "in.h5", np.ones(1000), "f64")
    arguments = ("scan", path, "values", "-o", folder / "out.h5")
    support.fail(*arguments, code=2, mentions=[f"{VARIABLE} is '{text}'", "whole number"], ranks=3,
                 settings={VARIABLE: text})  # fmt: skip
    assert [each.name for each in folder.iterdir()] == ["in.h5"]


def test_ranks_of_other_environments_go_as_the_root_does(folder):
    path = support.write(folder / "in.h5", np.arange(50_000), "i64")
    words = support.command_words("scan", path, "values", "-o", folder / "out.h5", "--slab", "8K", ranks=5)
    apart = ["mpirun", "-np", "2", "env", f"{VARIABLE}=1", *words, ":", "-np", "3", "env",
             f"{VARIABLE}=1000", *words]  # fmt: skip
    process = subprocess.run(apart, env=support.ENVIRONMENT, capture_output=True, text=True,
                             timeout=120)  # fmt: skip
    assert process.returncode == 0, process.stderr
    assert np.array_equal(support.read(folder / "out.h5", "i64"), np.cumsum(np.arange(50_000)))
