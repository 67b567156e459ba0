"""Chunked and compressed outputs of all commands."""

import shutil
import subprocess

import h5py
import numpy as np
import pytest
import zstandard

import support

SHAPE = (37, 41, 19)
STORAGES = {
    "chunks": ("--chunks", "10,16,19"),
    "auto": ("--chunks", "auto", "--deflate"),
    "rows": ("--chunks", "1,41,19", "--deflate", 1, "--shuffle"),
    "boxes": ("--chunks", "8,7,6", "--deflate", 9, "--shuffle", "--fletcher32"),
    "large": ("--chunks", "1000,1000,1000", "--fletcher32"),
}


def stages_of(outcome):
    return list(outcome.report["timings"]["stages"])


@pytest.fixture
def without_memory(fault_library):
    """The settings of a run in whose memory no elements wait to be packed."""
    return {"LD_PRELOAD": str(fault_library), "WARPFOLD_FAULT_MEMORY": "0"}


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A file of integers, and their running sums."""
    values = np.random.default_rng(3).integers(-1000, 1000, SHAPE, "i4")
    path = support.write(tmp_path_factory.mktemp("input") / "in.h5", values, "i32")
    return path, np.cumsum(values.astype("i8")).reshape(SHAPE)


@pytest.mark.parametrize("ranks", [None, 2, 3, 4])
@pytest.mark.parametrize("storage", STORAGES)
def test_scan(folder, numbers, storage, ranks):
    path, sums = numbers
    support.scan(path, folder / "out.h5", "values", *STORAGES[storage], ranks=ranks)
    assert np.array_equal(support.read(folder / "out.h5", "i64"), sums)
    assert support.names_in(folder) == ["out.h5"]


@pytest.mark.parametrize("ranks", [None, 2, 3])
@pytest.mark.parametrize("chunks", ["1,41,19", "1,7,19", "2,9,5", "1,1,19", "37,41,1", "5,41,6"])
@pytest.mark.parametrize("stored", [None, (3, 41, 19), (1, 20, 10)])
def test_scan_in_many_blocks(folder, numbers, stored, chunks, ranks):
    """Blocks of some tiles end at rows of the output's chunks."""
    path, sums = numbers
    if stored is not None:
        with h5py.File(path) as file:
            values = file["values"][:]
        path = support.write(folder / "in.h5", values, "i32", chunks=stored, compression="gzip")
    words = ("--chunks", chunks, "--shuffle", "--slab", "4K", "--threads", 2)
    outcome = support.scan(path, folder / "out.h5", "values", *words, ranks=ranks)
    assert np.array_equal(support.read(folder / "out.h5", "i64"), sums)
    assert "compress" in stages_of(outcome) and "read back" not in stages_of(outcome)


@pytest.mark.parametrize("ranks", [None, 2, 4])
@pytest.mark.parametrize("chunk", [1000, 4096, 28_824, 100_000])
def test_offsets(folder, numbers, chunk, ranks):
    path, sums = numbers
    words = ("--offsets", "--chunks", chunk, "--deflate", "--slab", "4K")
    support.scan(path, folder / "out.h5", "values", *words, ranks=ranks)
    assert np.array_equal(support.read(folder / "out.h5", "i64"), [0, *sums.ravel()])


def test_offsets_of_nothing(folder):
    support.write(folder / "in.h5", np.zeros(0), "f32")
    support.scan(folder / "in.h5", folder / "out.h5", "values", "--offsets", "--chunks", 1, ranks=2)
    assert support.read(folder / "out.h5", "f32").tolist() == [0]


@pytest.mark.parametrize("level", [1, 3, 22])
@pytest.mark.parametrize("more", [(), ("--shuffle",), ("--shuffle", "--fletcher32")])
def test_zstandard_frames(folder, level, more):
    """Chunks that do not shrink are stored as they are."""
    random = np.random.default_rng(7)
    values = np.where(np.arange(9000) < 4000, random.integers(0, 9, 9000), random.integers(0, 2**62, 9000))
    support.write(folder / "in.h5", values, "i64")
    words = ("--where", ">=0", "-o", folder / "out.h5", "--chunks", 1000, "--zstd", level, *more)
    support.run("compact", folder / "in.h5", "values", *words)
    with h5py.File(folder / "out.h5") as file:
        stored = file["values"].id
        creation = stored.get_create_plist()
        filters = [creation.get_filter(i)[0] for i in range(creation.get_nfilters())]
        assert filters == [2, 32015, 3][("--shuffle" not in more):2 + ("--fletcher32" in more)]
        compressed = 0
        for first in range(0, 9000, 1000):
            skipped, raw = stored.read_direct_chunk((first,))
            raw = raw[:-4] if "--fletcher32" in more else raw
            if not skipped:
                raw = zstandard.ZstdDecompressor().decompress(raw)
                compressed += 1
            if not skipped and "--shuffle" in more:
                raw = np.frombuffer(raw, "u1").reshape(8, -1).T.tobytes()
            assert raw == values[first:first + 1000].tobytes()
        assert compressed >= 4
    results = support.reduce(folder / "out.h5", ops="sum").results
    assert results["sum"] == sum(map(int, values))


def test_zstd_and_deflate_exclude_each_other(folder, numbers):
    path, _ = numbers
    words = ("scan", path, "values", "-o", folder / "out.h5")
    support.fail(*words, "--deflate", "--zstd", code=2, mentions=["deflate and zstd"])
    support.fail(*words, "--zstd", 23, code=2, mentions=["--zstd", "22"])
    assert not support.names_in(folder)


LINES = {
    "chunks": ("--chunks", 1000),
    "auto": ("--chunks", "auto", "--deflate"),
    "filters": ("--chunks", 777, "--deflate", 9, "--shuffle", "--fletcher32"),
    "large": ("--chunks", 1_000_000, "--shuffle"),
}


@pytest.mark.parametrize("memory", [True, False])
@pytest.mark.parametrize("ranks", [None, 2, 4])
@pytest.mark.parametrize("storage", STORAGES)
def test_reduce_along_an_axis(folder, numbers, without_memory, storage, ranks, memory):
    """Each statistic is a dataset of its own type."""
    path, _ = numbers
    with h5py.File(path) as file:
        values = file["values"][:]
    words = ("--axis", 1, "--keepdims", "--ops", "sum,min,argmax,median", "-o", folder / "out.h5")
    outcome = support.run(
        "reduce", path, "values", *words, *STORAGES[storage], "--json", "-", ranks=ranks,
        settings=None if memory else without_memory
    )  # fmt: skip
    along = {"axis": 1, "keepdims": True}
    expected = {
        "sum": values.astype("i8").sum(**along),
        "min": values.min(**along),
        "argmax": values.argmax(**along),
        "median": np.median(values, **along),
    }
    with h5py.File(folder / "out.h5") as file:
        for name, array in expected.items():
            made = file[f"values_{name}"]
            assert made.dtype == array.dtype and np.array_equal(made, array)
            assert made.chunks is not None
            assert (made.compression == "gzip") == ("--deflate" in STORAGES[storage])
    assert "compress" in stages_of(outcome)
    assert ("read back" in stages_of(outcome)) == (not memory)
    assert support.names_in(folder) == ["out.h5"]


@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("storage", LINES)
def test_reduce_by_labels(folder, storage, ranks):
    random = np.random.default_rng(5)
    labels = random.integers(0, 3000, 20_000)
    values = random.integers(-99, 99, 20_000, "i4")
    support.write(folder / "in.h5", values, "i32")
    support.write(folder / "in.h5", labels, "i64", "label", mode="a")
    words = ("--by", "label", "--ops", "sum,count", "-o", folder / "out.h5", *LINES[storage])
    support.run("reduce", folder / "in.h5", "values", *words, ranks=ranks)
    names, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
    sums = np.zeros(names.size, "i8")
    np.add.at(sums, places, values)
    with h5py.File(folder / "out.h5") as file:
        assert np.array_equal(file["label"], names)
        assert np.array_equal(file["values_sum"], sums)
        assert np.array_equal(file["values_count"], counts)
        assert file["values_sum"].chunks is not None
        assert file["values_sum"].shuffle == ("--shuffle" in LINES[storage])


@pytest.mark.parametrize("ranks", [None, 2, 4])
@pytest.mark.parametrize("storage", LINES)
def test_compact(folder, numbers, storage, ranks):
    path, _ = numbers
    with h5py.File(path) as file:
        values = file["values"][:].ravel()
    words = ("--where", ">250", "--indices", "-o", folder / "out.h5", "--slab", "4K")
    support.run("compact", path, "values", *words, *LINES[storage], ranks=ranks)
    with h5py.File(folder / "out.h5") as file:
        assert np.array_equal(file["values"], values[values > 250])
        assert np.array_equal(file["values_indices"], np.flatnonzero(values > 250))
        for made in (file["values"], file["values_indices"]):
            assert made.chunks is not None and made.shuffle == ("--shuffle" in LINES[storage])
    assert support.names_in(folder) == ["out.h5"]


def test_several_datasets_to_chunks(folder):
    arrays = {"a": np.arange(60.0).reshape(6, 10), "b": np.arange(6.0) > 2, "c": np.ones((6, 2, 5))}
    with h5py.File(folder / "in.h5", "w") as file:
        for name, array in arrays.items():
            file[name] = array.astype("f8")
    out = folder / "out.h5"
    words = ("a", "c", "--axis", 0, "--ops", "sum,max", "--deflate", "-o", out)
    support.run("reduce", folder / "in.h5", *words, ranks=2)
    with h5py.File(out) as file:
        for name in ("a", "c"):
            assert np.array_equal(file[f"{name}_sum"], arrays[name].sum(axis=0))
            assert np.array_equal(file[f"{name}_max"], arrays[name].max(axis=0))
            assert file[f"{name}_max"].compression == "gzip"
    words = ("--all", "--axis", 0, "--chunks", 4, "--deflate", "-o", out, "--force")
    support.run("reduce", folder / "in.h5", *words, ranks=2)
    with h5py.File(out) as file:
        assert sorted(file) == ["a"] and file["a"].chunks == (4,)
    support.run("compact", folder / "in.h5", "a", "b", "--where", ">2", "--chunks", 7, "-o", out,
                "--force")  # fmt: skip
    with h5py.File(out) as file:
        assert np.array_equal(file["a"], np.arange(3.0, 60)) and file["a"].chunks == (7,)
        assert file["b"].shape == (0,)


@pytest.mark.parametrize("ranks", [None, 2])
def test_outputs_without_elements(folder, ranks):
    with h5py.File(folder / "in.h5", "w") as file:
        file["none"] = np.zeros((4, 0))
        file["label"] = np.zeros((4, 0), "i4")
        file["some"] = np.zeros(4)
    commands = [
        ("reduce", folder / "in.h5", "none", "--axis", 0, "--deflate"),
        ("reduce", folder / "in.h5", "none", "--by", "label", "--ops", "sum,count", "--deflate"),
        ("compact", folder / "in.h5", "none", "--where", ">0", "--chunks", 8, "--deflate"),
        ("compact", folder / "in.h5", "some", "--where", ">0", "--indices", "--deflate"),
    ]
    for words in commands:
        support.run(*words, "-o", folder / "out.h5", "--force", ranks=ranks)
        with h5py.File(folder / "out.h5") as file:
            made = [file[name] for name in file if name != "label"]
            assert made and all(each.shape == (0,) and each.chunks for each in made)
            assert all(each.compression == "gzip" for each in made)


@pytest.mark.parametrize("ranks", [None, 3])
def test_scan_along_an_axis(folder, numbers, ranks):
    path, _ = numbers
    with h5py.File(path) as file:
        expected = np.cumsum(file["values"][:].astype("i8"), axis=1)
    words = ("--axis", 1, *STORAGES["boxes"])
    outcome = support.scan(path, folder / "out.h5", "values", *words, ranks=ranks)
    assert np.array_equal(support.read(folder / "out.h5", "i64"), expected)
    assert "compress" in stages_of(outcome) and "read back" not in stages_of(outcome)
    assert support.names_in(folder) == ["out.h5"]


@pytest.mark.parametrize("memory", [True, False])
def test_scan_to_rows_of_very_many_chunks(folder, without_memory, memory):
    """Ranks exchange the sizes of fewer at a time."""
    support.run("generate", "iota", folder / "in.h5", "values", "--type", "u8", "--shape",
                f"2,{(1 << 20) + 1}", "--chunks", "auto", "--deflate")  # fmt: skip
    words = ("--chunks", "2,1", "--output-type", "u64", "--overflow", "wrap")
    outcome = support.scan(folder / "in.h5", folder / "out.h5", "values", *words, ranks=2,
                           settings=None if memory else without_memory)  # fmt: skip
    assert ("read back" in stages_of(outcome)) == (not memory)
    sums = np.cumsum(support.read(folder / "in.h5", "u8"), dtype="u8").reshape(2, -1)
    with h5py.File(folder / "out.h5") as file:
        stored = file["values"]
        assert stored.id.get_num_chunks() == sums.shape[1]
        # HDF5 takes many seconds to read them all.
        for columns in (np.s_[::97], np.s_[-5000:]):
            assert np.array_equal(stored[:, columns], sums[:, columns])


def test_scan_stores_as_asked(folder, numbers):
    path, _ = numbers
    support.scan(path, folder / "out.h5", "values", *STORAGES["boxes"], ranks=2)
    with h5py.File(folder / "out.h5") as file:
        made = file["values"]
        assert made.chunks == (8, 7, 6)
        assert (made.compression, made.compression_opts) == ("gzip", 9)
        assert made.shuffle and made.fletcher32
        assert b"--fletcher32" in made.attrs["warpfold_command"]


def test_outputs_of_many_chunks(folder):
    """HDF5's index of chunks gets another level at 65,536 of them."""
    values = np.arange(70_000 * 4, dtype="i4")
    sums = np.cumsum(values, dtype="i8")
    made, out = folder / "in.h5", folder / "out.h5"
    chunks = ("--chunks", 4)
    words = ("--type", "i32", "--shape", values.size, *chunks)
    written = []
    for ranks in (None, 3):
        support.run("generate", "iota", made, "values", *words, "--force", ranks=ranks)
        support.scan(made, out, "values", *chunks, ranks=ranks)
        written.append((made.read_bytes(), out.read_bytes()))
        support.run("scan", made, "values", "-o", f"{out}:added", "--append", *chunks, ranks=ranks)
        written[-1] += (out.read_bytes(),)
    assert written[0] == written[1]
    assert np.array_equal(support.read(made, "i32"), values)
    with h5py.File(out) as file:
        assert all(np.array_equal(file[name][:], sums) for name in ("values", "added"))


def test_scan_without_elements(folder):
    support.write(folder / "in.h5", np.zeros((4, 0)), "f32")
    support.scan(folder / "in.h5", folder / "out.h5", "values", "--chunks", "2,2", ranks=2)
    assert support.read(folder / "out.h5", "f32").shape == (4, 0)
    support.write(folder / "in.h5", np.float32(7), "f32")
    support.scan(folder / "in.h5", folder / "out.h5", "values", "--chunks", "auto")
    assert support.read(folder / "out.h5", "f32") == 7


@pytest.mark.parametrize("ranks", [None, 2, 3, 4])
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("kind, name", [("normal", "f32"), ("msws", "u64")])
def test_generate(folder, kind, name, storage, ranks):
    shape = ("--type", name, "--shape", ",".join(map(str, SHAPE)))
    support.run("generate", kind, folder / "plain.h5", "values", *shape)
    support.run("generate", kind, folder / "out.h5", "values", *shape, *STORAGES[storage],
                ranks=ranks)  # fmt: skip
    found = support.read(folder / "out.h5", name)
    assert found.tobytes() == support.read(folder / "plain.h5", name).tobytes()
    assert support.names_in(folder) == ["out.h5", "plain.h5"]


def test_every_number_of_ranks_and_threads_stores_the_same_bytes(folder):
    words = ("--type", "f64", "--shape", "300,301", "--chunks", "32,32", "--deflate", "--shuffle")
    sizes, stored = set(), set()
    for ranks, threads in ((None, 1), (None, 5), (2, 1), (4, 2)):
        path = folder / f"{ranks or 1}-{threads}.h5"
        support.run("generate", "wide", path, "values", *words, "--threads", threads, ranks=ranks)
        with h5py.File(path) as file:
            made = file["values"].id
            chunks = [made.get_chunk_info(i) for i in range(made.get_num_chunks())]
            places = [(chunk.chunk_offset, chunk.byte_offset, chunk.size) for chunk in chunks]
            bodies = [made.read_direct_chunk(chunk.chunk_offset)[1] for chunk in chunks]
            stored.add((tuple(places), b"".join(bodies)))
        sizes.add(path.stat().st_size)
    assert len(sizes) == 1
    assert len(stored) == 1


@pytest.mark.parametrize("storage", STORAGES)
def test_every_number_of_ranks_writes_the_same_file(folder, numbers, without_memory, storage):
    path, _ = numbers
    commands = [
        ("scan", path, "values", "-o", folder / "out.h5", "--slab", "4K"),
        ("scan", path, "values", "-o", folder / "out.h5", "--axis", 1),
        ("generate", "normal", folder / "out.h5", "values", "--shape", ",".join(map(str, SHAPE))),
        ("reduce", path, "values", "-o", folder / "out.h5", "--axis", 1, "--keepdims",
         "--ops", "mean,argmin,q25"),
    ]  # fmt: skip
    for words in commands:
        written = set()
        for ranks, settings in ((None, None), (2, None), (3, None), (4, None), (2, without_memory)):
            support.run(*words, *STORAGES[storage], ranks=ranks, settings=settings)
            written.add((folder / "out.h5").read_bytes())
            (folder / "out.h5").unlink()
        assert len(written) == 1


@pytest.mark.parametrize("storage", LINES)
def test_every_number_of_ranks_compacts_to_the_same_file(folder, numbers, without_memory, storage):
    path, _ = numbers
    words = ("compact", path, "values", "-o", folder / "out.h5", "--where", ">9", "--indices")
    written = set()
    for ranks, settings in ((None, None), (2, None), (4, None), (3, without_memory)):
        support.run(*words, *LINES[storage], "--slab", "4K", "--force", ranks=ranks, settings=settings)
        written.add((folder / "out.h5").read_bytes())
    assert len(written) == 1


def test_chunks_that_deflate_does_not_shrink_are_stored_as_they_are(folder):
    words = ("--type", "u32", "--shape", "100000", "--chunks", "10000", "--deflate", 9)
    support.run("generate", "uniform", folder / "out.h5", "values", *words)
    with h5py.File(folder / "out.h5") as file:
        assert file["values"].id.get_storage_size() == 400_000
        assert file["values"].id.read_direct_chunk((0,))[0] == 1
    found = support.reduce(folder / "out.h5").results
    assert found["sum"] == int(support.read(folder / "out.h5", "u32").sum(dtype="u8"))


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("words, mentions", [
    (["--chunks", "3,3"], ["dimensions"]),
    (["--chunks", "3,0,3"], ["extent is 0"]),
    (["--chunks", "auto", "--deflate", "10"], ["--deflate"]),
])  # fmt: skip
def test_unfitting_storage_is_a_usage_error(folder, numbers, words, mentions, ranks):
    path, _ = numbers
    out = folder / "out.h5"
    support.fail("scan", path, "values", "-o", out, *words, code=2, mentions=mentions, ranks=ranks)
    assert support.names_in(folder) == []


AXIS = ("reduce", "--axis", 0)
LABELS = ("reduce", "--by", "values")
COMPACT = ("compact", "--where", ">0")


@pytest.mark.parametrize("command, words, mentions", [
    (AXIS, ["--chunks", "3"], ["the chunks have 1 dimensions, but the dataset has 2"]),
    (AXIS, ["--chunks", "3,0"], ["extent is 0"]),
    (AXIS, ["--deflate", "10"], ["--deflate"]),
    (("reduce", "--axis", "0,1,2"), ["--deflate"], ["scalar"]),
    (LABELS, ["--chunks", "3,3"], ["the chunks have 2 dimensions, but the dataset has 1"]),
    (COMPACT, ["--chunks", "3,3"], ["the chunks have 2 dimensions, but the dataset has 1"]),
    (COMPACT, ["--chunks", "0"], ["extent is 0"]),
])  # fmt: skip
@pytest.mark.parametrize("ranks", [None, 2])
def test_unfitting_storage_of_other_commands_is_one(
    folder, numbers, command, words, mentions, ranks
):
    name, *options = command
    words = [name, numbers[0], "values", *options, "-o", folder / "out.h5", *words]
    support.fail(*words, code=2, mentions=mentions, ranks=ranks)
    assert support.names_in(folder) == []


def test_no_space_for_the_chunks_leaves_nothing(folder):
    words = ("--type", "u64", "--shape", 9_000_000, "--chunks", 100_000, "--fletcher32")
    limit = ("bash", "-c", 'trap "" XFSZ; ulimit -f 65536; exec "$@"', "limited")
    support.fail("generate", "uniform", folder / "out.h5", "values", *words, code=1,
                 mentions=["out.h5"], prefix=limit)  # fmt: skip
    assert support.names_in(folder) == []


@pytest.mark.skipif(shutil.which("h5dump") is None, reason="h5dump of hdf5-tools is not here")
def test_hdf5_tools_read_it(folder, numbers):
    path, sums = numbers
    support.scan(path, folder / "out.h5", "values", *STORAGES["boxes"])
    words = ["h5dump", "-p", "-y", "-d", "values", "-o", folder / "values.txt", folder / "out.h5"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    for word in ("CHUNKED ( 8, 7, 6 )", "SHUFFLE", "DEFLATE { LEVEL 9 }", "FLETCHER32"):
        assert word in shown
    numbers_shown = (folder / "values.txt").read_text().replace(",", " ").split()
    assert list(map(int, numbers_shown)) == sums.ravel().tolist()


@pytest.mark.skipif(shutil.which("h5repack") is None, reason="h5repack of hdf5-tools is not here")
def test_hdf5_tools_rewrite_several_datasets(folder, numbers):
    path, _ = numbers
    with h5py.File(path) as file:
        values = file["values"][:]
    words = ("--axis", 0, "--ops", "max,mean", "-o", folder / "out.h5", "--chunks", "20,9")
    support.run("reduce", path, "values", *words, "--deflate", "--fletcher32", ranks=2)
    shown = subprocess.run(["h5dump", "-pH", folder / "out.h5"], capture_output=True, text=True)
    assert shown.stdout.count("CHUNKED ( 20, 9 )") == 2
    words = ["h5repack", "-f", "NONE", "-l", "CONTI", folder / "out.h5", folder / "plain.h5"]
    subprocess.run(words, check=True)
    assert np.array_equal(support.read(folder / "plain.h5", "i32", "values_max"), values.max(axis=0))
    assert np.array_equal(support.read(folder / "plain.h5", "f64", "values_mean"),
                          values.astype("i8").sum(axis=0) / SHAPE[0])  # fmt: skip


@pytest.mark.skipif(shutil.which("h5repack") is None, reason="h5repack of hdf5-tools is not here")
@pytest.mark.parametrize("storage", STORAGES)
def test_hdf5_tools_rewrite_it(folder, numbers, storage):
    path, sums = numbers
    support.scan(path, folder / "out.h5", "values", *STORAGES[storage], ranks=2)
    words = ["h5repack", "-f", "NONE", "-l", "CONTI", folder / "out.h5", folder / "plain.h5"]
    subprocess.run(words, check=True)
    assert np.array_equal(support.read(folder / "plain.h5", "i64"), sums)


@pytest.mark.parametrize("option", ["--deflate", "--shuffle", "--fletcher32"])
def test_filters_choose_chunks(folder, option):
    path = folder / "in.h5"
    support.run("generate", "iota", path, "values", "--shape", "300,7000", option)
    support.run("scan", path, "values", "-o", folder / "out.h5", option)
    support.run("scan", path, "values", "-o", folder / "auto.h5", option, "--chunks", "auto")
    for made in (path, folder / "out.h5"):
        with h5py.File(made) as file, h5py.File(folder / "auto.h5") as auto:
            dataset = file["values"]
            assert dataset.chunks == auto["values"].chunks
            assert (dataset.compression == "gzip") == (option == "--deflate")
            assert (dataset.shuffle, dataset.fletcher32) == (
                option == "--shuffle", option == "--fletcher32")  # fmt: skip
