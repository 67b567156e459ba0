"""Help, manual pages and completions tell of every command and option that the program parses."""

import pathlib
import re
import shutil
import subprocess

import pytest

import support

SHARE = pathlib.Path(support.program()).parent / "share"
PAGES = SHARE / "man/man1"
SHELLS = support.ROOT / "src/cli/manual/shells"
BASH = SHELLS / "bash-completion/completions/warpfold"
ZSH = SHELLS / "zsh/site-functions/_warpfold"
FISH = SHELLS / "fish/vendor_completions.d/warpfold.fish"
# Shells find the program by its name.
FOUND = support.ENVIRONMENT | {"PATH": f"{SHARE.parent}:{support.ENVIRONMENT['PATH']}"}
OPTION = re.compile(r"^  ((?:-\w,)?--[a-z0-9-]+|-\w)(?: (\S+))?", re.MULTILINE)


def help_of(*words):
    return support.run(*words, "--help").stdout


def commands():
    listed = re.search(r"^Commands:\n(.*?)^Options:", help_of(), re.MULTILINE | re.DOTALL)
    return re.findall(r"^  (\w+)", listed[1], re.MULTILINE)


def options(command):
    """Names of a command's options, "-o,--output" as two, with the type of their value."""
    return [(names.split(","), value) for names, value in OPTION.findall(help_of(command))]


COMMANDS = commands()


def source_option_names():
    """Each option that the source adds to commands, whatever the help says of it."""
    files = [path for path in (support.ROOT / "src/cli").rglob("*.cpp")
             if path.name != "read_request.cpp"]  # fmt: skip
    text = "".join(path.read_text() for path in files)
    added = r'(?:add\w*\(\s*(?:command_?,\s*|application\(\),\s*)?|option\(\s*)"((?:-\w,)?--[a-z0-9-]+)"'
    return {each for names in re.findall(added, text) for each in names.split(",")}


def test_all_commands_are_there():
    assert COMMANDS == [
        "reduce", "scan", "histogram", "compact", "info", "generate", "bench", "ladder",
    ]  # fmt: skip


def test_help_has_every_option_of_the_source():
    shown = {name for command in COMMANDS for names, _ in options(command) for name in names}
    added = source_option_names()
    assert len(added) > 50
    assert added - {"--version", "--config"} == shown - {"-h", "--help"}


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_screen_as_far_as_it_can(command):
    lines = help_of(*command.split()).splitlines()
    examples = lines.index("Examples:")
    assert all(len(line) <= 80 for line in lines[:examples])
    assert len(lines) <= 64
    shown = lines[examples + 1 :]
    assert shown and all(re.match(r"  (mpirun -np \d )?warpfold ", line) for line in shown)


def roff_text(page):
    """A page's words, its fonts and escapes undone."""
    text = re.sub(r"\\f[BIR]", "", page.read_text())
    return text.replace("\\-", "-").replace("\\(aq", "'").replace("\\&", "").replace("\\e", "\\")


def test_every_command_has_a_page():
    assert {page.name for page in PAGES.iterdir()} == {
        "warpfold.1", *(f"warpfold-{command}.1" for command in COMMANDS),
    }  # fmt: skip
    text = roff_text(PAGES / "warpfold.1")
    for command in COMMANDS:
        assert f".TP\n{command}\n" in text
        assert f".BR warpfold-{command} (1)" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_and_argument_is_in_the_page(command):
    text = roff_text(PAGES / f"warpfold-{command}.1")
    for names, value in options(command):
        tag = ", ".join(names) + (f" {value}" if value else "")
        assert f".TP\n{tag}\n" in text, tag
    usage = re.search(r"Usage: warpfold \w+ \[OPTIONS\] (.*)", help_of(command))[1]
    for argument in re.findall(r"[A-Z]+", usage):
        assert re.search(rf"^\.TP\n{argument}(\.\.\.)?\n", text, re.MULTILINE), argument
    for example in help_of(command).partition("Examples:\n")[2].splitlines():
        assert f"\n{example.strip()}\n" in text


@pytest.mark.parametrize("page", sorted(PAGES.iterdir()), ids=lambda page: page.name)
def test_pages_are_without_a_warning(page):
    checks = [["mandoc", "-T", "lint", "-W", "style"], ["groff", "-ww", "-man", "-T", "utf8", "-z"]]
    there = [check for check in checks if shutil.which(check[0])]
    if not there:
        pytest.skip("neither mandoc nor groff is here")
    for check in there:
        ended = subprocess.run([*check, page], capture_output=True, text=True)
        assert (ended.returncode, ended.stdout + ended.stderr) == (0, ""), check


def completed(*words):
    """Returns bash's completions of words, the last of which is incomplete."""
    script = f'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _warpfold; printf "%s\\n" "${{COMPREPLY[@]}}"'
    ended = subprocess.run(
        ["bash", "-c", script, BASH, "warpfold", *words],
        capture_output=True, text=True, check=True, cwd=support.ROOT, env=FOUND,
    )  # fmt: skip
    assert ended.stderr == ""
    return ended.stdout.split()


def test_bash_completes_commands_and_options():
    assert sorted(completed("")) == sorted(["-h", "--help", "--version", "--config", *COMMANDS])
    assert completed("hi") == ["histogram"]
    for command in COMMANDS:
        names = [name for names, _ in options(command) for name in names]
        assert sorted(completed(command, "-")) == sorted(names)
        for name in names:
            assert name in completed(command, name)


def test_bash_completes_fixed_words():
    for command in COMMANDS:
        for names, value in options(command):
            if re.fullmatch(r"[a-z]+(\|[a-z]+)+", value):
                assert completed(command, names[-1], "") == value.split("|"), (command, names)
                first = value.split("|")[0]
                assert completed(command, names[-1], "=", first[:2]) == [first]
    assert completed("scan", "a.h5", "b", "--output-type", "bf") == ["bf16"]
    assert completed("reduce", "--quantile-method", "h") == ["higher"]
    assert completed("reduce", "--ops", "count,nan") == ["count,nan_count"]
    assert completed("reduce", "--ops", "med") == ["median"]
    assert completed("reduce", "--by", "dayof") == ["dayofyear"]
    assert completed("reduce", "--empty", "a") == ["auto"]
    assert completed("generate", "--seed", "3", "u") == ["uniform"]
    assert completed("bench", "in") == ["ingest"]
    assert completed("reduce", "--threads", "") == []
    assert completed("scan", "a.h5", "b", "--deflate", "--shu") == ["--shuffle"]


def test_bash_completes_files():
    assert completed("reduce", "LIC") == ["LICENSE"]
    assert completed("reduce", "--concat", "time", "README.md", "LIC") == ["LICENSE"]
    assert completed("generate", "iota", "LIC") == ["LICENSE"]
    for option in ("--json", "--csv", "--metrics", "-o", "--output", "--mask"):
        assert completed("scan", option, "LIC") == ["LICENSE"], option


def test_fixed_words_are_accepted(tmp_path):
    """Completed words parse: the program takes each word of each of these options."""
    path = support.write(tmp_path / "in.h5", [1.0, 2.0], "f64")
    words = completed("reduce", "--ops", "")
    assert len(words) > 15
    for word in words:
        weights = ["--weights", f"{path}::values"] if word == "sum_of_weights" else []
        support.run("reduce", path, "values", "--ops", word, *weights)
    for command, option, more in (
        ("scan", "--op", ["-o", tmp_path / "out.h5", "--force"]),
        ("scan", "--output-type", ["-o", tmp_path / "out.h5", "--force"]),
        ("reduce", "--quantile-method", ["--ops", "median"]),
    ):
        for word in completed(command, option, ""):
            if word[0] in "iu" and option == "--output-type":
                continue  # of a scan of floats
            support.run(command, path, "values", option, word, *more)
    for word in completed("generate", ""):
        out = tmp_path / f"{word}.h5"
        support.run("generate", word, out, "values", "--shape", 4)


@pytest.mark.parametrize("command", COMMANDS)
def test_shells_get_descriptions_of_words(command):
    answer = support.run("__complete", command, "-").stdout.splitlines()
    names = [name for names, _ in options(command) for name in names]
    assert sorted(line.split("\t")[0] for line in answer[:-1]) == sorted(names)
    assert all(line.split("\t")[1] for line in answer[:-1]) and answer[-1] == ":4"


@pytest.mark.parametrize("shell, script", [("bash", BASH), ("zsh", ZSH), ("fish", FISH)])
def test_completions_are_scripts(shell, script):
    if not shutil.which(shell):
        pytest.skip(f"no {shell}")
    ended = subprocess.run([shell, "-n", script], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("fish"), reason="no fish")
def test_fish_completes():
    def suggested(line):
        words = ["fish", "--no-config", "-c", f'source "{FISH}"; complete -C"{line}"']
        ended = subprocess.run(
            words, capture_output=True, text=True, check=True, cwd=support.ROOT, env=FOUND
        )
        return [each.split("\t")[0] for each in ended.stdout.splitlines()]

    assert sorted(suggested("warpfold ")) == sorted(COMMANDS)
    assert suggested("warpfold reduce --nan ") == ["propagate", "skip"]
    assert suggested("warpfold reduce --ops count,nan") == ["count,nan_count"]
    assert suggested("warpfold reduce --json LIC") == ["LICENSE"]
    assert suggested("warpfold scan --fletch") == ["--fletcher32"]


# Types a line and a tab in a zsh of its own, and waits for what this adds.
IN_ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT=; fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D; cd $2"
zpty -w shell 'print rea''dy'
zpty -r -m shell before '*ready*'
zpty -w -n shell "$3"$'\\t'
zpty -r -m shell after "*$4*"
"""


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh")
@pytest.mark.parametrize(
    "typed, added",
    [("warpfold hist", "ogram"), ("warpfold reduce --quantile-mem", "ory"),
     ("warpfold reduce --nan=sk", "ip"), ("warpfold reduce --ops count,nan", "_count"),
     ("warpfold reduce --by dayof", "year"), ("warpfold generate uni", "form"),
     ("warpfold scan --json LIC", "ENSE")],
)  # fmt: skip
def test_zsh_completes(typed, added):
    words = ["zsh", "-f", "-c", IN_ZSH, "zsh", ZSH.parent, support.ROOT, typed, added]
    assert subprocess.run(words, capture_output=True, timeout=60, env=FOUND).returncode == 0


def test_examples_of_help_work(tmp_path):
    """Each example that needs no GPU and little time, in files of the names that it has."""
    if not shutil.which("cdo"):
        pytest.skip("cdo not found")
    make = """
        cdo -s -f nc4 -z zip_4 topo topo.nc
        cdo -s -f nc4 -z zip_4 -settunits,days -settaxis,2000-01-15,00:00,1month -duplicate,12 -temp year.nc
        ln -s year.nc FILE"""

    def shell(line):
        subprocess.run(["bash", "-euc", line], cwd=tmp_path, env=FOUND, check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip

    shell(make)
    examples = [line.strip() for command in ["", *COMMANDS]
                for line in help_of(*command.split()).partition("Examples:\n")[2].splitlines()]  # fmt: skip
    assert len(examples) > 15
    for example in examples:
        if not re.search(r"warpfold (bench|ladder)", example):
            shell(example.replace("DATASET", "temp"))
