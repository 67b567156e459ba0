#!/usr/bin/env python3
"""Prints a Markdown document as Doxygen takes it: site_page.py DOCUMENT

The Doxyfile next to it names this as the filter of Markdown files. Headings get identifiers and links
between documents become references, which Doxygen checks. HTML_EXTRA_FILES copies pictures and the files
that COPIED names. Links to other files of the repository, which the site does not have, become their text.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPIED = ("CITATION.cff", "LICENSE")

FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(([^)\s]+)\)")
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def page_of(document):
    """The identifier of a document's page."""
    path = document.resolve().relative_to(ROOT).with_suffix("")
    return "page_" + re.sub(r"\W", "_", str(path))


def anchor_of(heading):
    """The name by which links call a heading, as hosts of repositories render it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def plain(text):
    """The text of a link or title without its marks."""
    return " ".join(text.replace("`", "").replace('"', "'").split())


def reference(document, text, target):
    """The replacement of a link of a document."""
    if re.match(r"\w+:", target):
        return f"[{text}]({target})"
    path, _, anchor = target.partition("#")
    led_to = (document.parent / path).resolve() if path else document
    if led_to.name in COPIED:
        return f'<a href="{led_to.name}">{text}</a>'
    if led_to.suffix != ".md":
        return text
    page = page_of(led_to)
    command = "@subpage" if path.startswith("pages/") else "@ref"
    return f'{command} {page}{"-" + anchor if anchor else ""} "{plain(text)}"'


def with_identifiers(document, text, seen):
    """Headings with identifiers; `seen` counts those of each anchor so far."""
    page = page_of(document)

    def identified(match):
        marks, heading = match.groups()
        anchor = anchor_of(heading)
        seen[anchor] += 1
        repeated = f"-{seen[anchor] - 1}" if seen[anchor] > 1 else ""
        if marks == "#":
            return f"# {plain(heading)} {{#{page}}}"
        return f"{marks} {heading} {{#{page}-{anchor}{repeated}}}"

    return HEADING.sub(identified, text)


def code(text):
    """A span of code. Doxygen ends one at a quote, and shows the stroke that escapes a bar in a table."""
    if r"\|" in text:
        text = text.replace("<", "&lt;").replace(">", "&gt;").replace("--", r"\--")
        return f"<code>{text}</code>"
    return f"``{text}``" if "'" in text else f"`{text}`"


def prose(document, text, seen):
    """A part of the document without fenced blocks."""
    text = with_identifiers(document, text, seen)
    text = PICTURE.sub(
        lambda match: f'<img src="{pathlib.PurePath(match[2]).name}" alt="{plain(match[1])}"/>', text
    )
    text = LINK.sub(lambda match: reference(document, *match.groups()), text)
    return CODE.sub(lambda match: code(match[1]), text)


def main():
    document = pathlib.Path(sys.argv[1]).resolve()
    seen = collections.Counter()
    for place, part in enumerate(FENCED.split(document.read_text())):
        print(part if place % 2 else prose(document, part, seen), end="")


if __name__ == "__main__":
    main()
