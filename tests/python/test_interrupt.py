"""Ctrl-C ends a run, and handlers of signals are as before."""

import os
import signal
import subprocess
import sys
import threading
import time

import h5py
import numpy as np
import pytest
import warpfold

BYTES = 1 << 28


@pytest.fixture(scope="module")
def long_one(tmp_path_factory):
    """A dataset whose median takes seconds: of slow chunks, in several passes."""
    name = tmp_path_factory.mktemp("interrupt") / "in.h5"
    with h5py.File(name, "w") as file:
        data = np.random.default_rng(1).integers(0, 100, BYTES // 8)
        file.create_dataset("x", data=data, chunks=(1 << 16,), compression="gzip")
    return name


def interrupted_once_it_moves(state):
    def progress(now):
        if now.pass_number > 0 and not state:
            state.append(now.pass_number)
            os.kill(os.getpid(), signal.SIGINT)

    return progress


def test_an_interrupt_raises_keyboard_interrupt(long_one):
    before = signal.getsignal(signal.SIGINT)
    state = []
    with pytest.raises(KeyboardInterrupt):
        warpfold.reduce(
            long_one, "x", ops="median", threads=1, progress=interrupted_once_it_moves(state)
        )
    assert state == [1]
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    assert warpfold.reduce(long_one, "x", ops="count") == BYTES // 8


def test_a_handler_that_raises_nothing_ends_the_run_with_an_error(long_one):
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with pytest.raises(warpfold.Error, match="interrupt"):
            warpfold.reduce(
                long_one, "x", ops="median", threads=1, progress=interrupted_once_it_moves([])
            )
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]


def test_ignored_interrupts_stay_ignored(long_one):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        count = warpfold.reduce(
            long_one, "x", ops="count", progress=interrupted_once_it_moves([])
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert count == BYTES // 8


def test_other_threads_go_on_during_a_run_and_runs_go_on_in_them(long_one):
    counted = []
    worker = threading.Thread(
        target=lambda: counted.append(warpfold.reduce(long_one, "x", ops="count"))
    )
    worker.start()
    turns = 0
    while worker.is_alive():
        turns += 1
        time.sleep(0.001)
    assert counted == [BYTES // 8] and turns > 10


def test_ctrl_c_ends_a_script(long_one):
    script = f"import warpfold\nwhile True: warpfold.reduce({str(long_one)!r}, 'x')"
    running = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
    time.sleep(3)
    running.send_signal(signal.SIGINT)
    _, printed = running.communicate(timeout=60)
    assert printed.rstrip().endswith("KeyboardInterrupt")
