"""Virtual datasets of whole sources, as detectors write them, read without the HDF5 library."""

import h5py
import numpy as np
import pytest

import reference
import samples
import support

GZIP = {"compression": "gzip", "shuffle": True}
# How sources are stored, and the path by which their virtual dataset is read.
STORAGE = {
    "contiguous": ([{}] * 3, "direct"),
    "chunks": ([{"chunks": (4, 4, 4)}] * 3, "direct"),
    "filtered": ([{"chunks": (1, 4, 4), **GZIP}] * 3, "chunk"),
    "chunks that don't meet": ([{"chunks": (3, 4, 5), **GZIP}] * 3, "library"),
    "each another way": ([{}, {"chunks": (4, 4, 4)}, {}], "library"),
}


def write_master(folder, values, axis=0, storage=({},) * 3, name="f64", take=lambda source: source):
    """A file of links and of a virtual dataset, whose mappings are in no order."""
    shape = list(values.shape)
    layout = h5py.VirtualLayout(tuple(shape), support.file_type(name).dtype)
    parts = samples.split(values, axis)
    begins = np.cumsum((0, *samples.EXTENTS))
    for i in (2, 0, 1):
        source = support.write(folder / f"data_{i}.h5", parts[i], name, "entry/data", **storage[i])
        place = (slice(None),) * (axis % values.ndim) + (slice(begins[i], begins[i + 1]),)
        layout[place] = take(h5py.VirtualSource(source.name, "entry/data", parts[i].shape))
    with h5py.File(folder / "master.h5", "w") as file:
        file.create_virtual_dataset("all", layout, fillvalue=-1)
    return folder / "master.h5"


def path_of(master, *words, name="all"):
    report = support.run("info", master, name, "--json", "-", *words).report
    return report["results"]["read_path"]


@pytest.mark.parametrize("axis", (0, -1))
@pytest.mark.parametrize("case", STORAGE)
def test_sources_one_behind_another(folder, case, axis):
    storage, path = STORAGE[case]
    values = samples.typed("f64", samples.shape_along(axis), seed=3)
    by_box = (lambda source: source[:, :, :]) if axis else (lambda source: source)
    master = write_master(folder, values, axis, storage, take=by_box)
    assert path_of(master) == path
    true = reference.statistics(values)
    for ranks, words in ((None, ()), (2, ("--slab", "4K")), (None, ("--read-path", "library"))):
        results = support.reduce(master, "all", *words, ranks=ranks).results
        assert {each: results[each] for each in true} == true
    scanned = support.scan(master, folder / "out.h5", "all", "--axis", axis, ranks=2)
    assert scanned.report["shape"] == list(values.shape)
    one = support.write(folder / "one.h5", values, "f64", "all")
    support.scan(one, folder / "true.h5", "all", "--axis", axis)
    assert support.stored_bytes(folder / "out.h5") == support.stored_bytes(folder / "true.h5")


def test_virtual_datasets_of_virtual_datasets(folder):
    values = samples.typed("f64", samples.shape_along(0), seed=4)
    master = write_master(folder, values, 0, STORAGE["filtered"][0])
    layout = h5py.VirtualLayout((50, 7, 10), "f8")
    for i in (0, 25):
        layout[i : i + 25] = h5py.VirtualSource(master.name, "all", values.shape)
    with h5py.File(folder / "twice.h5", "w") as file:
        file.create_virtual_dataset("all", layout)
    assert path_of(folder / "twice.h5") == "chunk"
    true = reference.statistics(np.concatenate([values, values]))
    results = support.reduce(folder / "twice.h5", "all", ranks=2).results
    assert {each: results[each] for each in true} == true


def test_files_of_virtual_datasets_concatenated(folder):
    values = samples.typed("f64", samples.shape_along(0), seed=5)
    master = write_master(folder, values, 0, STORAGE["filtered"][0])
    outcome = support.run("reduce", master, master, "all", "--concat", "0", "--json", "-")
    assert outcome.results["sum"] == reference.statistics(np.concatenate([values, values]))["sum"]


def layout_of(shape, *mappings, dtype="f8"):
    """A virtual dataset's layout of (where, file, shape, what of it)."""
    layout = h5py.VirtualLayout(shape, dtype)
    for where, file, source, taken in mappings:
        layout[where] = h5py.VirtualSource(file, "entry/data", source)[taken]
    return layout


ALL = slice(None)
OTHER_LAYOUTS = {
    "a gap": layout_of((14, 7, 10), (slice(0, 8), "data_0.h5", (8, 7, 10), ALL)),
    "the other way": layout_of(
        (16, 7, 10),
        (slice(0, 16, 2), "data_0.h5", (8, 7, 10), ALL),
        (slice(1, 16, 2), "data_0.h5", (8, 7, 10), ALL),
    ),
    "parts of sources": layout_of(
        (11, 7, 10),
        (slice(0, 4), "data_0.h5", (8, 7, 10), slice(4, 8)),
        (slice(4, 11), "data_1.h5", (12, 7, 10), slice(0, 7)),
    ),
    "another type": layout_of((8, 7, 10), (ALL, "data_0.h5", (8, 7, 10), ALL), dtype="f4"),
    "tiles": layout_of(
        (8, 14, 10),
        ((ALL, slice(0, 7)), "data_0.h5", (8, 7, 10), ALL),
        ((ALL, slice(7, 14)), "data_1.h5", (12, 7, 10), slice(0, 8)),
    ),
    "one frame each": layout_of(
        (2, 7, 10),
        (0, "data_0.h5", (8, 7, 10), 3),
        (1, "data_1.h5", (12, 7, 10), 5),
    ),
}


@pytest.mark.parametrize("case", OTHER_LAYOUTS)
def test_other_layouts_by_the_library(folder, case):
    values = samples.typed("f64", samples.shape_along(0), seed=6)
    master = write_master(folder, values)
    with h5py.File(master, "a") as file:
        made = file.create_virtual_dataset("other", OTHER_LAYOUTS[case], fillvalue=2)
        true = reference.statistics(made[()].astype("f8"))
    assert path_of(master, name="other") == "library"
    results = support.reduce(master, "other").results
    assert {each: results[each] for each in ("count", "argmax", "min")} == {
        each: true[each] for each in ("count", "argmax", "min")
    }
    if case != "another type":
        assert results["sum"] == true["sum"]


def test_what_is_wrong_with_a_source_is_reported(folder):
    values = np.random.default_rng(1).integers(0, 99, (25, 7, 10)).astype("f8")
    master = write_master(folder, values, 0, STORAGE["filtered"][0])
    support.write(master, np.arange(5), "i32", "good", mode="a")
    with h5py.File(folder / "data_1.h5", "r") as file:
        stored = file["entry/data"].id.get_chunk_info(0)
    with open(folder / "data_1.h5", "r+b") as file:
        file.seek(stored.byte_offset + 3)
        file.write(b"\xff" * 20)
    support.fail(
        "reduce", master, "all", code=1, mentions=(master, "data_1.h5", stored.byte_offset)
    )
    outcome = support.attempt("reduce", master, "--all", "--json", "-")
    assert outcome.code == 1
    skipped = {each["dataset"]: each.get("skipped") for each in outcome.report["datasets"]}
    assert skipped["good"] is None and str(stored.byte_offset) in skipped["all"]
    (folder / "data_1.h5").unlink()
    support.fail("reduce", master, "all", code=1, mentions=(master, "data_1.h5", "missing"))


def test_sources_are_no_outputs(folder):
    master = write_master(folder, samples.typed("f64", samples.shape_along(0)))
    source = folder / "data_1.h5"
    before = source.read_bytes()
    support.fail("scan", master, "all", "-o", source, "--force", code=2)
    support.fail("reduce", master, "all", "--json", source, code=2)
    assert source.read_bytes() == before
