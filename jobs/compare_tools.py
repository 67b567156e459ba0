#!/usr/bin/env python3
"""Measures warpfold beside the tools that people have for climate data, and what these are off by.

Makes a variable of STEPS x 361 x 720 temperatures around 280 K three times: contiguous, in chunks of
one time step with shuffle and gzip, and packed into i16 likewise. Every run is a process of its own,
timed from its start to its end, the file in memory; the tools take turns, and their medians are
compared. Then each tool's mean of everything and its worst mean over time are compared with the
exact ones. Prints two tables, and with --json FILE both as JSON. Needs h5py and NumPy for Python;
CDO, and xarray with dask, take part where they are installed.
"""

import argparse
import contextlib
import fractions
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import measuring

measuring.require("h5py", "numpy")

import h5py  # noqa: E402
import numpy  # noqa: E402

import front_page  # noqa: E402
import host  # noqa: E402

SHAPE = (361, 720)
SCALE, OFFSET = 0.01, 280.0
INPUTS = {
    "contiguous": {},
    "gzip": {"compression": 4, "shuffle": True, "chunks": (1, *SHAPE)},
    "packed": {"compression": 4, "shuffle": True, "chunks": (1, *SHAPE)},
}
OPERATIONS = "min,max,mean,std"
# What the peers' scripts call it, warpfold's words, and CDO's operators, in runs of their own.
TASKS = {
    "mean": ("all-mean", ["reduce", "--ops", "mean"], [["-timmean", "-fldmean,weights=FALSE"]]),
    "statistics": ("all-statistics", ["reduce", "--ops", OPERATIONS],
                   [["-timmean", "-fldmean,weights=FALSE"], ["-timmin", "-fldmin"],
                    ["-timmax", "-fldmax"]]),
    "along time": ("mean", ["reduce", "--ops", "mean", "--axis", "0"], [["-timmean"]]),
    "along lat, lon": ("fields", ["reduce", "--ops", "mean", "--axis", "1,2"],
                       [["-fldmean,weights=FALSE"]]),
    "running sum": ("running", ["scan"], []),
    "running sum along time": ("running-time", ["scan", "--axis", "0"], [["-timcumsum"]]),
}  # fmt: skip
MISSING = "-"


def make_inputs(folder, steps):
    """The files, and the values of the first two."""
    noise = numpy.random.default_rng(1)
    latitudes = numpy.linspace(-90, 90, SHAPE[0])
    north = 20 * numpy.cos(numpy.radians(latitudes))[:, None]
    values = numpy.empty((steps, *SHAPE), "f4")
    for step in values:
        step[:] = numpy.round(280 + north + noise.normal(0, 3, SHAPE), 2)
    scales = {"time": numpy.arange(steps) * 1.0, "lat": latitudes,
              "lon": numpy.arange(SHAPE[1]) * 0.5}  # fmt: skip
    units = {"time": "hours since 2000-01-01", "lat": "degrees_north", "lon": "degrees_east"}
    paths = {}
    for name, storage in INPUTS.items():
        paths[name] = folder / f"{name}.nc"
        with h5py.File(paths[name], "w") as file:
            for scale, numbers in scales.items():
                file[scale] = numbers
                file[scale].make_scale(scale)
                file[scale].attrs["units"] = units[scale]
            packed = name == "packed"
            stored = numpy.rint((values - OFFSET) / SCALE).astype("i2") if packed else values
            variable = file.create_dataset("temp", data=stored, **storage)
            variable.attrs["units"] = "K"
            if packed:
                variable.attrs.update(scale_factor=SCALE, add_offset=OFFSET)
            for dimension, scale in enumerate(scales):
                variable.dims[dimension].attach_scale(file[scale])
    return paths, values


def tools(ranks):
    found = [front_page.PEERS[0], *[measuring.ranks_text(count) for count in ranks]]
    if shutil.which("cdo"):
        found.append("CDO")
    found.append("h5py + NumPy")
    if all(map(importlib.util.find_spec, ("xarray", "dask", "netCDF4"))):
        found.append("xarray + dask")
    return found


def by_warpfold(program, task, source, target, ranks):
    verb, *words = TASKS[task][1]
    writes = verb == "scan" or "--axis" in words
    output = ["-o", target, "--force", "--quiet"] if writes else ["--json", target, "--quiet"]
    launcher = ["mpirun", "-np", ranks] if ranks else []
    return [[*launcher, program, verb, source, "temp", *words, *output]]


def commands_of(tool, program, task, source, target):
    """The command lines by which a tool does a task; none where it can't."""
    if tool == "CDO":
        words = ["cdo", "-s", "-O", "-P", os.cpu_count(), "-f", "nc4", "-z", "zip_0", "-b", "F32"]
        return [[*words, *operators, source, f"{target}.{number}"]
                for number, operators in enumerate(TASKS[task][2])]  # fmt: skip
    if tool.startswith(("h5py", "xarray")):
        how = tool.split()[0]
        return [[sys.executable, front_page.PEER, how, TASKS[task][0], source, target]]
    ranks = None if tool == "warpfold" else tool.split()[0]
    return by_warpfold(program, task, source, target, ranks)


def measure(program, paths, folder, ranks, repeats):
    """Medians of seconds by input, task and tool."""
    measured = {}
    for name, source in paths.items():
        measured[name] = {}
        for task in TASKS:
            runs = {tool: [] for tool in tools(ranks)}
            for repeat in range(repeats + 1):
                for tool in random.sample(list(runs), len(runs)):
                    commands = commands_of(tool, program, task, source, folder / "result")
                    if commands:
                        took = front_page.seconds_of(commands)
                        runs[tool] += [took] * (repeat > 0 or repeats == 0)
                    for left in folder.glob("result*"):
                        left.unlink()
            measured[name][task] = {
                tool: statistics.median(took) for tool, took in runs.items() if took
            }
            print(f"{name}, {task}: done", file=sys.stderr, flush=True)
    return measured


def exact_means(values):
    """The mean of everything, and those over time, as fractions."""
    unit = 2**24
    whole = (values.astype("f8") * unit).astype("i8")
    if not numpy.array_equal(whole / unit, values):
        raise SystemExit("compare_tools.py: error: values need more bits than are taken")
    columns = [fractions.Fraction(total, unit * len(values))
               for total in whole.sum(axis=0).ravel().tolist()]  # fmt: skip
    return sum(columns) / len(columns), columns


def means_found(tool, program, source, folder, values):
    """What a tool gives by default: the mean of everything, and those over time."""
    if tool == "NumPy":
        return float(values.mean()), values.mean(axis=0).ravel()
    if tool == "xarray":
        import xarray

        field = xarray.open_dataset(source)["temp"]
        return float(field.mean()), field.mean("time").values.ravel()
    found = []
    for task in ("mean", "along time"):
        target = folder / "result"
        front_page.seconds_of(commands_of(tool, program, task, source, target))
        if tool == "warpfold" and task == "mean":
            found.append(json.loads(target.read_text())["results"]["mean"])
        else:
            with h5py.File(f"{target}.0" if tool == "CDO" else target) as file:
                found.append(file["temp"][...].ravel())
    return float(numpy.ravel(found[0])[0]), found[1]


def errors(program, source, values, folder):
    """How far off each tool's means are, in K."""
    mean, columns = exact_means(values)
    off = {}
    for tool in ["warpfold", *[each for each in tools([]) if each == "CDO"], "NumPy",
                 *(["xarray"] if importlib.util.find_spec("xarray") else [])]:  # fmt: skip
        all_mean, found = means_found(tool, program, source, folder, values)
        worst = max(abs(fractions.Fraction(float(each)) - true)
                    for each, true in zip(found, columns))  # fmt: skip
        off[tool] = {
            "mean": float(abs(fractions.Fraction(all_mean) - mean)),
            "worst mean over time": float(worst),
        }
    return off


def versions(program):
    """Of the tools that take part."""
    found = {"warpfold": front_page.run(program, "--version").split()[-1], "h5py": h5py.__version__,
             "NumPy": numpy.__version__}  # fmt: skip
    if shutil.which("cdo"):
        said = subprocess.run(["cdo", "--version"], capture_output=True, text=True)
        found["CDO"] = re.search(r"version (\S+)", said.stdout + said.stderr)[1]
    for name in ("xarray", "dask", "netCDF4"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def print_table(first, columns, rows):
    print(f"{first:36}" + "".join(f"{column:>22}" for column in columns))
    for label, cells in rows:
        print(f"{label:36}" + "".join(f"{cells.get(column, MISSING):>22}" for column in columns))
    print()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", nargs="?", default="build/release/warpfold")
    parser.add_argument("--steps", type=int, default=1035, help="in time; 1035 are 1 GiB")
    parser.add_argument("--repeats", type=int, default=5,
                        help="after a run that counts only where there are 0")  # fmt: skip
    parser.add_argument("--ranks", type=measuring.numbers_of, default=[2], metavar="N,...",
                        help="of warpfold, beside a process alone")  # fmt: skip
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, default=list(INPUTS),
                        help="which are timed; errors are the contiguous one's")  # fmt: skip
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--scratch", default="/dev/shm", metavar="FOLDER")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="warpfold-tools-", dir=arguments.scratch))
    try:
        paths, values = make_inputs(folder, arguments.steps)
        off = errors(arguments.program, paths["contiguous"], values, folder)
        del values
        timed = {name: paths[name] for name in arguments.inputs}
        seconds = measure(arguments.program, timed, folder, arguments.ranks, arguments.repeats)
    finally:
        shutil.rmtree(folder)
    rows = [(f"{name}: {task}", {tool: f"{took:.2f}" for tool, took in took_by.items()})
            for name, tasks in seconds.items() for task, took_by in tasks.items()]  # fmt: skip
    print_table("seconds", tools(arguments.ranks), rows)
    print_table("K off the exact value", ["mean", "worst mean over time"],
                [(tool, {what: f"{each:.1e}" for what, each in wrong.items()})
                 for tool, wrong in off.items()])  # fmt: skip
    if arguments.json:
        report = {"steps": arguments.steps, "repeats": arguments.repeats,
                  "machine": host.facts(arguments.scratch),
                  "versions": versions(arguments.program), "seconds": seconds, "off": off}  # fmt: skip
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
