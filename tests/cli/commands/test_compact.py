"""Elements that meet conditions, in order, beside np.compress and np.flatnonzero."""

import os

import h5py
import numpy as np
import pytest

import reference
import samples
import support


def compact(path, output, *arguments, dataset="values", **options):
    return support.run("compact", path, dataset, "-o", output, "--json", "-", "--force",
                       *arguments, **options)  # fmt: skip


def expect_kept(output, name, values, kept, dataset="values"):
    """The output holds these elements, bit by bit, and their places."""
    written = support.read(output, name, dataset)
    assert written.tobytes() == np.ascontiguousarray(values.ravel()[kept.ravel()]).tobytes()
    with h5py.File(output) as file:
        indices = file[dataset + "_indices"]
        assert indices.dtype == np.uint64
        assert np.array_equal(indices[...], np.flatnonzero(kept))


@pytest.mark.parametrize("name, order", support.TYPES_IN_TURNS)
def test_every_type(folder, name, order):
    values = samples.typed(name, 50_001, seed=1)
    doubles = reference.to_double(name, values)
    threshold = float(np.quantile(doubles, 0.3))
    kept = doubles > threshold
    path = support.write(folder / "in.h5", values, name, order=order, chunks=(1234,))
    outcome = compact(path, folder / "out.h5", "--where", f">{threshold.hex()}", "--indices", "--slab",
                      "16K", ranks=2)  # fmt: skip
    expect_kept(folder / "out.h5", name, values, kept)
    assert outcome.results["kept"] == np.count_nonzero(kept)
    assert outcome.results["count"] == values.size


@pytest.mark.parametrize(
    "storage",
    [{}, {"chunks": (40, 10, 9)}, {"chunks": (3, 50, 64), "shuffle": True, "compression": "gzip"}],
)
def test_output_is_the_same_bytes_for_any_ranks_and_slabs(folder, storage):
    values = samples.typed("f32", 64 * 50 * 64, seed=2).reshape(64, 50, 64)
    threshold = float(np.quantile(values, 0.999))
    for condition, kept in (
        (f">{threshold.hex()}", values > threshold),
        (f"<={threshold.hex()}", values <= threshold),
    ):
        path = support.write(folder / "in.h5", values, "f32", **storage)
        for ranks, words in ((None, []), (2, ["--slab", "16K"]), (5, ["--slab", "4K"])):
            compact(path, folder / "out.h5", "--where", condition, "--indices", *words, ranks=ranks)
            expect_kept(folder / "out.h5", "f32", values, kept)


@pytest.mark.parametrize("ranks", [None, 3])
def test_elements_that_memory_has_no_room_for_are_read_again(folder, fault_library, ranks):
    values = samples.typed("f64", 1_000_000, seed=3)
    kept = values > float(np.quantile(values, 0.25))
    path = support.write(folder / "in.h5", values, "f64", chunks=(8192,), compression="gzip")
    with h5py.File(path) as file:
        stored = file["values"].id.get_storage_size()
    condition = f">{float(np.quantile(values, 0.25)).hex()}"
    words = ["--where", condition, "--indices", "--slab", "32K", "--threads", 1]
    read = {}
    for memory in (1 << 40, 8 * 16 * 150_000 * os.cpu_count(), 0):
        prefix = ["env", f"LD_PRELOAD={fault_library}", f"WARPFOLD_FAULT_MEMORY={memory}"]
        report = compact(path, folder / "out.h5", *words, ranks=ranks, prefix=prefix).report
        expect_kept(folder / "out.h5", "f64", values, kept)
        read[memory] = report["timings"]["stages"]["read"]["bytes"]
    if ranks is None:
        everything, some, nothing = read.values()
        assert stored == everything < some < nothing


def test_all_and_nothing(folder):
    values = np.arange(10_000, dtype="i4")
    path = support.write(folder / "in.h5", values, "i32")
    for condition, kept in ((">=0", values >= 0), ("<0", values < 0), ("==7", values == 7)):
        for ranks in (None, 3):
            compact(path, folder / "out.h5", "--where", condition, "--indices", ranks=ranks)
            expect_kept(folder / "out.h5", "i32", values, kept)
    for empty in (np.empty(0), np.empty((3, 0))):
        path = support.write(folder / "empty.h5", empty, "f64")
        compact(path, folder / "out.h5", "--where", "finite", "--indices", ranks=2)
        expect_kept(folder / "out.h5", "f64", empty, np.zeros(0, bool))


def test_nan_keeps_its_bits(folder):
    values = np.array([0x7FF8000000000001, 0xFFF4000000000123, 0x3FF0000000000000], "u8").view("f8")
    path = support.write(folder / "in.h5", values, "f64")
    compact(path, folder / "out.h5", "--where", "nan", "--indices")
    expect_kept(folder / "out.h5", "f64", values, np.isnan(values))


def test_unpacked_values_and_attributes(folder):
    stored = np.arange(-50, 50, dtype="i2").reshape(4, 25)
    with h5py.File(folder / "in.h5", "w") as file:
        file["group/t"] = stored
        file["group/t"].attrs.update(
            {"scale_factor": 0.1, "_FillValue": np.int16(-7), "units": "K"}
        )
    outcome = compact(folder / "in.h5", f"{folder / 'out.h5'}:warm", "--where", ">-1", "--indices",
                      dataset="group/t", ranks=2)  # fmt: skip
    values = stored.astype("f8") * 0.1 + 0.0
    expect_kept(folder / "out.h5", "f64", values, (values > -1) & (stored != -7), "warm")
    report = outcome.report
    assert report["value_type"] == "f64" and "fill_value" not in report
    with h5py.File(folder / "out.h5") as file:
        assert set(file) == {"warm", "warm_indices"}
        assert file["warm"].attrs["units"] == "K"
        assert "scale_factor" not in file["warm"].attrs
        assert "_FillValue" not in file["warm"].attrs
        assert "units" not in file["warm_indices"].attrs
        assert "warpfold_command" in file["warm_indices"].attrs


def test_what_is_wrong_is_refused_before_reading(folder):
    path = support.write(folder / "in.h5", np.arange(100.0), "f64")
    (folder / "there.h5").write_text("precious")
    support.fail("compact", path, "values", "-o", folder / "out.h5", code=2,
                 mentions=["condition", "--where"])  # fmt: skip
    support.fail("compact", path, "values", "--where", ">0", code=2, mentions=["-o"])
    support.fail("compact", path, "values", "--where", ">0", "-o", folder / "there.h5", code=1,
                 mentions=["--force"], ranks=2)  # fmt: skip
    support.fail("compact", path, "values", "--where", "0", "-o", folder / "out.h5", code=2,
                 mentions=["bad condition"], ranks=2)  # fmt: skip
    support.fail("compact", path, "values", "--where", ">0", "-o", path, "--force", code=2,
                 mentions=["input"], ranks=2)  # fmt: skip
    assert (folder / "there.h5").read_text() == "precious"
    assert support.names_in(folder) == ["in.h5", "there.h5"]
