"""Where a measurement comes from: program, commit, machine."""

import dataclasses
import hashlib
import os
import pathlib
import shlex
import shutil

import host

from .launch import launch, output_of
from .problem import Problem

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
OF_THE_HOST = ("GPUs", "cores", "CPU kernels")  # what `--config` tells of where it runs
ALLOWED = "Cpus_allowed_list"
SETTINGS = ("CUDA_", "HCOLL_", "HDF5_", "NCCL_", "OMPI_MCA_", "PMIX_MCA_", "UCX_")


@dataclasses.dataclass(frozen=True)
class Program:
    """The program that is measured."""

    path: str
    version: str
    build: str  # what `--config` tells of the build
    digest: str  # of its file and of warpfold-bench beside it

    def as_json(self):
        return dataclasses.asdict(self)


def digest_of(path):
    program = pathlib.Path(path).resolve()
    files = (program, program.with_name("warpfold-bench"))
    return hashlib.sha256(b"".join(each.read_bytes() for each in files if each.exists())).hexdigest()


def program_at(name):
    path = shutil.which(name)
    if path is None:
        raise Problem(f"no program '{name}'. Name the one that was built by --program.")
    path = os.path.abspath(path)
    ending = launch([path, "--config"], 60)
    lines = [line.rstrip() for line in ending.stdout.splitlines()]
    if ending.status != 0 or not lines:
        raise Problem(f"'{path} --config' fails: {ending.reason} Build the program for this "
                      "machine.")
    build = "\n".join(line for line in lines[1:] if not line.startswith(OF_THE_HOST))
    return Program(path, lines[0].removeprefix("warpfold "), build, digest_of(path))


def commit():
    """Of the repository that these scripts lie in; marked where something was changed since."""
    git = ["git", "-C", str(REPOSITORY)]
    found = output_of([*git, "rev-parse", "--short=8", "HEAD"])
    if found is None:
        return "unknown"
    changed = output_of([*git, "status", "--porcelain", "--untracked-files=no"])
    return found + ("-dirty" if changed else "")


def machine_of(scratch):
    """The host that this runs on, and the file system of datasets."""
    return {
        **host.facts(scratch),
        "mpirun": (output_of(["mpirun", "--version"]) or "none").splitlines()[0],
        "settings": {name: value for name, value in sorted(os.environ.items())
                     if name.startswith(SETTINGS)},
    }  # fmt: skip


def launcher_words(launcher, ranks):
    return [word.replace("{ranks}", str(ranks)) for word in shlex.split(launcher)]


def places_of(launcher, ranks):
    """Names of the hosts that a number of ranks run on, in the order of the ranks, and the sets of
    processors that ranks are bound to."""
    words = launcher_words(launcher, ranks)
    ending = launch([*words, "sh", "-c", f"echo $(uname -n) $(grep {ALLOWED} /proc/self/status)"], 300)
    if ending.status != 0:
        raise Problem(f"'{shlex.join(words)}' starts no {ranks} ranks: {ending.reason} Choose "
                      "--launcher and --ranks as this machine allows.")
    places = [line.split() for line in ending.stdout.splitlines() if line.strip()]
    return tuple(list(dict.fromkeys(place[each] for place in places)) for each in (0, -1))
