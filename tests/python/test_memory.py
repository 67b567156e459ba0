"""Repeated calls leave nothing behind."""

import gc
import os
import resource
import sys

import numpy as np
import warpfold


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def grown(call, warm, times):
    """Returns the bytes that the process has grown by after so many calls."""
    for _ in range(warm):
        call()
    gc.collect()
    before = resident_bytes()
    for _ in range(times):
        call()
    gc.collect()
    return resident_bytes() - before


def test_reductions_of_arrays():
    values = np.ones(1000)
    references = sys.getrefcount(values)
    assert grown(lambda: warpfold.reduce(values), 200, 5000) < 1 << 20
    assert grown(lambda: warpfold.scan(values), 200, 2000) < 1 << 20
    assert grown(lambda: warpfold.ExactSum(values), 200, 5000) < 1 << 20
    assert sys.getrefcount(values) == references


def test_runs_on_files(path):
    def call():
        warpfold.reduce(path, "temp", ops="mean", axis=0)
        warpfold.histogram(path, "temp")
        try:
            warpfold.reduce(path, "nothing")
        except warpfold.Error:
            pass

    files = len(os.listdir("/proc/self/fd"))
    assert grown(call, 20, 100) < 4 << 20
    assert len(os.listdir("/proc/self/fd")) == files


def test_progress_functions_are_let_go(path):
    def progress(now):
        return now

    references = sys.getrefcount(progress)
    for _ in range(5):
        warpfold.reduce(path, "temp", progress=progress)
    assert sys.getrefcount(progress) == references
