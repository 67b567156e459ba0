"""Every command line that a document shows works, and prints what the document shows.

Each document's commands run one after the other in a folder of their own that looks like the
repository with a build in it. Pages of the manual use the files that its entry page
makes. What exceptions.toml names is checked by its names instead.
"""

import functools
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

import documents
import support

EXCEPTIONS = tomllib.loads((pathlib.Path(__file__).parent / "exceptions.toml").read_text())[
    "exception"
]
SHOWN = {document: documents.shown_commands(document) for document in documents.documents()}
EXCEPTED = {
    shown.line: shown
    for commands in SHOWN.values()
    for shown in commands
    if any(re.fullmatch(each["command"], shown.line) for each in EXCEPTIONS)
}
MANUAL = documents.ROOT / "src/cli/README.md"
PAGES = sorted((MANUAL.parent / "pages").glob("*.md"))
RUN = {
    document: [shown for shown in commands if shown.line not in EXCEPTED]
    for document, commands in SHOWN.items()
}


def folder_like_the_repository(folder):
    """A folder for commands to run in, and the environment that they have there."""
    for name in ("jobs", "inputs", "tests", "src", "CMakePresets.json"):
        (folder / name).symlink_to(documents.ROOT / name)
    programs = folder / "build" / "release"
    programs.mkdir(parents=True)
    (programs / "warpfold").symlink_to(support.program())
    path = [programs, pathlib.Path(sys.executable).parent, os.environ["PATH"]]
    # As on a machine without a GPU, which has fewer than the ranks shown.
    return {
        **support.ENVIRONMENT,
        "PATH": os.pathsep.join(map(str, path)),
        "CUDA_VISIBLE_DEVICES": "",
    }


def pattern(shown):
    """Returns the pattern of a shown output: itself, and for ... anything on that line."""
    return ".*".join(re.escape(part) for part in shown.split("..."))


@pytest.mark.parametrize("document", filter(RUN.get, RUN), ids=documents.name_of)
def test_shown_commands_work(document, tmp_path):
    commands = [*RUN[MANUAL], *RUN[document]] if document in PAGES else RUN[document]
    programs = {command[0] for each in commands for command in each.simple_commands()}
    missing = [each for each in ("cdo", "mpirun") if each in programs and not shutil.which(each)]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not found")
    environment = folder_like_the_repository(tmp_path)
    for shown in commands:
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", shown.line], cwd=tmp_path, env=environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, f"{shown.line}\n{ended.stderr}"
        if shown.output is not None:
            printed = ended.stdout
            assert re.fullmatch(pattern(shown.output), printed), f"{shown.line}\n{printed}"


@functools.cache
def help_of(*words):
    ended = subprocess.run([*words, "--help"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{words}: {ended.stderr}"
    return ended.stdout


def check_options(program, arguments):
    """The program has the commands that its arguments begin with, and each of the options."""
    before = list(itertools.takewhile(lambda word: word != "--", arguments))
    command = []
    while before and re.fullmatch("[a-z]+", before[0]):
        if before[0] not in help_of(*program, *command):
            break
        command.append(before.pop(0))
    known = help_of(*program, *command)
    for word in before:
        if re.match(r"--\w", word):
            assert word.split("=")[0] in known, f"{program} {command} has no {word}"


def check_script(name, arguments):
    path = documents.ROOT / re.sub(r"^~/warpfold/", "", name)
    assert path.exists(), f"{name} is not there"
    if path.suffix == ".py":
        check_options((sys.executable, str(path)), arguments)
    elif path.suffix in (".sh", ".sbatch"):
        subprocess.run(["bash", "-n", path], check=True)


def check_presets(words):
    presets = json.loads((documents.ROOT / "CMakePresets.json").read_text())
    kind = "buildPresets" if "--build" in words else "configurePresets"
    name = words[words.index("--preset") + 1]
    assert name in [each["name"] for each in presets[kind]], f"there is no preset {name}"


def check_names(words):
    """Checks the names that a command uses: scripts, options, presets and targets."""
    if words[:2] == ["mpirun", "-np"]:
        words = words[3:]
    repository = r"(~/warpfold/)?(jobs|tests|inputs)/"
    scripts = [i for i, word in enumerate(words) if re.match(repository, word)]
    if "--preset" in words:
        check_presets(words)
    elif words[0] == "warpfold":
        check_options((support.program(),), words[1:])
    elif words[0].startswith("build/release/"):
        lists = [documents.ROOT / folder / "CMakeLists.txt" for folder in ("src", "tests/emulator")]
        assert any(pathlib.PurePath(words[0]).name in each.read_text() for each in lists)
    elif scripts and words[0] != "cmake":
        check_script(words[scripts[0]], words[scripts[0] + 1 :])


@pytest.mark.parametrize("shown", EXCEPTED.values(), ids=lambda shown: shown.line)
def test_what_is_not_run_has_the_names_shown(shown):
    for words in shown.simple_commands():
        check_names(words)


@pytest.mark.parametrize("exception", EXCEPTIONS, ids=lambda each: each["command"])
def test_every_exception_is_one(exception):
    assert any(re.fullmatch(exception["command"], line) for line in EXCEPTED)


OPTION = re.compile(r"--[a-z][a-z0-9-]*")
COMMANDS = {
    "reduce": [], "histogram": [], "scan": [], "compact": [], "info": [], "generate": [],
    "bench": ["reduce", "scan", "combine", "collectives", "ingest"],
    "ladder": ["reduce", "scan", "atomics"],
}  # fmt: skip
OF_LAUNCHERS = {"--bind-to", "--mca", "--gpus-per-node", "--gpus-per-task"}


def test_the_manual_names_all_options_and_no_others():
    known = set(OPTION.findall(help_of(support.program())))
    for command, kinds in COMMANDS.items():
        for words in [[command], *([command, kind] for kind in kinds)]:
            known.update(OPTION.findall(help_of(support.program(), *words)))
    manual = "".join(page.read_text() for page in [MANUAL, *PAGES])
    benchmarks = (documents.ROOT / "src/bench/README.md").read_text()
    assert set(OPTION.findall(manual)) - known == OF_LAUNCHERS
    assert known - set(OPTION.findall(manual + benchmarks)) == set()


def test_every_page_of_the_manual_shows_an_example_first_and_is_listed():
    listed = {(MANUAL.parent / link).resolve() for link in documents.links(MANUAL)}
    assert listed.issuperset(PAGES) and PAGES
    for page in PAGES:
        assert re.match(r"# .+\n\n```(sh|console|text)\n", page.read_text()), page.name
