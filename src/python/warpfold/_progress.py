"""Progress of runs, for callbacks and as a bar."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

if TYPE_CHECKING:
    from mpi4py import MPI


class Progress(NamedTuple):
    """Progress of a run. Some runs pass over their data more than once."""

    seconds: float  #: since the run's start
    dataset: str  #: in hand, where the run takes several; empty where it takes one
    number: int  #: the dataset's, from 1
    datasets: int
    pass_number: int  #: over that dataset, from 1; 0 while nothing moves yet
    pass_seconds: float
    done: int  #: bytes of the pass that all ranks together are done with
    total: int  #: bytes of the pass


class _Line:
    """A bar without tqdm, with its interface: a line that is rewritten on a terminal, otherwise
    written once at the end."""

    def __init__(self, total: int, desc: str, **_: object) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._name = desc
        self.reset(total)

    def reset(self, total: int) -> None:
        self.n, self._total, self._start = 0, total, time.monotonic()

    def set_description(self, desc: str) -> None:
        self._name = desc

    def update(self, more: int) -> None:
        self.n += more
        if self._is_terminal:
            self._write("\r", "")

    def close(self) -> None:
        self._write("\r" if self._is_terminal else "", "\n")

    def _write(self, begin: str, end: str) -> None:
        rate = self.n / max(time.monotonic() - self._start, 1e-3)
        part = self.n / max(self._total, 1)
        text = f"{self._name}: {part:4.0%} of {self._total / 1e6:.1f} MB, {rate / 1e6:.1f} MB/s"
        print(f"{begin}{text:<79}" if begin else text, end=end, file=sys.stderr, flush=True)


class _Bar:
    """A bar on standard error, by tqdm if it is installed."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._pass = (0, 0)

    def show(self, *values: Any) -> None:
        now = Progress(*values)
        if now.total == 0:
            return
        name = f"{now.dataset or 'warpfold'} pass {now.pass_number}"
        if self._bar is None:
            try:
                from tqdm.auto import tqdm as make
            except ImportError:
                make = _Line
            self._bar = make(total=now.total, desc=name, unit="B", unit_scale=True)
        elif self._pass != (now.number, now.pass_number):
            self._bar.reset(now.total)
            self._bar.set_description(name)
        self._pass = (now.number, now.pass_number)
        self._bar.update(now.done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


@contextlib.contextmanager
def watcher_of(
    progress: Any, comm: Optional[MPI.Comm]
) -> Iterator[Optional[Callable[..., object]]]:
    """The callback of a run: the caller's, or, if `progress` is True, one that shows a bar on rank
    0."""
    if progress is None or (progress is True and comm is not None and comm.rank != 0):
        yield None
    elif progress is not True:
        yield lambda *now: progress(Progress(*now))
    else:
        bar = _Bar()
        try:
            yield bar.show
        finally:
            bar.close()
