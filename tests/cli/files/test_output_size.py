"""Files that are made are hardly larger than what they hold."""

import numpy as np
import pytest

import support

MIB = 1 << 20


@pytest.mark.parametrize("mebibytes", [1, 3, 17, 300])
def test_a_contiguous_output(folder, mebibytes):
    elements = mebibytes * MIB // 8
    path = support.write(folder / "in.h5", np.arange(elements, dtype="i8"), "i64")
    support.scan(path, folder / "out.h5", "values", "--op", "max", ranks=2)
    made = (folder / "out.h5").stat()
    assert mebibytes * MIB <= made.st_size <= mebibytes * MIB * (1 + 1 / 64) + 8192
    assert made.st_blocks * 512 <= made.st_size + 8192


@pytest.mark.parametrize("words", [[], ["--deflate", "1"]])
def test_chunks_of_more_than_a_mebibyte(folder, words):
    values = np.random.default_rng(1).integers(0, 2**63, 5 * MIB // 8)
    path = support.write(folder / "in.h5", values, "i64")
    support.scan(path, folder / "out.h5", "values", "--overflow", "wrap", "--chunks", 150_000,
                 *words)  # fmt: skip
    chunks = -(-values.size // 150_000)
    assert (folder / "out.h5").stat().st_size <= chunks * (150_000 * 8 + 4096) + 16_384


def test_several_outputs(folder):
    values = np.arange(4 * MIB, dtype="f4").reshape(4, MIB)
    path = support.write(folder / "in.h5", values, "f32")
    support.run("reduce", path, "values", "--axis", "0", "--ops", "min,max,mean,sum", "-o",
                folder / "out.h5")  # fmt: skip
    assert (folder / "out.h5").stat().st_size <= 16 * MIB * (1 + 1 / 64) + 16_384
