"""Errors: one line with the reason, the right exit code, no hang, nothing left behind."""

import time

import h5py
import numpy as np
import pytest

import samples
import support

RANKS = [None, 4]  # None: alone, without mpirun
COMMANDS = ["reduce", "scan"]
FAILED, USAGE = 1, 2
on_ranks = pytest.mark.parametrize("ranks", RANKS)
by_command = pytest.mark.parametrize("command", COMMANDS)


def arguments_of(command, path, dataset, folder):
    """A command line that would be right were the input."""
    output = ["-o", folder / "out.h5"] if command == "scan" else []
    return [command, path, dataset, *output]


def assert_refused(command, folder, dataset, ranks, code=FAILED, **options):
    """The command fails on in.h5 and leaves the folder as it was."""
    before = support.names_in(folder)
    arguments = arguments_of(command, folder / "in.h5", dataset, folder)
    support.fail(*arguments, code=code, ranks=ranks, **options)
    assert support.names_in(folder) == before


@on_ranks
@by_command
def test_unknown_dataset_lists_those_there_are(folder, command, ranks):
    support.write(folder / "in.h5", [1, 2], "i32", dataset="temperature")
    assert_refused(command, folder, "pressure", ranks, mentions=["pressure", "temperature"])


@on_ranks
@by_command
def test_group_in_place_of_a_dataset(folder, command, ranks):
    support.write(folder / "in.h5", [1, 2], "i32", dataset="group/values")
    assert_refused(command, folder, "group", ranks, mentions=["group"])


UNSUPPORTED = {
    "compound": np.zeros(3, [("a", "i4"), ("b", "f8")]),
    "string": np.array([b"one", b"two"]),
    "variable-length": None,
    "complex": np.zeros(3, "c16"),
}


@on_ranks
@pytest.mark.parametrize("kind", UNSUPPORTED)
def test_unsupported_type(folder, kind, ranks):
    with h5py.File(folder / "in.h5", "w") as file:
        if kind == "variable-length":
            file.create_dataset("values", (3,), h5py.vlen_dtype("i4"))
        else:
            file["values"] = UNSUPPORTED[kind]
    for command in COMMANDS:
        assert_refused(command, folder, "values", ranks)


@on_ranks
@by_command
def test_not_an_hdf5_file(folder, command, ranks):
    (folder / "in.h5").write_text("a text, not a dataset\n" * 100)
    assert_refused(command, folder, "values", ranks, mentions=["in.h5"])


@on_ranks
@by_command
def test_missing_file(folder, command, ranks):
    words = (command, folder, "values", ranks)
    assert_refused(*words, mentions=["in.h5"], prefix=support.APART)


@on_ranks
@by_command
@pytest.mark.parametrize("kept", [0, 5, 300, 100_000, 799_999])
def test_truncated_file(folder, command, kept, ranks):
    path = support.write(folder / "in.h5", samples.typed("f64", 100_000), "f64")
    path.write_bytes(path.read_bytes()[:kept])
    assert_refused(command, folder, "values", ranks, mentions=["in.h5"])


@on_ranks
@by_command
@pytest.mark.parametrize("damage", ["deflate", "fletcher32"])
def test_damaged_chunk(folder, command, damage, ranks):
    storage = {"deflate": {"compression": "gzip"}, "fletcher32": {"fletcher32": True}}[damage]
    values = samples.typed("f64", 100_000)
    path = support.write(folder / "in.h5", values, "f64", chunks=(20_000,), **storage)
    with h5py.File(path, "r") as file:
        chunk = file["values"].id.get_chunk_info(3)
    with open(path, "r+b") as stored:
        stored.seek(chunk.byte_offset + chunk.size // 2)
        stored.write(b"\xff" * 64)
    mentions = ["in.h5", "values", "chunk [3]"]
    assert_refused(command, folder, "values", ranks, mentions=mentions, prefix=support.APART)


@on_ranks
def test_missing_filter_is_named(folder, ranks):
    zfp = 32013
    with h5py.File(folder / "in.h5", "w") as file:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk((10,))
        properties.set_filter(zfp, h5py.h5z.FLAG_OPTIONAL)
        space = h5py.h5s.create_simple((20,))
        made = h5py.h5d.create(file.id, b"values", h5py.h5t.STD_I32LE, space, properties)
        made.write_direct_chunk((0,), b"not what zfp would write")
    assert_refused("reduce", folder, "values", ranks, mentions=[zfp])


@on_ranks
def test_virtual_dataset_without_its_source(folder, ranks):
    layout = h5py.VirtualLayout((10,), "f8")
    layout[:] = h5py.VirtualSource("gone.h5", "values", (10,))
    with h5py.File(folder / "in.h5", "w") as file:
        file.create_virtual_dataset("values", layout)
    assert_refused("reduce", folder, "values", ranks, mentions=["gone.h5"])


UNWRITABLE = ["missing/out.h5", "in.h5/out.h5", "", "/proc/out.h5"]


@on_ranks
@pytest.mark.parametrize("target", UNWRITABLE)
def test_unwritable_output(folder, target, ranks):
    path = support.write(folder / "in.h5", [1, 2, 3], "i32")
    support.fail("scan", path, "values", "-o", folder / target, code=FAILED, ranks=ranks)
    assert support.names_in(folder) == ["in.h5"]


@on_ranks
def test_existing_output_is_kept_without_force(folder, ranks):
    path = support.write(folder / "in.h5", [1, 2, 3], "i32")
    (folder / "out.h5").write_text("precious")
    arguments = ("scan", path, "values", "-o", folder / "out.h5")
    support.fail(*arguments, code=FAILED, mentions=["out.h5", "--force"], ranks=ranks)
    assert (folder / "out.h5").read_text() == "precious"
    assert support.names_in(folder) == ["in.h5", "out.h5"]


@on_ranks
def test_input_is_never_replaced(folder, ranks):
    path = support.write(folder / "in.h5", [1, 2, 3], "i32")
    (folder / "alias.h5").symlink_to(path)
    for target in ("in.h5", "alias.h5"):
        before = path.read_bytes()
        arguments = ("scan", path, "values", "-o", folder / target, "--force")
        support.fail(*arguments, code=USAGE, ranks=ranks, prefix=support.APART)
        assert path.read_bytes() == before


def test_no_room_for_the_output(folder):
    path = folder / "in.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("values", (1 << 24,), "i8", chunks=(1 << 16,))
    # Files of 64 MiB at most: enough for MPI's own, half of what the scan needs.
    limit = ["bash", "-c", 'trap "" XFSZ; ulimit -f 65536; exec "$@"', "limited"]
    arguments = ("scan", path, "values", "-o", folder / "out.h5")
    support.fail(*arguments, code=FAILED, mentions=["out.h5"], prefix=limit)
    assert support.names_in(folder) == ["in.h5"]


@on_ranks
def test_existing_generated_file_is_kept_without_force(folder, ranks):
    (folder / "in.h5").write_text("precious")
    arguments = ("generate", "iota", folder / "in.h5", "values", "--type", "i32", "--shape", 9)
    support.fail(*arguments, code=FAILED, mentions=["in.h5", "--force"], ranks=ranks)
    assert (folder / "in.h5").read_text() == "precious"


WRONG_USAGE = {
    "no-command": ([], []),
    "unknown-command": (["redcue"], ["redcue"]),
    "no-file": (["reduce"], []),
    "no-dataset": (["reduce", "in.h5"], []),
    "unknown-option": (["reduce", "in.h5", "values", "--colour", "red"], ["--colour"]),
    "unknown-operation": (["reduce", "in.h5", "values", "--ops", "mode"], ["mode", "argmin"]),
    "empty-operation": (["reduce", "in.h5", "values", "--ops", "sum,,min"], ["sum,,min", "comma"]),
    "nan-policy": (["reduce", "in.h5", "values", "--nan", "drop"], ["drop", "propagate", "skip"]),
    "overflow": (["reduce", "in.h5", "values", "--overflow", "x"], ["error", "wrap"]),
    "backend": (["reduce", "in.h5", "values", "--backend", "tpu"], ["tpu", "auto", "cuda", "cpu"]),
    "slab-word": (["reduce", "in.h5", "values", "--slab", "big"], ["big"]),
    "slab-zero": (["reduce", "in.h5", "values", "--slab", "0"], ["0"]),
    "slab-negative": (["reduce", "in.h5", "values", "--slab", "-1M"], ["-1M"]),
    "slab-huge": (["reduce", "in.h5", "values", "--slab", "99999999999999999999G"], ["99999"]),
    "threads": (["reduce", "in.h5", "values", "--threads", "0"], ["threads"]),
    "ddof": (["reduce", "in.h5", "values", "--ddof", "-1"], ["ddof"]),
    "progress": (["reduce", "in.h5", "values", "--progress", "x"], ["auto", "always", "never"]),
    "no-output": (["scan", "in.h5", "values"], ["-o"]),
    "scan-operation": (
        ["scan", "in.h5", "values", "-o", "out.h5", "--op", "mean"],
        ["mean", "sum", "min", "max"],
    ),
    "output-type": (
        ["scan", "in.h5", "values", "-o", "out.h5", "--output-type", "i65"],
        ["i65", "i64", "bf16"],
    ),
    "integers-from-floats": (
        ["scan", "in.h5", "floats", "-o", "out.h5", "--output-type", "i64"],
        ["i64"],
    ),
    "unknown-kind": (
        ["generate", "noise", "new.h5", "values", "--shape", "3"],
        ["noise", "uniform", "msws", "cancel"],
    ),
    "generated-type": (
        ["generate", "iota", "new.h5", "values", "--shape", "3", "--type", "f80"],
        ["f80", "f64"],
    ),
    "generated-shape": (["generate", "iota", "new.h5", "values", "--shape", "3xx"], ["3xx"]),
    "byte-order": (
        ["generate", "iota", "new.h5", "values", "--shape", "3", "--byte-order", "middle"],
        ["little", "big"],
    ),
}


@on_ranks
@pytest.mark.parametrize("case", WRONG_USAGE)
def test_wrong_usage(folder, case, ranks):
    support.write(folder / "in.h5", [1, 2], "i32")
    support.write(folder / "in.h5", [1, 2], "f32", dataset="floats", mode="a")
    arguments, mentions = WRONG_USAGE[case]
    backend = support.BACKEND if "--backend" not in arguments else None
    support.fail(
        *arguments, code=USAGE, mentions=mentions, ranks=ranks, cwd=folder, backend=backend
    )
    assert support.names_in(folder) == ["in.h5"]


def test_file_of_a_long_strange_name(folder):
    strange = folder / ("a b\n\t%s {} é" + "x" * 100 + ".h5")
    arguments = ("reduce", strange, "values")
    support.fail(*arguments, code=FAILED)
    support.write(strange, [1, 2], "i32")
    assert support.reduce(strange).results["sum"] == 3


@on_ranks
def test_report_that_cannot_be_written(folder, ranks):
    path = support.write(folder / "in.h5", [1, 2], "i32")
    target = folder / "missing" / "report.json"
    support.fail("reduce", path, "values", "--json", target, code=FAILED, ranks=ranks)


@pytest.mark.parametrize("swmr", [False, True])
def test_a_file_that_another_program_writes(folder, swmr):
    with h5py.File(folder / "in.h5", "w", libver=support.NEW_FORMAT) as file:
        file.create_dataset("values", data=samples.typed("f64", 1000), chunks=(100,))
        file.flush()
        if swmr:
            file.swmr_mode = True
        assert_refused("reduce", folder, "values", None, mentions=["in.h5", "open for writing"])


@on_ranks
@pytest.mark.parametrize("command", ["info", "reduce", "scan", "generate"])
def test_empty_file_names(folder, command, ranks):
    words = {
        "info": ("info", ""),
        "reduce": ("reduce", "", "values"),
        "scan": ("scan", "", "values", "-o", folder / "out.h5"),
        "generate": ("generate", "iota", "", "values", "--shape", 3),
    }[command]
    code, why = (USAGE, "names no file") if command == "generate" else (FAILED, "path is empty")
    support.fail(*words, code=code, mentions=[why], ranks=ranks, cwd=folder)
    assert support.names_in(folder) == []


def test_an_empty_file_is_called_so(folder):
    (folder / "in.h5").touch()
    assert_refused("reduce", folder, "values", None, mentions=["the file is empty"])


def test_filters_of_a_scalar(folder):
    support.write(folder / "in.h5", 3, "i32")
    words = ("scan", folder / "in.h5", "values", "-o", folder / "out.h5", "--deflate")
    for chunks in ((), ("--chunks", "auto")):
        support.fail(*words, *chunks, code=USAGE, mentions=["it is a scalar", "Omit"])
    assert support.names_in(folder) == ["in.h5"]


def test_a_float_of_another_bias_is_distinguished(folder):
    described = h5py.h5t.IEEE_F16LE.copy()
    described.set_ebias(14)
    with h5py.File(folder / "in.h5", "w") as file:
        h5py.h5d.create(file.id, b"values", described, h5py.h5s.create_simple((3,)))
    assert_refused("reduce", folder, "values", None, mentions=["exponent bias 14"])


@pytest.mark.parametrize("option", ["--where", "--fill-value"])
def test_numbers_of_too_many_digits(folder, option):
    path = support.write(folder / "in.h5", [1, 2], "i32")
    relation = "<" if option == "--where" else ""
    words = ("reduce", path, "values", option, relation + "1" * 4300)
    outcome = support.fail(*words, code=USAGE, mentions=["more than 4096 characters"])
    assert len(outcome.errors[0]) < 400
    assert support.reduce(path, "values", "--where", "<" + "1" * 4096).results["count"] == 2


@on_ranks
def test_links_to_nothing(folder, ranks):
    with h5py.File(folder / "in.h5", "w") as file:
        file["values"] = [1, 2]
        file["soft"] = h5py.SoftLink("/gone")
        file["external"] = h5py.ExternalLink("gone.h5", "/there")
    mentions = ["it is a soft link to '/gone'", "cannot be opened", "Restore"]
    outcome = support.fail("reduce", folder / "in.h5", "soft", code=FAILED, mentions=mentions, ranks=ranks)  # fmt: skip
    assert "HDF5" not in outcome.errors[0]
    mentions = ["it is an external link to '/there' in 'gone.h5'"]
    support.fail("reduce", folder / "in.h5", "external", code=FAILED, mentions=mentions, ranks=ranks)  # fmt: skip


SWALLOWED = {
    "--bins": ("histogram", "in.h5", "values"),
    "--ops": ("reduce", "in.h5", "values"),
    "--json": ("reduce", "in.h5", "values"),
    "--select": ("reduce", "in.h5", "values"),
    "--where": ("reduce", "in.h5", "values"),
    "--output": ("scan", "in.h5", "values"),
}


@pytest.mark.parametrize("option", SWALLOWED)
def test_an_option_does_not_take_the_next_one(folder, option):
    support.write(folder / "in.h5", [1, 2], "i32")
    words = SWALLOWED[option]
    mentions = [f"{option} takes one value"]
    support.fail(*words, option, "--quiet", code=USAGE, mentions=mentions, cwd=folder)
    for rest in (["--quiet"], ["sum"], []):
        support.fail(*words, option + "=", *rest, code=USAGE, cwd=folder)
    backend = ("--backend", support.BACKEND)
    support.fail("reduce", "in.h5", *backend, "--", option + "=", code=FAILED, backend=None,
                 mentions=[f"'{option}='", "no such dataset"], cwd=folder)  # fmt: skip
    assert support.names_in(folder) == ["in.h5"]


@on_ranks
@pytest.mark.parametrize("storage", [{}, {"chunks": (1000,), "compression": "gzip"}])
def test_an_input_that_is_removed_while_it_is_read(folder, fault, storage, ranks):
    path = support.write(folder / "in.h5", samples.typed("f64", 100_000), "f64", **storage)
    words = ("reduce", path, "values", "--threads", 1, "--slab", "16K")
    process = support.start(*words, ranks=ranks, prefix=fault("pread", "in.h5", "delay 30"))
    wait_for_faults(fault, 20, process)
    path.unlink()
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode == FAILED
    assert stderr.count(support.ERROR_PREFIX) == 1 and "removed while it was read" in stderr


def wait_for_faults(fault, count, process):
    end = time.monotonic() + 60
    while fault.count() < count:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
