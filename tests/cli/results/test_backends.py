"""The GPU backend gives the bytes of the cpu backend."""

import numpy as np
import pytest

import samples
import support
from test_identical import SHAPE, results_and_outputs

GPUS = support.gpu_count()
pytestmark = pytest.mark.skipif(GPUS == 0, reason="no GPU here")
RANKS = [count for count in (1, 2, 4) if count <= max(GPUS, 1)]


def both(path, name, folder, *arguments, ranks):
    """Returns the results of the two backends, cpu first."""
    return [
        results_and_outputs(path, name, folder, *arguments, backend=backend, ranks=ranks)
        for backend in ("cpu", "cuda")
    ]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", samples.GENERATED_TYPES)
def test_types(folder, name, ranks):
    values = samples.typed(name, SHAPE)
    path = support.write(folder / "in.h5", values, name, order="big", chunks=(100, 64))
    cpu, cuda = both(path, name, folder, "--slab", "1M", ranks=ranks)
    assert cuda == cpu


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", support.FLOAT_TYPES)
@pytest.mark.parametrize("kind", samples.HARD)
def test_hard_data(folder, kind, name, ranks):
    path = support.write(folder / "in.h5", samples.hard(kind, name, 200_001), name)
    cpu, cuda = both(path, name, folder, "--slab", "64K", ranks=ranks)
    assert cuda == cpu


@pytest.mark.parametrize("slab", ["64K", "1M", "16M"])
@pytest.mark.parametrize("name", ["f64", "f32", "i16"])
def test_large_dataset_and_little_device_memory(folder, name, slab):
    values = samples.typed(name, 6_000_011)
    path = support.write(folder / "in.h5", values, name)
    cpu, cuda = both(
        path, name, folder, "--slab", slab, "--device-memory", "64M", ranks=RANKS[-1]
    )
    assert cuda == cpu


@pytest.mark.parametrize("operation", ["min", "max"])
@pytest.mark.parametrize("name", samples.GENERATED_TYPES)
def test_running_extrema(folder, name, operation):
    path = support.write(folder / "in.h5", samples.typed(name, SHAPE), name)
    outputs = []
    for backend in ("cpu", "cuda"):
        support.scan(path, folder / "out.h5", "values", "--op", operation, backend=backend)
        outputs.append(support.read(folder / "out.h5", name).tobytes())
    assert outputs[0] == outputs[1]


def by_label(folder, values, labels, name, *arguments, storage={}, **options):
    """Returns the results by label of cores, of a GPU, and of the program's choice."""
    path = support.write(folder / "in.h5", values, name, **storage)
    support.write(path, labels, "i32", "label", mode="a", **storage)
    words = (path, "values", "--by", "label", *arguments)
    return [
        str(support.reduce(*words, backend=backend, **options).report["results"])
        for backend in ("cpu", "cuda", "auto")
    ]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", samples.GENERATED_TYPES)
def test_labels(folder, name, ranks):
    values = samples.typed(name, SHAPE)
    labels = np.random.default_rng(1).integers(-5, 40, SHAPE)
    for storage in ({}, {"chunks": (50, 64), "compression": "gzip", "shuffle": True}):
        cpu, *others = by_label(folder, values, labels, name, storage=storage, ranks=ranks)
        assert others == [cpu, cpu]


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("kind", samples.HARD)
def test_labels_of_hard_data(folder, kind, name):
    values = samples.hard(kind, name, 200_000)
    places = np.arange(len(values))
    for labels in (places // 7000, places % 3, places % 60_000):
        cpu, *others = by_label(folder, values, labels, name, "--slab", "64K")
        assert others == [cpu, cpu]


@pytest.mark.parametrize("shape", [(499,), (1, 499)])
def test_labels_of_the_last_dimension(folder, shape):
    values = samples.typed("f64", SHAPE)
    labels = np.random.default_rng(2).integers(0, 200, shape)
    cpu, *others = by_label(folder, values, labels, "f64", "--where", ">0", "--slab", "64K")
    assert others == [cpu, cpu]


def test_more_labels_than_a_gpu_has_room_for(folder):
    values = samples.typed("f64", 1_000_000)
    labels = np.random.default_rng(3).integers(0, 300_000, values.shape)
    words = ("--slab", "64K", "--device-memory", "256M")
    cpu, *others = by_label(folder, values, labels, "f64", *words)
    assert others == [cpu, cpu]


def test_more_ranks_than_gpus_are_refused_with_the_way_out(folder):
    path = support.write(folder / "in.h5", samples.typed("f64", SHAPE), "f64")
    words = ("reduce", path, "values", "--backend", "cuda", "--json", "-")
    support.fail(*words, code=1, mentions=["--share-gpu"], ranks=GPUS + 1, backend=None)
    shared = support.run(*words, "--share-gpu", ranks=GPUS + 1, backend=None)
    assert shared.result_bytes == support.run(*words, backend=None).result_bytes


def test_gpus_that_were_hidden_from_ranks_are_named(folder):
    path = support.write(folder / "in.h5", samples.typed("f64", SHAPE), "f64")
    support.fail("reduce", path, "values", "--backend", "cuda", code=1, ranks=2, backend=None,
                 prefix=["env", "CUDA_VISIBLE_DEVICES=0"],
                 mentions=["ranks 0 to 1 see 0", "CUDA_VISIBLE_DEVICES=0"])  # fmt: skip
