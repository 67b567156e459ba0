"""Disks, files and ranks that fail half-way: one error that says where, nothing left behind.

The faults are made by faults/faults.c, preloaded into the program.
"""

import errno
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

import h5py
import numpy as np
import pytest

import support

ELEMENTS = 1 << 18
CHUNK = 1 << 14
DAMAGED_CHUNK = 9  # of 16: the second of three ranks reads it
COMMANDS = ["reduce", "scan"]
SECONDS_TO_END = 15

# Name | storage | read path
STORAGES = {
    "contiguous": ({}, "direct"),
    "chunks": ({"chunks": (CHUNK,)}, "direct"),
    "deflate": ({"chunks": (CHUNK,), "compression": "gzip", "shuffle": True}, "chunk"),
    "library": ({"chunks": (CHUNK,), "compression": "gzip", "shuffle": True}, "library"),
}
by_command = pytest.mark.parametrize("command", COMMANDS)
by_storage = pytest.mark.parametrize("storage", STORAGES)


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(11).integers(-1000, 1000, ELEMENTS, "i4")


@pytest.fixture
def make_input(folder, values):
    return lambda storage: support.write(folder / "in.h5", values, "i32", **STORAGES[storage][0])


def place_in(path):
    """A byte of the file that is one of the elements', of the chunk DAMAGED_CHUNK if there are."""
    with h5py.File(path) as file:
        opened = file["values"]
        if opened.chunks is None:
            return opened.id.get_offset() + DAMAGED_CHUNK * CHUNK * 4 + 1234
        chunk = opened.id.get_chunk_info(DAMAGED_CHUNK)
        return chunk.byte_offset + chunk.size // 2


def words_for(command, path, storage, *more):
    output = ["-o", path.parent / "out.h5"] if command == "scan" else []
    options = ("--read-path", STORAGES[storage][1], "--slab", "64K", *more)
    return [command, path, "values", *output, *options]


def expect_error(fault, words, prefix, folder, mentions, ranks=None, left=("in.h5",)):
    outcome = support.fail(
        *words, code=1, mentions=mentions, ranks=ranks, prefix=prefix, timeout=SECONDS_TO_END
    )
    assert fault.count() > 0
    assert support.names_in(folder) == sorted(left)
    return outcome


def expect_read_error(folder, fault, make_input, command, storage, ranks):
    path = make_input(storage)
    byte = place_in(path)
    prefix = fault("pread", "in.h5", f"error {errno.EIO}", byte=byte)
    place = {"contiguous": byte, "library": "offset"}.get(storage, f"chunk [{DAMAGED_CHUNK}]")
    mentions = [path, "values", "nput/output error", place]
    expect_error(fault, words_for(command, path, storage), prefix, folder, mentions, ranks)


@by_storage
@by_command
def test_read_error(folder, fault, make_input, command, storage):
    expect_read_error(folder, fault, make_input, command, storage, None)


@pytest.mark.parametrize(
    "command, storage", [("scan", "contiguous"), ("reduce", "deflate"), ("scan", "library")]
)
def test_read_error_on_one_rank(folder, fault, make_input, command, storage):
    expect_read_error(folder, fault, make_input, command, storage, 3)


def test_read_error_past_the_cache(folder, fault, make_input):
    path = make_input("contiguous")
    byte = place_in(path)
    prefix = fault("pread", "in.h5", f"error {errno.EIO}", byte=byte)
    words = words_for("reduce", path, "contiguous", "--file-cache", "past")
    expect_error(fault, words, prefix, folder, [path, "values", byte])


def test_file_that_one_rank_cannot_open(folder, fault, make_input):
    path = make_input("contiguous")
    prefix = fault("open", "in.h5", f"error {errno.ESTALE}", rank=2)
    words = words_for("scan", path, "contiguous")
    expect_error(fault, words, prefix, folder, [path, "values", os.strerror(errno.ESTALE)[1:]], 3)


@pytest.mark.parametrize(
    "storage, more", [*((name, ()) for name in STORAGES), ("contiguous", ("--file-cache", "past"))]
)
def test_short_reads_go_on(folder, fault, make_input, values, storage, more):
    path = make_input(storage)
    prefix = fault("pread", "in.h5", "short 1000")
    words = words_for("reduce", path, storage, "--ops", "sum,argmax", "--json", "-", *more)
    found = support.run(*words, prefix=prefix).results
    assert found == {"sum": int(values.sum(dtype="i8")), "argmax": int(values.argmax())}
    assert fault.count() > 100


@pytest.mark.parametrize("storage", [(), ("--chunks", 5000, "--deflate")], ids=["plain", "chunks"])
def test_short_writes_go_on(folder, fault, make_input, values, storage):
    path = make_input("contiguous")
    prefix = fault("pwrite", ".tmp", "short 1000")
    support.run(*words_for("scan", path, "contiguous", *storage), prefix=prefix)
    assert np.array_equal(support.read(folder / "out.h5", "i64"), np.cumsum(values.astype("i8")))
    assert fault.count() > 100


@by_storage
@by_command
def test_input_cut_while_read(folder, fault, make_input, command, storage):
    path = make_input(storage)
    byte = place_in(path)
    prefix = fault("pread", "in.h5", f"truncate {byte}", byte=byte)
    mentions = [path, "values", "was truncated while"]
    expect_error(fault, words_for(command, path, storage), prefix, folder, mentions)


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("option", ["mask", "weights", "times", "by", "axis by", "axis weights"])
@pytest.mark.parametrize("fault_action", ["modify 100", "truncate 100"])
def test_what_is_read_beside_changes_meanwhile(
    folder, fault, make_input, values, option, fault_action, ranks
):
    path = make_input("contiguous")
    beside = support.write(folder / "beside.h5", abs(values) % 3, "i32", "a")
    with h5py.File(beside) as file:
        byte = file["a"].id.get_offset()
    prefix = fault("pread", "beside.h5", fault_action, byte=byte)
    axis, _, option = option.rpartition(" ")
    words = ["reduce", path, "values", f"--{option}", f"{beside}::a", "--ops", "sum"]
    words += ["--axis", 0, "-o", folder / "out.h5"] if axis else []
    change = {"modify": "changed", "truncate": "was truncated"}[fault_action.split()[0]]
    mentions = ["'a'", beside, change + " while it was read"]
    expect_error(fault, words, prefix, folder, mentions, ranks, left=("beside.h5", "in.h5"))


@pytest.mark.parametrize("storage", ["contiguous", "deflate"])
@by_command
def test_input_changed_while_read(folder, fault, make_input, command, storage):
    path = make_input(storage)
    prefix = fault("pread", "in.h5", "modify 100", byte=place_in(path))
    mentions = [path, "values", "changed while"]
    expect_error(fault, words_for(command, path, storage), prefix, folder, mentions)


@by_command
def test_source_of_a_virtual_dataset_changed_while_read(folder, fault, make_input, values, command):
    source = make_input("contiguous")
    virtual = folder / "virtual.h5"
    with h5py.File(virtual, "w") as file:
        layout = h5py.VirtualLayout(values.shape, values.dtype)
        layout[...] = h5py.VirtualSource(source.name, "values", values.shape)
        file.create_virtual_dataset("values", layout)
    prefix = fault("pread", "in.h5", "modify 100", byte=place_in(source))
    mentions = [virtual, "values", f"'{source}' changed while"]
    words = words_for(command, virtual, "library")
    expect_error(fault, words, prefix, folder, mentions, left=("in.h5", "virtual.h5"))


@pytest.mark.parametrize("storage", ["contiguous", "deflate"])
@by_command
def test_mask_changed_while_read(folder, fault, make_input, command, storage):
    masks = make_input(storage).rename(folder / "masks.h5")
    path = make_input("contiguous")
    prefix = fault("pread", "masks.h5", "modify 100", byte=place_in(masks))
    words = words_for(command, path, "contiguous", "--mask", f"{masks}::values")
    mentions = [masks, "values", "changed while"]
    expect_error(fault, words, prefix, folder, mentions, left=("in.h5", "masks.h5"))


# The last chunk ends behind where contiguous elements do.
CHUNKS = ("--chunks", 70_000, "--fletcher32")
CHUNKS_OF_ROWS = ("--chunks", "137,512", "--fletcher32")
FULL = {errno.ENOSPC: "space", errno.EDQUOT: "quota"}
by_error = pytest.mark.parametrize("error", FULL, ids=errno.errorcode.get)

# Name | command | storage | a byte of the elements in the output's temporary file
OUTPUTS = {
    "scan": (["scan", "in.h5", "values", "-o", "out.h5"], (), 1_500_000),
    "scan to chunks": (["scan", "in.h5", "values", "-o", "out.h5"], CHUNKS, 2_200_000),
    # Through memory, or a scratch file.
    "axis scan to chunks": (
        ["scan", "in.h5", "rows", "--axis", 0, "-o", "out.h5"], CHUNKS_OF_ROWS, 2_200_000
    ),
    "axis reduction to chunks": (
        ["reduce", "in.h5", "thin", "--axis", 1, "--ops", "mean,max", "-o", "out.h5"],
        CHUNKS, 2_200_000
    ),
    "labels to chunks": (
        ["reduce", "in.h5", "values", "--by", "places", "-o", "out.h5"], CHUNKS, 2_200_000
    ),
    "compact to chunks": (
        ["compact", "in.h5", "values", "--where", ">-2000", "--indices", "-o", "out.h5"],
        CHUNKS, 2_200_000
    ),
    "generate": (["generate", "iota", "out.h5", "values", "--shape", ELEMENTS], (), 1_500_000),
    "generate chunks": (
        ["generate", "iota", "out.h5", "values", "--shape", ELEMENTS], CHUNKS, 2_200_000
    ),
}  # fmt: skip


THROUGH_SCRATCH = ["axis scan to chunks", "axis reduction to chunks", "compact to chunks"]


@pytest.fixture
def words_to_write(folder, make_input, values):
    with h5py.File(make_input("contiguous"), "a") as file:
        file["rows"] = values.reshape(512, 512)
        file["thin"] = values.reshape(ELEMENTS, 1)
        file["places"] = np.arange(ELEMENTS)

    def words(output):
        first, storage, _ = OUTPUTS[output]
        return [folder / word if str(word).endswith(".h5") else word for word in first] + [*storage]

    return words


def expect_no_room(fault, words, call, error, folder, ranks=None, **where):
    prefix = fault(call, ".tmp", f"error {error}", **where)
    expect_error(fault, words, prefix, folder, [folder / "out.h5", FULL[error]], ranks)


@by_error
@pytest.mark.parametrize("output", THROUGH_SCRATCH)
def test_no_room_while_a_scratch_file_is_packed(folder, fault, words_to_write, output, error):
    byte = OUTPUTS[output][2]
    expect_no_room(fault, words_to_write(output), "pwrite", error, folder, byte=byte, memory=0)


@by_error
@pytest.mark.parametrize("output", OUTPUTS)
def test_no_room_while_writing(folder, fault, words_to_write, output, error):
    words = words_to_write(output)
    expect_no_room(fault, words, "pwrite", error, folder, byte=OUTPUTS[output][2])


@pytest.mark.parametrize("output", ["scan", "generate chunks"])
def test_no_room_for_the_first_bytes(folder, fault, words_to_write, output):
    expect_no_room(fault, words_to_write(output), "pwrite", errno.ENOSPC, folder, byte=100)


@pytest.mark.parametrize("output", [each for each in OUTPUTS if "generate" not in each])
def test_no_room_while_a_rank_of_three_writes(folder, fault, words_to_write, output):
    words = words_to_write(output)
    expect_no_room(fault, words, "pwrite", errno.ENOSPC, folder, 3, byte=OUTPUTS[output][2])


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("output", ["scan", "axis scan", "generate"])
def test_no_room_for_chunks_of_one_rank(folder, fault, words_to_write, output, rank):
    words = [*words_to_write(f"{output} to chunks" if "scan" in output else "generate chunks")[:-3]]
    words += ["--chunks", "5,512" if output == "axis scan" else 3000, "--deflate"]
    expect_no_room(fault, words, "pwrite", errno.ENOSPC, folder, 3, rank=rank)


@by_error
@pytest.mark.parametrize(
    "output, call", [("scan", "fallocate"), ("scan", "fsync"), ("generate chunks", "fsync")]
)
def test_no_room_when_the_system_is_asked(folder, fault, words_to_write, output, call, error):
    expect_no_room(fault, words_to_write(output), call, error, folder)


def test_no_memory_for_a_file_in_memory(fault, words_to_write):
    shared = pathlib.Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        pytest.skip("no file system in memory here")
    with tempfile.TemporaryDirectory(dir=shared) as memory:
        output = pathlib.Path(memory) / "out.h5"
        words = [*words_to_write("scan")[:-1], output]
        prefix = fault("fallocate", ".tmp", f"error {errno.ENOSPC}")
        expect_error(fault, words, prefix, output.parent, [output, "space"], left=())


@pytest.mark.parametrize("output", THROUGH_SCRATCH)
def test_error_while_a_rank_of_three_reads_back(folder, fault, words_to_write, output):
    prefix = fault("pread", ".tmp", f"error {errno.EIO}", byte=OUTPUTS["scan"][2], memory=0)
    mentions = [folder / "out.h5", "nput/output error"]
    expect_error(fault, words_to_write(output), prefix, folder, mentions, 3)


SMALL_DISK = """
mount -t tmpfs -o size=$1 none "$0" || exit 77
shift
"$@"
code=$?
ls -A "$0" > "$0.left"
exit $code
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare here")
@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("output, size, memory, fits", [
    # A scratch file fits, a chunked one does not at the same time.
    ("axis scan to chunks", 12 * ELEMENTS, 0, False),
    ("compact to chunks", 20 * ELEMENTS, 0, False),
    # A chunked file fits, if it is the only one.
    ("axis scan to chunks", 12 * ELEMENTS, None, True),
    ("compact to chunks", 20 * ELEMENTS, None, True),
    # It does not.
    ("axis scan to chunks", 6 * ELEMENTS, None, False),
    ("scan to chunks", 6 * ELEMENTS, None, False),
    ("compact to chunks", 10 * ELEMENTS, None, False),
])  # fmt: skip
def test_small_disk(folder, fault_library, words_to_write, output, size, memory, fits, ranks):
    small = folder / "small"
    small.mkdir()
    prefix = ["unshare", "-rm", "sh", "-c", SMALL_DISK, small, str(size)]
    if subprocess.run([*prefix, "true"], capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    if memory is not None:
        prefix += ["env", f"LD_PRELOAD={fault_library}", f"WARPFOLD_FAULT_MEMORY={memory}"]
    words = words_to_write(output)
    words[words.index(folder / "out.h5")] = small / "out.h5"
    if fits:
        support.run(*words, ranks=ranks, prefix=prefix)
    else:
        support.fail(*words, code=1, mentions=["out.h5", "space"], ranks=ranks, prefix=prefix)
    assert (folder / "small.left").read_text() == ("out.h5\n" if fits else "")


def processes_naming(text):
    """Returns the processes of this user whose command line contains `text`."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            if process.name.isdigit() and text in (process / "cmdline").read_bytes().decode():
                found.append(int(process.name))
        except (OSError, UnicodeDecodeError):
            pass
    return found


# Name | what is run | call, file and byte that kill the rank, and more
KILLS = {
    "reading": ("scan", "pread", "in.h5", {"byte": 600_000}),
    "writing": ("scan", "pwrite", ".tmp", {"byte": 1_500_000}),
    "packing": ("scan to chunks", "pwrite", ".tmp", {"byte": 2_200_000}),
    "reading back": ("axis scan to chunks", "pread", ".tmp", {"byte": 1_500_000, "memory": 0}),
    "reading back what is kept": (
        "compact to chunks", "pread", ".tmp", {"byte": 1_500_000, "memory": 0}
    ),
    "packing what is read back": (
        "axis scan to chunks", "pwrite", ".tmp", {"byte": 2_200_000, "memory": 0}
    ),
    "packing lines": ("axis scan to chunks", "pwrite", ".tmp", {"byte": 2_200_000}),
    "packing reduced rows": ("axis reduction to chunks", "pwrite", ".tmp", {"byte": 2_200_000}),
    "packing what is kept": ("compact to chunks", "pwrite", ".tmp", {"byte": 2_200_000}),
    "generating": ("generate chunks", "pwrite", ".tmp", {"byte": 2_200_000}),
}  # fmt: skip


def expect_killed(folder, fault, words, prefix):
    began = time.monotonic()
    outcome = support.attempt(*words, ranks=3, prefix=prefix, timeout=SECONDS_TO_END)
    assert time.monotonic() - began < SECONDS_TO_END
    assert fault.count() == 1
    assert outcome.code != 0
    assert outcome.errors == []
    if "Open MPI" in support.run("--config").stdout:
        assert re.search(r"signal 9|Killed", outcome.stderr), outcome.stderr
    assert not processes_naming(str(folder))
    assert "out.h5" not in support.names_in(folder)
    support.run(*words)
    assert support.names_in(folder) == ["in.h5", "out.h5"]


@pytest.mark.parametrize("stage", KILLS)
def test_killed_rank(folder, fault, words_to_write, stage):
    output, call, file, where = KILLS[stage]
    words = words_to_write(output)
    expect_killed(folder, fault, words, fault(call, file, "kill", **where))


@pytest.mark.parametrize("rank", [0, 2])
def test_killed_rank_with_chunks_to_write(folder, fault, words_to_write, rank):
    words = [*words_to_write("scan to chunks")[:-3], "--chunks", 3000]
    byte = {0: 100_000, 2: 1_700_000}[rank]  # of the rank's first block
    expect_killed(folder, fault, words, fault("pwrite", ".tmp", "kill", byte=byte, rank=rank))


# Name | what is run | call, file and byte at which the rank loses its GPU, with blocks to come
LOSSES = {
    "reading": (["reduce", "in.h5", "values", "--slab", "64K"], "pread", "in.h5", 600_000),
    "scanning": (["scan", "in.h5", "values", "-o", "out.h5"], "pread", "in.h5", 600_000),
    "writing": (
        ["scan", "in.h5", "values", "-o", "out.h5", "--slab", "16K"], "pwrite", ".tmp", 4_400_000
    ),
    "keeping": (
        ["compact", "in.h5", "values", "-o", "out.h5", "--where", ">0"], "pread", "in.h5", 600_000
    ),
    "counting": (["histogram", "in.h5", "values", "--bins", 9], "pread", "in.h5", 600_000),
}  # fmt: skip


@pytest.mark.skipif(support.BACKEND != "cuda", reason="loses GPUs")
@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("stage", LOSSES)
def test_lost_gpu(folder, fault, values, stage, ranks):
    support.write(folder / "in.h5", np.tile(values, 16), "i32")
    words, call, file, byte = LOSSES[stage]
    words = [folder / word if str(word).endswith(".h5") else word for word in words]
    prefix = fault(call, file, "lose-gpu", byte=byte)
    mentions = [f" of {socket.gethostname()} was lost", "GPU 0", "cudaError", "nvidia-smi -q"]
    expect_error(fault, words, prefix, folder, mentions, ranks)


@pytest.mark.parametrize("command, damage", [("reduce", "deflate"), ("scan", "fletcher32")])
def test_chunk_that_is_corrupt_on_one_rank(folder, values, command, damage):
    storage = {"deflate": {"compression": "gzip"}, "fletcher32": {"fletcher32": True}}[damage]
    path = support.write(folder / "in.h5", values, "i32", chunks=(CHUNK,), **storage)
    with h5py.File(path) as file:
        chunk = file["values"].id.get_chunk_info(DAMAGED_CHUNK)
    with open(path, "r+b") as stored:
        stored.seek(chunk.byte_offset + chunk.size // 2)
        stored.write(b"\xff" * 64)
    words = words_for(command, path, "deflate")
    mentions = [path, "values", f"chunk [{DAMAGED_CHUNK}]", chunk.byte_offset]
    support.fail(*words, code=1, mentions=mentions, ranks=3, timeout=SECONDS_TO_END)
    assert support.names_in(folder) == ["in.h5"]
