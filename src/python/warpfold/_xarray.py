"""Results as DataArrays, and the accessor's registration, without an import of xarray before."""

from __future__ import annotations

import importlib.abc
import os
import sys
from typing import Any

from warpfold._errors import Error


def dataarrays_in(
    output: str, datasets: dict[str, str], raw: bool, decode_times: bool
) -> dict[str, Any]:
    """Loads outputs of a file, with their coordinates and the attributes that don't name temporary
    files. `datasets` are their paths by the names of operations; `raw` are stored numbers."""
    import xarray

    arrays = {}
    options: dict[str, Any] = {"decode_times": decode_times}
    for name, path in datasets.items():
        group, dataset = os.path.split(path)
        try:
            opened = xarray.open_dataset(output, group=group or None, **options)
        except ValueError as failure:
            raise Error(
                "xarray cannot open netCDF-4 files", str(failure), "Install netCDF4 or h5netcdf."
            ) from failure
        with opened:
            if dataset not in opened:
                raise Error(
                    f"cannot make a DataArray of '{path}'",
                    "xarray does not show it: netCDF lacks its type",
                    "Give output_type='float32'.",
                )
            array = opened[dataset].load()
        if raw:
            options["mask_and_scale"] = False
            with xarray.open_dataset(output, group=group or None, **options) as stored:
                array = array.copy(data=stored[dataset].values)
                array.attrs = stored[dataset].attrs
        for each in (array, *array.coords.values()):
            each.encoding.pop("source", None)
        folder = os.path.dirname(output)
        array.attrs = {key: each for key, each in array.attrs.items() if folder not in str(each)}
        arrays[name] = array
    return arrays


class _Registration(importlib.abc.MetaPathFinder):
    """Registers the accessor once xarray has been imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "xarray":
            return None
        others = (each for each in sys.meta_path if each is not self)
        specs = (each.find_spec(name, path, target) for each in others)
        spec = next((each for each in specs if each is not None), None)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_register(module: Any) -> None:
                run(module)
                sys.meta_path.remove(self)
                register()

            setattr(spec.loader, "exec_module", run_and_register)
        return spec


def register() -> None:
    """Gives DataArrays their accessor, now or as soon as xarray is imported."""
    if hasattr(sys.modules.get("xarray"), "register_dataarray_accessor"):
        import warpfold._accessor  # noqa: F401
    else:
        sys.meta_path.insert(0, _Registration())
