"""What the scripts that measure warpfold share: sizes, lists and the environment of programs."""

import argparse
import os
import re

UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def environment():
    """Lets mpirun start as root and with any number of ranks, and ranks use all their cores."""
    settings = dict(os.environ, HDF5_USE_FILE_LOCKING="FALSE")
    if os.getuid() == 0:
        settings.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    settings.update(OMPI_MCA_rmaps_base_oversubscribe="1",
                    OMPI_MCA_hwloc_base_binding_policy="none")
    return settings


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


def size_text(size):
    for unit, power in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power:
            return f"{size / (1 << power):g} {unit}"
    return f"{size} bytes"
