"""A selection is what NumPy's basic indexing takes, on every path to a dataset's elements."""

import h5py
import numpy as np
import pytest

import reference
import samples
import support

PIPELINE = {"shuffle": True, "compression": "gzip", "fletcher32": True}
LARGE = (613, 499)


def selected(values, text):
    return values[eval(f"numpy.s_[{text}]", {"numpy": np})]


def random_slice(random, extent):
    """A slice's text, often one that takes little, past the ends or nothing."""

    def bound():
        return "" if random.random() < 0.4 else int(random.integers(-extent - 2, extent + 3))

    step = "" if random.random() < 0.5 else f":{random.integers(1, extent + 2)}"
    return f"{bound()}:{bound()}{step}"


def random_selection(random, shape):
    parts = []
    for extent in shape:
        kind = random.random()
        if kind < 0.2:
            parts.append(str(random.integers(-extent, extent)))
        else:
            parts.append(":" if kind < 0.4 else random_slice(random, extent))
    kind = random.random()
    if kind < 0.2:
        first, last = sorted(random.integers(0, len(shape) + 1, 2))
        parts[first:last] = ["..."]
    elif kind < 0.4:
        del parts[random.integers(1, len(shape) + 1) :]
    return ", ".join(parts)


def random_case(seed):
    """A small dataset of any shape, type and storage, and a selection of some of its elements."""
    random = np.random.default_rng(seed)
    dimensions = int(random.integers(1, 6))
    most = {1: 500, 2: 60, 3: 16, 4: 9, 5: 6}[dimensions]
    shape = tuple(int(each) for each in random.integers(1, most + 1, dimensions))
    storage = [{}, {}, PIPELINE, {"shuffle": True}][random.integers(4)]
    if storage or random.random() < 0.5:
        chunks = tuple(int(random.integers(1, extent + 1)) for extent in shape)
        storage = {"chunks": chunks, **storage}
    name = str(random.choice(["u8", "i16", "i32", "f32", "f64"]))
    order = str(random.choice(["little", "big"]))
    text = random_selection(random, shape)
    values = samples.typed(name, shape, seed)
    while selected(values, text).size == 0:
        text = random_selection(random, shape)
    path = str(random.choice(["auto", "auto", "library"]))
    return values, name, {"order": order, **storage}, text, ("--read-path", path)


def expect_numpys(folder, values, name, text, *arguments, ranks=None, **storage):
    """Compares both commands with NumPy, bit by bit; sums of floats are of doubles."""
    path = support.write(folder / "in.h5", values, name, **storage)
    # A colon on its own would end mpirun's command.
    options = (f"--select={text}", *arguments)
    taken = selected(np.asarray(values), text)
    outcome = support.reduce(path, "values", *options, ranks=ranks)
    expected = reference.statistics(taken)
    assert {key: outcome.results[key] for key in expected} == expected
    assert outcome.report["shape"] == list(taken.shape)
    assert outcome.report["select"] == text
    support.scan(path, folder / "out.h5", "values", "--op", "max", *options, ranks=ranks)
    written = support.read(folder / "out.h5", name)
    running = np.maximum.accumulate(taken.ravel()).reshape(taken.shape)
    assert written.shape == taken.shape
    assert np.array_equal(written, running)


@pytest.mark.parametrize("seed", range(40))
def test_random_selections_of_one_process(folder, seed):
    values, name, storage, text, arguments = random_case(seed)
    expect_numpys(folder, values, name, text, *arguments, **storage)


@pytest.mark.parametrize("seed", range(40, 46))
def test_random_selections_of_several_ranks(folder, seed):
    values, name, storage, text, arguments = random_case(seed)
    arguments = (*arguments, "--slab", "4K", "--threads", 2)
    expect_numpys(folder, values, name, text, *arguments, ranks=2 + seed % 2, **storage)


STORAGE = {
    "contiguous": {},
    "chunked": {"chunks": (100, 64)},
    "filtered": {"chunks": (97, 120), **PIPELINE},
    "slim": {"chunks": (3, 499), "shuffle": True},
}


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize(
    "text, ranks",
    [("5:600", None), (":, 7", 2), ("3::7, 10:490:3", 3), ("..., ::150", None)],
)
def test_running_sums_of_large_selections(folder, storage, text, ranks):
    values = samples.typed("i64", LARGE)
    path = support.write(folder / "in.h5", values, "i64", **STORAGE[storage])
    arguments = ("--select", text, "--slab", "64K", "--threads", 3)
    support.scan(path, folder / "out.h5", "values", *arguments, ranks=ranks)
    taken = selected(values, text)
    written = support.read(folder / "out.h5", "i64")
    assert np.array_equal(written, np.cumsum(taken).reshape(taken.shape))
    outcome = support.reduce(path, "values", *arguments, ranks=ranks)
    assert outcome.results["sum"] == int(taken.sum())
    assert outcome.results["argmin"] == int(taken.argmin())


def test_nothing_and_single_elements(folder):
    values = samples.typed("i32", (6, 5))
    for storage in ({}, {"chunks": (4, 2), **PIPELINE}):
        path = support.write(folder / "in.h5", values, "i32", **storage)
        nothing = support.reduce(path, "values", "--select", "2:2", ops="count,sum")
        assert nothing.results == {"count": 0, "sum": 0}
        assert nothing.report["shape"] == [0, 5]
        alone = support.reduce(path, "values", "--select", "-1, 2", ops="count,sum,argmax")
        assert alone.results == {"count": 1, "sum": int(values[-1, 2]), "argmax": 0}
        assert alone.report["shape"] == []
        support.scan(path, folder / "out.h5", "values", "--select", "0, 1")
        assert support.read(folder / "out.h5", "i64") == values[0, 1]


def test_chunks_that_hold_nothing_selected_are_not_read(folder):
    values = samples.typed("i32", (60, 50))
    path = support.write(folder / "in.h5", values, "i32", chunks=(10, 10), **PIPELINE)
    with h5py.File(path, "r+") as file:
        file["values"].id.write_direct_chunk((30, 20), b"no deflate stream at all")
    support.fail("reduce", path, "values", code=1, mentions=["chunk [3, 2]"])
    for text in ("::, 30:", "0:30", "::40"):
        outcome = support.reduce(path, "values", "--select", text, ops="sum")
        assert outcome.results["sum"] == int(selected(values, text).sum())


@pytest.mark.parametrize("storage", [{}, {"chunks": (10, 10)}])
def test_what_was_never_written_has_the_fill_value(folder, storage):
    with h5py.File(folder / "in.h5", "w") as file:
        created = file.create_dataset("values", (60, 50), "<i4", fillvalue=7, **storage)
        if storage:
            created[:10] = 1
    outcome = support.reduce(folder / "in.h5", "values", "--select", "5:20, ::7", ops="sum")
    expected = 8 * (15 * 7 if not storage else 5 * 1 + 10 * 7)
    assert outcome.results["sum"] == expected


def test_info_tells_what_is_selected_and_read(folder):
    values = samples.typed("f64", (60, 50))
    path = support.write(folder / "in.h5", values, "f64", chunks=(10, 10))
    report = support.run("info", path, "values", "--select", "5:15, 3", "--json", "-").report
    assert report["shape"] == [10]
    assert report["select"] == "5:15, 3"
    assert report["results"]["stored_shape"] == [60, 50]
    assert report["results"]["elements"] == 10
    assert report["results"]["bytes_to_read"] == 2 * 800
    assert "selected" in support.run("info", path, "values", "--select", "5:15, 3").stdout
    support.fail("info", path, "--select", "0", code=2, mentions=["--select"])


@pytest.mark.parametrize(
    "text, mentions",
    [
        ("::-1", ["'::-1'", "step"]),
        ("60", ["'60'", "out of bounds", "dimension 0"]),
        (":, -51", ["'-51'", "dimension 1"]),
        ("1, 2, 3", ["3 indices", "60 x 50"]),
        ("None", ["'None'"]),
        ("[1, 2]", ["lists"]),
        ("1:x", ["'1:x'"]),
    ],
)
def test_wrong_selections_are_refused(folder, text, mentions):
    path = support.write(folder / "in.h5", samples.typed("i32", (60, 50)), "i32")
    ranks = 2 if text == "::-1" else None
    support.fail("reduce", path, "values", "--select", text, code=2, mentions=mentions, ranks=ranks)
    output = folder / "out.h5"
    support.fail("scan", path, "values", "-o", output, "--select", text, code=2, mentions=mentions)
    assert not output.exists()
