"""Names and numbers in documents and comments are those of the code."""

import collections
import re

import pytest

import documents
from documents import ROOT

CODE = {".hpp", ".cpp", ".cu", ".cuh", ".inl", ".h", ".c", ".f90"}
SCRIPTS = {".py", ".sh", ".cmake", ".txt"}
C_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
SCRIPT_COMMENT = re.compile(r"#[^\n]*")

CAPITALS = r"\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+\b"
CALL = r"\b[A-Za-z_]\w+(?=\()"
NAME = re.compile(f"{CAPITALS}|{CALL}")
NAME_IN_COMMENT = re.compile(rf"{CAPITALS}|\b[a-z]\w+(?=\(\))")
# Names of styles, of other libraries and of the literature.
FOREIGN = {
    "CapWords", "ExtractVector", "Fast2Sum", "H5Zpublic", "SplitMix64", "TwoSum", "geomspace", "setdlopenflags",
}  # fmt: skip

ACCUMULATOR = re.compile(r"accumulator (?:\(|of )(\d[\d,]*) bytes|accumulator_bytes = (\d+)", re.IGNORECASE)
EITHER = re.compile(r"\b(2,?2\d\d)[- ]bytes?\b")
MESSAGE = re.compile(r"message_bytes = (\d+)|calls a rank, of (\d[\d,]*) bytes", re.IGNORECASE)
ADDITIONS = re.compile(r"2\^(\d+)(?: \w+)? additions")


def sources():
    """The text of each file of code and each script, by its path."""
    return {
        path: path.read_text()
        for path in documents.kept_files()
        if path.suffix in CODE | SCRIPTS and path.name != "test_facts.py"
    }


SOURCES = sources()
TEXTS = SOURCES | {document: document.read_text() for document in documents.documents()}


def comment_of(path):
    return C_COMMENT if path.suffix in CODE else SCRIPT_COMMENT


@pytest.fixture(name="words", scope="module")
def words_():
    """The words of all code, without comments."""
    return {
        word for path, text in SOURCES.items() for word in re.findall(r"\w+", comment_of(path).sub("", text))
    } | FOREIGN  # fmt: skip


def names_in_document(text):
    text = documents.FENCE.sub("", text)
    return {name for span in documents.SPAN.findall(text) for name in NAME.findall(span)}


def names_in_comments(text):
    return {name for comment in C_COMMENT.findall(text) for name in NAME_IN_COMMENT.findall(comment)}


@pytest.mark.parametrize("document", documents.documents(), ids=documents.name_of)
def test_names_in_documents_exist(document, words):
    assert names_in_document(document.read_text()) - words == set()


def test_names_in_comments_exist(words):
    commented = [path for path in SOURCES if path.suffix in CODE]
    assert len(commented) > 500
    unknown = {
        documents.name_of(path): names
        for path in commented
        if (names := names_in_comments(SOURCES[path]) - words)
    }
    assert unknown == {}


def stated_numbers(pattern, texts):
    """Returns the numbers that texts state, and where: {number: [name, ...]}."""
    found = collections.defaultdict(list)
    for path, text in texts.items():
        for groups in pattern.findall(text):
            number = groups if isinstance(groups, str) else next(filter(None, groups))
            found[int(number.replace(",", ""))].append(documents.name_of(path))
    return dict(found)


def checked_size(type_name):
    code = (ROOT / "src/mpi/combine.cpp").read_text()
    return int(re.search(rf"static_assert\(sizeof\({type_name}\) == (\d+)\)", code)[1])


@pytest.mark.parametrize("pattern, type_name", [(ACCUMULATOR, "Accumulator"), (MESSAGE, "Contribution")])
def test_stated_sizes_are_those_of_the_types(pattern, type_name):
    stated = stated_numbers(pattern, TEXTS)
    assert list(stated) == [checked_size(type_name)], stated


def test_no_other_size_is_stated():
    stated = stated_numbers(EITHER, TEXTS)
    assert set(stated) == {checked_size("Accumulator"), checked_size("Contribution")}, stated


def test_stated_additions_are_the_proved_ones():
    stated = stated_numbers(ADDITIONS, TEXTS)
    proved = stated_numbers(ADDITIONS, {path: SOURCES[path] for path in [ROOT / "src/core/numeric/fixed_point.hpp"]})
    assert len(proved) == 1
    assert list(stated) == list(proved), stated


def test_every_pattern_of_bench_is_documented():
    declared = (ROOT / "src/bench/kernels/kernels.hpp").read_text()
    patterns = re.findall(r'\{"(\w+)", Pattern::', declared)
    assert "tails" in patterns
    option = (ROOT / "src/cli/commands/command_bench.cpp").read_text().partition('"--data"')[2][:300]
    row = re.search(r"^\| data .*$", (ROOT / "src/bench/README.md").read_text(), re.MULTILINE)[0]
    for name in patterns:
        assert re.search(rf"\b{name}\b", option), name
        assert f"`{name}`" in row, name


def test_dropped_names_and_wrong_numbers_are_found():
    assert names_in_document("`OldEngine::run()`, `old_call(x)`; no `word`\n```\nOther()\n```\n") == {
        "OldEngine", "run", "old_call",
    }  # fmt: skip
    assert names_in_comments("// As OldEngine does, by old_call().\nNew();") == {"OldEngine", "old_call"}
    path = ROOT / "README.md"
    text = "one accumulator (2,272 bytes); calls a rank, of 2264 bytes; up to 2^31 additions"
    found = [list(stated_numbers(each, {path: text})) for each in (ACCUMULATOR, MESSAGE, ADDITIONS)]
    assert found == [[2272], [2264], [31]]
