"""DataArray.warpfold: reductions of a DataArray that is not loaded, from its file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, NoReturn, Optional, Union

import numpy as np
import xarray

from warpfold import _options, _run
from warpfold._beside import filled
from warpfold._errors import DataWarning, UsageError

Dims = Union[None, str, Iterable[str]]

# Classes of xarray's around what a backend reads, whose elements are those they wrap.
_WRAPPERS = {"MemoryCachedArray", "CopyOnWriteArray", "NativeEndiannessArray"}
# Arrays in files of HDF5.
_BACKENDS = {"NetCDF4ArrayWrapper", "H5NetCDFArrayWrapper"}

# Options that the accessor gives.
_OWN = {"axis", "select", "raw", "fill_value", "nan", "concat", "all", "output", "as_xarray"}


class _Source(NamedTuple):
    """The part of a dataset that a DataArray shows, and the functions that decode it."""

    file: str
    dataset: str
    shape: tuple[int, ...]
    part: list[Union[range, int]]  #: for each stored dimension
    functions: list[Any]

    @property
    def kept(self) -> list[range]:
        return [each for each in self.part if isinstance(each, range)]


def _refuse(array: Any, why: str, advice: str) -> NoReturn:
    raise UsageError(f"cannot reduce DataArray '{array.name}' by its file", why, advice)


def _indices(array: Any, all_of_them: range, key: Any) -> Union[range, int]:
    if isinstance(key, slice):
        return all_of_them[key]
    if np.ndim(key) == 0:
        return all_of_them[int(key)]
    chosen = [all_of_them[int(each)] for each in key]
    step = chosen[1] - chosen[0] if len(chosen) > 1 else 1
    if not chosen or step == 0 or any(b - a != step for a, b in zip(chosen, chosen[1:])):
        _refuse(array, "its indices are not evenly spaced", "Select by a slice.")
    return range(chosen[0], chosen[-1] + (1 if step > 0 else -1), step)


def _part_of(array: Any, shape: Sequence[int], keys: list[Any]) -> list[Union[range, int]]:
    part: list[Union[range, int]] = [range(extent) for extent in shape]
    for key in keys:
        kept = [d for d, each in enumerate(part) if isinstance(each, range)]
        for d, each in zip(kept, key):
            part[d] = _indices(array, part[d], each)  # type: ignore[arg-type]
    return part


def _source_of(array: Any) -> _Source:
    """Finds the file of a DataArray. Raises UsageError unless its values are certainly there."""
    if array.chunks is not None:
        _refuse(
            array,
            "it has chunks of dask",
            "Open it without chunks, or name its files: warpfold.reduce([...], concat=...).",
        )
    data = array.variable._data
    keys: list[Any] = []
    functions: list[Any] = []
    while type(data).__module__.startswith("xarray."):
        kind = type(data).__name__
        if kind == "LazilyIndexedArray":
            keys.insert(0, data.key.tuple)
        elif kind == "_ElementwiseFunctionArray":
            functions.append(data.func)
        elif kind not in _WRAPPERS:
            break
        data = data.array
    kind = type(data).__name__
    if kind.startswith("LazilyVectorized"):
        _refuse(array, "it is transposed, or selected by points", "Select by slices and indices.")
    if kind not in _BACKENDS:
        _refuse(
            array,
            f"its values come from a {kind}, no longer from a netCDF-4 file",
            "Open the file again, or use xarray's own methods.",
        )
    file = str(data.datastore._filename)
    if not os.path.isfile(file):
        _refuse(array, f"'{file}' is not a file", "Open a file by its path.")
    dataset = f"{data.datastore._group or ''}/{data.variable_name}".strip("/")
    source = _Source(
        file, dataset, tuple(data.shape), _part_of(array, data.shape, keys), functions
    )
    if array.shape != tuple(map(len, source.kept)):
        _refuse(array, "its shape is not that of a part of the file", "Select by slices.")
    return source


def _number(value: Any, otherwise: float) -> float:
    return otherwise if value is None else float(np.asarray(value).item())


def _decoding(array: Any, source: _Source, skipna: Optional[bool]) -> dict[str, Any]:
    """Options with which the file's elements are the DataArray's."""
    described: Any = _run.info(source.file, source.dataset, {"raw": not source.functions})
    if tuple(described["shape"]) != source.shape:
        _refuse(array, "the file has changed", "Open it again.")
    type_name = described.get("value_type", described["dtype"])
    own_type = f"{array.dtype.kind}{8 * array.dtype.itemsize}"
    if not source.functions:
        if own_type != type_name:
            why = f"xarray shows {type_name} as {array.dtype}"
            _refuse(array, why, "Open it with decode_cf=False.")
        return {"raw": True, "nan": _nan_rule(array, skipna, False)}
    applied = described.get("applied", {})
    fill_values: set[float] = set()
    packing: dict[str, Any] = {}
    for function in source.functions:
        name = getattr(getattr(function, "func", None), "__name__", "a function")
        if name == "_apply_mask":
            fill_values = {_number(each, 0) for each in function.keywords["encoded_fill_values"]}
        elif name == "_scale_offset_decoding":
            packing = function.keywords
        elif name != "asarray" or not applied.get("unsigned", False):
            _refuse(array, f"xarray decodes it by {name}", "Open it with decode_times=False.")
    for name, neutral in (("scale_factor", 1), ("add_offset", 0)):
        if _number(packing.get(name), neutral) != applied.get(name, neutral):
            _refuse(array, f"its {name} is not the file's", "Open it again.")
    if packing and own_type != type_name:
        warnings.warn(
            f"xarray unpacks '{array.name}' to {own_type}, warpfold to {type_name}: results can "
            "differ by roundings.",
            DataWarning,
            stacklevel=4,
        )
    options: dict[str, Any] = {"nan": _nan_rule(array, skipna, bool(fill_values))}
    has_range = "valid_min" in applied or "valid_max" in applied
    if has_range or fill_values != set(map(float, applied.get("fill_values", []))):
        if len(fill_values) > 1:
            _refuse(array, "it has several fill values", "Name the file, with fill_value.")
        options["fill_value"] = next(iter(fill_values), "none")
    return options


def _nan_rule(array: Any, skipna: Optional[bool], has_fill_values: bool) -> Optional[str]:
    if skipna is False and has_fill_values:
        _refuse(array, "skipna=False makes NaN of fill values", "Omit it.")
    if array.dtype.kind != "f":
        return None
    return "propagate" if skipna is False else "skip"


def _is_time(coordinate: Any) -> bool:
    """Tells whether a coordinate is of decoded times."""
    values = coordinate.values.ravel()
    return bool(values.dtype.kind == "M" or (len(values) > 0 and hasattr(values[0], "calendar")))


def _named(option: str, given: Any, array: Any) -> Any:
    """An auxiliary array with names of the DataArray's dimensions. An array without names gets the
    last ones, as in broadcasting."""
    if isinstance(given, xarray.DataArray):
        return given
    values = filled(option, given)
    dims = array.dims[max(0, array.ndim - values.ndim) :]
    kept = [d for d, extent in enumerate(values.shape) if extent != 1]
    return xarray.DataArray(
        values.reshape([values.shape[d] for d in kept]), dims=[dims[d] for d in kept]
    )


def _beside(option: str, given: Any, array: Any, source: _Source) -> Any:
    """An auxiliary array of a DataArray, widened to the whole dataset: other dimensions have the
    extent 1, and elements that are not selected are 0."""
    problem = f"{option} does not fit DataArray '{array.name}'"
    if not set(given.dims) <= set(array.dims):
        why = f"it has dimensions {given.dims}, not only of {array.dims}"
        raise UsageError(problem, why, "Pass one of some of these dimensions.")
    try:
        xarray.align(array, given, join="exact")
    except ValueError as failure:
        advice = "Select the same part of both."
        raise UsageError(problem, "their coordinates or extents differ", advice) from failure
    dims = [dim for dim in array.dims if dim in given.dims]
    values = given.transpose(*dims).values
    if values.dtype.kind == "O":
        values = values.astype(str)
    names = iter(array.dims)
    shape, places = [], []
    for extent, part in zip(source.shape, source.part):
        is_given = isinstance(part, range) and next(names) in dims
        shape.append(extent if is_given else 1)
        places.append(np.array(part if is_given else [0], np.intp))
    stored = np.zeros(shape, values.dtype)
    stored[np.ix_(*places)] = values.reshape([len(each) for each in places])
    return stored


def _reduced_dims(array: Any, dim: Dims) -> list[Any]:
    dims = list(array.dims) if dim is None else [dim] if isinstance(dim, str) else list(dim)
    for each in dims:
        if each not in array.dims:
            names = ", ".join(map(str, array.dims))
            raise UsageError(f"'{each}' is not a dimension of '{array.name}'", "", f"It has {names}.")
    if not dims:
        _refuse(array, "there is no dimension to reduce", "Name one.")
    return dims


def _described(array: Any, made: Any, source: _Source, dims: list[Any], options: Any) -> Any:
    """A result with the DataArray's names and coordinates, and with those of its groups."""
    names = [d for d in array.dims if d not in dims or options.get("keepdims")]
    coordinates = {
        name: each
        for name, each in array.coords.items()
        if set(each.dims) <= set(names) - set(dims)
    }
    falling = {d for d, part in zip(array.dims, source.kept) if part.step < 0}
    flipped = {d: slice(None, None, -1) for d in names if d in falling}
    if "every" in options or "by" in options:
        first = array.dims.index(dims[0])
        place = sum(array.dims.index(d) < first for d in names)
        own = made.dims[place]
        group = dims[0] if "every" in options else getattr(options["by"], "name", None) or own
        names.insert(place, group)
        if own in made.coords:
            coordinates[group] = (group, made[own].values, made[own].attrs)
    result = xarray.DataArray(made.values, dims=names, name=array.name, attrs=made.attrs)
    return result.isel(flipped).assign_coords(coordinates)


class Accessor:
    """Reductions of a DataArray of a netCDF-4 file that is not loaded, by warpfold.reduce().

    Its file is read, and only what is selected of it. Arrays beside it have some of its dimensions;
    DataArrays among them are matched by names and coordinates. Results are DataArrays with the
    coordinates that are left, and with the attributes of warpfold's outputs. NaN and fill values
    are skipped as xarray does, unless `skipna` is False. Other options are warpfold.reduce()'s.

    Raises UsageError for values that are not certainly those of a file: loaded, computed, chunked
    by dask, or selected by points.
    """

    def __init__(self, array: Any) -> None:
        self._array = array

    def reduce(
        self, ops: Any = None, dim: Dims = None, *, skipna: Optional[bool] = None, **options: Any
    ) -> Any:
        """Reduces dimensions, all if `dim` is None. `ops` as in warpfold.reduce(); several make a
        dict of DataArrays. With `comm` ranks but 0 get None.

        >>> data.temp.sel(lat=slice(0, 60)).warpfold.reduce("mean,max", "time")["max"]
        """
        import warpfold

        array = self._array
        options = {name: each for name, each in options.items() if each is not None}
        _options.refuse(options, _OWN, "the DataArray determines it", "Omit it.")
        dims = _reduced_dims(array, dim)
        source = _source_of(array)
        is_falling = any(part.step < 0 and d in dims for d, part in zip(array.dims, source.kept))
        if is_falling and ("every" in options or "arg" in str(ops)):
            _refuse(array, "a dimension is reversed", "Reverse the result.")
        named = {
            name: _named(name, options[name], array)
            for name in ("mask", "weights", "times", "by")
            if name in options and not isinstance(options[name], str)
        }
        beside = {name: _beside(name, each, array, source) for name, each in named.items()}
        if dim is not None or "by" not in options:
            if "by" in named and named["by"].ndim == 1:
                # Labels of one dimension are those along the first axis.
                first = named["by"].dims[0]
                if first not in dims:
                    _refuse(array, f"labels have the dimension {first}", f"Give dim='{first}'.")
                dims = [first, *(each for each in dims if each != first)]
                beside["by"] = beside["by"].reshape(-1)
            beside["axis"] = [array.dims.index(each) for each in dims]
        if source.part != [range(extent) for extent in source.shape]:
            beside["select"] = tuple(_selected(each) for each in source.part)
        has_times = any(map(_is_time, array.coords.values()))
        beside["as_xarray"] = True if has_times else "undecoded"
        made = warpfold.reduce(
            source.file,
            source.dataset,
            ops=ops,
            **{**options, **beside, **_decoding(array, source, skipna)},
        )
        if isinstance(made, dict):
            return {
                name: _described(array, each, source, dims, options) for name, each in made.items()
            }
        return None if made is None else _described(array, made, source, dims, options)

    def quantile(self, q: float, dim: Dims = None, **options: Any) -> Any:
        """A quantile from 0 to 1, by `quantile_method`."""
        return self.reduce(f"q{q}", dim, **options)


def _selected(part: Union[range, int]) -> Any:
    if isinstance(part, int):
        return part
    rising = part if part.step > 0 else part[::-1]
    return slice(rising.start, rising.stop, rising.step)


def _method(ops: str) -> Callable[..., Any]:
    def reduced(self: Accessor, dim: Dims = None, **options: Any) -> Any:
        return self.reduce(ops, dim, **options)

    reduced.__name__ = ops
    reduced.__doc__ = f"reduce() by `{ops}`."
    return reduced


for _name in ("count", "sum", "mean", "var", "std", "min", "max", "median"):
    setattr(Accessor, _name, _method(_name))

_register: Any = xarray.register_dataarray_accessor
_register("warpfold")(Accessor)
