"""Generated datasets: the same for any number of ranks, stored as asked, with known sums."""

import shutil
import subprocess

import h5py
import numpy as np
import pytest

import support

KINDS = {
    "constant": ("u8", "i64", "bf16", "f64"),
    "iota": ("i8", "u32", "i64", "f32"),
    "uniform": ("i8", "u16", "i64", "f16", "bf16", "f32", "f64"),
    "normal": ("f16", "f32", "f64"),
    "msws": ("u32", "u64"),
    "wide": ("f32", "f64"),
    "cancel": ("f32", "f64"),
    "nan": ("f16", "bf16", "f64"),
}
SHAPE = (301, 437)


def generate(kind, path, name, *arguments, shape=SHAPE, ranks=None):
    words = ("--type", name, "--shape", ",".join(map(str, shape)), "--force", *arguments)
    return support.run("generate", kind, path, "values", *words, ranks=ranks)


def stored_bytes(path):
    """A dataset's elements as they lie in the file, whatever its storage."""
    with h5py.File(path) as file:
        opened = file["values"].id
        raw = np.empty(opened.shape, f"V{opened.get_type().get_size()}")
        opened.read(h5py.h5s.ALL, h5py.h5s.ALL, raw, opened.get_type())
    return raw.tobytes()


@pytest.mark.parametrize("kind, name", [(kind, name) for kind in KINDS for name in KINDS[kind]])
def test_every_number_of_ranks_writes_the_same_dataset(folder, kind, name):
    for path, ranks in ((folder / "alone.h5", None), (folder / "three.h5", 3)):
        generate(kind, path, name, "--seed", 7, "--slab", "64K", ranks=ranks)
    assert stored_bytes(folder / "alone.h5") == stored_bytes(folder / "three.h5")


@pytest.mark.parametrize("kind", ["uniform", "normal", "wide", "cancel", "nan"])
def test_seeds_differ(folder, kind):
    for seed in (1, 2):
        generate(kind, folder / f"{seed}.h5", "f64", "--seed", seed)
    assert stored_bytes(folder / "1.h5") != stored_bytes(folder / "2.h5")


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("name", ["u16", "f32", "bf16"])
def test_stored_as_asked(folder, name, order, ranks):
    options = ("--chunks", "100,64", "--deflate", 5, "--shuffle", "--fletcher32")
    generate("uniform", folder / "plain.h5", name)
    generate("uniform", folder / "in.h5", name, *options, "--byte-order", order, ranks=ranks)
    with h5py.File(folder / "in.h5") as file:
        made = file["values"]
        assert (made.shape, made.chunks) == (SHAPE, (100, 64))
        assert (made.compression, made.compression_opts) == ("gzip", 5)
        assert made.shuffle and made.fletcher32
        orders = {"little": h5py.h5t.ORDER_LE, "big": h5py.h5t.ORDER_BE}
        assert made.id.get_type().get_order() == orders[order]
    values = support.read(folder / "in.h5", name)
    assert np.array_equal(values, support.read(folder / "plain.h5", name))


@pytest.mark.parametrize("name", [*support.INTEGER_TYPES, *support.FLOAT_TYPES])
def test_types(folder, name):
    generate("uniform", folder / "in.h5", name, shape=(1000,))
    assert support.stored_type(folder / "in.h5").equal(support.file_type(name))


def test_contiguous_unless_chunks_are_asked_for(folder):
    generate("iota", folder / "in.h5", "i32")
    with h5py.File(folder / "in.h5") as file:
        assert file["values"].chunks is None
        assert file["values"].id.get_offset() is not None


def test_constant(folder):
    generate("constant", folder / "in.h5", "f64", "--value", "1.23")
    assert (support.read(folder / "in.h5", "f64") == 1.23).all()


def test_iota(folder):
    generate("iota", folder / "in.h5", "i64", ranks=2)
    count = SHAPE[0] * SHAPE[1]
    assert np.array_equal(support.read(folder / "in.h5", "i64").ravel(), np.arange(count))


@pytest.mark.parametrize("name, low, high", [
    ("i8", -(2**7), 2**7), ("u8", 0, 2**8), ("i16", -(2**15), 2**15), ("u16", 0, 2**16),
    ("i32", -(2**31), 2**31), ("i64", -(2**31), 2**31), ("u32", 0, 2**32), ("u64", 0, 2**32),
])  # fmt: skip
def test_uniform_integers_fill_their_range(folder, name, low, high):
    generate("uniform", folder / "in.h5", name)
    values = support.read(folder / "in.h5", name).astype("f8")
    assert low <= values.min() < low + (high - low) / 100
    assert high - (high - low) / 100 - 1 <= values.max() < high


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_uniform_floats_lie_in_the_unit_interval(folder, name):
    generate("uniform", folder / "in.h5", name)
    values = support.read(folder / "in.h5", name).astype("f8")
    assert 0 <= values.min() < 0.001
    assert 0.999 < values.max() <= 1
    assert abs(values.mean() - 0.5) < 0.01


def test_normal(folder):
    generate("normal", folder / "in.h5", "f64")
    values = support.read(folder / "in.h5", "f64")
    assert abs(values.mean()) < 0.02
    assert abs(values.std() - 1) < 0.02
    assert abs((values**3).mean()) < 0.1


def middle_square_weyl(count):
    """Widynski's generator from x = w = 0."""
    state, weyl, mask, drawn = 0, 0, 2**64 - 1, []
    for _ in range(count):
        weyl = (weyl + 0xB5AD4ECEDA1CE2A9) & mask
        state = (state * state + weyl) & mask
        state = (state >> 32) | (state << 32) & mask
        drawn.append(state & 0xFFFFFFFF)
    return drawn


def test_msws_is_the_published_sequence(folder):
    generate("msws", folder / "in.h5", "u32", "--slab", "64K", shape=(100_000,), ranks=3)
    assert support.read(folder / "in.h5", "u32").tolist() == middle_square_weyl(100_000)


def test_wide_spans_many_binary_orders(folder):
    generate("wide", folder / "in.h5", "f64")
    values = support.read(folder / "in.h5", "f64")
    exponents = np.frexp(values[values != 0])[1]
    assert exponents.max() - exponents.min() > 50


def test_cancelling_terms_leave_a_small_sum(folder):
    generate("cancel", folder / "in.h5", "f64")
    found = support.reduce(folder / "in.h5", ranks=2).results
    assert found["linf"] > 2.0**60 * max(abs(found["sum"]), 2.0**-60)


def test_nan_is_sprinkled(folder):
    generate("nan", folder / "in.h5", "f64")
    count = np.isnan(support.read(folder / "in.h5", "f64")).sum()
    assert 0 < count < SHAPE[0] * SHAPE[1] / 2
    assert support.reduce(folder / "in.h5").results["nan_count"] == count


def test_no_elements(folder):
    for ranks in (1, 4):
        generate("uniform", folder / "in.h5", "f64", shape=(0,), ranks=ranks)
        assert support.read(folder / "in.h5", "f64").shape == (0,)


def test_deep_dataset_name(folder):
    words = ("--type", "i32", "--shape", "4")
    support.run("generate", "iota", folder / "in.h5", "/a/b/values", *words)
    assert support.read(folder / "in.h5", "i32", "a/b/values").tolist() == [0, 1, 2, 3]


def test_nothing_but_the_file_is_left(folder):
    generate("uniform", folder / "in.h5", "f64", ranks=2)
    assert [each.name for each in folder.iterdir()] == ["in.h5"]


@pytest.mark.skipif(shutil.which("h5dump") is None, reason="h5dump of hdf5-tools is not here")
def test_hdf5_tools_read_it(folder):
    storage = ("--byte-order", "big", "--chunks", "7,8")
    generate("iota", folder / "in.h5", "i32", *storage, shape=(9, 10))
    words = ["h5dump", "-y", "-d", "values", "-o", folder / "values.txt", folder / "in.h5"]
    assert subprocess.run(words, stdout=subprocess.DEVNULL).returncode == 0
    numbers = (folder / "values.txt").read_text().replace(",", " ").split()
    assert list(map(int, numbers)) == list(range(90))
