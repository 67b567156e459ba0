"""Documents are written in short sentences."""

import re

import pytest

import documents

MOST_WORDS = 22  # of a sentence, on average over a document

FENCED_CODE = re.compile(r"^ *(```|~~~).*?^ *\1[^\n]*\n?", re.MULTILINE | re.DOTALL)
LINK_TARGET = re.compile(r"\]\([^)]*\)")
LIST_ITEM = re.compile(r"([-*]|\d+\.) ")
SENTENCE_END = re.compile(r"""(?<=[.!?])[*)"]*\s+(?=[\[`*("A-Z0-9'])""")


def paragraphs(text):
    """The paragraphs and list items of a Markdown text: no code, tables, headings or pictures."""
    found = [""]
    for line in FENCED_CODE.sub("\n", text).splitlines():
        line = line.strip()
        if not line or line.startswith(("#", "|", "![")):
            found.append("")
        elif item := LIST_ITEM.match(line):
            found.append(line[item.end() :])
        else:
            found[-1] += " " + line
    return [each for each in found if each]


def sentence_lengths(text):
    """The number of words of each sentence of a Markdown text."""
    sentences = [
        sentence
        for paragraph in paragraphs(text)
        for sentence in SENTENCE_END.split(LINK_TARGET.sub("]", paragraph))
    ]
    counts = [sum(bool(re.search(r"\w", word)) for word in each.split()) for each in sentences]
    return [count for count in counts if count > 0]


def check_sentences(name, text):
    """Fails, with the document's name, where its sentences are too long on average."""
    lengths = sentence_lengths(text)
    average = sum(lengths) / max(1, len(lengths))
    assert average <= MOST_WORDS, f"{name}: {average:.1f} words a sentence, at most {MOST_WORDS}"


@pytest.mark.parametrize("document", documents.documents(), ids=documents.name_of)
def test_sentences_are_short(document):
    check_sentences(documents.name_of(document), document.read_text())


def sentence_of(words):
    return "Word " + "word " * (words - 2) + "word."


def test_long_sentences_fail_with_the_name_of_their_document():
    check_sentences("planted.md", f"{sentence_of(30)} {sentence_of(14)}")
    with pytest.raises(AssertionError, match="^planted.md: 22.5 words a sentence"):
        check_sentences("planted.md", f"{sentence_of(31)} {sentence_of(14)}")


def test_code_tables_and_headings_are_no_sentences():
    long = sentence_of(50)
    text = f"# {long}\n\n| {long} |\n|---|\n\n```sh\n{long}\n```\n- in a list:\n\n  ```\n  {long}\n  ```\n"
    assert sentence_lengths(text) == [3]


def test_sentences_end_at_full_stops_and_list_items():
    text = "One [link](a_target.md), two\nwords. `Code` starts\nthis one.\n1. An item\n- another - item\n"
    assert sentence_lengths(text) == [4, 4, 2, 2]
