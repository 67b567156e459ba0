"""Arrays in memory."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np

from warpfold import _core
from warpfold._errors import UsageError
from warpfold._options import is_one, type_name_of
from warpfold._sources import address_of

if TYPE_CHECKING:
    from mpi4py import MPI

_BLOCK_ELEMENTS = 1 << 16


# Kinds of devices, as DLPack numbers them.
_HOSTS = {1, 3}  # 3: memory of the host that CUDA has locked
_CUDA_DEVICES = {2, 13}  # 13: memory that CUDA moves to and fro

# The newest version of DLPack whose capsules are understood.
_DLPACK_VERSION = (1, 1)

# CUDA's default stream, as both protocols name it.
_DEFAULT_STREAM = 1


class Elements(NamedTuple):
    """Contiguous elements, the name of their type if NumPy's type stands for another, and the
    bytes of a mask, 0 for elements that don't count."""

    elements: Any
    type: Optional[str]
    mask: Any
    shape: "tuple[int, ...]"


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
    """Returns the places of valid elements; None if all are valid."""
    if not isinstance(array, np.ma.MaskedArray) or array.mask is np.ma.nomask:
        return None
    masked: Any = np.ma
    return ~masked.getmaskarray(array)


def _is_packed(array: Any) -> bool:
    return bool(array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative)


def _seen_by_numpy(array: Any) -> "tuple[Any, str, np.dtype[Any]]":
    """A NumPy array, without a copy if possible, the name of its elements' type, and the type in
    which the extension module takes their bytes."""
    values, stands_for = array, None
    if is_on_device(array):
        raise UsageError(
            "the array is on a device", "", "Copy it to the host, or reduce it to a rounded sum."
        )
    if not isinstance(array, np.ndarray) and _device_of(array) is not None:
        with contextlib.suppress(TypeError):
            values, stands_for = _core.numpy_view(array)
    values = np.asarray(values)
    name, taken = _type_of(values.dtype)
    return values, stands_for or name, taken


def whole(array: Any) -> Elements:
    """The elements in row-major order; a copy if they lie in another order."""
    values, name, taken = _seen_by_numpy(array)
    mask = _mask_of(array)
    if not _is_packed(values):
        values = np.require(values, values.dtype.newbyteorder("="), ["C", "ALIGNED"])
    return Elements(
        values.reshape(-1).view(taken),
        name,
        None if mask is None else np.ascontiguousarray(mask).reshape(-1).view(np.uint8),
        values.shape,
    )


def blocks_of(array: Any) -> Iterator[Elements]:
    """The elements in any order, copied a block at a time if needed."""
    values, name, taken = _seen_by_numpy(array)
    mask = _mask_of(array)
    if mask is None and _is_packed(values):
        yield Elements(values.reshape(-1).view(taken), name, None, values.shape)
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
        bytes_of_mask = None if mask is None else parts[1].view(np.uint8)
        yield Elements(parts[0].view(taken), name, bytes_of_mask, parts[0].shape)


def _met(make_arrays: Callable[[int], Any], comm: Optional["MPI.Comm"], prepare: Any) -> Any:
    """Returns prepare()'s result. If it raises UsageError on one rank of the communicator, all
    ranks raise it."""
    try:
        return prepare()
    except UsageError as mistake:
        if comm is not None:
            make_arrays(address_of(comm)).refuse(mistake.what, mistake.why, mistake.advice)
        raise


class _OnDevice(NamedTuple):
    """Elements in the memory of the current device, used after the work queued on the stream."""

    data: int
    size: int
    type: str
    stream: int
    owner: Any


def _device_of(array: Any) -> Optional[int]:
    """The kind of an array's device by DLPack; None without DLPack."""
    ask = getattr(array, "__dlpack_device__", None)
    return None if ask is None else int(ask()[0])


def is_on_device(array: Any) -> bool:
    """Returns whether an array is on a CUDA device. Raises UsageError for devices of other
    kinds."""
    if isinstance(array, np.ndarray):
        return False
    if hasattr(array, "__cuda_array_interface__"):
        return True
    kind = _device_of(array)
    if kind is None or kind in _HOSTS:
        return False
    if kind not in _CUDA_DEVICES:
        raise UsageError(
            "the array is on a device that warpfold has no kernels for",
            f"it is of DLPack's kind {kind}",
            "Copy it to the host, or to a CUDA device.",
        )
    return True


def _capsule_of(array: Any) -> Any:
    """The array by DLPack, ready for the default stream; None if it has no DLPack."""
    if _device_of(array) is None:
        return None
    for versions in ({"max_version": _DLPACK_VERSION}, {}):
        with contextlib.suppress(TypeError, BufferError):
            return array.__dlpack__(stream=_DEFAULT_STREAM, **versions)
    return None


def _on_device(array: Any, is_written: bool = False) -> _OnDevice:
    capsule = _capsule_of(array)
    if capsule is not None:
        data, size, name, owner = _core.device_elements(capsule, is_written)
        return _OnDevice(data, size, name, _DEFAULT_STREAM, owner)
    if not hasattr(array, "__cuda_array_interface__"):
        raise UsageError(
            "the array does not support DLPack", "", "Detach or copy it, or pass another."
        )
    return _by_cuda_array_interface(array, is_written)


def _by_cuda_array_interface(array: Any, is_written: bool) -> _OnDevice:
    known = array.__cuda_array_interface__
    dtype = np.dtype(known["typestr"])
    name, _ = _type_of(dtype)
    shape = tuple(known["shape"])
    strides = known.get("strides") if 0 not in shape else None
    packed = tuple(int(np.prod(shape[d + 1 :])) * dtype.itemsize for d in range(len(shape)))
    if not dtype.isnative or (strides is not None and tuple(strides) != packed):
        raise UsageError(
            "the array is not C-contiguous in native byte order",
            "",
            "Copy them: cupy.ascontiguousarray(array).",
        )
    data, is_read_only = known["data"]
    if is_written and is_read_only:
        raise UsageError("the output is read-only", "", "Pass an array that can be written.")
    size = int(np.prod(shape, dtype=np.int64))
    return _OnDevice(data, size, name, known.get("stream") or 0, array)


def reduce_array(array: Any, comm: Optional["MPI.Comm"], options: dict[str, Any]) -> Any:
    """Returns a value if `ops` is one name, otherwise a dict of values by name."""
    ops = options.get("ops")
    if ops is not None and not isinstance(ops, str):
        options = {**options, "ops": ",".join(ops)}
    if is_on_device(array):
        mine: _OnDevice = _met(_core.DeviceArrays, comm, lambda: _on_device(array))
        device = _core.DeviceArrays(address_of(comm))
        values = device.reduce(mine.data, mine.size, mine.type, mine.stream, **options)
    else:
        elements, type_name, mask, _ = _met(_core.HostArrays, comm, lambda: whole(array))
        values = _core.HostArrays(address_of(comm)).reduce(elements, type_name, mask, **options)
    return next(iter(values.values())) if is_one(ops) else values


def scan_array(array: Any, out: Any, comm: Optional["MPI.Comm"], options: dict[str, Any]) -> Any:
    if "output_type" in options:
        options = {**options, "output_type": type_name_of(options["output_type"])}
    if is_on_device(array):
        return _scan_on_device(array, out, comm, options)
    elements, type_name, _, shape = _met(_core.HostArrays, comm, lambda: _scanned(array, out))
    prefixes: Any = _core.HostArrays(address_of(comm)).scan(elements, type_name, **options)
    return prefixes.reshape(shape)


def _scanned(array: Any, out: Any) -> Elements:
    if _mask_of(array) is not None:
        raise UsageError("a masked array cannot be scanned", "", "Fill it first: array.filled(0).")
    if out is not None:
        raise UsageError("out is for arrays on devices", "", "Omit it.")
    return whole(array)


def _scanned_on_device(
    array: Any, out: Any, output_type: Optional[str]
) -> "tuple[_OnDevice, _OnDevice]":
    if out is None or not is_on_device(out):
        raise UsageError("the output is missing", "", "Pass an array on the device as out.")
    mine, prefixes = _on_device(array), _on_device(out, is_written=True)
    if mine.stream != prefixes.stream and mine.stream and prefixes.stream:
        raise UsageError(
            "input and output are used by different streams", "", "Pass arrays of one stream."
        )
    type_name = _core.type_name(prefixes.type)
    if prefixes.size != mine.size or type_name != _core.type_name(output_type or prefixes.type):
        raise UsageError(
            "out has another size or type", "", "Pass one of as many elements, of output_type."
        )
    return mine, prefixes


def _scan_on_device(
    array: Any, out: Any, comm: Optional["MPI.Comm"], options: dict[str, Any]
) -> Any:
    output_type = options.get("output_type")
    mine, prefixes = _met(
        _core.DeviceArrays, comm, lambda: _scanned_on_device(array, out, output_type)
    )
    device = _core.DeviceArrays(address_of(comm))
    stream = mine.stream or prefixes.stream
    options = {**options, "output_type": prefixes.type}
    device.scan(mine.data, mine.size, mine.type, stream, prefixes.data, **options)
    del device  # which waits for the prefixes, so that any stream meets them
    return out
