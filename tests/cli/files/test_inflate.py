"""Deflated chunks, of which a rank has so many that a GPU inflates them: results are those of the
same values stored without filters."""

import zlib

import h5py
import numpy as np
import pytest

import samples
import support

SHAPE = (611, 290)
CHUNK = (13, 29)  # 470 of them, more than a GPU needs for one thread
WORDS = ("--threads", "1", "--read-path", "chunk")


def some_values(dtype):
    return samples.smooth_and_noisy(SHAPE, dtype)


def add_shuffle(properties):
    properties.set_shuffle()


def add_deflate(properties):
    properties.set_deflate(4)


def add_fletcher32(properties):
    properties.set_fletcher32()


PIPELINES = {
    "deflate": (add_deflate,),
    "shuffle, deflate": (add_shuffle, add_deflate),
    "deflate, fletcher32": (add_deflate, add_fletcher32),
    "shuffle, deflate, fletcher32": (add_shuffle, add_deflate, add_fletcher32),
    "fletcher32, shuffle, deflate": (add_fletcher32, add_shuffle, add_deflate),
    "deflate, shuffle": (add_deflate, add_shuffle),
    "deflate twice": (add_deflate, add_deflate),
}


def write(path, values, filters, chunk=CHUNK):
    """A dataset whose last rows of chunks are not written, and the same values without filters."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(chunk)
    for add in filters:
        add(properties)
    written = values.shape[0] * 4 // 5 // chunk[0] * chunk[0]
    with h5py.File(path, "w") as file:
        made = h5py.h5d.create(file.id, b"values", h5py.h5t.py_create(values.dtype),
                               h5py.h5s.create_simple(values.shape), properties)  # fmt: skip
        dataset = h5py.Dataset(made)
        dataset[:written] = values[:written]
        plain = values.copy()
        plain[written:] = 0
        file["plain"] = plain
    return path


def leave_filters_out(path, every=3):
    """Stores some of the chunks without the last filter that applies to them."""
    with h5py.File(path, "r+") as file:
        stored = file["values"].id
        for i in range(0, stored.get_num_chunks(), every):
            info = stored.get_chunk_info(i)
            raw = np.zeros(CHUNK, stored.dtype)
            part = file["plain"][tuple(slice(o, o + c) for o, c in zip(info.chunk_offset, CHUNK))]
            raw[: part.shape[0], : part.shape[1]] = part
            stored.write_direct_chunk(info.chunk_offset, raw.tobytes(), 0xFF)


def results(path, dataset, *words, ranks=None, command="reduce"):
    if command == "reduce":
        return support.reduce(path, dataset, *words, ranks=ranks).results
    return support.run(command, path, dataset, "--json", "-", *words, ranks=ranks).results


def expect_same(path, *words, all_ranks=(None,), **options):
    expected = results(path, "plain", *words, **options)
    for ranks in all_ranks:
        assert results(path, "values", *WORDS, *words, ranks=ranks, **options) == expected


@pytest.mark.parametrize("name", PIPELINES)
def test_filters(folder, name):
    for dtype in ("<f4", ">f8", "<i2", "u1"):
        path = write(folder / "in.h5", some_values(dtype), PIPELINES[name])
        expect_same(path)
    expect_same(path, all_ranks=(2, 4))


@pytest.mark.parametrize("name", ["shuffle, deflate", "deflate, fletcher32"])
def test_chunks_that_leave_filters_out(folder, name):
    path = write(folder / "in.h5", some_values("<i4"), PIPELINES[name])
    leave_filters_out(path)
    expect_same(path, all_ranks=(None, 3))


@pytest.mark.parametrize("chunk", [(1, 290), (611, 1), (1, 1), (37, 290), (400, 200)])
def test_shapes_of_chunks(folder, chunk):
    values = some_values("<f4")[:64] if chunk == (1, 1) else some_values("<f4")
    expect_same(write(folder / "in.h5", values, PIPELINES["shuffle, deflate"], chunk))


@pytest.mark.parametrize(
    "words",
    [
        ("--where", ">150"),
        ("--select", "3:600:7,20:280"),
        ("--select", "5:500,100:101", "--where", "<=90"),
        ("--fill-value", "0"),
        ("--slab", "64K"),
    ],
    ids=" ".join,
)
def test_views(folder, words):
    path = write(folder / "in.h5", some_values("<i2"), PIPELINES["shuffle, deflate"])
    expect_same(path, *words)


def test_histogram(folder):
    path = write(folder / "in.h5", some_values("<i2"), PIPELINES["shuffle, deflate"])
    expect_same(path, "--bins", "50", command="histogram")


WRITING = {
    "scan": ("scan",),
    "maximum so far": ("scan", "--op", "max"),
    "compact": ("compact", "--where", ">150", "--indices"),
    "part": ("scan", "--select", "20:600:3,10:250"),
    "columns": ("reduce", "--axis", "0", "--ops", "sum,argmax,std,count"),
    "rows": ("reduce", "--axis", "1", "--ops", "mean,l2,max"),
    "columns of some": ("reduce", "--axis", "0", "--where", ">150", "--ops", "sum,count"),
    "columns of a part": ("reduce", "--axis", "0", "--select", "20:600:3,10:250", "--ops", "mean"),
    "lines": ("scan", "--axis", "0"),
}


@pytest.mark.parametrize("chunk", [CHUNK, (3, 290), (100, 7)])
@pytest.mark.parametrize("name", WRITING)
def test_outputs(folder, name, chunk):
    command, *words = WRITING[name]
    path = write(folder / "in.h5", some_values("<i2"), PIPELINES["shuffle, deflate"], chunk)
    expected = support.outputs(folder, command, path, "plain", *words)
    assert support.outputs(folder, command, path, "values", *words, *WORDS) == expected
    assert support.outputs(folder, command, path, "values", *words, *WORDS, ranks=3) == expected


def test_columns_that_cancel_over_all_orders(folder):
    random = np.random.default_rng(5)
    values = random.standard_normal(SHAPE) * 2.0 ** random.integers(-900, 900, SHAPE)
    values[1::2] = -values[:-1:2]
    path = write(folder / "in.h5", values, PIPELINES["shuffle, deflate"])
    words = ("--axis", "0", "--ops", "sum,l1")
    expected = support.outputs(folder, "reduce", path, "plain", *words)
    assert support.outputs(folder, "reduce", path, "values", *words, *WORDS) == expected


@pytest.mark.parametrize("memory", ["3M", "8M", "20M"])
def test_little_device_memory(folder, memory):
    path = write(folder / "in.h5", some_values("<f4"), PIPELINES["shuffle, deflate"])
    expect_same(path, "--device-memory", memory)
    expected = support.outputs(folder, "scan", path, "plain")
    words = (*WORDS, "--device-memory", memory)
    assert support.outputs(folder, "scan", path, "values", *words) == expected


@pytest.mark.skipif(support.BACKEND != "cuda", reason="of the GPU")
def test_the_gpu_inflates(folder):
    path = write(folder / "in.h5", some_values("<f4"), PIPELINES["shuffle, deflate"])
    for outcome in (support.reduce(path, "values", *WORDS),
                    support.reduce(path, "values", *WORDS, "--axis", "0", "-o", folder / "a.h5"),
                    support.scan(path, folder / "out.h5", "values", *WORDS),
                    support.scan(path, folder / "b.h5", "values", *WORDS, "--axis", "0")):  # fmt: skip
        stages = list(outcome.report["timings"]["stages"])
        assert stages.index("decompress on GPU") > stages.index("copy to GPU")


def stored_chunk(path, place):
    with h5py.File(path, "r") as file:
        info = file["values"].id.get_chunk_info(place)
    return info.byte_offset, info.size, [o // c for o, c in zip(info.chunk_offset, CHUNK)]


def overwrite(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


DAMAGES = {
    "header": lambda at, size: (at, b"\x00\x00"),
    "middle": lambda at, size: (at + size // 2, b"\xa5\x5a\x12\x34\x56\x78"),
    "checksum": lambda at, size: (at + size - 4, b"\x01\x02\x03\x04"),
}


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("where", DAMAGES)
def test_damage_is_reported_as_by_the_cores(folder, where, ranks):
    path = write(folder / "in.h5", some_values("<i4"), PIPELINES["shuffle, deflate"])
    at, size, chunk = stored_chunk(path, 217)
    overwrite(path, *DAMAGES[where](at, size))
    words = ("reduce", path, "values", *WORDS)
    mentions = [path, "values", f"chunk {chunk}", f"byte {at}", "deflate stream is damaged"]
    support.fail(*words, code=1, mentions=mentions, ranks=ranks)
    for command in (("scan",), ("reduce", "--axis", "0"), ("scan", "--axis", "0")):
        words = (command[0], path, "values", "-o", folder / "out.h5", *command[1:], *WORDS)
        support.fail(*words, code=1, mentions=mentions, ranks=ranks)
    assert not (folder / "out.h5").exists()


def test_a_stream_of_another_length_is_reported(folder):
    path = write(folder / "in.h5", some_values("<i4"), (add_deflate,))
    with h5py.File(path, "r+") as file:
        file["values"].id.write_direct_chunk((0, 29), zlib.compress(bytes(100)), 0)
    words = ("reduce", path, "values", *WORDS)
    support.fail(*words, code=1, mentions=["chunk [0, 1]", "100 bytes"])


def test_bytes_behind_a_stream_are_no_matter(folder):
    path = write(folder / "in.h5", some_values("<i4"), (add_deflate,))
    with h5py.File(path, "r+") as file:
        _, stored = file["values"].id.read_direct_chunk((0, 29))
        file["values"].id.write_direct_chunk((0, 29), stored + b"behind", 0)
    expect_same(path)


SHARED_CHUNKS = 416
SHARED_CHUNK = 2**17  # f64: 1 MiB


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A dataset that a few cores take so long for that it is worth starting a GPU beside them, with
    the exact sum and the counts of its integers."""
    path = tmp_path_factory.mktemp("shared") / "in.h5"
    parts = np.random.default_rng(8).integers(0, 100, (8, SHARED_CHUNK))
    streams = [zlib.compress(part.astype("<f8").tobytes(), 1) for part in parts]
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("values", shape=(SHARED_CHUNKS * SHARED_CHUNK,), dtype="<f8",
                                      chunks=(SHARED_CHUNK,), compression="gzip")  # fmt: skip
        for chunk in range(SHARED_CHUNKS):
            dataset.id.write_direct_chunk((chunk * SHARED_CHUNK,), streams[chunk % 8])
    times = SHARED_CHUNKS // 8
    yield path, int(parts.sum()) * times, np.bincount(parts.ravel(), minlength=100) * times
    path.unlink()


def expect_shared(report, threads):
    """With a GPU, every element was its or the cores'. A thread alone starts the GPU before it
    works; others may be done by then."""
    if support.gpu_count() == 0 or "this build has no CUDA" in support.run("--config").stdout:
        assert report["backend"] == "cpu"
        return
    assert report["backend"] == "cpu+cuda"
    stages = report["timings"]["stages"]
    bytes_of = [int(stages[name]["bytes"]) for name in ("fold", "fold on cores")]
    assert min(bytes_of) > 0 or threads > 1
    assert sum(bytes_of) == SHARED_CHUNKS * SHARED_CHUNK * 8


@pytest.mark.parametrize("threads, ranks", [(1, None), (2, None), (1, 2)])
def test_cores_share_with_a_gpu(shared, threads, ranks):
    path, total, counts = shared
    words = ("--threads", threads, *(("--share-gpu",) if ranks else ()))
    reduced = support.reduce(path, "values", *words, ops="sum", ranks=ranks, backend=None)
    assert reduced.results["sum"] == total
    counted = support.run("histogram", path, "values", "--json", "-", *words, "--bins", "100",
                          "--range", "0,100", ranks=ranks, backend=None)  # fmt: skip
    assert counted.results["counts"] == counts.tolist()
    if ranks is None:
        expect_shared(reduced.report, threads)
        expect_shared(counted.report, threads)


def test_damage_is_reported_by_whoever_meets_it(shared, folder):
    path = folder / "damaged.h5"
    path.write_bytes(shared[0].read_bytes())
    at, size, _ = stored_chunk(path, 3)
    overwrite(path, *DAMAGES["middle"](at, size))
    words = ("reduce", path, "values", "--threads", "2")
    mentions = [path, "values", "chunk [3]", f"byte {at}", "deflate stream is damaged"]
    printed = support.fail(*words, code=1, mentions=mentions, backend=None).errors
    assert printed == support.fail(*words, code=1, mentions=mentions, backend="cpu").errors
