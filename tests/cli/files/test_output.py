"""Printed results: their text, destination and format."""

import csv
import io
import json
import pathlib
import re

import numpy as np
import pytest

import samples
import support

REPORT_KEYS = {
    "schema", "command", "version", "build", "ranks", "hosts", "devices", "backend", "file",
    "dataset", "shape", "dtype", "results", "timings",
}  # fmt: skip


@pytest.fixture
def small(folder):
    """A file of three numbers."""
    return support.write(folder / "in.h5", [3.5, 1.0, 2.0], "f32", order="big")


def test_reduce_report(small):
    report = support.reduce(small, ranks=2).report
    assert REPORT_KEYS <= set(report)
    assert report["schema"] == "warpfold.reduce/1"
    assert report["ranks"] == 2
    assert report["shape"] == [3]
    assert report["file"] == str(small)
    assert report["dataset"].strip("/") == "values"
    assert report["results"]["sum"] == 6.5
    assert report["backend"] == support.BACKEND


def test_scan_report(small, folder):
    report = support.scan(small, folder / "out.h5").report
    assert REPORT_KEYS <= set(report)
    assert set(report["results"]) == {"output", "output_dataset", "count", "last"}


def test_timings_name_stages_with_seconds_and_bytes(small):
    timings = support.reduce(small).report["timings"]
    assert timings
    assert "seconds" in json.dumps(timings)
    assert "bytes" in json.dumps(timings)


def test_table_shows_every_result(small):
    outcome = support.run("reduce", small, "values", "--ops", "all")
    for word in ("count", "sum", "6.5", "argmax", "3.5", "nan_count"):
        assert word in outcome.stdout
    assert outcome.stderr == ""


def test_scan_table_names_the_output(small, folder):
    outcome = support.run("scan", small, "values", "-o", folder / "out.h5")
    assert "out.h5" in outcome.stdout
    assert "6.5" in outcome.stdout


def test_json_file_beside_the_table(small, folder):
    outcome = support.run("reduce", small, "values", "--json", folder / "report.json", ranks=2)
    report = json.loads((folder / "report.json").read_text())
    assert report["results"]["sum"] == 6.5
    assert "6.5" in outcome.stdout


def test_quiet_prints_nothing(small, folder):
    words = ("reduce", small, "values", "--quiet", "--json", folder / "report.json")
    outcome = support.run(*words, ranks=2)
    assert (outcome.stdout, outcome.stderr) == ("", "")
    assert (folder / "report.json").exists()


def test_csv(small, folder):
    outcome = support.run("reduce", small, "values", "--ops", "all", "--csv", "-")
    rows = list(csv.reader(io.StringIO(outcome.stdout)))
    assert len({len(row) for row in rows}) == 1
    cells = [cell for row in rows for cell in row]
    assert "sum" in cells
    assert "6.5" in cells
    support.run("reduce", small, "values", "--csv", folder / "report.csv", "--quiet")
    assert "6.5" in (folder / "report.csv").read_text()


def test_floats_are_the_shortest_decimals_that_round_trip(folder):
    random = np.random.default_rng(12)
    for value in (0.1, 1.23, 5e-324, 1.7976931348623157e308, *samples.wide("f64", 20, random)):
        path = support.write(folder / "in.h5", [value], "f64")
        printed = re.search(r'"sum"\s*:\s*([^,}\s]+)', support.reduce(path, ops="sum").stdout)[1]
        assert float(printed) == value
        assert digits(printed) == digits(repr(float(value)))


def digits(decimal):
    return decimal.lower().split("e")[0].replace(".", "").lstrip("-0").rstrip("0")


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--config"], ["--help"], ["reduce", "--help"]], ids=" ".join
)
@pytest.mark.parametrize("ranks", [None, 2])
def test_asked_for_text_is_printed_once_on_stdout(arguments, ranks):
    outcome = support.run(*arguments, ranks=ranks)
    assert outcome.stderr == ""
    lines = [line for line in outcome.stdout.splitlines() if line.strip()]
    assert lines
    assert outcome.stdout.count(lines[0]) == 1


def test_version_is_a_number():
    assert re.search(r"\d+\.\d+\.\d+", support.run("--version").stdout)


def test_config_names_what_it_was_built_with():
    config = support.run("--config").stdout
    mpi = next(line for line in config.splitlines() if line.startswith("MPI"))
    assert "Open MPI" not in mpi or "CUDA-aware" in mpi
    for word in ("compiler", "CUDA", "MPI", "HDF5"):
        assert word in config
    assert re.search("HDF5.*(serial|parallel)", config)


def test_help_names_every_command_and_option():
    text = support.run("--help").stdout
    for command in ("reduce", "scan", "info", "generate", "bench", "ladder"):
        assert command in text
    reduce_text = support.run("reduce", "--help").stdout
    for option in (
        "--ops", "--nan", "--overflow", "--ddof", "--backend", "--threads", "--slab",
        "--read-path", "--file-cache", "--device-memory", "--json", "--csv", "--quiet", "--progress",
        "--timings", "--metrics",
    ):  # fmt: skip
        assert option in reduce_text
    for measurement in ("bench", "ladder"):
        measurement_text = support.run(measurement, "--help").stdout
        for option in ("WHAT", "--types", "--kernels", "--iterations", "--json", "--csv"):
            assert option in measurement_text
    scan_text = support.run("scan", "--help").stdout
    for option in ("--op", "--exclusive", "--overflow", "--force", "--output-type", "-o"):
        assert option in scan_text


def test_timings_are_shown_when_asked_for(small):
    plain = support.run("reduce", small, "values")
    timed = support.run("reduce", small, "values", "--timings")
    shown = timed.stdout + timed.stderr
    for word in ("threads", "busy s", "waiting s", "GB/s", "read", "fold", "bottleneck: "):
        assert word in shown
    assert len(shown) > len(plain.stdout + plain.stderr)


def test_json_holds_what_the_timings_show(small):
    timings = support.run("reduce", small, "values", "--json", "-").report["timings"]
    assert timings["bottleneck"]
    assert timings["stages"]["read"]["bytes"] == 12
    for stage in timings["stages"].values():
        assert set(stage) == {"threads", "seconds", "waiting_seconds", "bytes", "GB/s"}


def test_progress_is_shown_on_stderr_only_when_asked_for(folder):
    path = support.write(folder / "in.h5", np.zeros(2_000_000), "f64")
    words = ("reduce", path, "values", "--slab", "64K")
    assert support.run(*words, "--progress", "never").stderr == ""
    assert support.run(*words).stderr == ""
    assert support.run(*words, "--progress", "always").stderr != ""


def test_cuda_backend_where_there_is_none_is_refused(small):
    if support.gpu_count() > 0:
        pytest.skip("there is a GPU here")
    support.fail("reduce", small, "values", "--backend", "cuda", code=1, backend=None)


def test_auto_backend_falls_back_and_says_so(small):
    if support.gpu_count() > 0:
        pytest.skip("there is a GPU here")
    outcome = support.run("reduce", small, "values", "--backend", "auto", backend=None, ranks=2)
    assert "6.5" in outcome.stdout
    lines = outcome.stderr.splitlines()
    assert len(lines) <= 1
    if "CUDA" in support.run("--config").stdout and lines:
        assert "cpu" in lines[0]


@pytest.mark.parametrize("ranks", [None, 2])
def test_info_of_a_file(folder, ranks):
    path = support.write(folder / "in.h5", np.zeros((3, 4)), "f64", dataset="group/b")
    support.write(path, [1, 2], "bool", dataset="a", mode="a")
    outcome = support.run("info", path, ranks=ranks)
    for word in ("a", "group/b", "3", "4", "float64", "bool"):
        assert word in outcome.stdout
    assert outcome.stderr == ""


def test_info_of_a_dataset(folder):
    storage = {"chunks": (10, 20), "compression": "gzip", "shuffle": True, "fletcher32": True}
    path = support.write(folder / "in.h5", np.zeros((30, 45)), "bf16", order="big", **storage)
    text = support.run("info", path, "values").stdout
    for word in ("bfloat16", "big", "30", "45", "10", "20", "deflate", "shuffle", "fletcher32"):
        assert word in text, word


def test_info_lists_unsupported_types_too(folder):
    import h5py

    with h5py.File(folder / "in.h5", "w") as file:
        file["text"] = "hello"
        file["numbers"] = np.arange(3)
    text = support.run("info", folder / "in.h5").stdout
    assert "text" in text
    assert "numbers" in text


def test_output_does_not_depend_on_the_working_folder(folder, monkeypatch):
    support.write(folder / "in.h5", [1, 2], "i32")
    support.run("scan", "in.h5", "values", "-o", "out.h5", cwd=folder, ranks=2)
    assert pathlib.Path(folder / "out.h5").exists()


@pytest.mark.parametrize("ranks", [None, 2])
def test_colons_in_the_names_of_outputs(small, folder, ranks):
    def scan_to(output, *words):
        words = ("scan", small, "values", "-o", output, "--force", "--quiet", *words)
        support.run(*words, ranks=ranks, cwd=folder)

    def names_in(file):
        return list(support.stored_bytes(folder / file))

    (folder / "00:00").mkdir()
    scan_to("00:00/out.h5")
    assert names_in("00:00/out.h5") == ["values"]
    scan_to("00:00/out.h5:group/sums")
    assert names_in("00:00/out.h5") == ["group/sums", "values"]
    scan_to("12:30::00:00/sums")
    assert names_in("12:30") == ["00:00/sums"]
    scan_to("12:30:sums")
    assert names_in("12:30") == ["00:00/sums", "sums"]
    scan_to("12:30")
    assert names_in("12:30") == ["values"]
    assert support.names_in(folder) == ["00:00", "12:30", "in.h5"]
