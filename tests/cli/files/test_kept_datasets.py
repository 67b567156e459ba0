"""--append, and --force with -o OUT:DATASET, keep what else OUT holds."""

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
    assert support.names_in(out.parent) == ["in.h5", "out.h5"]


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
        support.fail(*words, f"{out}:x", mentions=["has it open for writing"], **options)
    out.write_bytes(before)
    text = out.parent / "text"
    text.write_text("precious")
    support.fail(*words, f"{text}:x", mentions=["not an HDF5 file", "alone"], **options)
    assert out.read_bytes() == before and text.read_text() == "precious"
    assert support.names_in(out.parent) == ["in.h5", "out.h5", "text"]


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
    assert ("have changed" if ending == "changed" else "interrupted") in stderr
    assert out.read_bytes() == before
    assert support.names_in(out.parent) == ["in.h5", "out.h5"]


def append_to(out, *names):
    return ["scan", out.parent / "in.h5", *(names or ["values"]), "--append", "-o", out]


@pytest.mark.parametrize("ranks", [None, 3])
def test_append_adds_to_a_file(out, ranks):
    before = support.stored_bytes(out)
    words = append_to(out)
    support.run(*words, ranks=ranks)
    support.run("reduce", out.parent / "in.h5", "values", "--axis", 0, "--ops", "min,max",
                "--append", "-o", f"{out}:ends", ranks=ranks)  # fmt: skip
    support.run("generate", "constant", out, "ones", "--shape", 5, "--append", ranks=ranks)
    after = support.stored_bytes(out)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"values", "ends_min", "ends_max", "ones"}
    sums = np.cumsum(np.arange(ELEMENTS))
    assert np.array_equal(support.read(out, "i64", "values"), sums)
    with h5py.File(out) as file:
        lines = file.attrs["history"].decode().split("\n")
        assert [line.split()[1] for line in lines[:3]] == ["generate", "reduce", "scan"]
        assert lines[3:] == ["earlier"] and file.attrs["title"] == "mine"
        assert file.get("link", getlink=True).path == "/group/deep"
    kept = out.read_bytes()
    support.fail(*words, code=1, mentions=["'values'", "--force"], ranks=ranks)
    support.fail(*words[:-1], f"{out}:group", "--force", code=1, mentions=["'group' is a group"])
    assert out.read_bytes() == kept
    support.run(*words, "--force", "--exclusive", ranks=ranks)
    assert np.array_equal(support.read(out, "i64", "values")[1:], sums[:-1])
    assert set(support.stored_bytes(out)) == set(after)
    assert support.names_in(out.parent) == ["in.h5", "out.h5"]


def test_append_makes_a_file(out):
    alone = out.parent / "alone.h5"
    support.run(*append_to(alone))
    support.run(*append_to(alone)[:-1], f"{alone}:again")
    assert sorted(support.stored_bytes(alone)) == ["again", "values"]
    support.fail("scan", out.parent / "in.h5", "values", "-o", f"{alone}:third", code=1,
                 mentions=["it exists", "--append", "--force"])  # fmt: skip


def test_append_goes_where_a_link_leads(out):
    link = out.parent / "link.h5"
    link.symlink_to("out.h5")
    support.run(*append_to(link))
    assert link.is_symlink() and "values" in support.stored_bytes(out)


@pytest.mark.parametrize("ranks", [None, 3])
def test_several_outputs_are_added_or_none(out, ranks):
    for name in ("a", "b"):
        support.write(out.parent / "in.h5", np.arange(5), "i32", name, mode="a")
    before = out.read_bytes()
    support.fail(*append_to(out, "a", "gone"), code=1, mentions=["gone"], ranks=ranks)
    with h5py.File(out, "a") as file:
        file["b"] = np.arange(3)
    with_b = support.stored_bytes(out)
    support.fail(*append_to(out, "a", "b"), code=1, mentions=["'b'", "--force"], ranks=ranks)
    assert support.stored_bytes(out) == with_b
    out.write_bytes(before)
    support.run(*append_to(out, "a", "b"), ranks=ranks)
    assert list(support.read(out, "i64", "b")) == [0, 1, 3, 6, 10]


def test_a_replaced_dataset_stays_where_its_input_is_damaged(out):
    path = out.parent / "in.h5"
    with h5py.File(path, "a") as file:
        file["a"] = np.arange(4)
        file.create_dataset("sums", data=np.arange(3000.0), chunks=(500,), compression="gzip")
        place = file["sums"].id.get_chunk_info(4).byte_offset
    with open(path, "r+b") as file:
        file.seek(place + 10)
        file.write(b"\xff" * 40)
    before = support.stored_bytes(out)
    outcome = support.attempt(*append_to(out, "--all"), "--force")
    assert outcome.code == 1 and "sums" in outcome.errors[0]
    after = support.stored_bytes(out)
    assert after["sums"] == before["sums"] and {"a", "values"} <= set(after)


@pytest.mark.parametrize("words", [["--append"], ["--append", "--force"]])
def test_a_file_that_appears_meanwhile_stays(folder, fault, words):
    path = support.write(folder / "in.h5", np.arange(ELEMENTS), "i32")
    out = folder / "new.h5"
    prefix = fault("pread", "in.h5", "delay 100")
    process = support.start("scan", path, "values", "-o", out, *words, "--slab", "4K",
                            "--threads", 1, prefix=prefix)  # fmt: skip
    end = time.monotonic() + 60
    while fault.count() < 15 or len(list(folder.iterdir())) < 2:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    out.write_text("precious")
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode == 1 and "it exists" in stderr
    assert out.read_text() == "precious"
    assert support.names_in(folder) == ["in.h5", "new.h5"]


def test_coordinates_that_are_there_are_shared(folder):
    xarray = pytest.importorskip("xarray")
    time = xarray.Variable("time", np.arange(4.0), {"units": "days since 2000-01-01"})
    for name in ("a", "b"):
        made = xarray.Dataset({name: ("time", np.arange(4.0))}, {"time": time})
        made.to_netcdf(folder / f"{name}.nc", engine="netcdf4")
    later = xarray.Dataset({"c": ("time", np.arange(4.0))}, {"time": time + 1})
    later.to_netcdf(folder / "c.nc", engine="netcdf4")
    out = folder / "out.nc"
    for name in ("a", "b", "c"):
        support.run("scan", folder / f"{name}.nc", name, "-o", out, "--append")
    with xarray.open_dataset(out, decode_times=False) as opened:
        assert {name: opened[name].dims for name in "abc"} == {
            "a": ("time",), "b": ("time",), "c": ("time_2",)
        }  # fmt: skip


PATHS_OUT = {
    "outer/new": ["'outer' is an external link to '/group' in 'other.h5'", "/other.h5'"],
    "outer/sub/new": ["'outer' is an external link"],
    "outer/x": ["'outer' is an external link"],
    "/root/group/x": ["'/root' is an external link to '/' in 'other.h5'"],
    "group/soft/x": ["'group/soft' is a soft link to '/outer'", "/other.h5'"],
    "gone/x": ["'gone' is a soft link to '/nowhere'", "cannot be opened"],
    "lost/x": ["'lost' is an external link to '/group' in 'none.h5'", "cannot be opened"],
}


@pytest.fixture
def linked(out):
    with h5py.File(out.parent / "other.h5", "w", libver="latest") as file:
        file["group/x"] = np.arange(3)
        file["t"] = np.arange(3.0)
        file["t"].make_scale("t")
    with h5py.File(out, "a") as file:
        file["outer"] = h5py.ExternalLink("other.h5", "/group")
        file["root"] = h5py.ExternalLink("other.h5", "/")
        file["group/soft"] = h5py.SoftLink("/outer")
        file["gone"] = h5py.SoftLink("/nowhere")
        file["lost"] = h5py.ExternalLink("none.h5", "/group")
    return out


def contents(folder):
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in folder.iterdir()}


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("path", PATHS_OUT)
def test_no_link_leads_an_output_to_another_file(linked, path, ranks):
    before = contents(linked.parent)
    support.fail(*append_to(linked)[:-1], f"{linked}::{path}", "--force", code=1,
                 mentions=["cannot write", *PATHS_OUT[path]], ranks=ranks)  # fmt: skip
    assert contents(linked.parent) == before


def test_an_external_link_may_be_replaced(linked):
    with h5py.File(linked, "a") as file:
        file["theirs"] = h5py.ExternalLink("other.h5", "/group/x")
    other = contents(linked.parent)["other.h5"]
    scan_to(linked, ":theirs")
    assert contents(linked.parent)["other.h5"] == other
    with h5py.File(linked) as file:
        assert file.get("theirs", getlink=True, getclass=True) == h5py.HardLink
        assert np.array_equal(file["theirs"][...], np.cumsum(np.arange(ELEMENTS)))


def test_coordinates_in_another_file_are_not_shared(linked):
    folder = linked.parent
    with h5py.File(linked, "a") as file:
        file["t"] = h5py.ExternalLink("other.h5", "/t")
    with h5py.File(folder / "in.h5", "a") as file:
        file["t"] = np.arange(3.0)
        file["t"].make_scale("t")
        file["v"] = np.arange(3)
        file["v"].dims[0].attach_scale(file["t"])
    other = contents(folder)["other.h5"]
    support.run(*append_to(linked, "v"))
    assert contents(folder)["other.h5"] == other
    with h5py.File(linked) as file:
        assert file["v"].dims[0][0].name == "/t_2"
        assert list(file["t_2"]) == [0, 1, 2]
