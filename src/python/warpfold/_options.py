"""The functions' options, and the words of a command line for them, whose parsers check them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

import numpy as np

from warpfold._errors import UsageError

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import ArrayLike, DTypeLike

    from warpfold._progress import Progress
    from warpfold._sources import Path

# Each value of this option is an option of its own; lists of others have commas between.
_REPEATED = "where"


# The names of single results that are integers; doubles; of the elements' type; None or such.
Count = Literal["count", "nan_count", "inf_count"]
Double = Literal["mean", "var", "std", "l2", "median"]
Sum = Literal["sum", "l1", "linf"]
Extremum = Literal["min", "max"]
Place = Literal["argmin", "argmax"]


class _Output(TypedDict, total=False):
    output: Path | None


class _File(TypedDict, total=False):
    append: bool
    force: bool


class _Run(TypedDict, total=False):
    select: Any
    where: str | Sequence[str] | None
    fill_value: str | float | None
    raw: bool
    mask: str | ArrayLike | None
    match: Literal["coordinates", "position"] | None
    concat: int | str | None
    backend: Literal["auto", "cuda", "cpu"] | None
    threads: int | None
    slab: int | str | None
    read_path: Literal["auto", "direct", "chunk", "library"] | None
    file_cache: Literal["auto", "through", "past"] | None
    external: Literal["any", "same-folder", "none"] | None
    device_memory: int | str | None
    share_gpu: bool


class _Shared(TypedDict, total=False):
    all: bool
    comm: MPI.Comm | None


class _WatchedRun(_Run, total=False):
    progress: bool | Callable[[Progress], object] | None


class _Ops(TypedDict, total=False):
    ops: str | Sequence[str] | None


class _Axes(TypedDict, total=False):
    axis: int | str | Sequence[int | str] | None


class _Labels(TypedDict, total=False):
    by: str | ArrayLike | None


class _Reduction(TypedDict, total=False):
    every: int | str | None
    complete: bool
    min_count: int | None
    places: Literal["indices", "coordinates"] | None
    keepdims: bool
    nan: Literal["propagate", "skip"] | None
    overflow: Literal["error", "wrap"] | None
    ddof: int | None
    weights: str | ArrayLike | None
    times: str | ArrayLike | None
    quantile_method: Literal["linear", "lower", "higher", "midpoint", "nearest"] | None
    quantile_memory: int | str | None
    empty: str | float | None
    output_type: DTypeLike | None


class _Scan(TypedDict, total=False):
    op: Literal["sum", "min", "max"] | None
    axis: int | str | None
    exclusive: bool
    offsets: bool
    output_type: DTypeLike | None
    overflow: Literal["error", "wrap"] | None


class _Result(TypedDict, total=False):
    as_xarray: bool


class _Storage(TypedDict, total=False):
    chunks: str | Sequence[int] | None
    deflate: bool | int
    zstd: bool | int
    shuffle: bool
    fletcher32: bool


class _Target(TypedDict, total=False):
    out: Any


class _Compaction(TypedDict, total=False):
    indices: bool


class _Bins(TypedDict, total=False):
    bins: int | Sequence[float] | None
    range: tuple[float, float] | None


class _Reading(TypedDict, total=False):
    device: Literal["cuda", "cpu"] | None
    empty: str | float | None


class _Plan(TypedDict, total=False):
    plan: Literal["reduce", "histogram", "scan", "compact"] | None
    axis: int | str | Sequence[int | str] | None


# Options beside which others say what a function returns.
class ReducedAlone(_Reduction, _WatchedRun):
    pass


class ReducedAlong(_Labels, _Reduction, _WatchedRun):
    pass


class ScannedAlone(_Scan, _WatchedRun):
    pass


class ScannedToFile(_Scan, _File, _Storage, _WatchedRun):
    pass


class CompactedAlone(_WatchedRun):
    pass


class CompactedToFile(_Compaction, _File, _Storage, _WatchedRun):
    pass


class CountedAlone(_Bins, _WatchedRun):
    pass


# All options of a function. Bases in the order in which help() and command lines have them.
class ReduceOptions(
    _Ops, _Axes, _Labels, _Reduction, _Result, _Output, _File, _Storage, _WatchedRun, _Shared
):
    pass


class ScanOptions(_Scan, _Output, _File, _Storage, _Target, _WatchedRun, _Shared):
    pass


class CompactOptions(_Compaction, _Output, _File, _Storage, _WatchedRun, _Shared):
    pass


class HistogramOptions(_Bins, _WatchedRun, _Shared):
    pass


class ReadOptions(_Reading, _WatchedRun, _Shared):
    pass


class InfoOptions(_Plan, _Run, _Shared):
    pass


Function = TypeVar("Function", bound=Callable[..., Any])

# The names of each function's options.
_TAKEN: dict[str, list[str]] = {}


def takes(options: Any) -> Callable[[Function], Function]:
    """Has help() show a function's options as parameters, and given() know them."""

    def shown(function: Function) -> Function:
        signature = inspect.signature(function)
        *parameters, _ = signature.parameters.values()
        for name, hint in options.__annotations__.items():
            text = hint.__forward_arg__
            default = False if text in ("bool", "bool | int") else None
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(inspect.Parameter(name, kind, default=default, annotation=text))
        setattr(function, "__signature__", signature.replace(parameters=parameters))
        _TAKEN[function.__name__] = list(options.__annotations__)
        return function

    return shown


def given(function: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options that are neither None nor False, in the order of their declaration.
    Raises TypeError for one that the function doesn't take."""
    for name in options:
        if name not in _TAKEN[function]:
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
    return {
        name: options[name]
        for name in _TAKEN[function]
        if options.get(name) is not None and options[name] is not False
    }


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
        if isinstance(value, Mapping):
            return ", ".join(f"{name}={_slice_text(part)}" for name, part in value.items())
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
    """Yields the words of options that are given."""
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            yield flag
        elif name == _REPEATED and not isinstance(value, str):
            for each in value:
                yield from (flag, _text(name, each))
        else:
            yield from (flag, _text(name, value))


def refuse(options: dict[str, Any], names: Set[str], why: str, advice: str) -> None:
    """Raises UsageError where one of the names is given."""
    for name in options:
        if name in names:
            raise UsageError(f"{name} cannot be given here", why, advice)
