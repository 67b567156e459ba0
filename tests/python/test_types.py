"""The package's annotations, as a checker of types sees them."""

import inspect
import os
import pathlib
import re
import subprocess
import sys

import pytest
import warpfold

ROOT = pathlib.Path(__file__).resolve().parents[2]


def mypy(*words, folder):
    pytest.importorskip("mypy")
    environment = dict(os.environ)
    packages = pathlib.Path(warpfold.__file__).parents[1]
    if packages.name != "site-packages":
        environment["MYPYPATH"] = str(packages)
    # One configuration for all, so that what one run learns of NumPy and xarray serves the others.
    settings = ["--config-file", str(ROOT / "src/python/pyproject.toml")]
    # Which mypy takes for granted from 1.7 on.
    settings += ["--enable-incomplete-feature", "Unpack"]
    settings += ["--cache-dir", str(folder.parent / "mypy")]
    return subprocess.run(
        [sys.executable, "-m", "mypy", *settings, *words],
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
    )


def test_the_package_is_consistent(tmp_path):
    checked = mypy("-p", "warpfold", folder=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_mistakes_are_reported_to_callers(tmp_path):
    script = tmp_path / "caller.py"
    script.write_text(
        "import warpfold\n"
        "total: warpfold.ExactSum = warpfold.ExactSum([1.0])\n"
        "number: float = float(total)\n"
        "warpfold.reduce('a.nc', 'x', opps='sum')\n"
        "text: str = total.count\n"
        "warpfold.reduce('a.nc', 'x', ops='sum', axis=['time', -1], nan='skip', bins=3)\n"
        "warpfold.scan('a.nc', 'x', op='max', axis='time', output_type='f4', deflate=3)\n"
        "warpfold.scan('a.nc', 'x', op='mean')\n"
    )
    checked = mypy(str(script), folder=tmp_path)
    lines = [line for line in checked.stdout.splitlines() if ": error:" in line]
    assert [line.split(":")[1] for line in lines] == ["4", "5", "6", "8"], checked.stdout


def test_results_have_types(tmp_path):
    script = tmp_path / "caller.py"
    script.write_text(
        "import warpfold\n"
        "from typing import Any\n"
        "from numpy import float64, ones\n"
        "from numpy.typing import NDArray\n"
        "mean: float64 = warpfold.reduce('a.nc', 'x', ops='mean', mask=ones(3), progress=True)\n"
        "count: int = warpfold.reduce(ones(3), ops='count')\n"
        "means: NDArray[Any] = warpfold.reduce('a.nc', 'x', ops='mean', axis='time', by=[1, 2])\n"
        "both: dict[str, NDArray[Any]] = warpfold.reduce('a.nc', ops=['min', 'max'], axis=[0, 1])\n"
        "running: NDArray[Any] = warpfold.scan('a.nc', 'x', op='max')\n"
        "made: warpfold.ScanOutput = warpfold.scan('a.nc', 'x', output='b.nc', deflate=3)\n"
        "kept, places = warpfold.compact('a.nc', 'x', where='>0', indices=True)\n"
        "counts: warpfold.Histogram = warpfold.histogram('a.nc', 'x', bins=3)\n"
        "anything: None = warpfold.reduce('a.nc', 'x', ops='q0.5', backend='cpu')\n"
        "several: dict[str, float] = warpfold.reduce('a.nc', ['x', 'y'], ops='mean')\n"
        "wrong: str = warpfold.reduce('a.nc', 'x', ops='mean')\n"
        "warpfold.reduce('a.nc', 'x', ops='max') + 1\n"
        "wrong_array: NDArray[Any] = warpfold.reduce('a.nc', 'x', ops='sum')\n"
        "warpfold.reduce('a.nc', 'x', ops='sum', backend='gpu')\n"
        "warpfold.scan('a.nc', 'x', backend='gpu')\n"
        "warpfold.histogram('a.nc', 'x', nan='skip')\n"
        "warpfold.compact('a.nc', 'x', output='b.nc').kept.bit_length('x')\n"
    )
    checked = mypy(str(script), folder=tmp_path)
    lines = [line for line in checked.stdout.splitlines() if ": error:" in line]
    wrong = [str(number) for number in range(15, 22)]
    assert [line.split(":")[1] for line in lines] == wrong, checked.stdout


@pytest.mark.parametrize("command", ["reduce", "scan", "compact", "histogram", "info"])
def test_options_and_their_words_are_those_of_the_program(command):
    def completed(*words):
        words = [os.environ["WARPFOLD"], "__complete", command, *words]
        answer = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        return {line.split("\t")[0] for line in answer.splitlines()[:-1]}

    parameters = list(inspect.signature(getattr(warpfold, command)).parameters.values())[2:]
    flags = {each.name: "--" + each.name.replace("_", "-") for each in parameters}
    assert set(flags.values()) - {"--as-xarray", "--comm", "--out", "--progress"} <= completed("--")
    for each in parameters:
        words = set(re.findall(r"'([\w-]+)'", each.annotation))
        if words:
            assert words == completed(flags[each.name], "")


def test_every_function_has_a_docstring():
    for name in warpfold.__all__:
        assert getattr(warpfold, name).__doc__, name
