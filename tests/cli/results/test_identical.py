"""The same values give the same bytes: however many ranks, whatever slabs, storage, byte order."""

import itertools
import re

import pytest

import samples
import support

SHAPE = (613, 499)
FLAT = (SHAPE[0] * SHAPE[1],)
RANKS = (1, 2, 3, 4, 7)
SLABS = ("64K", "1M", "16M")
STORAGE = {
    "contiguous": (SHAPE, {}),
    "chunked-1d": (FLAT, {"chunks": (4099,)}),
    "chunked-2d": (SHAPE, {"chunks": (100, 64)}),
    "gzip-shuffle": (SHAPE, {"chunks": (97, 120), "compression": "gzip", "shuffle": True}),
    "gzip-shuffle-1d": (FLAT, {"chunks": (30011,), "compression": "gzip", "shuffle": True}),
}
VARIANTS_PER_TYPE = 5


def variants_of(type_number):
    """Five of the combinations: every value of each axis, other pairs for every type."""
    storages = list(STORAGE)
    orders = ("little", "big")
    for each in range(VARIANTS_PER_TYPE):
        yield (
            RANKS[(each + type_number) % len(RANKS)],
            SLABS[(each + type_number // 2) % len(SLABS)],
            storages[(each + 2 * type_number + 1) % len(storages)],
            orders[(each + type_number) % 2],
        )


CASES = [
    pytest.param(name, *variant, id="-".join(map(str, (name, *variant))))
    for number, name in enumerate(samples.GENERATED_TYPES)
    for variant in variants_of(number)
]


def test_cases_cover_every_pair_of_ranks_slab_storage_and_order():
    axes = (RANKS, SLABS, STORAGE, ("little", "big"))
    for first, second in itertools.combinations(range(len(axes)), 2):
        seen = {(case.values[1 + first], case.values[1 + second]) for case in CASES}
        assert seen == set(itertools.product(axes[first], axes[second]))


def results_and_outputs(path, name, folder, *arguments, **options):
    """Everything that must not change: both commands' results and the scan's elements."""
    output = folder / "scan.h5"
    scanned = support.scan(path, output, "values", *arguments, **options)
    reduced = support.reduce(path, "values", *arguments, **options)
    elements = support.read(output, support.output_type(name)).tobytes()
    return reduced.result_bytes, scanned.result_bytes, elements


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Results of each type from contiguous little-endian storage, by one process."""
    folder = tmp_path_factory.mktemp("expected")
    known = {}

    def of(name):
        if name not in known:
            path = support.write(folder / f"{name}.h5", samples.typed(name, SHAPE), name)
            known[name] = results_and_outputs(path, name, folder)
        return known[name]

    yield of
    for path in folder.iterdir():
        path.unlink()


@pytest.mark.parametrize("name, ranks, slab, storage, order", CASES)
def test_same_bytes(folder, expected, name, ranks, slab, storage, order):
    shape, properties = STORAGE[storage]
    values = samples.typed(name, SHAPE).reshape(shape)
    path = support.write(folder / "in.h5", values, name, order=order, **properties)
    found = results_and_outputs(path, name, folder, "--slab", slab, ranks=ranks)
    assert without_folder(found[0]) == without_folder(expected(name)[0])
    assert without_folder(found[1]) == without_folder(expected(name)[1])
    assert found[2] == expected(name)[2]


def without_folder(results):
    """A scan's results name its output's path, which is the test's, not the program's, choice."""
    return re.sub(r'("output"\s*:\s*)"[^"]*"', r'\1"..."', results)


@pytest.mark.parametrize("name", ["f64", "f32"])
def test_same_bytes_when_the_largest_slab_is_smaller_than_the_dataset(folder, name):
    values = samples.typed(name, 6_000_011)
    path = support.write(folder / "in.h5", values, name)
    found = {
        results_and_outputs(path, name, folder, "--slab", slab, ranks=ranks)
        for slab, ranks in (("16M", 1), ("16M", 2), ("1M", 3), ("64K", 4))
    }
    assert len(found) == 1


@pytest.mark.parametrize("threads", [1, 3])
def test_same_bytes_for_any_number_of_threads(folder, expected, threads):
    path = support.write(folder / "in.h5", samples.typed("f64", SHAPE), "f64")
    found = results_and_outputs(path, "f64", folder, "--slab", "64K", "--threads", threads)
    assert found[0] == expected("f64")[0]
    assert found[2] == expected("f64")[2]


@pytest.mark.parametrize("cache", ["auto", "through", "past"])
def test_same_bytes_through_the_file_cache_and_past_it(folder, expected, cache):
    path = support.write(folder / "in.h5", samples.typed("f64", SHAPE), "f64")
    arguments = ("--file-cache", cache, "--slab", "64K", "--threads", 2)
    found = results_and_outputs(path, "f64", folder, *arguments, ranks=2)
    assert found[0] == expected("f64")[0]
    assert found[2] == expected("f64")[2]


@pytest.mark.parametrize("ranks, threads", [(1, 1), (1, 4), (2, 3), (3, 2)])
@pytest.mark.parametrize(
    "storage, read_path",
    [
        ("contiguous", "direct"),
        ("contiguous", "library"),
        ("chunked-1d", "direct"),
        ("chunked-2d", "direct"),
        ("chunked-2d", "library"),
        ("gzip-shuffle", "chunk"),
        ("gzip-shuffle", "library"),
    ],
)
def test_same_statistics_by_any_path(folder, expected, storage, read_path, ranks, threads):
    shape, properties = STORAGE[storage]
    values = samples.typed("f32", SHAPE).reshape(shape)
    path = support.write(folder / "in.h5", values, "f32", order="big", **properties)
    arguments = ("--read-path", read_path, "--threads", threads, "--slab", "64K")
    found = support.reduce(path, "values", *arguments, ranks=ranks)
    assert found.result_bytes == expected("f32")[0]


@pytest.mark.parametrize("operation", ["min", "max"])
@pytest.mark.parametrize("name", ["f32", "bf16", "i16", "u64"])
def test_same_bytes_of_running_extrema(folder, name, operation):
    path = support.write(folder / "in.h5", samples.typed(name, SHAPE), name, chunks=(100, 64))
    outputs = set()
    for ranks, slab in ((1, "16M"), (3, "64K")):
        arguments = ("--op", operation, "--slab", slab)
        report = support.scan(path, folder / "out.h5", "values", *arguments, ranks=ranks)
        outputs.add((report.result_bytes, support.read(folder / "out.h5", name).tobytes()))
    assert len(outputs) == 1
