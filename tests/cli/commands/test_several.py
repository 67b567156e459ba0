"""Several datasets of a file in one call."""

import csv
import io
from fractions import Fraction

import h5py
import numpy as np
import pytest

import samples
import support

NAMES = ("run1/temp", "run1/wind", "run2/temp", "other")


@pytest.fixture
def path(folder):
    """Datasets of every kind, among them some that no command can read."""
    made = folder / "in.h5"
    made.unlink(missing_ok=True)
    for index, name in enumerate(NAMES):
        storage = {"chunks": (100,), "compression": "gzip"} if index % 2 else {}
        kind = ("f64", "i16", "f32", "u8")[index]
        support.write(made, samples.typed(kind, 1000 + index), kind, name, mode="a", **storage)
    with h5py.File(made, "a") as file:
        file["run2/name"] = "a string"
        file.create_dataset("run2/z", (1,), "V6")
        file["empty"] = np.zeros((0, 3))
    return made


def reduce(path, *arguments, **options):
    return support.run("reduce", path, *arguments, "--ops", "all", "--json", "-", **options).report


def alone(path, name):
    return reduce(path, name)["results"]


@pytest.mark.parametrize("ranks", [None, 3])
def test_results_are_those_of_each_alone(path, ranks):
    report = reduce(path, *NAMES, ranks=ranks)
    assert report["schema"] == "warpfold.reduce/1" and "dataset" not in report
    assert [each["dataset"] for each in report["datasets"]] == list(NAMES)
    for each in report["datasets"]:
        assert each["results"] == alone(path, each["dataset"])
        assert (each["dtype"], each["shape"]) == (
            {"run1/temp": "f64", "run1/wind": "i16", "run2/temp": "f32", "other": "u8"}[
                each["dataset"]],
            [1000 + NAMES.index(each["dataset"])],
        )  # fmt: skip


def test_datasets_that_options_do_not_fit_are_skipped(path):
    with h5py.File(path, "a") as file:
        file["crs"] = np.int32(4326)
    for words, skipped in [
        (["--select", "1002:"], {"crs": "1 index, but the dataset is a scalar"}),
        (["--select", "999"], {"crs": "scalar", "empty": "out of bounds"}),
        (["--fill-value", "1e20"], {"run1/wind": "i16", "other": "u8", "crs": "i32"}),
    ]:
        for ranks in (None, 2):
            report = reduce(path, "--all", *words, ranks=ranks)
            reasons = {each["dataset"]: each.get("skipped", "") for each in report["datasets"]}
            unreadable = {"run2/name", "run2/z"}
            assert {each for each in reasons if reasons[each]} == {*skipped, *unreadable}
            for name, reason in skipped.items():
                assert reason in reasons[name]
            for each in report["datasets"]:
                if not reasons[each["dataset"]]:
                    assert each["results"] == reduce(path, each["dataset"], *words)["results"]
    refused = ["reduce", path, "other", "crs", "--select", "5"]
    support.fail(*refused, code=2, mentions=["scalar"], ranks=2)
    for words in (["--select", "x"], ["--where", ">>1"], ["--select", "5000"]):
        support.fail("reduce", path, "--all", *words, code=2, mentions=words[1:], ranks=2)


def test_patterns(path):
    def matched(*patterns):
        return [each["dataset"] for each in reduce(path, *patterns)["datasets"]]

    assert matched("run*/temp") == ["run1/temp", "run2/temp"]
    assert matched("/run?/[tw]*", "other", "run1/*") == [
        "run1/temp", "run1/wind", "run2/temp", "other"
    ]  # fmt: skip
    assert matched("o*") == ["other"]
    for ranks in (None, 2):
        support.fail(
            "reduce", path, "run*", code=1, mentions=["run*", "'run1/temp'", "'other'"], ranks=ranks
        )


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("name", ["a[1]", "b[x]*", "group/*", "?", "table.c*"])
def test_a_name_that_looks_like_a_pattern_is_a_name(folder, name, ranks):
    path = folder / "in.h5"
    others = {"a1": [5], "bx1": [6], "group/x": [7], "c": [8]}
    for each, values in others.items():
        support.write(path, values, "i32", each, mode="w" if each == "a1" else "a")
    with h5py.File(path, "a") as file:
        table, _, member = name.partition(".")
        file[table] = np.array([(3,), (4,)], [(member, "i4")]) if member else np.array([3, 4], "i4")
    report = reduce(path, name, ranks=ranks)
    assert report["dataset"] == name and report["results"]["sum"] == 7
    report = support.run("info", path, name, "--json", "-", ranks=ranks).report
    assert report["dataset"] == name and report["shape"] == [2]
    histogram = support.run("histogram", path, name, "--bins", 2, "--json", "-", ranks=ranks)
    assert histogram.results["counts"] == [1, 1]
    out = folder / "out.h5"
    for words, expected in [
        (["scan"], [3, 7]), (["compact", "--where", ">3"], [4]), (["reduce", "--axis", 0], 7)
    ]:  # fmt: skip
        support.run(words[0], path, name, "-o", f"{out}:made", "--force", *words[1:], ranks=ranks)
        with h5py.File(out) as file:
            assert file["made"][...].tolist() == expected
    for option, expected in [("weights", Fraction(25, 7)), ("times", 12.5), ("mask", 3.5)]:
        words = ["--ops", "mean", f"--{option}", name, "--json", "-"]
        outcome = support.run("reduce", path, name, *words, ranks=ranks)
        assert outcome.results["mean"] == float(expected)
    by = support.run("reduce", path, name, "--by", name, "--json", "-", ranks=ranks).report
    assert [each["label"] for each in by["results"]] == [3, 4]
    parts = [path, path, name, "--concat", 0]
    assert support.run("reduce", *parts, "--json", "-", ranks=ranks).results["sum"] == 14
    several = reduce(path, name, "c", ranks=ranks)["datasets"]
    assert [each["results"]["sum"] for each in several] == [7, 8]


@pytest.mark.parametrize("ranks", [None, 2])
def test_what_stands_in_brackets_is_taken_as_written(folder, ranks):
    path = folder / "[in,put]"
    names = ["a", "b", "ab", "c,d", "[c,d]", "[[ee]]", "{}"]
    for value, name in enumerate(names):
        support.write(path, [value], "i32", name, mode="a")

    def matched(*words):
        report = reduce(path.name, *words, cwd=folder, ranks=ranks)
        found = report.get("datasets", [report])
        return {each["dataset"]: each["results"]["sum"] for each in found}

    assert matched("[ab]") == {"a": 0, "b": 1}
    assert matched("[c,d]", "c,d", "[[ee]]", "{}") == {"[c,d]": 4, "c,d": 3, "[[ee]]": 5, "{}": 6}
    support.run("scan", path.name, "[c,d]", "-o", "[o]", cwd=folder, ranks=ranks)
    assert support.read(folder / "[o]", "i64", "[c,d]") == [4]
    support.run("reduce", path.name, "[c,d]", "--axis", 0, "-o", "[p]", cwd=folder, ranks=ranks)
    assert support.read(folder / "[p]", "i64", "[c,d]") == 4
    support.fail("reduce", path.name, "[xy]", code=1, mentions=["'[xy]'", "'[c,d]'"], cwd=folder)
    support.fail("generate", "normal", "b", "a", "[x]", code=2, mentions=["argument '[x]'"])


@pytest.mark.parametrize("ranks", [None, 2])
def test_info_describes_several(path, ranks):
    def info(*words):
        return support.run("info", path, *words, "--json", "-", ranks=ranks).report

    words = ("--where", ">3", "--fill-value", "7")
    report = info("run*/temp", "other", *words)
    assert report["schema"] == "warpfold.info/1" and "dataset" not in report
    for each, name in zip(report["datasets"], ["run1/temp", "run2/temp", "other"], strict=True):
        one = info(name, *words)
        assert each.pop("dataset") == one["dataset"] == name
        assert each == {key: one[key] for key in each}
        assert {"shape", "dtype", "where", "fill_value", "results"} <= set(each)
    everything = info("--all")["datasets"]
    skipped = [each["dataset"] for each in everything if "skipped" in each]
    assert skipped == ["run2/name", "run2/z"] and len(everything) == 7
    text = support.run("info", path, "--all", "--csv", path.parent / "out.csv").stdout
    assert "skipped run2/name: " in text and f"{path} run1/wind\n" in text
    rows = list(csv.reader(io.StringIO((path.parent / "out.csv").read_text())))
    assert [str(path), "other", "elements", "1003"] in rows
    assert {row[1] for row in rows if row[2] == "skipped"} == {"run2/name", "run2/z"}
    support.fail("info", path, "other", "--all", code=2, mentions=["--all"], ranks=ranks)


@pytest.mark.parametrize("ranks", [None, 2])
def test_all_names_what_it_skips(path, ranks):
    report = reduce(path, "--all", ranks=ranks)
    skipped = {each["dataset"]: each["skipped"] for each in report["datasets"] if "skipped" in each}
    assert sorted(skipped) == ["run2/name", "run2/z"]
    assert "string" in skipped["run2/name"] and "opaque" in skipped["run2/z"]
    read = [each["dataset"] for each in report["datasets"] if "results" in each]
    assert read == sorted([*NAMES, "empty"])


def test_what_is_named_is_not_skipped(path):
    support.fail("reduce", path, "other", "run2/name", code=1, mentions=["run2/name", "string"],
                 ranks=2)  # fmt: skip
    support.fail("reduce", path, "other", "gone", code=1, mentions=["gone", "'other'"])
    support.fail("reduce", path, "run2/[nz]*", code=1, mentions=["run2/name", "string"])
    support.fail("reduce", path, code=2, mentions=["DATASET", "--all"])
    support.fail("reduce", path, "other", "--all", code=2, mentions=["DATASET", "--all"])


def test_table_and_csv(path):
    lines = support.run("reduce", path, "o*", "run2/*", "--ops", "count,max").stdout.splitlines()
    assert lines[0].startswith(f"{path}: 2 of 4 datasets, 1 rank")
    assert lines[1].split() == ["dataset", "type", "shape", "count", "max"]
    assert lines[2].split()[:3] == ["other", "u8", "1003"]
    assert lines[4].startswith("skipped run2/name: ") and lines[5].startswith("skipped run2/z: ")
    text = support.run("reduce", path, "--all", "--ops", "max", "--csv", "-").stdout
    rows = [(row["dataset"], row["statistic"]) for row in csv.DictReader(io.StringIO(text))]
    assert rows == [
        ("empty", "max"), ("other", "max"), ("run1/temp", "max"), ("run1/wind", "max"),
        ("run2/name", "skipped"), ("run2/temp", "max"), ("run2/z", "skipped"),
    ]  # fmt: skip


def test_of_views(path):
    report = reduce(path, "run*/*p", "--select", "100:", "--where", ">0", ranks=2)
    for each in report["datasets"]:
        assert (each["select"], each["where"]) == ("100:", [">0"])
        with h5py.File(path) as file:
            seen = file[each["dataset"]][100:]
        assert each["results"]["count"] == (seen > 0).sum()
        assert each["results"]["max"] == seen.max()


def test_histograms(path):
    words = ("histogram", path, "--bins", 7, "--json", "-")
    datasets = support.run(*words, "run1/*", ranks=2).report["datasets"]
    assert [each["dataset"] for each in datasets] == ["run1/temp", "run1/wind"]
    for each in datasets:
        assert each["results"] == support.run(*words, each["dataset"]).report["results"]


def test_metadata_is_read_once(folder):
    """Every dataset but the first costs few reads of the file."""
    path = folder / "in.h5"
    with h5py.File(path, "w") as file:
        for index in range(60):
            file[f"group/values{index:02}"] = np.arange(3)
    trace = folder / "trace"
    if support.shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    outcome = support.subprocess.run(
        ["strace", "-f", "-e", "trace=pread64", "-o", trace,
         *support.command_line("reduce", path, "--all", "--quiet")],
        env=support.ENVIRONMENT, capture_output=True,
    )  # fmt: skip
    assert outcome.returncode == 0
    assert trace.read_text().count("pread64(") < 60 * 4
