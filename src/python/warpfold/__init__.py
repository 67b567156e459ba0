"""Exact reductions and prefix scans of HDF5 and netCDF-4 datasets of any size, and of arrays.

Functions have the names of the commands of the program `warpfold`, and take their long options as
keywords, with underscores; the program's manual describes them. For one dataset name they return
its result; for several names, a pattern or `all=True` a dict of results by dataset. `mask`,
`weights`, `times` and `by` may be arrays with some of the dataset's dimensions. Ctrl-C ends a run
at its next slab.

With `comm`, a communicator of mpi4py, calls are collective. Results of files are on rank 0, None
on others. Results of arrays, and parts that are read, are on every rank. Errors are raised on
every rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Optional, Union, overload

from numpy import ndarray as _ndarray

from warpfold import _arrays, _core, _options, _run
from warpfold._core import version as __version__
from warpfold._device_array import DeviceArray
from warpfold._errors import DataWarning, Error, SkippedDatasetWarning, UsageError
from warpfold._exact_sum import ExactSum
from warpfold._progress import Progress
from warpfold._run import CompactOutput, Histogram, ScanOutput
from warpfold._sources import DatasetLike, FileLike
from warpfold._sources import is_file as _is_file
from warpfold._xarray import register as _register

if TYPE_CHECKING:
    import xarray
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Unpack

    from warpfold._sources import Path

    Axes = Union[int, str, "list[int]", "list[str]", "tuple[int | str, ...]"]
    Names = Union["list[str]", "tuple[str, ...]"]
    Name = Union[
        _options.Count, _options.Double, _options.Sum, _options.Extremum, _options.Place
    ]
    # Type checkers take a str for the name of one dataset; results of a pattern are a dict.
    OneDataset = Optional[str]

__all__ = [
    "CompactOutput",
    "DataWarning",
    "DeviceArray",
    "Error",
    "ExactSum",
    "Histogram",
    "Progress",
    "ScanOutput",
    "SkippedDatasetWarning",
    "UsageError",
    "compact",
    "histogram",
    "info",
    "read",
    "reduce",
    "scan",
]

_REDUCED_ARRAY = {"ops", "nan", "overflow", "ddof", "comm"}
_SCANNED_ARRAY = {"op", "exclusive", "output_type", "overflow", "comm", "out"}

# Options of host arrays of this process alone, for which the cost of a call counts.
_REDUCED_ALONE = _REDUCED_ARRAY - {"comm"}
_reduce_packed: Any = _core.reduce_packed


def _refuse_options_of_files(
    dataset: DatasetLike, given: "dict[str, Any]", taken: "set[str]"
) -> None:
    named = given if dataset is None else {"dataset": dataset, **given}
    _options.refuse(
        named, named.keys() - taken, "an array is given", "Omit it, or name a file."
    )


@overload
def reduce(
    file: FileLike | ArrayLike,
    dataset: OneDataset = None,
    *,
    ops: _options.Count,
    **options: Unpack[_options.ReducedAlone],
) -> int: ...
@overload
def reduce(
    file: FileLike | ArrayLike,
    dataset: OneDataset = None,
    *,
    ops: _options.Double,
    **options: Unpack[_options.ReducedAlone],
) -> float64: ...
@overload
def reduce(
    file: FileLike | ArrayLike,
    dataset: OneDataset = None,
    *,
    ops: _options.Sum,
    **options: Unpack[_options.ReducedAlone],
) -> int | float64: ...
@overload
def reduce(
    file: FileLike | ArrayLike,
    dataset: OneDataset = None,
    *,
    ops: _options.Extremum,
    **options: Unpack[_options.ReducedAlone],
) -> int | float64 | None: ...
@overload
def reduce(
    file: FileLike | ArrayLike,
    dataset: OneDataset = None,
    *,
    ops: _options.Place,
    **options: Unpack[_options.ReducedAlone],
) -> int | None: ...
@overload
def reduce(
    file: FileLike | ArrayLike,
    dataset: OneDataset = None,
    *,
    ops: Names | None = None,
    **options: Unpack[_options.ReducedAlone],
) -> dict[str, Any]: ...
@overload
def reduce(
    file: FileLike | ArrayLike,
    dataset: OneDataset = None,
    *,
    ops: Name,
    axis: Axes,
    **options: Unpack[_options.ReducedAlong],
) -> NDArray[Any]: ...
@overload
def reduce(
    file: FileLike | ArrayLike,
    dataset: OneDataset = None,
    *,
    ops: Names | None = None,
    axis: Axes,
    **options: Unpack[_options.ReducedAlong],
) -> dict[str, NDArray[Any]]: ...
@overload
def reduce(
    file: FileLike | ArrayLike,
    dataset: OneDataset = None,
    *,
    ops: Name,
    axis: Axes,
    as_xarray: Literal[True],
    **options: Unpack[_options.ReducedAlong],
) -> xarray.DataArray: ...
@overload
def reduce(
    file: FileLike | ArrayLike,
    dataset: DatasetLike = None,
    **options: Unpack[_options.ReduceOptions],
) -> Any: ...
@_options.takes(_options.ReduceOptions)
def reduce(
    file: "FileLike | ArrayLike",
    dataset: DatasetLike = None,
    **options: Unpack[_options.ReduceOptions],
) -> Any:
    """Reduces a dataset, or an array, to statistics: sums, means, extrema, quantiles and more.

    `file`: a path, an open h5py.File or h5py.Dataset, or several paths with `concat`: a dimension,
    or "new:member" for a new one with an index per file. Or an array in memory or on a CUDA device
    (DLPack, `__cuda_array_interface__`). Each rank passes its part, in rank order. Arrays take the
    options `ops`, `nan`, `overflow`, `ddof` and `comm`.

    `ops`: names, in a string with commas or a list: count, sum, mean, var, std, min, max, argmin,
    argmax, l1, l2, linf, nan_count, inf_count, all; for files also median, q05, q0.999 and the
    like. Returns the value if `ops` is a string with one name, otherwise a dict of values by name.
    Values are int for counts, indices and exact results of integers, None for an extremum without
    elements, otherwise numpy.float64.

    With `axis` (numbers or names of dimensions) values are NumPy arrays of the remaining shape,
    which pass through a temporary file. With `output` values are the names of datasets in that
    file, which has coordinates, too. With `by` but no `axis` the function returns a dict of the
    above by label. With `as_xarray` and `axis` or `by` values are DataArrays, with coordinates and
    attributes.

    Raises UsageError for invalid arguments, Error if a file can't be read or a type can't hold a
    result.

    >>> warpfold.reduce("year.nc", "temp", ops="mean", where=">0")
    >>> warpfold.reduce("year.nc", "temp", ops="mean,max", axis="time")["mean"]
    """
    if (
        type(file) is _ndarray
        and dataset is None
        and options.keys() <= _REDUCED_ALONE
        and type(options.get("ops")) is str
        and None not in options.values()
    ):
        value = _reduce_packed(file, **options)
        if value is not NotImplemented:
            return value
    given = _options.given("reduce", options)
    if _is_file(file):
        as_xarray = given.pop("as_xarray", False)
        writes = "axis" in given or (as_xarray and "by" in given)
        if as_xarray and (not writes or "output" in given):
            raise UsageError("as_xarray needs axis or by, and no output")
        by_labels = "by" in given and not writes and "output" not in given
        result = _run.reduce_result(given, by_labels, as_xarray)
        return _run.run("reduce", file, dataset, given, result, writes)
    _refuse_options_of_files(dataset, given, _REDUCED_ARRAY)
    return _arrays.reduce_array(file, given.pop("comm", None), given)


@overload
def scan(
    file: FileLike | ArrayLike,
    dataset: OneDataset = None,
    **options: Unpack[_options.ScannedAlone],
) -> NDArray[Any]: ...
@overload
def scan(
    file: FileLike,
    dataset: OneDataset = None,
    *,
    output: Path,
    **options: Unpack[_options.ScannedToFile],
) -> ScanOutput: ...
@overload
def scan(
    file: FileLike | ArrayLike, dataset: DatasetLike = None, **options: Unpack[_options.ScanOptions]
) -> Any: ...
@_options.takes(_options.ScanOptions)
def scan(
    file: "FileLike | ArrayLike",
    dataset: DatasetLike = None,
    **options: Unpack[_options.ScanOptions],
) -> Any:
    """Computes running sums, minima or maxima (`op`: sum, min, max) of a dataset, or an array, in
    row-major order or along an axis. Prefixes of floats are exact, each rounded once.

    `file`: as for reduce(). Arrays take the options `op`, `exclusive`, `output_type`, `overflow`
    and `comm`. For an array on a device, `out` is the array for the prefixes: on the same device,
    with as many elements; it may be the input.

    Returns an array of the dataset's shape (with `offsets`, of one dimension and one element
    more), which passes through a temporary file; with `output` a ScanOutput of the dataset in that
    file. For an array it returns an array of the shape of this rank's part.

    Raises UsageError for invalid arguments, Error if a file can't be read or written, or the
    output's type can't hold an integer (`overflow="wrap"` wraps it).
    """
    given = _options.given("scan", options)
    if _is_file(file):
        _options.refuse(given, {"out"}, "only arrays use it", "Omit it.")
        return _run.run("scan", file, dataset, given, _run.scan_result, writes=True)
    _refuse_options_of_files(dataset, given, _SCANNED_ARRAY)
    return _arrays.scan_array(file, given.pop("out", None), given.pop("comm", None), given)


@overload
def compact(
    file: FileLike,
    dataset: OneDataset = None,
    *,
    indices: Literal[False] = False,
    **options: Unpack[_options.CompactedAlone],
) -> NDArray[Any]: ...
@overload
def compact(
    file: FileLike,
    dataset: OneDataset = None,
    *,
    indices: Literal[True],
    **options: Unpack[_options.CompactedAlone],
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def compact(
    file: FileLike,
    dataset: OneDataset = None,
    *,
    output: Path,
    **options: Unpack[_options.CompactedToFile],
) -> CompactOutput: ...
@overload
def compact(
    file: FileLike, dataset: DatasetLike = None, **options: Unpack[_options.CompactOptions]
) -> Any: ...
@_options.takes(_options.CompactOptions)
def compact(
    file: FileLike, dataset: DatasetLike = None, **options: Unpack[_options.CompactOptions]
) -> Any:
    """Selects the elements that meet all conditions (`where`, `mask`, `fill_value`), in row-major
    order.

    Returns an array of one dimension, which passes through a temporary file; with `indices` a pair
    of it and the elements' flat indices (int64). With `output` returns a CompactOutput of the
    datasets in that file.

    Raises UsageError for invalid arguments or without a condition, Error if a file can't be read or
    written.
    """
    return _run.run("compact", file, dataset, options, _run.compact_result, writes=True)


@overload
def histogram(
    file: FileLike, dataset: OneDataset = None, **options: Unpack[_options.CountedAlone]
) -> Histogram: ...
@overload
def histogram(
    file: FileLike, dataset: DatasetLike = None, **options: Unpack[_options.HistogramOptions]
) -> Any: ...
@_options.takes(_options.HistogramOptions)
def histogram(
    file: FileLike, dataset: DatasetLike = None, **options: Unpack[_options.HistogramOptions]
) -> Any:
    """Counts elements by bins, as numpy.histogram() does.

    `bins`: a number of bins of equal width (default: 10), or the rising edges of bins. `range`: the
    range of bins of equal width (default: from the least to the greatest finite value).

    Returns a Histogram. Raises UsageError for invalid arguments, Error if a file can't be read.
    """
    return _run.run("histogram", file, dataset, options, _run.histogram_result)


@_options.takes(_options.ReadOptions)
def read(
    file: FileLike, dataset: DatasetLike = None, **options: Unpack[_options.ReadOptions]
) -> Any:
    """Reads a dataset, or with `select` a part of it, into an array of the values that the other
    functions process: unpacked, in native byte order. "points.x" is a member of compound elements.

    Returns a NumPy array, or with `device="cuda"` a DeviceArray in GPU memory, which the GPU has
    decompressed and decoded. CuPy, PyTorch and JAX take it by DLPack without a copy. bfloat16
    becomes float32 in NumPy. With `comm` each rank gets a part, on its GPU: consecutive indices
    along the first dimension, in rank order, whose numbers differ by at most one.

    `empty`: the value of elements that are missing (`_FillValue`, `missing_value`, `valid_range`)
    or that `where` and `mask` exclude. Default: NaN for floats, for integers the dataset's
    `_FillValue` or netCDF's default. With `raw` the stored numbers stay as they are.

    Raises UsageError for invalid arguments, Error if a file can't be read or memory is too small,
    before anything is read.

    >>> temperature = warpfold.read("year.nc", "temp", select="time=2001-03")
    >>> tensor = torch.from_dlpack(warpfold.read("year.nc", "temp", device="cuda"))
    """
    return _run.run("read", file, dataset, options, _run.read_result)


@_options.takes(_options.InfoOptions)
def info(
    file: FileLike, dataset: DatasetLike = None, **options: Unpack[_options.InfoOptions]
) -> "Optional[dict[str, Any]]":
    """Lists the datasets of a file, or describes some: their storage, how they would be read, and
    what is likely to limit the speed. Returns the report of `warpfold info --json` as a dict.

    `plan`: report how this command (reduce, histogram, scan, compact; with its `axis`) would divide
    the dataset.

    Raises UsageError for invalid arguments, Error if a file can't be read.
    """
    return _run.info(file, dataset, options)


_register()
