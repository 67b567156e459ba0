"""Runs on the datasets of files."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Optional

import numpy as np

from warpfold import _core
from warpfold._beside import arrays_of, matched_by_position, written
from warpfold._device_array import DeviceArray
from warpfold._errors import DataWarning, Error, SkippedDatasetWarning, UsageError
from warpfold._options import given, is_one, option_words, refuse
from warpfold._progress import watcher_of
from warpfold._sources import (
    Sources,
    address_of,
    is_interruptible,
    is_written_by_h5py,
    sources_of,
    temporary_folder,
)
from warpfold._xarray import dataarrays_in


class Histogram(NamedTuple):
    """Counts of elements by bins; the first two members are what numpy.histogram() returns."""

    counts: Any  #: int64, one per bin
    edges: Any  #: float64; bin i is [edges[i], edges[i + 1]), the last one closed
    below: int  #: elements less than the first edge
    above: int  #: greater than the last one
    nan_count: int


class ScanOutput(NamedTuple):
    """Outcome of a scan."""

    dataset: str  #: its path in the output
    elements: int  #: how many were scanned
    last: Any  #: the last prefix: an int or float64, None of no elements


class CompactOutput(NamedTuple):
    """Outcome of a compaction."""

    dataset: str  #: its path in the output
    indices_dataset: Optional[str]
    elements: int  #: how many were looked at
    kept: int


ToResult = Callable[[Any, Optional[str]], Any]

_OUTPUT_OPTIONS = {"append", "force", "chunks", "deflate", "zstd", "shuffle", "fletcher32"}


def _words(command: str, options: dict[str, Any], sources: Sources) -> list[str]:
    words = ["warpfold", command, *option_words(options), "--", *sources.files, *sources.datasets]
    if any("\0" in word for word in words):
        raise UsageError("a name or option has a null character", "", "Omit it.")
    return words


@contextlib.contextmanager
def _explaining_h5py_locks(files: list[str]) -> Iterator[None]:
    """Makes errors for a file that is open for writing name h5py, if h5py has it open."""
    try:
        yield
    except Error as error:
        if "open for writing" not in error.why or not is_written_by_h5py(files):
            raise
        raise Error(
            error.what,
            "h5py has it open for writing, with an HDF5 library of its own",
            "Close it first: file.close().",
        ) from None


def _failure_of(outcomes: Any) -> Optional[Error]:
    failed = [(dataset, why) for dataset, why, is_failure, *_ in outcomes if is_failure]
    if not failed:
        return None
    return Error(
        f"cannot read {len(failed)} of {len(outcomes)} datasets",
        f"the first is '{failed[0][0]}' ({failed[0][1]})",
        "Name those that can be read.",
    )


class _Call(NamedTuple):
    words: list[str]
    address: int  #: of the communicator
    output: Optional[str]  #: the temporary file that it writes, if any
    expected: tuple[str, ...]  #: how notes begin that say what the caller knows


def _results(answer: Any, to_result: ToResult, call: _Call) -> Any:
    """Applies to_result() to the answer: to that of one dataset, or to each in a dict of
    several."""
    if answer is None:
        return None
    several, outcomes = answer
    for note in dict.fromkeys(note for *_, notes in outcomes for note in notes):
        if not note.startswith(call.expected):
            warnings.warn(note.replace("`", ""), DataWarning, stacklevel=4)
    if not several:
        return to_result(outcomes[0][3], call.output)
    failure = _failure_of(outcomes)
    if failure is not None:
        raise failure
    for dataset, why, *_ in outcomes:
        if why:
            warnings.warn(f"skipped {dataset}: {why}", SkippedDatasetWarning, stacklevel=4)
    return {
        dataset: to_result(result, call.output)
        for dataset, why, _, result, _ in outcomes if not why
    }


@contextlib.contextmanager
def _call(
    command: str, file: Any, dataset: Any, options: dict[str, Any], comm: Any, writes: bool = False
) -> Iterator[_Call]:
    """Prepares a call of the command. If it `writes` and no output is given, the output is a
    temporary file."""
    sources = sources_of(file, dataset, "concat" in options)
    writes = writes and "output" not in options
    if writes:
        refuse(options, _OUTPUT_OPTIONS, "no output is given", "Name one: output='out.h5'.")
    address = address_of(comm)
    arrays = arrays_of(options, comm)
    with contextlib.ExitStack() as stack:
        output = None
        if arrays or writes:
            folder = stack.enter_context(temporary_folder(comm))
            options = {**options, **written(arrays, folder, comm)}
            output = os.path.join(folder, "results.h5") if writes else None
        more = {} if output is None else {"output": output}
        stack.enter_context(_explaining_h5py_locks(sources.files))
        words = _words(command, {**options, **more}, sources)
        yield _Call(words, address, output, matched_by_position(arrays))


def run(
    command: str,
    file: Any,
    dataset: Any,
    options: Mapping[str, Any],
    to_result: ToResult,
    writes: bool = False,
) -> Any:
    """Runs a command. to_result(report of a dataset, temporary file or None) makes the result. If
    the command `writes` and no output is given, its output is a temporary file."""
    options = given(command, options)
    comm, progress = options.pop("comm", None), options.pop("progress", None)
    call = _call(command, file, dataset, options, comm, writes)
    with call as made, watcher_of(progress, comm) as watcher:
        answer = getattr(_core, command)(made.words, made.address, watcher, is_interruptible())
        return _results(answer, to_result, made)


def info(file: Any, dataset: Any, options: Mapping[str, Any]) -> Optional[dict[str, Any]]:
    options = given("info", options)
    comm = options.pop("comm", None)
    with _call("info", file, dataset, options, comm) as made:
        text = _core.info(made.words, made.address, is_interruptible())
    return None if text is None else dict(json.loads(str(text)))


def _read(output: str, dataset: str) -> Any:
    return _core.read_output(output, dataset)


def reduce_result(options: dict[str, Any], by_labels: bool, as_xarray: Any) -> ToResult:
    ops, raw = options.get("ops"), "raw" in options

    def chosen(values: dict[str, Any]) -> Any:
        return next(iter(values.values())) if is_one(ops) and len(values) == 1 else values

    def to_result(values: dict[Any, Any], output: Optional[str]) -> Any:
        if by_labels:
            return {label: chosen(of_label) for label, of_label in values.items()}
        if output is not None and as_xarray:
            values = dataarrays_in(output, values, raw, as_xarray != "undecoded")
        elif output is not None:
            values = {name: _read(output, dataset) for name, dataset in values.items()}
        return chosen(values)

    return to_result


def scan_result(values: Any, output: Optional[str]) -> Any:
    return ScanOutput(*values) if output is None else _read(output, values[0])


def compact_result(values: Any, output: Optional[str]) -> Any:
    result = CompactOutput(*values)
    if output is None:
        return result
    elements = _read(output, result.dataset)
    if result.indices_dataset is None:
        return elements
    return elements, _read(output, result.indices_dataset).astype(np.int64)


def read_result(values: Any, output: Optional[str]) -> Any:
    return DeviceArray(*values) if isinstance(values, tuple) else values


def histogram_result(values: Any, output: Optional[str]) -> Histogram:
    return Histogram(*values)
