"""What the scripts that measure warpfold share: sizes, lists and the environment of programs."""

import argparse
import importlib
import os
import pathlib
import re
import shutil
import sys

# Debian's and PyPI's names of what scripts import; Debian lacks some.
PACKAGES = {
    "cftime": ("python3-cftime", "cftime"),
    "cupy": (None, "cupy-cuda13x"),
    "dask": ("python3-dask", "dask"),
    "h5py": ("python3-h5py", "h5py"),
    "kvikio": (None, "kvikio-cu13 nvidia-libnvcomp-cu13"),
    "matplotlib": ("python3-matplotlib", "matplotlib"),
    "netCDF4": ("python3-netcdf4", "netCDF4"),
    "numpy": ("python3-numpy", "numpy"),
    "xarray": ("python3-xarray", "xarray"),
}
UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def require(*modules):
    """Ends the script with one line where Python lacks some of these modules."""
    missing = []
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    if missing:
        debian, pypi = zip(*(PACKAGES[name] for name in missing))
        by_apt = f"'apt install {' '.join(debian)}', or " if all(debian) else ""
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: error: cannot run: this Python lacks "
                 f"{', '.join(missing)}. Run {by_apt}'pip install {' '.join(pypi)}'.")


def require_program(name, package):
    """Ends the script with one line where a program is not on the path."""
    if shutil.which(name) is None:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: error: cannot run: there is no program "
                 f"'{name}'. Run 'apt install {package}'.")


def environment():
    """Lets mpirun start as root and with any number of ranks, and ranks use all their cores."""
    settings = dict(os.environ, HDF5_USE_FILE_LOCKING="FALSE")
    if os.getuid() == 0:
        settings.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    settings.update(OMPI_MCA_rmaps_base_oversubscribe="1",
                    OMPI_MCA_hwloc_base_binding_policy="none")
    return settings


def parser_of_peer(description):
    """The arguments of a program that sums a dataset beside warpfold."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("file")
    parser.add_argument("dataset")
    parser.add_argument("--repeats", type=int, default=3)
    return parser


def bytes_of(text):
    match = re.fullmatch(r"(\d+)([KMGT]?)", text)
    if not match or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no size like 512M or 16G")
    return int(match[1]) << UNITS[match[2]]


def numbers_of(text):
    try:
        return [int(word) for word in text.split(",")]
    except ValueError as failure:
        raise argparse.ArgumentTypeError(f"'{text}' is no list like 1,4") from failure


def count_text(count, thing):
    return f"{count} {thing}{'s' if count > 1 else ''}"


def ranks_text(ranks):
    return count_text(ranks, "rank")


def time_text(seconds):
    unit, factor = ("s", 1) if seconds >= 0.1 else ("ms", 1e3) if seconds >= 1e-4 else ("us", 1e6)
    return f"{seconds * factor:.4g} {unit}"


def point_text(seconds, rate):
    """A cell of a study's tables: the time, and bytes a second if there are any."""
    return time_text(seconds) + (f", {rate * 1e-9:.4g} GB/s" if rate else "")


def size_text(size):
    for unit, power in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power:
            return f"{size / (1 << power):g} {unit}"
    return f"{size} bytes"
