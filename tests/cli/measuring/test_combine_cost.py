"""Cost of combining as ranks double: MPI calls of a rank, and messages between all of them."""

import collections
import functools
import json
import subprocess

import numpy as np
import pytest

import samples
import support

DOUBLING = (1, 2, 4, 8, 16)
TILE_ELEMENTS = 4096
ACCUMULATOR_BYTES = 2264
MESSAGE_BYTES = ACCUMULATOR_BYTES + 8  # and how many ranks come without contents
WATCH_BYTES = 24
DOUBLING_FROM = 8  # ranks, unless stated otherwise
# Calls by which ranks tell each other how far they are, as often as time has it.
WATCH = "MPI_Iallreduce"
# Devices and times in words.
TEXTS = "MPI_Allgatherv"
# Beside those: finding GPUs, opening, agreeing on sizes and on a cut, noticing failures, syncing,
# describing the run.
MOST_CALLS = 55
Calls = collections.namedtuple("Calls", "calls bytes")


@functools.cache
def has_monitoring():
    """Open MPI's component that counts messages; how many there are is its algorithms' choice."""
    try:
        listing = subprocess.run(["ompi_info"], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return False
    return "MCA pml: monitoring" in listing and "Open MPI: 4.1." in listing


def counted_calls(mpi_calls_library, folder, *arguments, ranks, settings=()):
    """The outcome of a run and, by rank, functions to Calls."""
    folder.mkdir()
    words = support.command_line(*arguments, "--threads", "1", "--json", "-", backend="cpu")
    counting = ["env", f"LD_PRELOAD={mpi_calls_library}", f"WARPFOLD_MPI_CALLS={folder}", *settings]
    process = subprocess.run(support.launched(*counting, *words, ranks=ranks), capture_output=True,
                             text=True, env=support.ENVIRONMENT, timeout=120)  # fmt: skip
    assert process.returncode == 0, process.stderr
    calls = []
    for rank in range(ranks):
        lines = (line.split() for line in (folder / str(rank)).read_text().splitlines())
        calls.append({name: Calls(int(count), int(size)) for name, count, size in lines})
    return json.loads(process.stdout), calls


def counted_messages(folder, *arguments, ranks):
    """Messages of an accumulator's size: (from, to) to their number."""
    folder.mkdir()
    settings = {
        "OMPI_MCA_pml_monitoring_enable": "2",
        "OMPI_MCA_pml_monitoring_enable_output": "3",
        "OMPI_MCA_pml_monitoring_filename": str(folder / "messages"),
    }
    words = support.command_line(*arguments, "--threads", "1", ranks=ranks, backend="cpu")
    # Messages are counted by a layer around the one that the tests' environment names.
    environment = {name: value for name, value in support.ENVIRONMENT.items()
                   if name != "OMPI_MCA_pml"}  # fmt: skip
    process = subprocess.run(words, capture_output=True, text=True, timeout=120,
                             env={**environment, **settings})  # fmt: skip
    assert process.returncode == 0, process.stderr
    # The first place counts empty messages, place i those of 2^(i-1) bytes and less than 2^i.
    place = MESSAGE_BYTES.bit_length()
    messages = collections.Counter()
    for path in folder.glob("messages.*.prof"):
        for line in path.read_text().splitlines():
            fields = line.split("\t")
            # Collectives' messages have a line of their own; sizes are on a pair's first, of both.
            if fields[0] in ("I", "E") and len(fields) > 5:
                messages[int(fields[1]), int(fields[2])] += int(fields[5].split(",")[place])
    return messages


def expect_as_with_fewer(calls, known):
    """Other calls of the root, and of all others, are what they were with fewer ranks."""
    for rank, each in enumerate(calls):
        others = {name: seen.calls if name == TEXTS else seen
                  for name, seen in each.items() if name != WATCH}
        assert others == known.setdefault(rank == 0, others)
        assert sum(seen.calls for seen in each.values()) - each[WATCH].calls <= MOST_CALLS


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "in.h5"
    return support.write(path, samples.typed("f64", 8 * TILE_ELEMENTS), "f64")


def test_reduce_combines_in_one_call_however_many_ranks(mpi_calls_library, folder, data):
    known = {}
    for ranks in DOUBLING:
        words = ("reduce", data, "values")
        _, calls = counted_calls(mpi_calls_library, folder / str(ranks), *words, ranks=ranks)
        for each in calls:
            assert each["MPI_Reduce"] == Calls(1, MESSAGE_BYTES)
            assert each[WATCH].bytes == each[WATCH].calls * WATCH_BYTES
        expect_as_with_fewer(calls, known)


def expect_messages_of_doubling(calls, supersteps):
    """Takes out of a rank's calls those by which a scan goes from rank to rank."""
    for rank, each in enumerate(calls):
        distances = [1 << step for step in range((len(calls) - 1).bit_length())]
        sent = supersteps * sum(rank + distance < len(calls) for distance in distances)
        received = supersteps * sum(rank >= distance for distance in distances)
        nothing = Calls(0, 0)
        assert each.pop("MPI_Isend", nothing) == Calls(sent, sent * ACCUMULATOR_BYTES)
        assert each.pop("MPI_Irecv", nothing) == Calls(received, 0)


@pytest.mark.parametrize("doubling_from", [1, None, 1000])
def test_scan_combines_by_calls_of_a_superstep(mpi_calls_library, folder, data, doubling_from):
    """Two however many ranks where MPI scans, ceil(log2 p) and one by doubling."""
    known = {}
    settings = [] if doubling_from is None else [f"WARPFOLD_DOUBLING_RANKS={doubling_from}"]
    for ranks, supersteps in zip(DOUBLING, (4, 4, 2, 1, 1)):
        words = ("scan", data, "values", "-o", folder / "out.h5", "--force", "--slab", "32K")
        report, calls = counted_calls(mpi_calls_library, folder / str(ranks), *words, ranks=ranks,
                                      settings=settings)  # fmt: skip
        exchanged = int(report["timings"]["stages"]["exscan"]["bytes"])
        assert exchanged == supersteps * ACCUMULATOR_BYTES
        if ranks >= (doubling_from or DOUBLING_FROM):
            expect_messages_of_doubling(calls, supersteps)
        else:
            for each in calls:
                assert each.pop("MPI_Iexscan") == Calls(supersteps, supersteps * MESSAGE_BYTES)
        for each in calls:
            watched = each[WATCH].calls - supersteps
            assert each[WATCH].bytes == supersteps * MESSAGE_BYTES + watched * WATCH_BYTES
        expect_as_with_fewer(calls, known)


@pytest.mark.parametrize("ranks", [2, 4, 16])
def test_messages_of_a_reduction_and_of_exclusive_scans(folder, ranks):
    """Two more rounds of `bench combine` send what two reductions and two scans in each way do."""
    if not has_monitoring():
        pytest.skip("counts messages of Open MPI 4.1 with its monitoring component")
    few, more = (
        counted_messages(folder / str(rounds), "bench", "combine", "--backend", "cpu",
                         "--iterations", rounds, ranks=ranks)
        for rounds in (1, 3)
    )  # fmt: skip
    more.subtract(few)
    assert sum(more.values()) == 2 * ((ranks - 1) + (ranks - 1) + messages_of_doubling(ranks))
    to_root = sum(number for (_, receiver), number in more.items() if receiver == 0)
    assert 2 <= to_root <= 2 * (ranks - 1).bit_length()
    chain = {(rank, rank + 1) for rank in range(ranks - 1)}
    assert all(more[link] >= 4 for link in chain)


def messages_of_doubling(ranks):
    """Each rank's to the one so many above it, where there is one."""
    return sum(ranks - (1 << step) for step in range((ranks - 1).bit_length()))


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_messages_of_a_superstep(folder, ranks):
    """Two more supersteps send an exclusive scan's and a reduction's to all, twice."""
    if not has_monitoring():
        pytest.skip("counts messages of Open MPI 4.1 with its monitoring component")
    numbers = []
    for supersteps in (1, 3):
        path = folder / f"{supersteps}.h5"
        support.write(path, np.ones(supersteps * ranks * TILE_ELEMENTS), "f64")
        words = ("scan", path, "values", "-o", folder / "out.h5", "--force", "--slab", "32K")
        messages = counted_messages(folder / str(supersteps), *words, ranks=ranks)
        numbers.append(sum(messages.values()))
    scan = ranks - 1 if ranks < DOUBLING_FROM else messages_of_doubling(ranks)
    assert numbers[1] - numbers[0] == 2 * (scan + 2 * (ranks - 1))
