"""Starting a program and seeing that it ends."""

import contextlib
import ctypes
import dataclasses
import os
import signal
import subprocess
import tempfile
import time

from measuring import environment

from .problem import Problem

PR_SET_PDEATHSIG = 1
SECONDS_TO_END = 10
ENDING = (signal.SIGINT, signal.SIGTERM)


@dataclasses.dataclass(frozen=True)
class Ending:
    """How a program ended."""

    status: int
    seconds: float  # from start to exit
    stdout: str
    stderr: str

    @property
    def reason(self):
        """The line that says why it failed, with a full stop."""
        lines = self.stderr.splitlines() + self.stdout.splitlines()
        errors = [line for line in lines if "error:" in line]
        texts = [line for line in lines if any(map(str.isalnum, line))]
        line = [*errors, *texts, "it printed nothing"][0].removeprefix("warpfold: error: ").strip()
        return line if line.endswith((".", "?", "!")) else line + "."


def end_with_parent():
    """A killed study leaves no run behind that would disturb the next."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


@contextlib.contextmanager
def ending_later():
    """Signals that end this wait: Python drops what their handlers raise while it forks."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def stop(process):
    for stopping in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, stopping)
            process.wait(SECONDS_TO_END)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def launch(words, timeout):
    """Runs a command to its end, or stops it with whatever interrupts this."""
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        process = None
        start = time.perf_counter()
        try:
            with ending_later():
                process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=stdout,
                                           stderr=stderr, env=environment(),
                                           start_new_session=True, preexec_fn=end_with_parent)
            status = process.wait(timeout)
            seconds = time.perf_counter() - start
        except OSError as failure:
            raise Problem(f"cannot start {words[0]}: {failure.strerror}. Name a program that is "
                          "there by --program, --launcher.") from failure
        except subprocess.TimeoutExpired as failure:
            raise Problem(f"no end of '{' '.join(words)}' within {timeout:g} s. Look into it, or "
                          "allow more with --timeout.") from failure
        finally:
            if process is not None and process.poll() is None:
                stop(process)
        stdout.seek(0)
        stderr.seek(0)
        return Ending(status, seconds, stdout.read(), stderr.read())


def output_of(words, timeout=60):
    """What a command says; None where it can't be run or fails."""
    try:
        ending = launch(words, timeout)
    except Problem:
        return None
    return ending.stdout.strip() if ending.status == 0 else None
