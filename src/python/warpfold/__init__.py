"""Exact reductions and prefix scans of HDF5 and netCDF-4 datasets of any size, and of arrays.

Functions are called as the commands of the program `warpfold` are, and take their long options by
keyword, with underscores: the program's manual says what each means. Where a dataset is named by
one name, they return its result; of several names, a pattern or `all=True` a dict of results by
dataset. Ctrl-C ends a run at its next slab.

With `comm`, a communicator of mpi4py, all its ranks make the call together: results of files are on
rank 0, None on others; those of arrays on every rank. Errors are raised on every rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from numpy import ndarray as _ndarray

from warpfold import _arrays, _run
from warpfold._core import version as __version__
from warpfold._errors import DataWarning, Error, SkippedDatasetWarning, UsageError
from warpfold._exact_sum import ExactSum
from warpfold._options import is_one as _is_one
from warpfold._options import refuse as _refuse
from warpfold._run import CompactOutput, Histogram, Progress, ScanOutput
from warpfold._sources import DatasetLike, FileLike, Path
from warpfold._sources import is_file as _is_file

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import ArrayLike, DTypeLike

__all__ = [
    "CompactOutput",
    "DataWarning",
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
    "reduce",
    "scan",
]

Names = Union[None, str, Sequence[str]]
Axes = Union[None, int, str, Sequence[Union[int, str]]]

_REDUCED_ARRAY = {"file", "ops", "nan", "overflow", "ddof", "comm"}
_SCANNED_ARRAY = {"file", "op", "exclusive", "output_type", "overflow", "comm", "out"}


def _refuse_options_of_files(given: "dict[str, Any]", taken: "set[str]") -> None:
    _refuse(given, set(given) - taken, "an array is given", "Leave it out, or name a file.")



def reduce(
    file: "FileLike | ArrayLike",
    dataset: DatasetLike = None,
    *,
    ops: Names = None,
    axis: Axes = None,
    every: Optional[int] = None,
    keepdims: bool = False,
    by: Optional[str] = None,
    nan: Optional[str] = None,
    overflow: Optional[str] = None,
    ddof: Optional[int] = None,
    weights: Optional[str] = None,
    times: Optional[str] = None,
    quantile_method: Optional[str] = None,
    quantile_memory: Union[None, int, str] = None,
    empty: Union[None, str, float] = None,
    output_type: "Optional[DTypeLike]" = None,
    output: Optional[Path] = None,
    append: bool = False,
    force: bool = False,
    select: Union[None, str, Any] = None,
    where: Union[None, str, Sequence[str]] = None,
    fill_value: Union[None, str, float] = None,
    raw: bool = False,
    mask: Optional[str] = None,
    match: Optional[str] = None,
    concat: Union[None, int, str] = None,
    all: bool = False,
    backend: Optional[str] = None,
    threads: Optional[int] = None,
    slab: Union[None, int, str] = None,
    read_path: Optional[str] = None,
    file_cache: Optional[str] = None,
    external: Optional[str] = None,
    device_memory: Union[None, int, str] = None,
    share_gpu: bool = False,
    comm: Optional["MPI.Comm"] = None,
    progress: Optional[Callable[[Progress], object]] = None,
) -> Any:
    """Reduces a dataset, or an array, to statistics: sums, means, extrema, quantiles and more.

    `file`: a path, an open h5py.File or h5py.Dataset, or several paths with `concat`; or an array
    in memory or on a CUDA device (with `__cuda_array_interface__`), of which `ops`, `nan`,
    `overflow`, `ddof` and `comm` can be asked for, and each rank has a part, in rank order.

    `ops`: names, in a string with commas or a list: count, sum, mean, var, std, min, max, argmin,
    argmax, l1, l2, linf, nan_count, inf_count, all; of files also median, q05, q0.999 and the like.
    Returns the value where `ops` is a string with one name, or a dict of values by name: int for
    counts, indices and all exact results of integers, numpy.float64 otherwise, None for an extremum
    of no elements.

    With `axis` (numbers or names of dimensions) values are NumPy arrays of the remaining shape, on
    the way from a temporary file; with `output` as well, names of datasets in that file, which have
    coordinates, too. With `by` and no `axis` it returns a dict of the above by label.

    Raises UsageError for arguments that make no sense, Error for a file that can't be read or a
    type that can't hold a result.

    >>> warpfold.reduce("year.nc", "temp", ops="mean", where=">0")
    >>> warpfold.reduce("year.nc", "temp", ops="mean,max", axis="time")["mean"]
    """
    if (
        type(file) is _ndarray
        and type(ops) is str
        and dataset is axis is every is slab is by is weights is times is quantile_method is empty
        is output_type is output is select is where is fill_value is mask is match is concat
        is backend
        is read_path is file_cache is external is device_memory is threads is quantile_memory is comm
        is progress is None
        and not (keepdims or append or force or raw or all or share_gpu)
    ):  # fmt: skip
        return _arrays.reduce_alone(
            file, ops, nan or "propagate", overflow or "error", ddof or 0
        )
    given = dict(locals())
    if _is_file(file):
        result = _run.reduce_result(ops, by is not None and axis is None and output is None)
        return _run.run("reduce", given, result, writes=axis is not None)
    _refuse_options_of_files(given, _REDUCED_ARRAY)
    names = "count,sum,min,max,mean,std" if ops is None else ops
    values = _arrays.reduce_array(
        file,
        names if isinstance(names, str) else ",".join(names),
        comm,
        nan or "propagate",
        overflow or "error",
        ddof or 0,
    )
    return next(iter(values.values())) if _is_one(ops) else values


def scan(
    file: "FileLike | ArrayLike",
    dataset: DatasetLike = None,
    *,
    op: Optional[str] = None,
    axis: Union[None, int, str] = None,
    exclusive: bool = False,
    offsets: bool = False,
    output_type: "Optional[DTypeLike]" = None,
    overflow: Optional[str] = None,
    output: Optional[Path] = None,
    append: bool = False,
    force: bool = False,
    chunks: Union[None, str, Sequence[int]] = None,
    deflate: Union[bool, int] = False,
    shuffle: bool = False,
    fletcher32: bool = False,
    out: Any = None,
    select: Union[None, str, Any] = None,
    where: Union[None, str, Sequence[str]] = None,
    fill_value: Union[None, str, float] = None,
    raw: bool = False,
    mask: Optional[str] = None,
    match: Optional[str] = None,
    concat: Union[None, int, str] = None,
    all: bool = False,
    backend: Optional[str] = None,
    threads: Optional[int] = None,
    slab: Union[None, int, str] = None,
    read_path: Optional[str] = None,
    file_cache: Optional[str] = None,
    external: Optional[str] = None,
    device_memory: Union[None, int, str] = None,
    share_gpu: bool = False,
    comm: Optional["MPI.Comm"] = None,
    progress: Optional[Callable[[Progress], object]] = None,
) -> Any:
    """Makes running sums, minima or maxima (`op`: sum, min, max) of a dataset, or an array, in
    row-major order or along an axis. Each prefix of floats is the exact one, rounded once.

    `file` is as reduce() has it; of an array `op`, `exclusive`, `output_type`, `overflow` and
    `comm` can be asked for. Of an array on a device `out` gets the prefixes: an array there, of as
    many elements; it may be the input.

    Returns an array of the dataset's shape (with `offsets`, of one dimension and one element more),
    on the way from a temporary file; with `output` a ScanOutput of the dataset in that file. Of an
    array, an array of its shape, of this rank's part.

    Raises UsageError for arguments that make no sense, Error for a file that can't be read or
    written, or an integer that the output's type can't hold (`overflow="wrap"` lets it wrap).
    """
    given = dict(locals())
    if _is_file(file):
        _refuse(given, {"out"}, "it goes with arrays", "Leave it out.")
        return _run.run("scan", given, _run.scan_result, writes=True)
    _refuse_options_of_files(given, _SCANNED_ARRAY)
    return _arrays.scan_array(
        file,
        out,
        op or "sum",
        exclusive,
        output_type,
        overflow or "error",
        comm,
    )


def compact(
    file: FileLike,
    dataset: DatasetLike = None,
    *,
    indices: bool = False,
    output: Optional[Path] = None,
    append: bool = False,
    force: bool = False,
    select: Union[None, str, Any] = None,
    where: Union[None, str, Sequence[str]] = None,
    fill_value: Union[None, str, float] = None,
    raw: bool = False,
    mask: Optional[str] = None,
    match: Optional[str] = None,
    concat: Union[None, int, str] = None,
    all: bool = False,
    backend: Optional[str] = None,
    threads: Optional[int] = None,
    slab: Union[None, int, str] = None,
    read_path: Optional[str] = None,
    file_cache: Optional[str] = None,
    external: Optional[str] = None,
    device_memory: Union[None, int, str] = None,
    share_gpu: bool = False,
    comm: Optional["MPI.Comm"] = None,
    progress: Optional[Callable[[Progress], object]] = None,
) -> Any:
    """Takes the elements that meet all conditions (`where`, `mask`, `fill_value`), in row-major
    order.

    Returns an array of one dimension, on the way from a temporary file; with `indices` a pair of it
    and the elements' flat indices (int64). With `output` a CompactOutput of the datasets in that
    file.

    Raises UsageError where no condition is given, or for arguments that make no sense, Error for a
    file that can't be read or written.
    """
    return _run.run("compact", dict(locals()), _run.compact_result, writes=True)


def histogram(
    file: FileLike,
    dataset: DatasetLike = None,
    *,
    bins: Union[None, int, Sequence[float]] = None,
    range: Optional["tuple[float, float]"] = None,
    select: Union[None, str, Any] = None,
    where: Union[None, str, Sequence[str]] = None,
    fill_value: Union[None, str, float] = None,
    raw: bool = False,
    mask: Optional[str] = None,
    match: Optional[str] = None,
    concat: Union[None, int, str] = None,
    all: bool = False,
    backend: Optional[str] = None,
    threads: Optional[int] = None,
    slab: Union[None, int, str] = None,
    read_path: Optional[str] = None,
    file_cache: Optional[str] = None,
    external: Optional[str] = None,
    device_memory: Union[None, int, str] = None,
    share_gpu: bool = False,
    comm: Optional["MPI.Comm"] = None,
    progress: Optional[Callable[[Progress], object]] = None,
) -> Any:
    """Counts elements by bins, as numpy.histogram() does.

    `bins`: a number of bins of equal width, 10 if not given, or the rising edges of bins. `range`:
    where a number of bins begins and ends; the least and the greatest finite value if not given.

    Returns a Histogram. Raises UsageError for arguments that make no sense, Error for a file that
    can't be read.
    """
    return _run.run("histogram", dict(locals()), _run.histogram_result)


def info(
    file: FileLike,
    dataset: DatasetLike = None,
    *,
    plan: Optional[str] = None,
    axis: Axes = None,
    select: Union[None, str, Any] = None,
    where: Union[None, str, Sequence[str]] = None,
    fill_value: Union[None, str, float] = None,
    raw: bool = False,
    mask: Optional[str] = None,
    match: Optional[str] = None,
    concat: Union[None, int, str] = None,
    all: bool = False,
    backend: Optional[str] = None,
    threads: Optional[int] = None,
    slab: Union[None, int, str] = None,
    read_path: Optional[str] = None,
    file_cache: Optional[str] = None,
    external: Optional[str] = None,
    device_memory: Union[None, int, str] = None,
    share_gpu: bool = False,
    comm: Optional["MPI.Comm"] = None,
) -> "Optional[dict[str, Any]]":
    """Tells of the datasets of a file, or of some how they are stored, will be read, and what will
    set the pace: what `warpfold info --json` writes, as a dict.

    `plan`: tell how this command (reduce, histogram, scan, compact; `axis` as theirs) would take
    the dataset apart.

    Raises UsageError for arguments that make no sense, Error for a file that can't be read.
    """
    return _run.info(dict(locals()))
