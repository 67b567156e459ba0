"""The GPU backend gives the bytes of the cpu backend."""

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
