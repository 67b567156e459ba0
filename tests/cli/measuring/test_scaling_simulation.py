"""jobs/scaling.py simulate lets SimGrid run the supersteps: by hand, and against the model."""

import csv
import json
import shutil
import subprocess
import sys

import pytest

import support
from test_scaling_model import GIBIBYTE, described, row, steps, study, write_study

from scaling_study import simulation

if shutil.which("smpirun") is None:
    pytest.skip("SimGrid is not installed (libsimgrid-dev)", allow_module_level=True)

LATENCY, NETWORK = 1e-6, 3e-6
# SimGrid's messages have 16 bytes more, and its clock rounds.
TOLERANCE = 1e-3


@pytest.fixture(scope="module")
def simulator():
    with simulation.Simulator() as built:
        yield built


def platform(**figures):
    names = ("HOST_RATE", "MEMORY_RATE", "PORT_RATE", "HOST_READ_RATE", "HOST_WRITE_RATE",
             "READ_RATE", "WRITE_RATE")
    return {"CORES": 64, "LOCAL_LATENCY": LATENCY, "NETWORK_LATENCY": NETWORK,
            **dict.fromkeys(names, simulation.UNLIMITED), **figures}  # fmt: skip


def doubling_seconds(ranks, ranks_a_host):
    """When the last rank has all: of messages that leave when their sender's last has come."""
    ready = [0.0] * ranks
    for distance in (1 << round for round in range(steps(ranks))):
        ready = [
            ready[rank] if rank < distance else max(
                ready[rank], ready[rank - distance] + (
                    LATENCY if rank // ranks_a_host == (rank - distance) // ranks_a_host
                    else NETWORK))
            for rank in range(ranks)
        ]  # fmt: skip
    return max(ready)


def binomial_depth(ranks):
    return max(rank.bit_count() for rank in range(ranks))


@pytest.mark.parametrize("ranks, hosts", [(2, 1), (8, 1), (13, 1), (16, 4), (64, 8)])
def test_exchanges_take_their_latencies(simulator, ranks, hosts):
    a_host = -(-ranks // hosts)
    hosts = -(-ranks // a_host)
    expected = {
        "chain": (ranks - hosts) * LATENCY + (hosts - 1) * NETWORK,
        "doubling": doubling_seconds(ranks, a_host),
        "reduce": binomial_depth(a_host) * LATENCY + binomial_depth(hosts) * NETWORK,
    }
    for exchange, seconds in expected.items():
        found = simulator.seconds([exchange, 1, 0, 1, 0, 0, 0], ranks, hosts, platform())
        assert found == pytest.approx(seconds, rel=TOLERANCE), exchange


def test_messages_share_a_hosts_port(simulator):
    """One from each of four ranks at a time, of 2272 bytes and 16 more."""
    shared = simulator.seconds(["doubling", 1, 0, 1, 0, 0, 0], 2, 2, platform(PORT_RATE=1e6))
    assert shared == pytest.approx(NETWORK + 2288 / 1e6, rel=TOLERANCE)


@pytest.mark.parametrize("exchange, messages", [("chain", 7), ("reduce", 7), ("doubling", 17)])
def test_messages_share_a_hosts_memory(simulator, exchange, messages):
    """In which those of 8 ranks, 0.1 us each, are one after the other."""
    rate = simulation.SIMULATED_BYTES / 1e-7
    found = simulator.seconds([exchange, 1, 0, 1, 0, 0, 0], 8, 1, platform(MEMORY_RATE=rate))
    latencies = 7 if exchange == "chain" else 3
    assert found == pytest.approx(latencies * LATENCY + messages * 1e-7, rel=0.05)


@pytest.mark.parametrize(
    "figures, seconds",
    [
        ({}, 1.0),  # a rank's own rate
        ({"CORES": 1}, 4.0),  # four ranks on a core
        ({"HOST_RATE": 2e9}, 2.0),
        ({"HOST_READ_RATE": 1e9}, 4.0),
        ({"READ_RATE": 1e9}, 8.0),  # of two hosts
    ],
)
def test_data_takes_the_slowest_way(simulator, figures, seconds):
    """A gigabyte of each of eight ranks on two hosts, which work at 1 GB/s."""
    found = simulator.seconds(["reduce", 1, 1e9, 1e9, 1e9, 0, 0], 8, 2, platform(**figures))
    assert found == pytest.approx(seconds, rel=TOLERANCE)


def test_ranks_that_share_cores_wait_for_their_turns(simulator):
    """A link of a chain waits for a part of a round of the four on its core."""
    turn = 1e-5
    found = simulator.seconds(["chain", 1, 0, 1, 0, 0, turn], 64, 1, platform(CORES=16))
    assert 63 * turn < found < 63 * 6 * turn
    twice = simulator.seconds(["chain", 1, 0, 1, 0, 0, 2 * turn], 64, 1, platform(CORES=16))
    assert twice == pytest.approx(2 * found, rel=0.1)


def test_supersteps_hide_their_exchanges(simulator):
    """Ten supersteps of 0.1 s, half of each before its exchange: a chain of 3 links, and 4 steps
    to reduce and broadcast. Exchanges of 7 ms hide; those of 7 s don't, and hide all but what comes
    before the first and after the last."""
    words = ["chain", 10, 1e8, 1e9, 0, 0, 0]
    hidden = simulator.seconds(words, 4, 1, platform(LOCAL_LATENCY=1e-3))
    assert hidden == pytest.approx(1.0, rel=TOLERANCE)
    shown = simulator.seconds(words, 4, 1, platform(LOCAL_LATENCY=1.0))
    assert 0.1 + 10 * 4 <= shown <= 0.1 + 10 * 7


def test_agrees_with_the_model_and_what_was_measured(folder):
    """The study's times are of the model's formula; up to 4 ranks calibrate, 8 are simulated."""
    write_study(folder, study([1, 2, 4, 8], workloads=["reduce"]))
    words = [sys.executable, str(support.ROOT / "jobs" / "scaling.py"), "simulate", str(folder),
             "--calibrate", "1,2,4", "--predict", "64", "--ranks-per-node", "4", "--machine",
             str(described(folder))]  # fmt: skip
    outcome = subprocess.run(words, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr
    with open(folder / "simulation.csv", newline="") as file:
        found = {(each["workload"], each["scaling"], each["quantity"], int(each["ranks"])): each
                 for each in csv.DictReader(file)}
    assert len(found) == 4 * 5
    for (*_, ranks), each in found.items():
        simulated = float(each["simulated"])
        assert simulated == pytest.approx(float(each["model"]), rel=0.01)
        if ranks == 64:
            assert each["measured"] == ""
        else:
            assert simulated == pytest.approx(float(each["measured"]), rel=0.01)


def test_refuses_cores_shared_that_are_not_calibrated(folder):
    write_study(folder, study([1, 2, 4], workloads=[]))
    plan = {"schema": "warpfold.study/1", "plan": {}, "machine": {"cores": 2}}
    (folder / "study.json").write_text(json.dumps(plan))
    words = [sys.executable, str(support.ROOT / "jobs" / "scaling.py"), "simulate", str(folder),
             "--calibrate", "1,2"]  # fmt: skip
    outcome = subprocess.run(words, capture_output=True, text=True)
    assert outcome.returncode == 1
    assert "4 ranks shared 2 cores" in outcome.stderr and "--calibrate" in outcome.stderr


def test_refuses_what_it_cannot_calibrate(folder):
    write_study(folder, [row("reduce", "weak", ranks, "whole run", 1, bytes=GIBIBYTE)
                         for ranks in (1, 16, 32)])
    words = [sys.executable, str(support.ROOT / "jobs" / "scaling.py"), "simulate", str(folder)]
    outcome = subprocess.run(words, capture_output=True, text=True)
    assert outcome.returncode == 1
    assert "--calibrate" in outcome.stderr and "1, 16, 32" in outcome.stderr
