"""Arrays in memory."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np

from warpfold import _core
from warpfold._errors import UsageError
from warpfold._options import type_name_of
from warpfold._sources import address_of

if TYPE_CHECKING:
    from mpi4py import MPI

_BLOCK_ELEMENTS = 1 << 16


class Elements(NamedTuple):
    """Elements one behind another, their type's name, and the bytes of a mask, 0 where they don't
    count."""

    elements: Any
    type: str
    mask: Any


@functools.lru_cache
def _type_of(dtype: "np.dtype[Any]") -> "tuple[str, np.dtype[Any]]":
    """The name of a type, and the one in which the extension module takes its bytes."""
    native = dtype.newbyteorder("=")
    if dtype.kind == "b":
        return "uint8", np.dtype(np.uint8)
    if dtype.name == "bfloat16":
        return "bfloat16", np.dtype(np.uint16)
    if dtype.kind not in "iuf" or dtype.itemsize > 8:
        raise UsageError(
            f"the array has elements of {dtype.name}",
            "",
            "Convert it to booleans, integers of up to 64 bits, float16, float32 or float64.",
        )
    return native.name, native


def _mask_of(array: Any) -> Any:
    """Where elements count, unless all do."""
    if not isinstance(array, np.ma.MaskedArray) or array.mask is np.ma.nomask:
        return None
    masked: Any = np.ma
    return ~masked.getmaskarray(array)


def _is_packed(array: Any) -> bool:
    return bool(array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative)


def whole(array: Any) -> Elements:
    """The elements in row-major order, copied where they don't lie so."""
    values = np.asarray(array)
    name, taken = _type_of(values.dtype)
    mask = _mask_of(array)
    if not _is_packed(values):
        values = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
    return Elements(
        values.reshape(-1).view(taken),
        name,
        None if mask is None else np.ascontiguousarray(mask).reshape(-1).view(np.uint8),
    )


def blocks_of(array: Any) -> Iterator[Elements]:
    """The elements in any order, without a copy of more than some at a time."""
    values = np.asarray(array)
    name, taken = _type_of(values.dtype)
    mask = _mask_of(array)
    if mask is None and _is_packed(values):
        yield Elements(values.reshape(-1).view(taken), name, None)
        return
    operands = [values] if mask is None else [values, mask]
    flags: Any = ["readonly", "contig", "nbo", "aligned"]
    blocks: Any = np.nditer(
        operands,
        flags=["external_loop", "buffered", "zerosize_ok"],
        op_flags=[flags] * len(operands),
        op_dtypes=[each.dtype.newbyteorder("=") for each in operands],
        buffersize=_BLOCK_ELEMENTS,
    )
    if values.size == 0:
        return
    for block in blocks:
        parts: Any = block if mask is not None else (block,)
        yield Elements(
            parts[0].view(taken), name, None if mask is None else parts[1].view(np.uint8)
        )


class _OfThread(threading.local):
    """What reduces arrays of this process alone: memory that is kept between calls."""

    arrays: Optional["_core.HostArrays"] = None


_of_thread = _OfThread()


def _host_arrays(comm: Optional["MPI.Comm"]) -> "_core.HostArrays":
    if comm is not None:
        return _core.HostArrays(address_of(comm))
    if _of_thread.arrays is None:
        _of_thread.arrays = _core.HostArrays(0)
    return _of_thread.arrays


def _met(arrays: "_core.HostArrays", prepare: Callable[[], Elements]) -> Elements:
    """Returns what prepare() does; where it raises UsageError, so do all ranks."""
    try:
        return prepare()
    except UsageError as mistake:
        arrays.refuse(mistake.what, mistake.why, mistake.advice)
        raise


class _OnDevice(NamedTuple):
    """Elements in the memory of the current device."""

    data: int
    size: int
    type: str
    stream: int


def is_on_device(array: Any) -> bool:
    return hasattr(array, "__cuda_array_interface__")


def _on_device(array: Any) -> _OnDevice:
    known = array.__cuda_array_interface__
    dtype = np.dtype(known["typestr"])
    name, _ = _type_of(dtype)
    shape = tuple(known["shape"])
    strides = known.get("strides")
    packed = tuple(int(np.prod(shape[d + 1 :])) * dtype.itemsize for d in range(len(shape)))
    if not dtype.isnative or (strides is not None and tuple(strides) != packed):
        raise UsageError(
            "the array's elements don't lie one behind another, in native byte order",
            "",
            "Copy them: cupy.ascontiguousarray(array).",
        )
    size = int(np.prod(shape, dtype=np.int64))
    return _OnDevice(known["data"][0], size, name, known.get("stream") or 0)


def reduce_array(
    array: Any,
    ops: str,
    comm: Optional["MPI.Comm"],
    nan: str,
    overflow: str,
    ddof: int,
) -> "dict[str, Any]":
    if is_on_device(array):
        mine = _on_device(array)
        device = _core.DeviceArrays(address_of(comm))
        return device.reduce(
            mine.data, mine.size, mine.type, mine.stream, ops, nan, overflow, ddof
        )
    arrays = _host_arrays(comm)
    elements, type_name, mask = _met(arrays, lambda: whole(array))
    return arrays.reduce(elements, type_name, mask, ops, nan, overflow, ddof)


def scan_array(
    array: Any,
    out: Any,
    op: str,
    exclusive: bool,
    output_type: Any,
    overflow: str,
    comm: Optional["MPI.Comm"],
) -> Any:
    output_type = None if output_type is None else type_name_of(output_type)
    if is_on_device(array):
        return _scan_on_device(array, out, op, exclusive, output_type, overflow, comm)
    arrays = _host_arrays(comm)
    elements, type_name, _ = _met(arrays, lambda: _scanned(array, out))
    prefixes: Any = arrays.scan(elements, type_name, op, exclusive, output_type, overflow)
    return prefixes.reshape(np.shape(array))


def _scanned(array: Any, out: Any) -> Elements:
    if _mask_of(array) is not None:
        raise UsageError("a masked array can't be scanned", "", "Fill it first: array.filled(0).")
    if out is not None:
        raise UsageError("out goes with arrays on devices", "", "Leave it out.")
    return whole(array)


def _scan_on_device(
    array: Any,
    out: Any,
    op: str,
    exclusive: bool,
    output_type: Optional[str],
    overflow: str,
    comm: Optional["MPI.Comm"],
) -> Any:
    if out is None or not is_on_device(out):
        raise UsageError("the output is missing", "", "Pass an array on the device as out.")
    mine, prefixes = _on_device(array), _on_device(out)
    if prefixes.size != mine.size or output_type not in (None, prefixes.type):
        raise UsageError(
            "out has another size or type", "", "Pass one of as many elements, of output_type."
        )
    _core.DeviceArrays(address_of(comm)).scan(
        mine.data, mine.size, mine.type, mine.stream, prefixes.data, op, exclusive,
        prefixes.type, overflow,
    )  # fmt: skip
    return out
