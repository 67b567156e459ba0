"""Exceptions and warnings of the package."""

from __future__ import annotations

import re

_FLAG = re.compile(r"(?<![\w'-])--(?!help)([a-z][a-z-]*)")
_OUTPUT = re.compile(r"(?<!\S)-o\b")


class Error(RuntimeError):
    """A failure: what failed (`what`), the reason (`why`), and what to do (`advice`). The last two
    may be empty."""

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
    """Invalid arguments, alone or in combination."""


class DataWarning(UserWarning):
    """A property of the data that a reader of the results should know."""


class SkippedDatasetWarning(UserWarning):
    """A dataset, one of several, that can't be read or doesn't fit the options: it has no
    result."""


def _in_python(text: str) -> str:
    """Returns a message of the command with options as keyword arguments."""
    return _OUTPUT.sub("output", _FLAG.sub(lambda flag: flag[1].replace("-", "_"), text))


def exception_of(what: str, why: str, advice: str, usage: bool) -> Error:
    """Makes the exception of an Error of the library; called by the extension module."""
    kind = UsageError if usage else Error
    return kind(_in_python(what), _in_python(why), _in_python(advice))
