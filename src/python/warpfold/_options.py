"""Keyword arguments as the words of a command line, whose parsers see to them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from warpfold._errors import UsageError

# Of these each value is an option of its own; lists of other options have commas between.
_REPEATED = {"where"}


def _slice_text(part: Any) -> str:
    """One dimension's part of a NumPy index."""
    if part is Ellipsis:
        return "..."
    if not isinstance(part, slice):
        return str(part)
    ends = ["" if end is None else str(end) for end in (part.start, part.stop)]
    return ":".join(ends if part.step is None else [*ends, str(part.step)])


def type_name_of(dtype: Any) -> str:
    """The name of an element type: a string as it is, of np.float32 and the like float32."""
    return dtype if isinstance(dtype, str) else str(np.dtype(dtype).name)


def is_one(ops: Any) -> bool:
    """Tells whether `ops` is the name of one result."""
    return isinstance(ops, str) and "," not in ops and ops != "all"


def _text(name: str, value: Any) -> str:
    if name == "select" and not isinstance(value, str):
        parts = value if isinstance(value, tuple) else (value,)
        return ", ".join(_slice_text(part) for part in parts)
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if name == "output_type":
        return type_name_of(value)
    if hasattr(value, "__iter__"):
        return ",".join(_text(name, each) for each in value)
    if hasattr(value, "item"):
        value = value.item()
    return repr(value) if isinstance(value, float) else str(value)


def option_words(options: dict[str, Any]) -> Iterator[str]:
    """Yields the words of the options that are given: neither None nor False."""
    for name, value in options.items():
        if value is None or value is False:
            continue
        flag = "--" + name.replace("_", "-")
        if value is True:
            yield flag
        elif name in _REPEATED and not isinstance(value, str):
            for each in value:
                yield from (flag, _text(name, each))
        else:
            yield from (flag, _text(name, value))


def refuse(options: dict[str, Any], names: set[str], why: str, advice: str) -> None:
    """Raises UsageError where one of the names is given."""
    for name in options:
        if name in names and options[name] is not None and options[name] is not False:
            raise UsageError(f"{name} can't be given here", why, advice)
