"""Documents lead to what is there: links, files, rooms; and their programs compile."""

import os
import re
import shlex
import subprocess
import sys
import tomllib

import pytest

import documents
from documents import ROOT

DOCUMENTS = documents.documents()
PROGRAMS = {
    f"{documents.name_of(document)}:{number}": text
    for document in DOCUMENTS
    for number, (_, text) in enumerate(documents.blocks(document, "cpp"), start=1)
}
all_documents = pytest.mark.parametrize("document", DOCUMENTS, ids=documents.name_of)


@all_documents
def test_links_lead_somewhere(document):
    for link in documents.links(document):
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), link
        assert not anchor or anchor in documents.anchors(target), link


@all_documents
def test_named_files_are_there(document):
    names = {path.name for top in ("src", "include", "jobs", "inputs", "tests")
             for path in (ROOT / top).rglob("*")}  # fmt: skip
    for name in documents.named_files(document):
        places = (ROOT, ROOT / "src", ROOT / "include" / "warpfold", document.parent)
        found = any((place / name).exists() for place in places)
        assert found or ("/" not in name and name in names), name


def test_no_file_has_conflict_markers():
    marker = re.compile(rb"^(<{7}|>{7}|\|{7})( |$)|^={7}$", re.M)
    files = documents.kept_files()
    assert len(files) > 1000
    marked = [path for path in files if path.is_file() and marker.search(path.read_bytes())]
    assert marked == []


def test_the_workflow_runs_commands_that_documents_show():
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    commands = set(re.findall(r"run: ((?:tests/|cmake ).*)", workflow))
    pages = (ROOT / "tests/README.md", ROOT / "CONTRIBUTING.md")
    shown = {each.line for page in pages for each in documents.shown_commands(page)}
    assert {"tests/run.sh", "tests/run.sh --quick"} < commands <= shown


def test_the_front_page_is_short():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 150
    assert len(text.split()) <= 1200


def test_versions_agree():
    version = re.search(r"^project\(warpfold VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
    releases = re.findall(r"^## (\S+) - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    citation = dict(re.findall(r'^([a-z-]+): *"?(.*?)"?$', (ROOT / "CITATION.cff").read_text(), re.M))
    assert releases[0] == (version, citation["date-released"])
    assert citation["version"] == version
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type", "license"} <= citation.keys()


def test_the_table_of_rooms_is_whole():
    rows = [
        [cell.strip(" `") for cell in line.split("|")[1:3]]
        for line in (ROOT / "src/README.md").read_text().splitlines()
        if line.startswith(("| `", "| | `"))
    ]
    described, layer = {}, None
    layers = tomllib.loads((ROOT / "src/rooms.toml").read_text())
    for first, second in rows:
        if first in layers and not second:
            layer = described.setdefault(first, set())
        elif not first:
            layer.add(second)
    assert described == {name: set(each.get("rooms", {})) for name, each in layers.items()}


@pytest.mark.parametrize("program", PROGRAMS)
def test_shown_programs_compile(program, tmp_path):
    compiler = os.environ.get("WARPFOLD_COMPILER")
    if compiler is None:
        pytest.skip("WARPFOLD_COMPILER names no compiler")
    source = tmp_path / "shown.cpp"
    source.write_text(PROGRAMS[program])
    subprocess.run(
        [*shlex.split(compiler), f"-I{ROOT / 'include'}", "-fsyntax-only", source], check=True
    )


def test_pictures_are_of_what_was_measured(tmp_path):
    pytest.importorskip("matplotlib")
    kept = ROOT / "jobs/examples/front_page"
    drawing = [sys.executable, ROOT / "jobs/front_page.py", "draw", "--folder", tmp_path]
    subprocess.run(drawing, check=True)
    for name in ("seconds.svg", "running_sum.svg", "rates.svg"):
        described = [re.findall(">([^<]+)</text>", (folder / name).read_text())
                for folder in (kept, tmp_path)]  # fmt: skip
        assert described[0] == described[1] != []
