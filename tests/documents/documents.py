"""The repository's documents: their blocks, links and the files that they name."""

import dataclasses
import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
SPAN = re.compile(r"`([^`\n]+)`")


@dataclasses.dataclass(frozen=True)
class Shown:
    """A command line that a document shows, and what it shows that this prints, if anything."""

    line: str
    output: str | None = None

    def simple_commands(self):
        """The words of each of the commands that the line joins, without variables set for them."""
        tokens = shlex.shlex(self.line, posix=True, punctuation_chars="&|;")
        tokens.whitespace_split = True
        command = []
        for token in [*tokens, ";"]:
            if not set(token) <= set("&|;"):
                command.append(token)
            elif command:
                yield command[next(i for i, word in enumerate(command) if "=" not in word) :]
                command = []


def kept_files(pattern="*"):
    """The repository's files of this name; without git, those outside build folders."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", pattern],
        cwd=ROOT, capture_output=True, text=True, check=False,
    ).stdout.split("\0")[:-1]  # fmt: skip
    found = [ROOT / name for name in listed] or [
        path
        for path in ROOT.rglob(pattern)
        if not re.match(r"build|\.git$", path.relative_to(ROOT).parts[0])
    ]
    return sorted(path for path in found if path.exists())


def documents():
    """The documents that the repository keeps."""
    return kept_files("*.md")


def name_of(document):
    return str(document.relative_to(ROOT))


def blocks(document, *languages):
    """The contents of a document's blocks in one of these languages, in order."""
    return [
        (language, text)
        for language, text in FENCE.findall(document.read_text())
        if language in languages
    ]


def shown_commands(document):
    """The command lines of a document's blocks marked sh and console, in order."""
    shown = []
    for language, text in blocks(document, "sh", "console"):
        text = text.replace("\\\n", " ")
        if language == "sh":
            lines = [" ".join(re.sub(r"\s# .*", "", line).split()) for line in text.splitlines()]
            shown += [Shown(line) for line in lines if line]
            continue
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            shown.append(Shown(line, output))
    return shown


def prose(document):
    return FENCE.sub("", document.read_text())


def anchors(document):
    """Returns the anchors of a document: its headings, as they are rendered."""
    headings = HEADING.findall(prose(document))
    return {re.sub(r"[^\w\- ]", "", each.lower()).strip().replace(" ", "-") for each in headings}


def links(document):
    """Returns the targets of a document's links, except those on other sites."""
    targets = LINK.findall(prose(document))
    return [target for target in targets if not re.match(r"\w+:", target)]


def named_files(document):
    """The names in backticks that look like files or folders of the repository."""
    source = r".+\.(hpp|cpp|cuh?|inl|py|sh|toml|sbatch|md|cmake)"
    inside = r"(src|include|jobs|inputs|tests)/[\w./-]+"
    placeholder = r"(.*/)?[A-Z]+(\.\w+)?"  # NAME.sh; but README.md is a file
    return [
        name
        for name in SPAN.findall(prose(document))
        if re.fullmatch(r"[\w./-]+", name)
        and (re.fullmatch(source, name) or re.fullmatch(inside, name))
        and (not re.fullmatch(placeholder, name) or "README" in name)
    ]
