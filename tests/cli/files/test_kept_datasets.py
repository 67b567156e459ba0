"""--force with -o OUT:DATASET keeps what else OUT holds."""

import signal
import time

import h5py
import numpy as np
import pytest

import support

ELEMENTS = 100_000


@pytest.fixture
def out(folder):
    """An output of earlier runs and of others, beside an input."""
    support.write(folder / "in.h5", np.arange(ELEMENTS), "i32")
    with h5py.File(folder / "out.h5", "w") as file:
        file.attrs["title"] = "mine"
        file.attrs["history"] = "earlier"
        file.create_dataset("packed", data=np.arange(9000.0), chunks=(500,), compression="gzip")
        file["group/deep"] = [1, 2, 3]
        file["link"] = h5py.SoftLink("/group/deep")
        file["sums"] = np.zeros((3, 4), "f4")
    return folder / "out.h5"


def scan_to(out, dataset, *words, **options):
    words = ("scan", out.parent / "in.h5", "values", "-o", f"{out}{dataset}", "--force", *words)
    return support.run(*words, **options)


def others(path):
    stored = support.stored_bytes(path)
    return {name: stored[name] for name in ("packed", "group/deep")}


@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("storage", [(), ("--deflate",)], ids=["plain", "deflate"])
@pytest.mark.parametrize("name", ["sums", "new", "group/sums", "/link", "other/deep/sums"])
def test_other_datasets_stay(out, name, storage, ranks):
    before = others(out)
    scan_to(out, f":{name}", *storage, ranks=ranks)
    assert others(out) == before
    with h5py.File(out) as file:
        assert np.array_equal(file[name][...], np.cumsum(np.arange(ELEMENTS)))
        assert (file[name].compression == "gzip") == bool(storage)
        assert file.attrs["title"] == "mine"
        first, *rest = file.attrs["history"].decode().split("\n")
        assert first.startswith("warpfold scan ") and rest == ["earlier"]
        assert name == "/link" or file.get("link", getlink=True).path == "/group/deep"
        assert name == "sums" or file["sums"].shape == (3, 4)
    assert sorted(each.name for each in out.parent.iterdir()) == ["in.h5", "out.h5"]


def test_one_after_another(out):
    for name in ("a", "b", "a", "c"):
        scan_to(out, f":{name}")
    reduce = ("reduce", out.parent / "in.h5", "values", "--axis", 0, "--ops", "sum,max", "--force")
    compact = ("compact", out.parent / "in.h5", "values", "--where", "<3", "--indices", "--force")
    for _ in range(2):
        support.run(*reduce, "-o", f"{out}:totals", ranks=2)
        support.run(*compact, "-o", f"{out}:few", ranks=2)
    assert sorted(support.stored_bytes(out)) == [
        "a", "b", "c", "few", "few_indices", "group/deep", "packed", "sums", "totals_max",
        "totals_sum",
    ]  # fmt: skip
    assert list(support.read(out, "i32", "few")) == [0, 1, 2]
    assert support.read(out, "i64", "totals_sum") == ELEMENTS * (ELEMENTS - 1) // 2


def test_the_file_alone_is_replaced(out):
    scan_to(out, "")
    assert list(support.stored_bytes(out)) == ["values"]


@pytest.mark.parametrize("ranks", [None, 2])
def test_what_cannot_be_kept_stays_as_it_is(out, ranks):
    before = out.read_bytes()
    options = {"ranks": ranks, "code": 1}
    words = ("scan", out.parent / "in.h5", "values", "--force", "-o")
    support.fail(*words, f"{out}:group", mentions=["'group' is a group"], **options)
    support.fail(*words, f"{out}:x", "--output-type", "i8", mentions=["overflows"], **options)
    with h5py.File(out, "r+"):
        support.fail(*words, f"{out}:x", mentions=["can't be kept"], **options)
    out.write_bytes(before)
    text = out.parent / "text"
    text.write_text("precious")
    support.fail(*words, f"{text}:x", mentions=["not an HDF5 file", "alone"], **options)
    assert out.read_bytes() == before and text.read_text() == "precious"
    assert sorted(each.name for each in out.parent.iterdir()) == ["in.h5", "out.h5", "text"]


@pytest.mark.parametrize("ending", ["interrupted", "changed"])
def test_a_run_that_fails_half_way_changes_nothing(out, fault, ending):
    prefix = fault("pread", "in.h5", "delay 100")
    words = ("scan", out.parent / "in.h5", "values", "-o", f"{out}:x", "--force")
    process = support.start(*words, "--slab", "4K", "--threads", 1, prefix=prefix)
    end = time.monotonic() + 60
    while fault.count() < 15 or len(list(out.parent.iterdir())) < 3:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    if ending == "changed":
        with h5py.File(out, "r+") as file:
            file["added"] = 1
    else:
        process.send_signal(signal.SIGTERM)
    before = out.read_bytes()
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode == (1 if ending == "changed" else -signal.SIGTERM)
    assert ("changed meanwhile" if ending == "changed" else "interrupted") in stderr
    assert out.read_bytes() == before
    assert sorted(each.name for each in out.parent.iterdir()) == ["in.h5", "out.h5"]
