#!/usr/bin/env python3
"""Checks how messages name options: check_option_names.py [ROOT]

Below the layer `cli` they name members of the library's options, in backquotes; a table in `cli` has
the command line's word for each. Prints FILE:LINE and what is wrong; exits with 1 if anything is.
"""

import pathlib
import re
import sys

TABLE = "src/cli/report/text.cpp"
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
NAMES = re.compile(r"members\[\] = \{(.*?)\};", re.DOTALL)
WORDING = re.compile(r'\{"(\w+)", "(--[a-z-]+)[a-z ]*"\}')
FLAG = re.compile(r"--[a-z][a-z-]*")
MEMBER = re.compile(r"`(\w+)`")


def sources(root, layers):
    for folder in layers:
        for path in sorted(folder.rglob("*.*")):
            if path.suffix in {".hpp", ".cpp", ".cu", ".cuh", ".inl"}:
                yield path.relative_to(root), path.read_text()


def flags_of_program(root):
    """Each long option that a command line may have."""
    text = "".join(text for _, text in sources(root, [root / "src/cli"]))
    return {flag for literal in LITERAL.findall(text) for flag in FLAG.findall(literal)}


def literals(text):
    """Each string literal, with the number of its line."""
    for number, line in enumerate(text.splitlines(), start=1):
        for literal in LITERAL.findall("" if line.lstrip().startswith("//") else line):
            yield number, literal


def complaints(root):
    table = (root / TABLE).read_text()
    names = LITERAL.findall(NAMES.search(table)[1])
    worded = {name: "--" + name.replace("_", "-") for name in names}
    worded |= dict(WORDING.findall(table))
    assert names
    flags = flags_of_program(root) | set(worded.values())
    named = set()
    layers = [path for path in (root / "src").iterdir() if path.is_dir() and path.name != "cli"]
    for path, text in sources(root, [*layers, root / "include"]):
        for number, literal in literals(text):
            named |= set(MEMBER.findall(literal))
            for flag in flags.intersection(FLAG.findall(literal)):
                yield path, number, f"names the command line's {flag}, not a member of options"
            for member in MEMBER.findall(literal):
                if member not in worded:
                    yield path, number, f"names `{member}`, for which {TABLE} has no word"
    for member in sorted(worded.keys() - named):
        yield TABLE, 1, f"has a word for `{member}`, which no message names"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    found = list(complaints(root))
    for path, number, complaint in found:
        print(f"{path}:{number}: {complaint}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
