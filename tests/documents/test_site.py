"""Doxygen builds the site of documents and public headers without a warning, and its links lead somewhere."""

import collections
import re
import shutil
import subprocess
import sys
import urllib.parse

import pytest

import documents
from documents import ROOT

sys.path.insert(0, str(ROOT / "src/site"))

import site_page  # noqa: E402

SETTINGS = ROOT / "src/site/Doxyfile"
NOT_IN_SITE = {".github/PULL_REQUEST_TEMPLATE.md"}
LINK = re.compile(r'(?:href|src)="([^"]+)"')
ANCHOR = re.compile(r'(?:id|name)="([^"]+)"')


def inputs():
    listed = re.search(r"^INPUT *=((?:.*\\\n)*.*)$", SETTINGS.read_text(), re.MULTILINE)[1]
    return [ROOT / name for name in listed.replace("\\", "").split()]


@pytest.fixture(name="site", scope="module")
def site_(tmp_path_factory):
    if not shutil.which("doxygen"):
        pytest.skip("doxygen not found: no site is built")
    folder = tmp_path_factory.mktemp("built")
    settings = f"@INCLUDE = {SETTINGS}\nOUTPUT_DIRECTORY = {folder}\n"
    built = subprocess.run(
        ["doxygen", "-"], cwd=ROOT, input=settings, capture_output=True, text=True, check=False
    )
    assert (built.returncode, built.stderr) == (0, "")
    return folder / "site"


def test_every_document_is_in_the_site():
    pages = {page for place in inputs() for page in ([place] if place.is_file() else place.rglob("*.md"))}
    missing = {documents.name_of(each) for each in documents.documents() if each not in pages}
    assert missing == NOT_IN_SITE


@pytest.mark.parametrize("header", sorted((ROOT / "include").rglob("*.h*")), ids=lambda path: path.name)
def test_every_header_is_in_the_site(site, header):
    name = header.name.replace("_", "__").replace(".", "_8")
    assert (site / f"{name}_source.html").exists()


def test_links_of_the_site_lead_somewhere(site):
    pages = {page.name: page.read_text() for page in site.glob("*.html")}
    anchors = {name: set(ANCHOR.findall(text)) for name, text in pages.items()}
    assert len(pages) > 100
    for name, text in pages.items():
        for link in map(urllib.parse.unquote, LINK.findall(text)):
            path, _, anchor = link.partition("#")
            if re.match(r"\w+:", link):
                continue
            target = path or name
            assert (site / target).exists(), f"{name}: {link}"
            assert not anchor or anchor in anchors[target], f"{name}: {link}"


def test_the_index_of_the_manual_links_every_page(site):
    manual = (site / "page_src_cli_README.html").read_text()
    pages = [page.stem for page in (ROOT / "src/cli/pages").glob("*.md")]
    assert "info" in pages
    for page in pages:
        assert f'href="page_src_cli_pages_{page}.html"' in manual, page


def test_text_of_a_link_may_have_brackets():
    document = ROOT / "src/cli/README.md"
    text = "a [b] and [`info FILE [DATASET...]`](pages/info.md), [`c`](pages/scan.md)"
    assert site_page.prose(document, text, collections.Counter()) == (
        'a [b] and @subpage page_src_cli_pages_info "info FILE [DATASET...]",'
        ' @subpage page_src_cli_pages_scan "c"'
    )


@pytest.mark.parametrize("page", ["index", "page_include_warpfold_README"])
def test_examples_with_files_link_to_functions_of_files(site, page):
    functions = (site / "namespacewarpfold.html").read_text()
    anchors = re.findall(
        r'namespacewarpfold.html#(\w+)"[^>]*>warpfold::(?:reduce|scan)<', (site / f"{page}.html").read_text()
    )
    assert anchors
    for anchor in anchors:
        described = functions.partition(f'id="{anchor}"')[2]
        prototype = re.search(r'class="memproto">(.*?)</table>', described, re.DOTALL)[1]
        assert "Options" in prototype and "DeviceArray" not in prototype


def test_the_front_page_links_licence_and_citation(site):
    front_page = (site / "index.html").read_text()
    for name in site_page.COPIED:
        assert f'<a href="{name}">' in front_page
        assert (site / name).read_bytes() == (ROOT / name).read_bytes()


def test_the_site_shows_what_readers_look_for(site):
    """Entities of each interface, an option of the manual, and a title without marks."""
    assert "warpfold_dots" in (site / "warpfold_8h.html").read_text()
    assert "quantile_memory_bytes" in (site / "structwarpfold_1_1ReduceOptions.html").read_text()
    manual = (site / "page_src_cli_pages_scan.html").read_text()
    assert "<code>--op sum|min|max</code>" in manual
    assert "The command warpfold: a manual" in (site / "page_src_cli_README.html").read_text()
