"""Several datasets of which some can't be read: they are named, the others are reported."""

import csv
import io
import json

import h5py
import numpy as np
import pytest

import support

GOOD = {"a": 45.0, "d": 90.0}


@pytest.fixture
def path(folder):
    """Good datasets around one with a damaged chunk, one without its raw file, and a text."""
    made = folder / "in.h5"
    with h5py.File(made, "w") as file:
        file["a"] = np.arange(10.0)
        file.create_dataset("b", data=np.arange(3000.0), chunks=(500,), compression="gzip")
        file.create_dataset("c", data=np.arange(8), external=[(str(folder / "c.raw"), 0, 64)])
        file["d"] = np.arange(10.0) * 2
        file["text"] = "no numbers"
        place = file["b"].id.get_chunk_info(2).byte_offset
    (folder / "c.raw").unlink()
    with open(made, "r+b") as file:
        file.seek(place + 10)
        file.write(b"\xff" * 40)
    return made


def attempt(*arguments, failed, **options):
    """A run that reports, and ends with status 1 and a line that tells of `failed` datasets."""
    outcome = support.attempt(*arguments, **options)
    assert outcome.code == 1, outcome.stderr
    (error,) = outcome.errors
    assert f"cannot read {failed} of " in error
    return outcome


@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("names, failed", [(["--all"], 2), (["?"], 2), (["d", "a*", "b*"], 1)])
def test_the_others_are_reported(path, names, failed, ranks):
    outcome = attempt("reduce", path, *names, "--ops", "sum", "--json", "-", failed=failed,
                      ranks=ranks)  # fmt: skip
    datasets = {each["dataset"]: each for each in outcome.report["datasets"]}
    assert {name: each["results"]["sum"] for name, each in datasets.items()
            if "results" in each} == GOOD  # fmt: skip
    assert "chunk" in datasets["b"]["skipped"]
    if failed == 2:
        assert "c.raw" in datasets["c"]["skipped"]
    if names == ["--all"]:
        assert "string" in datasets["text"]["skipped"]
    assert ("'b' (" in outcome.errors[0]) and "chunk" in outcome.errors[0]


@pytest.mark.parametrize("command", ["reduce", "histogram"])
def test_every_form_of_report_names_them(path, command, folder):
    words = ["--csv", folder / "out.csv", "--json", folder / "out.json", "--metrics",
             folder / "metrics", "--threads", "2"]  # fmt: skip
    text = attempt(command, path, "--all", *words, failed=2, ranks=2).stdout
    for name, reason in (("b", "chunk"), ("c", "c.raw"), ("text", "string")):
        (line,) = [each for each in text.splitlines() if each.startswith(f"skipped {name}: ")]
        assert reason in line
    rows = list(csv.reader(io.StringIO((folder / "out.csv").read_text())))
    assert {row[2] for row in rows if any("skipped" in each for each in row)} == {"b", "c", "text"}
    report = json.loads((folder / "out.json").read_text())
    assert [each["dataset"] for each in report["datasets"] if "skipped" in each] == [
        "b", "c", "text"
    ]  # fmt: skip
    last = json.loads((folder / "metrics").read_text().splitlines()[-1])
    assert last["state"] == "failed" and "'b' (" in last["error"]


def test_info_names_what_it_cannot_describe(path):
    with h5py.File(path, "a") as file:
        file["e"] = h5py.ExternalLink("gone.h5", "/x")
    report = attempt("info", path, "--all", "--json", "-", failed=2, ranks=2).report
    skipped = {each["dataset"]: each.get("skipped", "") for each in report["datasets"]}
    assert "c.raw" in skipped["c"] and "gone.h5" in skipped["e"] and not skipped["b"]


def test_datasets_without_numbers_are_no_failure(path):
    report = support.run("reduce", path, "a*", "d*", "t*", "--json", "-", ranks=2).report
    assert [each["dataset"] for each in report["datasets"]] == ["a", "d", "text"]


def test_what_is_named_is_an_error(path):
    support.fail("reduce", path, "a", "b", code=1, mentions=["'b'", "chunk"], ranks=2)
    support.fail("reduce", path, "b*", "c*", code=1, mentions=["'b' (", "chunk"], ranks=2)
