"""Starting the program and making its inputs, for whole-program tests."""

import dataclasses
import functools
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BACKEND = os.environ.get("WARPFOLD_TEST_BACKEND", "cpu")
COASTLINES = pathlib.Path(os.environ.get("WARPFOLD_COASTLINES", "/usr/share/gmt-gshhg"))
# The newest format that HDF5 1.10 reads, however new h5py's own HDF5 is.
NEW_FORMAT = ("v110", "v110") if h5py.version.hdf5_version_tuple >= (1, 10, 2) else "latest"
ERROR_PREFIX = "warpfold: error: "


def _environment():
    settings = dict(os.environ)
    if os.getuid() == 0:
        settings.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    settings.update(
        OMPI_MCA_rmaps_base_oversubscribe="1",
        OMPI_MCA_hwloc_base_binding_policy="none",
        OMPI_MCA_btl_vader_single_copy_mechanism="none",
        OMPI_MCA_mpi_yield_when_idle="1",
        # A quarter of what it takes to start ranks: looking for networks and X servers.
        OMPI_MCA_pml="ob1",
        OMPI_MCA_btl="self,vader,tcp",
        HWLOC_PLUGINS_PATH="/none",
        # Memory has numbers in it that nothing wrote there: doubles of 1e103.
        MALLOC_PERTURB_="170",
    )
    return settings


ENVIRONMENT = _environment()
# Scripts draw no pictures, which takes most of their time.
WITHOUT_PICTURES = {
    **ENVIRONMENT,
    "PYTHONPATH": str(pathlib.Path(__file__).with_name("without_matplotlib")),
}


def program():
    path = os.environ.get("WARPFOLD")
    if path is None:
        built = sorted(ROOT.glob("build/*/warpfold"), key=lambda each: each.stat().st_mtime)
        if not built:
            raise RuntimeError("name the program to test in the environment variable WARPFOLD")
        path = built[-1]
    return str(path)


@functools.cache
def gpu_count():
    """Returns how many GPUs the program sees."""
    if shutil.which("nvidia-smi") is None:
        return 0
    listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    installed = sum(line.startswith("GPU ") for line in listing.stdout.splitlines())
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES", "all")
    return installed if chosen == "all" else min(installed, len(list(filter(None, chosen.split(",")))))


@dataclasses.dataclass
class Outcome:
    """How a run ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def errors(self):
        """The program's error lines."""
        return [line for line in self.stderr.splitlines() if line.startswith("warpfold: error")]

    @property
    def report(self):
        return parsed(self.stdout)

    @property
    def results(self):
        return self.report["results"]

    @property
    def result_bytes(self):
        """The `results` object as printed, and which of its nulls are NaN or infinite."""
        members = r'"(?:results|not_finite)"\s*:\s*\{[^{}]*\}'
        return "\n".join(re.findall(members, self.stdout))


# One NaN, so that lists and objects that have it are equal.
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def parsed(text):
    """A JSON report, its nulls that stand for NaN and infinities replaced by these."""
    report = json.loads(text)
    for pointer, value in report.pop("not_finite", {}).items():
        *parents, last = [
            part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]
        ]
        holder = report
        for part in parents:
            holder = holder[int(part) if isinstance(holder, list) else part]
        last = int(last) if isinstance(holder, list) else last
        assert holder[last] is None
        holder[last] = NOT_FINITE[value]
    return report


def backend_words(*arguments, ranks=None, backend=BACKEND):
    """Returns the words that make a backend run a command."""
    command = str(arguments[0]) if arguments else None
    computes = command in ("reduce", "scan", "compact", "histogram")
    if not (computes or command == "info") or backend is None:
        return []
    shared = backend == "cuda" and (ranks or 1) > gpu_count()
    return ["--backend", backend] * computes + ["--share-gpu"] * shared


def launched(*words, ranks=None):
    """A program under mpirun, or alone where `ranks` is None."""
    if ranks is None:
        return list(words)
    return [os.environ.get("MPIEXEC", "mpirun"), "-np", str(ranks), *words]


def command_words(*arguments, ranks=None, backend=BACKEND):
    """The command of each of the ranks."""
    needed = backend_words(*arguments, ranks=ranks, backend=backend)
    return [program(), *map(str, arguments), *needed]


def command_line(*arguments, ranks=None, backend=BACKEND):
    """The command under mpirun, or alone where `ranks` is None."""
    return launched(*command_words(*arguments, ranks=ranks, backend=backend), ranks=ranks)


def start(*arguments, ranks=None, cwd=None, backend=BACKEND, prefix=(), settings=None):
    """Starts the program; `prefix` is a command that starts it in turn, `settings` are variables of
    its environment."""
    return subprocess.Popen(
        [*prefix, *command_line(*arguments, ranks=ranks, backend=backend)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**ENVIRONMENT, **(settings or {})},
        cwd=cwd,
        start_new_session=True,
    )


def _attempt_apart(*arguments, timeout=120, **options):
    """Runs the program in processes of its own; stuck ranks are killed and fail the test."""
    process = start(*arguments, **options)
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise AssertionError(f"no end within {timeout} s: {arguments}, {options}")
    return Outcome(process.returncode, stdout, stderr)


@functools.cache
def servers():
    """Ranks that stay for the runs to come, as starting them takes most of a run; None where they
    are not built."""
    import command_servers

    return command_servers.Servers() if command_servers.server_program().exists() else None


def end_servers():
    if servers():
        servers().end()


# A prefix that does no more than to give a run processes of its own. The launcher need not wait a
# second for them to end: they have met in MPI_Finalize.
APART = ("env", "OMPI_MCA_odls_base_sigkill_timeout=0")


def attempt(*arguments, prefix=(), **options):
    """Runs a command, whatever comes of it: in servers(), but for what has a prefix, what chooses a
    backend itself, measurements, which another program runs, and completions, which need no MPI."""
    is_alone = arguments[:1] in (("bench",), ("ladder",), ("__complete",))
    stays = options.get("backend", BACKEND) in ("cpu", "cuda") and not is_alone
    if stays and not prefix and servers():
        return servers().attempt(*arguments, **options)
    return _attempt_apart(*arguments, prefix=prefix or APART, **options)


def run(*arguments, **options):
    """Runs the program, which must succeed."""
    outcome = attempt(*arguments, **options)
    assert outcome.code == 0, f"{arguments} exits with {outcome.code}: {outcome.stderr}"
    return outcome


def reduce(path, dataset="values", *arguments, ops="all", **options):
    """`reduce` to JSON."""
    return run("reduce", path, dataset, "--ops", ops, "--json", "-", *arguments, **options)


def scan(path, output, dataset="values", *arguments, **options):
    """`scan` to JSON; replaces an output of an earlier run."""
    return run(
        "scan", path, dataset, "-o", output, "--json", "-", "--force", *arguments, **options
    )


def fail(*arguments, code, mentions=(), **options):
    """Runs the program, which must end with exit code `code` and one line of explanation."""
    options.setdefault("timeout", 60)
    outcome = attempt(*arguments, **options)
    context = f"{arguments}: exit {outcome.code}, stderr:\n{outcome.stderr}"
    assert outcome.code == code, context
    assert len(outcome.errors) == 1, context
    assert outcome.errors[0].startswith(ERROR_PREFIX), context
    assert "MPI_ABORT" not in outcome.stderr.upper(), context
    assert outcome.stdout == "", context
    for word in mentions:
        assert str(word) in outcome.errors[0], context
    return outcome


NUMPY_TYPES = {
    "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8",
    "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
    "f16": "f2", "f32": "f4", "f64": "f8",
}  # fmt: skip
INTEGER_TYPES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOAT_TYPES = ("f16", "bf16", "f32", "f64")
BYTE_ORDERS = {"little": "<", "big": ">"}
ELEMENT_TYPES = (*INTEGER_TYPES, *FLOAT_TYPES)
TYPES_IN_TURNS = [(name, ("little", "big")[i % 2]) for i, name in enumerate(ELEMENT_TYPES)]


def bfloat16_type(order="little"):
    """HDF5's description of bfloat16: the upper half of a binary32."""
    base = h5py.h5t.IEEE_F32LE if order == "little" else h5py.h5t.IEEE_F32BE
    described = base.copy()
    described.set_fields(15, 7, 8, 0, 7)
    described.set_precision(16)
    described.set_offset(0)
    described.set_size(2)
    described.set_ebias(127)
    return described


def file_type(name, order="little"):
    """The HDF5 type of elements called `name` ("i8" to "f64", "bool" or "enum")."""
    if name == "bf16":
        return bfloat16_type(order)
    prefix = BYTE_ORDERS[order]
    if name == "bool":
        return h5py.h5t.py_create(np.dtype(bool), logical=True)
    if name == "enum":
        labels = {f"LABEL{value}": value for value in range(-5, 300)}
        return h5py.h5t.py_create(h5py.enum_dtype(labels, basetype=prefix + "i2"), logical=True)
    return h5py.h5t.py_create(np.dtype(prefix + NUMPY_TYPES[name]), logical=True)


def memory_values(name, values):
    """The array to hand to HDF5 for `name`, whose memory type is `file_type(name)`."""
    if name == "bf16":
        return np.asarray(values, "<u2", order="C")
    if name == "bool":
        return np.asarray(values, "i1", order="C")
    if name == "enum":
        return np.asarray(values, "<i2", order="C")
    return np.asarray(values, "<" + NUMPY_TYPES[name], order="C")


def write(path, values, name, dataset="values", order="little", mode="w", **storage):
    """Makes a dataset of elements called `name`; bfloat16 values come as their 16 bits.

    `storage` is of h5py's create_dataset: chunks, compression, shuffle, fletcher32.
    """
    values = memory_values(name, values)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if "chunks" in storage:
        properties.set_chunk(storage["chunks"])
    if storage.get("shuffle"):
        properties.set_shuffle()
    if storage.get("compression") == "gzip":
        properties.set_deflate(4)
    if storage.get("fletcher32"):
        properties.set_fletcher32()
    links = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    links.set_create_intermediate_group(True)
    with h5py.File(path, mode) as file:
        space = h5py.h5s.create_simple(values.shape) if values.shape else h5py.h5s.create(
            h5py.h5s.SCALAR
        )
        created = h5py.h5d.create(
            file.id, dataset.encode(), file_type(name, order), space, properties, links
        )
        if values.size:
            created.write(h5py.h5s.ALL, h5py.h5s.ALL, values, file_type(name))
    return path


def read(path, name, dataset="values"):
    """The elements of a dataset as `write` takes them, in little-endian order."""
    with h5py.File(path, "r") as file:
        opened = file[dataset].id
        values = np.empty(opened.shape, memory_values(name, np.zeros(1)).dtype)
        if values.size:
            opened.read(h5py.h5s.ALL, h5py.h5s.ALL, values, file_type(name))
    return values


def stored_bytes(path):
    """The bytes of every dataset's elements, by name; texts of variable length as they are."""
    datasets = {}

    def keep(name, item):
        if not isinstance(item, h5py.Dataset):
            return
        if item.dtype.kind == "O":
            datasets[name] = item[...].tolist()
            return
        raw = np.empty(item.shape if item.size else 0, item.dtype)
        if item.size:
            item.id.read(h5py.h5s.ALL, h5py.h5s.ALL, raw)
        datasets[name] = raw.tobytes()

    with h5py.File(path, "r") as file:
        file.visititems(keep)
    return datasets


def outputs(folder, command, path, dataset, *words, **options):
    """Returns a command's outputs as stored_bytes() has them."""
    out = folder / "out.h5"
    run(command, path, dataset, "-o", f"{out}:made", "--force", *words, **options)
    return stored_bytes(out)


def names_in(folder):
    return sorted(each.name for each in folder.iterdir())


def opened(path, **options):
    """Returns a file as xarray shows it, with times as they are stored."""
    import xarray

    with xarray.open_dataset(path, decode_times=False, **options) as file:
        return file.load()


def stored_type(path, dataset="values"):
    """The HDF5 type that a dataset has."""
    with h5py.File(path, "r") as file:
        return file[dataset].id.get_type()


def output_type(name):
    """Returns the type of a scan of `name`: integers widen to 64 bits of their signedness."""
    if name in ("bool", "enum"):
        return "i64"
    if name in INTEGER_TYPES:
        return name[0] + "64"
    return name
