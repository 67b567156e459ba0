"""A study's datasets, made by `warpfold generate` in a folder of their own."""

import hashlib
import json
import os
import pathlib
import shutil
import stat
import tempfile

from concurrent.futures import ThreadPoolExecutor

from .launch import launch
from .plan import ITEM_BYTES, command_of
from .problem import Problem
from .provenance import launcher_words

DATASET = "values"
PREFIX = "warpfold-study-"
PIECE = 1 << 26


class Inputs:
    """Makes each dataset once and removes all in the end; those that a killed study left behind
    are removed by the next one, as the study's folder tells where they are."""

    def __init__(self, folder, ranks, program, timeout):
        self.plan = folder.plan
        self.program = program
        self.timeout = timeout
        self.marker = folder.path / f".{'-'.join(map(str, ranks))}-ranks.scratch"
        self.known_sums = {}
        self.path = None

    def __enter__(self):
        if self.marker.exists():
            remove_own(self.marker.read_text())
        try:
            self.path = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX, dir=self.plan.scratch))
        except OSError as failure:
            raise Problem(f"cannot make datasets in '{self.plan.scratch}': {failure.strerror}. "
                          "Name a folder for them with --scratch.") from failure
        self.marker.write_text(str(self.path))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)
        self.marker.unlink(missing_ok=True)

    @property
    def output(self):
        return self.path / "output.h5"

    def prepare(self, runs):
        """Makes what these runs read, the largest first."""
        sizes = sorted({run.bytes for run in runs if run.reads_file}, reverse=True)
        self.refuse_too_large(sizes, any(command_of(run.workload) == "scan" for run in runs))
        for size in () if self.plan.file else sizes:
            self.make(size)

    def refuse_too_large(self, sizes, scans):
        of_integers = self.plan.type.startswith(("i", "u"))
        widened = ITEM_BYTES["i64"] // ITEM_BYTES[self.plan.type] if of_integers else 1
        needed = (0 if self.plan.file else sum(sizes)) + (max(sizes, default=0) * widened if scans else 0)
        free = shutil.disk_usage(self.path).free
        if needed > free:
            raise Problem(f"'{self.plan.scratch}' has {free / 1e9:.1f} GB free: datasets and "
                          f"outputs take up to {needed / 1e9:.1f} GB. Name another folder with "
                          "--scratch, or fewer --bytes.")

    def path_of(self, size):
        return self.path / f"{size}.h5"

    def place_of(self, size):
        """The file and the dataset of so many bytes."""
        return split_place(self.plan.file) if self.plan.file else (self.path_of(size), DATASET)

    def make(self, size):
        plan = self.plan
        report = self.path / "report.json"
        words = [*launcher_words(plan.launcher, 1), self.program.path, "generate", plan.kind,
                 self.path_of(size), DATASET, "--type", plan.type, "--shape",
                 size // ITEM_BYTES[plan.type], "--quiet", "--json", report]
        ending = launch([str(word) for word in words], self.timeout)
        if ending.status != 0:
            raise Problem(f"no dataset of {size} bytes: {ending.reason} Choose --kind and --type "
                          "from `warpfold generate --help`.")
        self.known_sums[size] = json.loads(report.read_text())["results"]["known_sum"]


def split_place(text):
    """The two of FILE::DATASET."""
    file, _, dataset = text.partition("::")
    return file, dataset


def described(program, file, dataset, timeout):
    """What the program knows of a dataset."""
    ending = launch([program.path, "info", str(file), dataset, "--json", "-"], timeout)
    if ending.status != 0:
        raise Problem(f"cannot describe {file}::{dataset}: {ending.reason}")
    report = json.loads(ending.stdout)
    return {**report["results"], "type": report["dtype"]}


def remove_own(name):
    """A folder that an earlier process of this user made and left."""
    path = pathlib.Path(name)
    try:
        found = path.lstat()
    except OSError:
        return
    if path.name.startswith(PREFIX) and stat.S_ISDIR(found.st_mode) and (
        found.st_uid == os.getuid()
    ):
        shutil.rmtree(path, ignore_errors=True)


def elements_digest(path, offset, size):
    """Of the bytes of a contiguous dataset: that of the digests of its pieces, which many threads
    take at once."""
    def piece_digest(first):
        with open(path, "rb", buffering=0) as file:
            file.seek(offset + first)
            digest = hashlib.sha256()
            left = min(PIECE, size - first)
            while left > 0:
                block = file.read(min(left, 1 << 20))
                if not block:
                    raise Problem(f"{path} ends early: elements are missing. Look at the file "
                                  "system.")
                digest.update(block)
                left -= len(block)
        return digest.digest()

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        digests = list(threads.map(piece_digest, range(0, size, PIECE)))
    return hashlib.sha256(b"".join(digests)).hexdigest()
