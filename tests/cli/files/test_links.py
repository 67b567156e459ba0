"""Datasets behind soft, external and second hard links, in `info`, `--all` and patterns."""

import os

import h5py
import numpy as np
import pytest

import support


def listed(path, **options):
    datasets = support.run("info", path, "--json", "-", **options).report["results"]["datasets"]
    return {each["name"]: each["unsupported"] for each in datasets}


def sums(path, *names, **options):
    """Returns the sum of each dataset that is read."""
    datasets = support.reduce(path, *names, ops="sum", **options).report["datasets"]
    return {each["dataset"]: each["results"]["sum"] for each in datasets}


def detector(folder, frames=3):
    """A master file of external links to files of frames, and what each sums to."""
    expected = {}
    with h5py.File(folder / "master.h5", "w") as master:
        for number in range(frames):
            values = np.arange(10.0) * (number + 1)
            name = f"data_{number:06}"
            with h5py.File(folder / f"{name}.h5", "w") as file:
                file["entry/data/data"] = values
            master[f"entry/data/{name}"] = h5py.ExternalLink(f"{name}.h5", "entry/data/data")
            expected[f"entry/data/{name}"] = values.sum()
    return folder / "master.h5", expected


@pytest.mark.parametrize("ranks", [None, 3])
def test_a_master_file_of_external_links(folder, ranks):
    path, expected = detector(folder)
    assert listed(path, ranks=ranks) == dict.fromkeys(expected, "")
    assert sums(path, "--all", ranks=ranks) == expected
    assert sums(path, "entry/data/data_*", ranks=ranks) == expected
    last = "entry/data/data_000002"
    assert sums(path, "/entry/*/data_*2") == {last: expected[last]}
    assert sums(path, "entry/da?a/*[12]") == {each: expected[each] for each in sorted(expected)[1:]}
    counts = support.run("histogram", path, "--all", "--bins", "2", "--json", "-").report
    assert [each["dataset"] for each in counts["datasets"]] == sorted(expected)
    assert support.reduce(path, last).results["sum"] == expected[last]
    support.fail("reduce", path, "entry/x*", code=1, mentions=[last, "info"])


def test_a_thousand_external_files(folder):
    path, expected = detector(folder, 1100)
    assert sums(path, "--all") == expected


def test_each_dataset_once_by_the_name_asked_for(folder):
    path = folder / "in.h5"
    with h5py.File(path, "w") as file:
        file["z/first"] = np.arange(3.0)
        file["a/second"] = file["z/first"]
        file["a/soft"] = h5py.SoftLink("/z/first")
        file["b"] = h5py.SoftLink("/z")
        file["other"] = np.ones(2)
        file["same"] = h5py.SoftLink("other")
    assert list(listed(path)) == ["a/second", "other"]
    assert sums(path, "--all") == {"a/second": 3.0, "other": 2.0}
    assert sums(path, "z/*") == {"z/first": 3.0}
    assert sums(path, "b/*") == {"b/first": 3.0}
    assert sums(path, "a/*") == {"a/second": 3.0}
    assert sums(path, "sam?", "o*") == {"same": 2.0, "other": 2.0}
    assert sums(path, "same", "a/soft") == {"same": 2.0, "a/soft": 3.0}
    assert sums(path, "?/*") == {"a/second": 3.0}


def test_cycles_end(folder):
    path = folder / "in.h5"
    with h5py.File(path, "w") as file:
        file["group/inner/values"] = np.arange(4.0)
        file["group/inner/up"] = h5py.SoftLink("/group")
        file["group/root"] = file["/"]
        file["group/out"] = h5py.ExternalLink("other.h5", "/")
        file["group/self"] = h5py.ExternalLink("in.h5", "/group")
        file["loop"] = h5py.SoftLink("/loop")
    with h5py.File(folder / "other.h5", "w") as file:
        file["back"] = h5py.ExternalLink("./in.h5", "/")
        file["forth"] = h5py.ExternalLink("other.h5", "/")
        file["theirs"] = np.ones(5)
    found = listed(path)
    assert [name for name, reason in found.items() if not reason] == [
        "group/inner/values", "group/out/theirs"
    ]  # fmt: skip
    assert [name for name, reason in found.items() if reason] == ["loop"]
    assert sums(path, "group/*/values", "*/*/theirs") == {
        "group/inner/values": 4.0 * 3 / 2, "group/out/theirs": 5.0
    }  # fmt: skip
    up = "group/inner/" + "up/inner/" * 6 + "val*"
    assert sums(path, up) == {up.replace("val*", "values"): 6.0}


def test_links_that_lead_nowhere_are_named(folder):
    path, expected = detector(folder)
    (folder / "data_000001.h5").unlink()
    with h5py.File(path, "a") as file:
        file["gone"] = h5py.SoftLink("/nowhere")
    found = listed(path)
    assert "data_000001.h5" in found["entry/data/data_000001"] and "nowhere" in found["gone"]
    assert not found["entry/data/data_000000"]
    support.fail("reduce", path, "entry/data/data_000001", code=1, mentions=["data_000001.h5"])


def test_outputs_of_linked_datasets(folder):
    path, expected = detector(folder)
    name = "entry/data/data_000001"
    support.scan(path, folder / "out.h5", name)
    with h5py.File(folder / "out.h5") as file:
        assert file[name][-1] == expected[name]


@pytest.mark.parametrize("ranks", [None, 2])
def test_a_link_to_a_pipe_leads_nowhere(folder, ranks):
    path = folder / "in.h5"
    os.mkfifo(folder / "pipe")
    with h5py.File(path, "w") as file:
        file["a"] = np.arange(4.0)
        file["b"] = h5py.ExternalLink("pipe", "/x")
        file["c"] = h5py.ExternalLink(str(folder / "pipe"), "/x")
        file["group"] = h5py.ExternalLink("pipe", "/")
    outcome = support.attempt("reduce", path, "--all", "--json", "-", timeout=30, ranks=ranks)
    assert outcome.code == 1
    skipped = {each["dataset"]: each.get("skipped") for each in outcome.report["datasets"]}
    assert set(skipped) == {"a", "b", "c", "group"} and skipped["a"] is None
    assert "'pipe', which cannot be opened" in skipped["b"]
    for name, reason in [("b", "opened"), ("group/x", "opened"), ("c.x", "no such")]:
        support.fail("reduce", path, name, code=1, mentions=[reason], timeout=30, ranks=ranks)
    options = {"code": 1, "timeout": 30, "ranks": ranks}
    support.fail("scan", path, "b", "-o", folder / "out.h5", mentions=["pipe"], **options)
    (folder / "pipe").unlink()


@pytest.mark.parametrize("words", [["--json"], ["--csv"], ["--metrics"], ["-o"]])
def test_no_file_of_a_chain_of_links_is_replaced(folder, words):
    with h5py.File(folder / "last.h5", "w") as file:
        file["x"] = np.arange(4.0)
    with h5py.File(folder / "middle.h5", "w") as file:
        file["y"] = h5py.ExternalLink("last.h5", "/x")
    with h5py.File(folder / "first.h5", "w") as file:
        file["z"] = h5py.ExternalLink("middle.h5", "/y")
    before = (folder / "middle.h5").read_bytes()
    words = [*words, folder / "middle.h5", "--force"][: 3 if words == ["-o"] else 2]
    if words[0] != "-o":
        words += ["-o", folder / "out.h5"]
    for names in (["z"], ["--all"], ["?"]):
        support.fail("scan", folder / "first.h5", *names, *words, code=2, mentions=["middle.h5"])
    assert (folder / "middle.h5").read_bytes() == before
    assert support.reduce(folder / "first.h5", "z").results["sum"] == 6
