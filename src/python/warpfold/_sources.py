"""Files, datasets and communicators that callers pass."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from warpfold import _core
from warpfold._errors import Error, UsageError

if TYPE_CHECKING:
    import h5py
    from mpi4py import MPI

Path = Union[str, "os.PathLike[str]"]
FileLike = Union[Path, "h5py.File", "h5py.Dataset", Sequence[Path]]
DatasetLike = Union[None, str, Sequence[str], "h5py.Dataset"]

# Drivers of HDF5 whose files have no bytes under their names that others could read.
_DRIVERS_WITHOUT_FILE = {"core", "fileobj", "ros3"}


class Sources(NamedTuple):
    """The FILE... DATASET... of a command line."""

    files: list[str]
    datasets: list[str]


def _is_h5py(value: object, kind: str) -> bool:
    h5py = sys.modules.get("h5py")
    return h5py is not None and isinstance(value, getattr(h5py, kind))


def is_file(value: object) -> bool:
    """Returns whether `value` names files or is one; anything else is an array."""
    if isinstance(value, (str, os.PathLike)):
        return True
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and all(isinstance(each, (str, os.PathLike)) for each in value)
    return _is_h5py(value, "HLObject")


def _path_of(file: Any) -> str:
    """The path of an h5py.File, flushed."""
    if not file:
        raise UsageError("the h5py.File is closed", "", "Pass its path, or one that is open.")
    if file.driver in _DRIVERS_WITHOUT_FILE:
        raise UsageError(
            f"cannot read the h5py.File '{file.filename}'",
            f"only h5py can open files of its driver {file.driver}",
            "Write it to a file, or read its datasets and pass arrays.",
        )
    if file.mode != "r":
        file.flush()
    return str(file.filename)


def _name_in(group: Any, name: str) -> str:
    return f"{group.name.rstrip('/')}/{name}".lstrip("/")


def _sources_of_h5py(file: Any, names: list[str]) -> Sources:
    if not file:
        raise UsageError("the h5py object is closed", "", "Pass one that is open.")
    if _is_h5py(file, "Group"):
        return Sources([_path_of(file.file)], [_name_in(file, name) for name in names])
    if names:
        raise UsageError("a dataset and names of others are given", "", "Omit one of them.")
    if file.name is None:
        raise UsageError("the h5py.Dataset has no name in its file", "", "Link it into a group.")
    return Sources([_path_of(file.file)], [file.name.lstrip("/")])


def name_of_h5py(value: Any) -> Any:
    """An h5py.Dataset as FILE::DATASET; anything else as it is."""
    if not _is_h5py(value, "Dataset"):
        return value
    sources = _sources_of_h5py(value, [])
    return f"{sources.files[0]}::{sources.datasets[0]}"


def sources_of(file: Any, dataset: Any, concatenated: bool) -> Sources:
    """Finds what to read. Raises UsageError."""
    if _is_h5py(dataset, "Dataset"):
        if concatenated:
            dataset = dataset.name
        else:
            if _sources_of_h5py(dataset, []).files != sources_of(file, None, False).files:
                raise UsageError("the h5py.Dataset lies in another file", "", "Pass it alone.")
            return _sources_of_h5py(dataset, [])
    names = [dataset] if isinstance(dataset, str) else list(dataset or [])
    if _is_h5py(file, "HLObject"):
        return _sources_of_h5py(file, names)
    if not is_file(file):
        kind = type(file).__name__
        raise UsageError(f"file is a {kind}", "", "Pass a path, several with concat, or an h5py.File.")
    files = [file] if isinstance(file, (str, os.PathLike)) else list(file)
    if len(files) > 1 and not concatenated:
        raise UsageError(
            "several files are given",
            "",
            "Name the dimension along which they are one dataset: concat='time'.",
        )
    return Sources([os.fspath(each) for each in files], names)


def _is_same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def is_written_by_h5py(files: list[str]) -> bool:
    """Returns whether h5py has one of the files open for writing in this process."""
    h5py: Any = sys.modules.get("h5py")
    if h5py is None:
        return False
    opened = h5py.h5f.get_obj_ids(h5py.h5f.OBJ_ALL, h5py.h5f.OBJ_FILE)
    written = [each for each in opened if each.get_intent() & h5py.h5f.ACC_RDWR]
    names = [os.fsdecode(h5py.h5f.get_name(each)) for each in written]
    return any(_is_same_file(name, file) for name in names for file in files)


def address_of(comm: Optional["MPI.Comm"]) -> int:
    """The address of the MPI_Comm in a communicator of mpi4py; 0 for this process alone."""
    if comm is None:
        return 0
    from mpi4py import MPI

    if not isinstance(comm, MPI.Comm):
        raise UsageError(
            f"comm is a {type(comm).__name__}", "", "Pass a communicator of mpi4py, or None."
        )
    if MPI.Get_library_version().rstrip("\0") != _core.mpi_library().rstrip("\0"):
        raise Error(
            "mpi4py and warpfold use different MPI libraries",
            f"{MPI.Get_library_version().splitlines()[0]}, {_core.mpi_library().splitlines()[0]}",
            "Build one of them with the other's.",
        )
    if not MPI.Is_initialized() or MPI.Is_finalized() or comm == MPI.COMM_NULL:
        raise UsageError(
            "comm cannot be used", "MPI isn't running, or it is COMM_NULL", "Pass a valid one, or None."
        )
    return int(MPI._addressof(comm))


def is_interruptible() -> bool:
    """Returns whether Python would raise KeyboardInterrupt in this thread."""
    return threading.current_thread() is threading.main_thread()


def _is_on_one_host(comm: "MPI.Comm") -> bool:
    from mpi4py import MPI

    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    try:
        # The same on every rank: each host has the lowest of its ranks count it.
        return bool(comm.allreduce(1 if host.rank == 0 else 0) == 1)
    finally:
        host.Free()


def _make_folder(where: Optional[str]) -> Union[tempfile.TemporaryDirectory[str], OSError]:
    try:
        return tempfile.TemporaryDirectory(prefix="warpfold-", dir=where)
    except OSError as failure:
        return failure


@contextlib.contextmanager
def temporary_folder(comm: Optional["MPI.Comm"]) -> Iterator[str]:
    """A temporary folder, the same on every rank: in the folder for temporary files, or in the
    working folder if ranks are on several hosts."""
    root = comm is None or comm.rank == 0
    where = None if comm is None or _is_on_one_host(comm) else os.getcwd()
    made = _make_folder(where) if root else None
    answer = made.name if isinstance(made, tempfile.TemporaryDirectory) else made
    if comm is not None:
        answer = comm.bcast(answer)
    if isinstance(answer, OSError):
        raise Error(
            "cannot make a folder for arrays",
            str(answer),
            "Set TMPDIR to one with room.",
        ) from answer
    try:
        yield str(answer)
    finally:
        if isinstance(made, tempfile.TemporaryDirectory):
            made.cleanup()
