"""The package's annotations, as a checker of types sees them."""

import os
import pathlib
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
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(folder / "cache"), *words],
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
    )


def test_the_package_is_consistent(tmp_path):
    configuration = ROOT / "src/python/pyproject.toml"
    checked = mypy("--config-file", str(configuration), "-p", "warpfold", folder=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_callers_are_told_of_mistakes(tmp_path):
    script = tmp_path / "caller.py"
    script.write_text(
        "import warpfold\n"
        "total: warpfold.ExactSum = warpfold.ExactSum([1.0])\n"
        "number: float = float(total)\n"
        "warpfold.reduce('a.nc', 'x', opps='sum')\n"
        "text: str = total.count\n"
    )
    checked = mypy(str(script), folder=tmp_path)
    lines = [line for line in checked.stdout.splitlines() if ": error:" in line]
    assert [line.split(":")[1] for line in lines] == ["4", "5"], checked.stdout


def test_every_function_has_a_docstring():
    for name in warpfold.__all__:
        assert getattr(warpfold, name).__doc__, name
