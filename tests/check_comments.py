#!/usr/bin/env python3
"""Checks how comments begin and which words and names they and the code have: check_comments.py [ROOT]

A comment begins with its subject or a verb, so that it makes sense alone in an editor's hint. Prints
FILE:LINE and the rule for each line that breaks one; exits with 1 if any does.
"""

import pathlib
import re
import sys

FOLDERS = ("include", "src", "tests")
SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh", ".inl", ".h", ".py"}

# First words that leave a comment without a subject.
BEGINNINGS = "Of|By|What|Where|Those"
LINE = re.compile(rf'\s*(?:///|//|#|""")\s?({BEGINNINGS})\b')
TRAILING = re.compile(rf"///<\s*({BEGINNINGS})\b", re.IGNORECASE)

# Private names, each with the field's term.
NAMES = {
    "exact_again": "say which sum is computed",
    "sum_otherwise": "say how it sums",
    "write_otherwise": "say how it writes",
    "sort_out": "extract_outliers",
    "flush_but": "flush_other_windows",
    "mend": "add_inexact_products",
    "in_a_row": "grain_size",
    "files_beside": "auxiliary_files",
    "carry_out": "a verb that says what is run",
    "meet_block": "wait_at_block_barrier",
    "axis_fold": "axis_value_reducer",
    "AxisFold": "AxisValueReducer",
}
NAME = re.compile(rf"\b({'|'.join(NAMES)})\b")
# Version 1.0 has the public constant max_told_labels.
TOLD = re.compile(r"(?<![a-z])(?<!max_)told(?![a-z])")


def problem_of(line):
    """Returns the rule that a line breaks, or None."""
    if begins := LINE.match(line) or TRAILING.search(line):
        return f"a comment begins with '{begins[1]}': begin with its subject"
    if name := NAME.search(line):
        return f"the name {name[1]}: {NAMES[name[1]]}"
    if TOLD.search(line):
        return "'told': report, print, specify or distinguish"
    return None


def violations(root):
    """Returns the lines below `root` that break a rule, as (path, line number, rule)."""
    own = {"check_comments.py", "check_comments_test.py"}
    return [
        (path.relative_to(root), number, problem)
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in SUFFIXES and path.name not in own
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (problem := problem_of(line))
    ]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    found = violations(root)
    for path, number, problem in found:
        print(f"{path}:{number}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
