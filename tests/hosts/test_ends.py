"""Hosts that go away and networks that stall: every rank ends, and a run that can go on does."""

import os
import pathlib
import signal
import time

import h5py
import numpy as np
import pytest

import support

# A lost host is noticed when its connection is, which these settings make a matter of seconds; Open
# MPI's own take five minutes.
QUICK = {"oob_tcp_keepalive_time": 2, "oob_tcp_keepalive_intvl": 1, "oob_tcp_keepalive_probes": 3}


@pytest.fixture(scope="session")
def long_input(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "in.h5"
    row = np.random.default_rng(1).integers(-9, 9, 50000).astype("i4")
    with h5py.File(path, "w") as made:
        made.create_dataset("x", data=np.tile(row, (800, 1)), chunks=(1, row.size), compression=1)
    return path


@pytest.fixture
def long_scan(long_input, tmp_path):
    """Words of a scan that takes seconds, and the file it makes."""
    yield ["scan", long_input, "x", "--slab", "200K", "-o", tmp_path / "out.h5"]
    for path in tmp_path.iterdir():
        path.unlink()


def begin(hosts, words, **options):
    """Begins one that is in the midst of its work."""
    run = hosts.begin(*words, ranks_per_host=1, **options)
    folder = words[-1].parent
    deadline = time.monotonic() + 60
    while not os.listdir(folder) and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.1)
    assert run.poll() is None and os.listdir(folder), "it is not in the midst of its work"
    return run


def lose_power(hosts):
    hosts.kill_all("h3")


def lose_cable(hosts):
    hosts.unplug("h3")


@pytest.mark.parametrize("lose", [lose_power, lose_cable])
def test_where_a_host_is_lost_all_others_end(hosts, long_scan, lose):
    run = begin(hosts, long_scan, settings=QUICK)
    lose(hosts)
    ended = hosts.end(run, timeout=40)
    assert ended.code != 0
    assert "lost communication" in ended.stderr and "h3" in ended.stderr
    assert hosts.left("h1", "h2") == {}
    assert not long_scan[-1].exists()


def test_a_network_that_stalls_delays(hosts, long_scan, tmp_path):
    run = begin(hosts, long_scan)
    lose_cable(hosts)
    time.sleep(3)
    assert run.poll() is None
    hosts.plug_in("h3")
    ended = hosts.end(run, timeout=60)
    assert ended.code == 0, ended.stderr
    alone = tmp_path / "alone.h5"
    support.run(*long_scan[:-1], alone)
    with h5py.File(long_scan[-1]) as several, h5py.File(alone) as single:
        assert np.array_equal(several["x"], single["x"])


def test_a_rank_that_is_interrupted_ends_all(hosts, long_scan):
    run = begin(hosts, long_scan)
    for process in hosts.processes("h2"):
        if pathlib.Path(f"/proc/{process}/comm").read_text().strip() == "warpfold":
            os.kill(process, signal.SIGTERM)
    ended = hosts.end(run, timeout=40)
    assert ended.code != 0
    assert len(ended.errors) == 1 and "interrupted" in ended.errors[0]
    assert hosts.left(*hosts.hosts) == {}
    assert os.listdir(long_scan[-1].parent) == []
