"""A caller's arrays as auxiliary datasets: masks, weights, factors and labels."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np

from warpfold import _core
from warpfold._arrays import is_on_device, whole
from warpfold._errors import Error, UsageError
from warpfold._sources import name_of_h5py

if TYPE_CHECKING:
    from mpi4py import MPI

_OPTIONS = ("mask", "weights", "times", "by")

# Values of masked elements, which then don't count.
_FILLED = {"mask": 0, "weights": 0}


class Variable(NamedTuple):
    """A variable that the extension module writes. `type` is empty for texts."""

    name: str
    shape: tuple[int, ...]
    type: str
    elements: Any
    dimensions: list[str]
    attributes: list[tuple[str, str]]


class Beside(NamedTuple):
    """Variables: the coordinates of an array's dimensions, then the array. And the dimensions of
    the other dataset that follow its name on a command line."""

    variables: list[Variable]
    suffix: str

    def digest(self) -> tuple[Any, ...]:
        """A digest of the arrays."""
        described = [
            (*each._replace(elements=hashlib.blake2b(each.elements).digest()),)
            for each in self.variables
        ]
        return (described, self.suffix)


def _texts(values: Any) -> Any:
    """Texts in UTF-8, of one length; None unless all elements are texts."""
    if values.dtype.kind == "O" and all(isinstance(each, str) for each in values.flat):
        values = values.astype(str)
    if values.dtype.kind == "U":
        values = np.char.encode(values, "utf-8")
    return np.ascontiguousarray(values) if values.dtype.kind == "S" else None


def _variable(name: str, values: Any, dimensions: Any = (), attributes: Any = ()) -> Variable:
    texts = _texts(values)
    if texts is not None:
        taken, type_name, shape = texts.reshape(-1), "", texts.shape
    else:
        elements = whole(values)
        taken, type_name, shape = elements.elements, str(elements.type), elements.shape
    return Variable(
        name, shape, type_name, taken.view(np.uint8), list(dimensions), list(attributes)
    )


def _coordinate(name: str, coordinate: Any) -> Variable:
    """A coordinate as it is stored: times are numbers with units."""
    import xarray

    variable: Any = xarray.Variable
    encode: Any = xarray.conventions.encode_cf_variable

    attributes = {key: coordinate.attrs[key] for key in ("units",) if key in coordinate.attrs}
    encoding = {
        key: coordinate.encoding[key] for key in ("units", "calendar") if key in coordinate.encoding
    }
    decoded = variable(coordinate.dims, coordinate.values, attributes, encoding)
    stored = encode(decoded, name=name)
    texts = [(key, text) for key, text in stored.attrs.items() if isinstance(text, str)]
    return _variable(name, stored.values, [name], texts)


def _of_dataarray(option: str, array: Any) -> Beside:
    """An xarray.DataArray: its dimensions have names, and coordinates, which are compared."""
    dimensions = [str(dimension) for dimension in array.dims]
    name = str(array.name or "")
    if dimensions == [name] and array.equals(array.coords.get(name)):
        return Beside([_variable(name, array.values, dimensions)], "")
    coordinates = [
        _coordinate(each, array.coords[each])
        for each in dimensions
        if each in array.coords and array.coords[each].to_index().nlevels == 1
    ]
    if not name.isidentifier() or name in dimensions:
        name = option
    return Beside([*coordinates, _variable(name, array.values, dimensions)], "")


def filled(option: str, array: Any) -> Any:
    """A NumPy array, without a mask: masked elements have a value that does not count."""
    if isinstance(array, np.ma.MaskedArray):
        if option not in _FILLED:
            raise UsageError("it is masked", "", "Fill it: array.filled(...).")
        masked: Any = array
        array = masked.filled(_FILLED[option])
    return np.asarray(array)


def _of_numpy(option: str, array: Any) -> Beside:
    """An array without names. Extents of 1 say where its dimensions are, as in broadcasting; a
    vector has its dimension."""
    array = filled(option, array)
    kept = [d - array.ndim for d in range(array.ndim) if array.shape[d] != 1 or array.ndim == 1]
    is_last = kept == list(range(-len(kept), 0))
    suffix = "" if is_last else "@" + ",".join(map(str, kept))
    squeezed = array.reshape([array.shape[d] for d in kept])
    return Beside([_variable(option, squeezed)], suffix)


def _beside(option: str, array: Any) -> Beside:
    try:
        if is_on_device(array):
            raise UsageError("it is on a device", "", "Copy it to the host.")
        xarray = sys.modules.get("xarray")
        if xarray is not None and isinstance(array, xarray.DataArray):
            return _of_dataarray(option, array)
        return _of_numpy(option, array)
    except UsageError as mistake:
        raise UsageError(
            f"cannot use an array as {option}", mistake.what, mistake.advice
        ) from None
    except (TypeError, ValueError) as mistake:
        kind = type(array).__name__
        raise UsageError(
            f"cannot use a {kind} as {option}", type(mistake).__name__, "Pass a NumPy array."
        ) from mistake


def arrays_of(options: dict[str, Any], comm: Optional[MPI.Comm]) -> dict[str, Beside]:
    """Finds the options that are arrays, the same on every rank, and replaces h5py's datasets by
    their names. Raises UsageError on every rank."""
    arrays: dict[str, Beside] = {}
    mistake = None
    try:
        for option in _OPTIONS:
            value = options.get(option)
            if isinstance(value, os.PathLike) or value is None:
                continue
            options[option] = value = name_of_h5py(value)
            if not isinstance(value, str):
                arrays[option] = _beside(option, value)
        groups = arrays.get("by")
        is_grouping = "by" in arrays and "axis" in options
        if is_grouping and arrays["by"].suffix and len(arrays["by"].variables[-1].shape) == 1:
            advice = "Pass a vector of labels along the first axis."
            raise UsageError("by has extents of 1, and axis is given", "", advice)
    except UsageError as failure:
        mistake = failure
    if comm is not None and comm.size > 1:
        mine: Any = mistake or {option: each.digest() for option, each in arrays.items()}
        all_of_them = comm.allgather(mine)
        mistake = next((each for each in all_of_them if isinstance(each, UsageError)), None)
        if mistake is None and any(each != mine for each in all_of_them):
            names = ", ".join({option: None for each in all_of_them for option in each})
            mistake = UsageError(
                "ranks pass different arrays", f"as {names}", "Pass the same on every rank."
            )
    if mistake is not None:
        raise mistake
    return arrays


def matched_by_position(arrays: Mapping[str, Beside]) -> tuple[str, ...]:
    """Beginnings of the notes that arrays without names of dimensions have no coordinates."""
    return tuple(
        f"`{option}` '{option}' and '"
        for option, each in arrays.items()
        if not each.variables[-1].dimensions
    )


def _write(arrays: Mapping[str, Beside], folder: str) -> None:
    for option, each in arrays.items():
        try:
            _core.write_variables(os.path.join(folder, f"{option}.h5"), each.variables)
        except Error as failure:
            raise Error(failure.what, failure.why, "Set TMPDIR to one with room.") from None


def written(
    arrays: Mapping[str, Beside], folder: str, comm: Optional[MPI.Comm]
) -> dict[str, str]:
    """Writes arrays to files in a folder, by rank 0, and returns their names on a command line.
    Raises Error on every rank."""
    failure = None
    if comm is None or comm.rank == 0:
        try:
            _write(arrays, folder)
        except Error as caught:
            failure = caught
    if comm is not None and arrays:
        failure = comm.bcast(failure)
    if failure is not None:
        raise failure
    return {
        option: f"{os.path.join(folder, option)}.h5::{each.variables[-1].name}{each.suffix}"
        for option, each in arrays.items()
    }
