"""Options without an effect are refused, and words that are nearly right are answered."""

import h5py
import numpy as np
import pytest

import support


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("effects")
    for name in ("in.h5", "more.h5"):
        with h5py.File(folder / name, "w") as file:
            file["Temp"] = np.arange(12.0).reshape(3, 4)
            file["w"] = np.ones(4)
            file["labels"] = np.array([0, 1, 0, 1])
    return folder


OUT = ["-o", "OUT"]
AXIS = ["--axis", "0", *OUT]
USELESS = [
    ("scan", [*OUT, "--exclusive", "--offsets"], ["--exclusive", "--offsets"]),
    ("scan", [*OUT, "--op", "max", "--overflow", "wrap"], ["--overflow has no effect"]),
    ("scan", [*OUT, "--op", "min", "--overflow", "error"], ["--overflow has no effect"]),
    ("reduce", ["--times", "w", "--ddof", "1"], ["--ddof has no effect"]),
    ("reduce", ["--ops", "mean", "--ddof", "0"], ["--ddof has no effect"]),
    ("reduce", ["--weights", "w", "--overflow", "wrap"], ["--overflow has no effect"]),
    ("reduce", ["--times", "w", "--overflow", "wrap"], ["--overflow has no effect"]),
    ("reduce", ["--ops", "min", "--overflow", "wrap"], ["--overflow has no effect"]),
    ("reduce", [*AXIS, "--ops", "mean", "--empty", "3"], ["--empty has no effect"]),
    ("reduce", ["--match", "position"], ["--match has no effect"]),
    ("reduce", ["--empty", "3"], ["error: --empty needs --axis"]),
    ("reduce", ["--force"], ["error: --force needs --axis"]),
    ("reduce", ["--keepdims"], ["error: --keepdims needs --axis"]),
    ("reduce", ["--deflate", "--json", "-"], ["error: --deflate needs --axis"]),
    ("reduce", ["--chunks", "auto"], ["error: --chunks needs --axis"]),
    ("reduce", ["--by", "labels", "--shuffle"], ["error: --shuffle needs -o"]),
    ("reduce", ["--by", "labels", "--append"], ["error: --append needs -o"]),
    ("reduce", ["--by", "labels", *OUT, "--every", "2"], ["error: --every needs --axis"]),
]


@pytest.mark.parametrize("command, words, mentions", USELESS)
def test_options_without_effect_are_refused(folder, command, words, mentions):
    words = [folder / "out.h5" if word == "OUT" else word for word in words]
    support.fail(command, folder / "in.h5", "Temp", *words, code=2, mentions=mentions)
    assert not (folder / "out.h5").exists()


NEARLY = [
    (["--ops", "avg"], 2, "mean?"),
    (["--ops", "stdev"], 2, "std?"),
    (["--ops", "p95"], 2, "q95?"),
    (["--ops", "p5"], 2, "q05?"),
    (["--by", "monthly"], 1, "--by month,"),
    (["--by", "monthly", "--axis", "0", "-o", "OUT"], 1, "--by month,"),
]


@pytest.mark.parametrize("words, code, meant", NEARLY)
def test_nearly_right_words_are_answered(folder, words, code, meant):
    words = [folder / "out.h5" if word == "OUT" else word for word in words]
    support.fail("reduce", folder / "in.h5", "Temp", *words, code=code,
                 mentions=["Did you mean " + meant])  # fmt: skip


def test_names_of_datasets_and_files_are_answered(folder):
    data = folder / "in.h5"
    for name in ("temp", "Tmep"):
        support.fail("reduce", data, name, code=1, mentions=["Did you mean 'Temp'?"])
    assert "mean" not in support.fail("reduce", data, "x", code=1).stderr
    support.fail("reduce", data, folder / "more.h5", "Temp", code=1, mentions=["--concat"])


def test_help_is_a_word_too():
    assert support.run("help", "reduce").stdout == support.run("reduce", "--help").stdout
    assert support.run("help").stdout == support.run("--help").stdout
    support.fail("help", "nonsense", code=2, mentions=("nonsense", "reduce"))
