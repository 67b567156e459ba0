"""Exceptions and warnings of the package."""

from __future__ import annotations

import re

_FLAG = re.compile(r"(?<![\w'-])--(?!help)([a-z][a-z-]*)")
_OUTPUT = re.compile(r"(?<!\S)-o\b")


class Error(RuntimeError):
    """A failure: its description (`what`), its reason (`why`, or empty), and advice (`advice`, or
    empty)."""

    def __init__(self, what: str, why: str = "", advice: str = "") -> None:
        super().__init__(what, why, advice)
        self.what = what
        self.why = why
        self.advice = advice

    def __str__(self) -> str:
        reason = f"{self.what}: {self.why}" if self.why else self.what
        return " ".join(_ended(each) for each in (reason, self.advice) if each)


def _ended(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


class UsageError(Error, ValueError):
    """Arguments that make no sense, alone or together."""


class DataWarning(UserWarning):
    """A fact about the data that a reader of the results has to know."""


class SkippedDatasetWarning(UserWarning):
    """One of several datasets cannot be read, or doesn't fit the options, and has no result."""


def _in_python(text: str) -> str:
    """Words a message of the command as Python has it: options as keyword arguments."""
    return _OUTPUT.sub("output", _FLAG.sub(lambda flag: flag[1].replace("-", "_"), text))


def exception_of(what: str, why: str, advice: str, usage: bool) -> Error:
    """Makes the exception of an Error of the library; called by the extension module."""
    kind = UsageError if usage else Error
    return kind(_in_python(what), _in_python(why), _in_python(advice))
