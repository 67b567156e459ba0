"""The sum modulo 2^32 of 2^30 draws that articles on GPU reductions print."""

import shutil

import pytest

import support

DRAWS = 1 << 30
BYTES = 4 * DRAWS
PUBLISHED_SUM = 1_064_985_537


def test_published_sum(folder):
    if shutil.disk_usage(folder).free < BYTES * 1.1:
        pytest.skip("needs 4.4 GiB in the folder of temporary files")
    path = folder / "msws.h5"
    words = ("--type", "u32", "--shape", DRAWS)
    support.run("generate", "msws", path, "values", *words, ranks=2, timeout=500)
    found = support.reduce(path, "values", "--overflow", "wrap", ops="sum", ranks=2, timeout=300)
    assert found.report["results"] == {"sum": PUBLISHED_SUM}
