"""`bench` and `ladder`: what they measure, check and report."""

import csv
import io
import pathlib
import shutil
import subprocess

import h5py
import numpy as np
import pytest

import support

ON_GPU = support.BACKEND == "cuda"
EXCHANGES = ["MPI_Reduce", "MPI_Exscan", "exclusive scan by doubling"]
without_gpu = pytest.mark.skipif(support.gpu_count() > 0, reason="there is a GPU here")
with_gpu = pytest.mark.skipif(not ON_GPU, reason="measures the cuda backend")
with_cpu = pytest.mark.skipif(ON_GPU, reason="measures the cpu backend")

REPORT_KEYS = {
    "schema", "command", "version", "build", "ranks", "hosts", "devices", "backend", "gpu",
    "arguments", "measured", "results",
}  # fmt: skip
ROW_KEYS = {
    "group", "operation", "kernel", "title", "clock", "bytes", "elements", "useful_bytes",
    "element_bytes", "ceiling", "seconds", "GB/s", "of_ceiling", "of_plain", "of_copy", "of_cub",
    "check", "error_ulps", "note",
}  # fmt: skip


def measured(*arguments, ranks=None):
    """The rows of a run, whose report has to be well-formed and its results right."""
    sharing = ["--share-gpu"] if ON_GPU and (ranks or 1) > support.gpu_count() else []
    words = (*arguments, "--iterations", 3, "--json", "-", *sharing)
    report = support.run(*words, ranks=ranks).report
    assert set(report) == REPORT_KEYS
    assert report["schema"] == f"warpfold.{arguments[0]}/1"
    assert report["measured"] == arguments[1]
    assert report["ranks"] == (ranks or 1)
    assert report["results"]
    for row in report["results"]:
        assert set(row) == ROW_KEYS
        assert row["check"] in ("right", None), row
        if row["seconds"] is None:
            assert row["note"], row
        else:
            assert 0 < row["seconds"]["min"] <= row["seconds"]["median"] <= row["seconds"]["max"]
    return report["results"]


def kernels(rows):
    return {row["kernel"] for row in rows}


@with_cpu
@pytest.mark.parametrize("ranks", [None, 1, 3])
def test_combine_without_a_gpu_measures_the_ranks_exchange(ranks):
    rows = measured("bench", "combine", "--backend", "cpu", ranks=ranks)
    assert [row["operation"] for row in rows] == EXCHANGES
    assert all(row["check"] == "right" for row in rows)


@with_cpu
def test_table_and_csv_name_what_was_measured(folder):
    table = folder / "report.csv"
    words = ("bench", "combine", "--backend", "cpu", "--csv", table)
    outcome = support.run(*words, ranks=2)
    for word in (*EXCHANGES, "median us", "right"):
        assert word in outcome.stdout
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    assert [row["operation"] for row in rows] == EXCHANGES
    assert all(float(row["median_seconds"]) > 0 for row in rows)


STORAGE = {
    "contiguous": {},
    "chunks": {"chunks": (100, 70)},
    "gzip": {"chunks": (128, 64), "compression": "gzip", "shuffle": True, "fletcher32": True},
}


def ingested(folder, storage, *arguments, ranks=None):
    """The rows of `bench ingest` of a small dataset of the storage called so."""
    values = np.random.default_rng(1).standard_normal((1000, 300))
    path = support.write(folder / "in.h5", values, "f32", order="big", **STORAGE[storage])
    words = ("bench", "ingest", path, "values", "--backend", support.BACKEND, *arguments)
    rows = measured(*words, ranks=ranks)
    assert [each.name for each in folder.iterdir()] == ["in.h5"]
    path.unlink()
    return rows


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("ranks", [None, 3])
def test_ingest(folder, storage, ranks):
    rows = ingested(folder, storage, ranks=ranks)
    checks = {(row["kernel"], row["operation"]): row["check"] for row in rows}
    for kernel in (("H5Dread", "statistics"), ("warpfold", "statistics"), ("warpfold", "sum")):
        assert checks[kernel] == "right"
    ceilings = {row["kernel"] for row in rows if row["ceiling"]}
    assert ceilings == {"raw", "inflate"} if storage == "gzip" else {"raw"}
    assert max(row["of_ceiling"] for row in rows if row["ceiling"]) >= 1
    stored = 300_000 * 4
    for row in rows:
        assert row["elements"] == 300_000
        assert row["element_bytes"] == (stored if storage == "gzip" else 0)
        assert (row["bytes"] == stored) == (storage == "contiguous") or storage == "chunks"


@pytest.mark.parametrize("ranks", [None, 3])
def test_ingest_with_views(folder, ranks):
    path = support.write(folder / "in.h5", np.arange(3000).reshape(30, 100) - 50, "i16")
    with h5py.File(path, "a") as file:
        file["values"].attrs["scale_factor"] = 0.5
        file["land"] = np.arange(100) % 3
    rows = measured("bench", "ingest", path, "values", "--backend", support.BACKEND, "--where", ">7",
                    "--mask", "land", "--weights", "land", ranks=ranks)  # fmt: skip
    of_plain = {(row["kernel"], row["operation"]): row["of_plain"] for row in rows}
    views = {(kernel, operation) for kernel in ("attributes", "where", "mask", "weights")
             for operation in ("statistics", "sum")}  # fmt: skip
    assert {each for each, ratio in of_plain.items() if ratio} == views
    given = ("where", "mask", "weights")
    assert all(row["check"] == "right" for row in rows if row["kernel"] in given)


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("ranks", [None, 3])
def test_ingest_with_a_scan(folder, storage, ranks):
    rows = ingested(folder, storage, "--scan", folder / "out.h5", "--kernels",
                    "warpfold,H5Dread,cp", ranks=ranks)  # fmt: skip
    scans = [row for row in rows if row["operation"] == "inclusive"]
    assert {row["kernel"]: row["check"] for row in scans} == {
        "H5Dread": "right", "warpfold": "right"
    }  # fmt: skip
    assert [row["ceiling"] for row in rows if row["kernel"] == "cp"] == [True]


def test_ingest_of_what_only_the_library_reads(folder):
    path = folder / "compact.h5"
    with h5py.File(path, "w") as file:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_layout(h5py.h5d.COMPACT)
        h5py.h5d.create(file.id, b"values", h5py.h5t.STD_I16LE, h5py.h5s.create_simple((10,)),
                        properties)  # fmt: skip
    rows = measured("bench", "ingest", path, "values", "--backend", support.BACKEND)
    assert kernels(rows) == {"H5Dread", "warpfold"}


def test_ingest_removes_no_file_of_the_users(folder):
    path = support.write(folder / "in.h5", np.zeros(10), "f32")
    sharing = ["--share-gpu"] if support.BACKEND == "cuda" and support.gpu_count() < 2 else []
    for name in ("out.h5", "out.h5.copy"):
        kept = folder / name
        kept.write_text("mine")
        support.fail("bench", "ingest", path, "values", "--scan", folder / "out.h5", "--backend",
                     support.BACKEND, *sharing, code=2, mentions=[kept], ranks=2)  # fmt: skip
        assert kept.read_text() == "mine"
        kept.unlink()


@without_gpu
@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize(
    "words",
    [
        ("bench", "reduce"), ("bench", "scan"), ("bench", "collectives"), ("bench", "histogram"),
        ("bench", "select"), ("bench", "axes"), ("bench", "labels"), ("ladder", "reduce"),
        ("ladder", "atomics"),
    ],
    ids=" ".join,
)
def test_without_a_gpu_there_is_nothing_to_measure(words, ranks):
    support.fail(*words, code=1, mentions=["no GPU"], ranks=ranks)


@pytest.fixture
def lone_program(folder):
    """The program, with no warpfold-bench beside it."""
    return pathlib.Path(shutil.copy(support.program(), folder / "warpfold"))


def ended(*words):
    outcome = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60,
                             env=support.ENVIRONMENT)  # fmt: skip
    lines = [each for each in outcome.stderr.splitlines() if each.startswith(support.ERROR_PREFIX)]
    return outcome.returncode, outcome.stdout, lines


@pytest.mark.parametrize("ranks", [None, 1, 3])
@pytest.mark.parametrize("command, what", [("bench", "combine"), ("ladder", "reduce")])
def test_without_the_program_that_measures(lone_program, command, what, ranks):
    missing = lone_program.with_name("warpfold-bench")
    error = (f"{support.ERROR_PREFIX}cannot run '{command}': '{missing}' cannot be run (no such file). "
             "Install the component 'bench' of warpfold, which is that program.")  # fmt: skip
    assert ended(*support.launched(lone_program, command, what, ranks=ranks)) == (1, "", [error])


def test_one_rank_without_the_program_that_measures_fails_all(lone_program):
    words = ("bench", "combine", "--backend", "cpu")
    ranks = [*support.launched(support.program(), *words, ranks=2), ":", "-np", 1, lone_program]
    code, output, errors = ended(*ranks, *words)
    assert (code, output, len(errors)) == (1, "", 1)
    assert f"'{lone_program.with_name('warpfold-bench')}' cannot be run" in errors[0]


@pytest.mark.parametrize("command", ["bench", "ladder"])
def test_help_takes_no_program_that_measures(lone_program, command):
    text = ended(support.program(), command, "--help")
    assert f"Usage: warpfold {command} [OPTIONS] WHAT" in text[1]
    assert ended(support.program(), "help", command) == text
    assert ended(lone_program, "help", command) == text
    assert ended(lone_program, command, "--help") == text


def test_a_link_to_the_program_measures(folder):
    link = folder / "linked"
    link.symlink_to(support.program())
    code, output, _ = ended(link, "bench", "combine", "--backend", "cpu", "--iterations", 1)
    assert code == 0
    assert "MPI_Reduce" in output


@pytest.mark.parametrize(
    "words, mentions",
    [
        (("bench",), ["WHAT"]),
        (("bench", "nothing"), ["reduce", "scan", "histogram", "select", "axes", "labels", "combine",
                                "collectives", "ingest"]),
        (("bench", "ingest"), ["FILE", "DATASET"]),
        (("bench", "ingest", "in.h5"), ["FILE", "DATASET"]),
        (("bench", "combine", "in.h5"), ["in.h5"]),
        (("bench", "combine", "--scan", "out.h5"), ["--scan"]),
        (("ladder", "nothing"), ["reduce", "scan", "atomics"]),
        (("bench", "reduce", "--sizes", "4K:1K"), ["--sizes"]),
        (("bench", "reduce", "--iterations", "0"), ["--iterations"]),
        (("bench", "reduce", "--backend", "cpu"), ["--backend"]),
        (("bench", "labels", "--backend", "cpu"), ["--backend"]),
        (("bench", "reduce", "--tpyes", "f32"), ["--types"]),
    ],
)
def test_wrong_usage(words, mentions):
    support.fail(*words, code=2, mentions=mentions)


@with_gpu
@pytest.mark.parametrize("ranks", [None, 2])
def test_reduce(ranks):
    rows = measured("bench", "reduce", "--sizes", "1K,1000000", ranks=ranks)
    assert {"fold", "CUB", "CUB gpu_to_gpu", "read", "copy"} <= kernels(rows)
    assert {row["clock"] for row in rows} == {"device", "host"}
    assert all(row["check"] == "right" or row["note"] for row in rows if "CUB" in row["kernel"])
    folds = [row for row in rows if row["kernel"] == "fold"]
    assert {row["operation"] for row in folds} == {"sum", "statistics"}
    assert all(row["check"] == "right" for row in folds)


@with_gpu
def test_extrema_of_every_type():
    types = "i8,i16,i32,i64,u8,u16,u32,u64,f16,bf16,f32,f64"
    rows = measured("bench", "reduce", "--ops", "extrema", "--types", types, "--sizes", "64K",
                    "--kernels", "fold")  # fmt: skip
    assert len(rows) == 14
    assert all(row["check"] == "right" for row in rows)


@with_gpu
@pytest.mark.parametrize("ranks", [None, 2])
def test_scan(ranks):
    rows = measured("bench", "scan", "--sizes", "1K,1000000", ranks=ranks)
    assert {"registers", "reproducible", "CUB", "CUB run_to_run", "copy"} <= kernels(rows)
    scans = [row for row in rows if row["operation"] != "copy" and not row["note"]]
    assert scans
    assert all(row["check"] == "right" for row in scans)


@with_gpu
def test_scans_of_extrema():
    rows = measured("bench", "scan", "--ops", "min,max", "--types", "i8,u64,f32", "--sizes", "1M")
    assert [row for row in rows if row["check"] == "right"]


ARRAY_BENCHMARKS = {
    "histogram": ({"few", "many"}, "CUB"),
    "select": ({"tenth", "half", "most"}, "CUB"),
    "axes": ({"first", "last", "scan-first", "scan-last"}, "CUB"),
    "labels": ({"few", "few-skewed", "few-runs", "many", "many-skewed", "many-runs"}, "atomics"),
}


@with_gpu
@pytest.mark.parametrize("what", ARRAY_BENCHMARKS)
@pytest.mark.parametrize("ranks", [None, 2])
def test_arrays(what, ranks):
    operations, peer = ARRAY_BENCHMARKS[what]
    rows = measured("bench", what, "--sizes", "4K,1000000", ranks=ranks)
    assert kernels(rows) == {"warpfold", peer, "read", "copy"}
    found = [row for row in rows if row["kernel"] == "warpfold"]
    assert {row["operation"] for row in found} == operations
    assert len({row["group"] for row in found}) == 3 * len(operations)
    assert all(row["check"] == "right" and row["of_copy"] for row in found)
    ratio = "of_plain" if peer == "atomics" else "of_cub"
    along_first = [row for row in found if row["operation"].endswith("first")]
    assert all((row[ratio] is None) == (row in along_first) for row in found)


@with_gpu
def test_arrays_of_other_types_are_refused():
    support.fail("bench", "labels", "--types", "u8", code=2, mentions=["u8", "f64, f32, i64"])


@with_gpu
@pytest.mark.parametrize("ranks", [None, 2])
def test_combine(ranks):
    rows = measured("bench", "combine", "--sizes", "1K,1M", ranks=ranks)
    assert {"MPI", "mapped memory", "copy", "fold"} == kernels(rows)
    assert all(row["check"] == "right" for row in rows)


@with_gpu
@pytest.mark.parametrize("ranks", [None, 3])
def test_collectives(ranks):
    rows = measured("bench", "collectives", "--sizes", "64K,40M", "--types", "f32,u8,f64",
                    ranks=ranks)  # fmt: skip
    assert kernels(rows) == {"reduce", "scan", "fast", "copy"}
    assert {row["operation"] for row in rows} == {
        "sum", "statistics", "inclusive", "exclusive", "copy"
    }  # fmt: skip
    for row in rows:
        assert row["seconds"] is not None
        assert row["check"] == (None if row["kernel"] == "copy" else "right")
        passes = {"reduce": 1, "copy": 2}.get(row["kernel"])
        if row["kernel"] == "scan" and row["group"] != "collectives u8":
            passes = 3
        elif passes is None:
            passes = 3 if ranks else 2
        assert row["useful_bytes"] == passes * row["bytes"]


@with_gpu
def test_collectives_over_parts_of_tiles():
    rows = measured("bench", "collectives", "--sizes", "1000", "--types", "f32", ranks=2)
    notes = {row["kernel"]: row["note"] for row in rows}
    assert "4096" in notes["scan"]
    assert notes["fast"] == notes["reduce"] == ""


@with_gpu
@pytest.mark.parametrize("what", ["reduce", "scan", "atomics"])
def test_ladder(what):
    rows = measured("ladder", what, "--elements", 100_003)
    climbed = [row for row in rows if row["operation"] != "copy" and not row["note"]]
    assert len(climbed) > 4
    assert all(row["check"] == "right" for row in climbed)


@with_gpu
def test_unknown_kernels_are_refused_with_the_right_ones():
    support.fail("bench", "reduce", "--kernels", "fould", code=2, mentions=["fold"])


@with_gpu
def test_sizes_beyond_the_memory_are_left_out_with_a_note():
    rows = measured("bench", "reduce", "--types", "f32", "--sizes", "1K,4T", "--kernels", "fold")
    assert any(row["seconds"] is None and "memory" in row["note"] for row in rows)
