"""Requests from C and Fortran, compared with NumPy, fractions and the command."""

import pathlib
import struct
import subprocess
from fractions import Fraction

import h5py
import numpy as np
import pytest

import reference
import support

LANGUAGES = ("c", "fortran")


def program(language):
    path = pathlib.Path(support.program()).with_name(f"{language}_requests")
    if not path.exists():
        pytest.skip(f"{path.name} is not built")
    return path


def number(kind, text):
    if kind == "bits":
        return struct.unpack("d", struct.pack("q", int(text)))[0]
    return {"integer": int, "real": float.fromhex, "text": str}[kind](text)


def start(language, *words, ranks):
    command = support.launched(program(language), *map(str, words), ranks=ranks)
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=support.ENVIRONMENT
    )


def request(language, *words, ranks):
    """Runs a request; returns the lines that every rank printed."""
    outcome = start(language, *words, ranks=ranks)
    assert outcome.returncode == 0, outcome.stderr
    lines = outcome.stdout.splitlines()
    assert all(lines.count(line) == ranks for line in lines)
    return sorted(set(lines))


def results(language, *words, **options):
    lines = request(language, *words, **options)
    return {name: number(kind, text) for name, kind, text in (line.split(" ", 2) for line in lines)}


@pytest.mark.parametrize("ranks", (1, 2))
@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers(folder, language, ranks):
    values = np.random.default_rng(1).normal(size=(40, 30)) * 1e10
    path = support.write(folder / "in.h5", values, "f64")
    true = reference.statistics(values)
    names = ("count", "sum", "mean", "var", "min", "argmax")
    words = ("reduce", path, "values", "ops=" + ",".join(names) + ",median", "--", *names, "median")
    found = results(language, *words, ranks=ranks)
    assert found == {**{each: true[each] for each in names}, "median": np.median(values)}
    kept = values[values > 0]
    words = ("reduce", path, "values", "ops=sum", "where=>0", "where=<1e10", "--", "sum")
    kept = kept[kept < 1e10]
    total = float(sum(map(Fraction, kept.tolist())))
    assert results(language, *words, ranks=ranks) == {"sum": total}


@pytest.mark.parametrize("ranks", (1, 2))
@pytest.mark.parametrize("language", LANGUAGES)
def test_outputs_and_labels(folder, language, ranks):
    values = np.arange(1200, dtype="i4").reshape(40, 30)
    path = support.write(folder / "in.h5", values, "i32")
    with h5py.File(path, "a") as file:
        file["labels"] = values % 3
    words = ("reduce", path, "values", "axis=0", "ops=sum,max", f"output={folder}/out.h5", "force")
    found = results(language, *words, "--", "sum", "max", ranks=ranks)
    assert found == {"sum": "values_sum", "max": "values_max"}
    with h5py.File(folder / "out.h5") as file:
        assert file["values_sum"][:].tolist() == values.sum(0).tolist()
        assert file["values_max"][:].tolist() == values.max(0).tolist()
    words = ("scan", path, "values", f"output={folder}/scan.h5", "force")
    found = results(language, *words, "--", "output", "count", "last", ranks=ranks)
    assert found == {"output": "values", "count": 1200, "last": int(values.sum())}
    with h5py.File(folder / "scan.h5") as file:
        assert file["values"][:].ravel().tolist() == values.cumsum().tolist()
    words = ("reduce", path, "values", "by=labels", "ops=sum,mean")
    found = results(language, *words, "--", "1:sum", "2:mean", ranks=ranks)
    part = values[values % 3 == 1]
    assert found == {"1:sum": int(part.sum()), "2:mean": values[values % 3 == 2].mean()}


@pytest.mark.parametrize("ranks", (1, 2))
@pytest.mark.parametrize("language", LANGUAGES)
def test_errors_have_codes_and_messages(folder, language, ranks):
    path = support.write(folder / "in.h5", np.full(9, 2**62), "i64")
    for words, code, mentions in (
        (("count", path, "values"), 2, "there is no request 'count'"),
        (("reduce", path, "values", "opz=sum"), 2, "--opz"),
        (("reduce", path, "values", "ops=average"), 2, "average"),
        (("reduce", path, "other", "ops=sum"), 1, "other"),
        (("reduce", folder / "missing.h5", "values"), 1, "missing.h5"),
        (("scan", path, "values"), 2, "output"),
        (("reduce", path, "values", "ops=count", "--", "sum"), 2, "there are count"),
    ):
        (line,) = request(language, *words, ranks=ranks)
        assert line.startswith(f"status {code}: ") and mentions in line
    words = ("reduce", path, "values", "ops=sum", "--", "sum")
    assert results(language, *words, ranks=ranks) == {"sum": str(9 * 2**62)}


def test_ranks_that_differ_are_an_error(folder):
    path = support.write(folder / "in.h5", np.ones(9), "f64")
    (line,) = request("c", "reduce", path, "values", "threads=RANK", ranks=2)
    assert line.startswith("status 2: ranks make different requests")


def test_an_object_that_outlives_mpi_warns():
    outcome = start("c", "outlive", ranks=2)
    assert outcome.returncode == 0 and outcome.stdout == ""
    assert outcome.stderr.count("after MPI_Finalize") == 1
