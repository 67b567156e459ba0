#!/usr/bin/env python3
"""Makes the data, the measurements and the pictures of the front page.

front_page.py measure PROGRAM    a climate field by CDO, 86 years of months on half a degree, 1 GiB
                                 and half of it compressed; what CDO, xarray with dask, h5py with
                                 NumPy and warpfold take for the same; prefixes by np.cumsum and by
                                 warpfold. Into FOLDER/measured.json, and draws.
front_page.py rates PROGRAM      on a host with a GPU: GB/s of a sum, of bytes as they are and of a
                                 compressed field, by warpfold on GPU and cores, on the cores alone,
                                 by h5py with CuPy, and of bringing the stored bytes to the GPU
                                 and no more. Into FOLDER/rates.json, and draws.
front_page.py draw               draws what both files have

Every run of `measure` is a process of its own, timed from its start to its end, with the file in memory. The
results of all of them have to agree as far as their arithmetic goes, and warpfold's running sum to
end in the true sum. Needs cdo, and xarray, dask, netCDF4, h5py and NumPy for Python; Matplotlib to
draw.
"""

import argparse
import json
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import host
import measuring

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "examples" / "front_page"
PEER = HERE / "peers" / "climate_field.py"
MONTHS = 1032  # from 1940 to 2025
# Warmest in July in the north.
YEAR = "temp=temp-15*sin(clat(temp)*3.14159265/180)*cos(6.2831853*(cmonth()-1)/12)"
TASKS = {
    "mean": "mean over time",
    "statistics": "min, max, mean and\nstandard deviation over time",
    "running": "running sum of everything",
}
RATES = {
    "f32": "f32 as it is",
    "topo-f32": "height field, f32,\ngzip + shuffle",
    "topo-i16": "height field, i16,\ngzip + shuffle",
}
WAYS = {
    "GPU and cores": "#0b6e99",
    "cores": "#58a4c4",
    "h5py + CuPy": "#9a9a9a",
    "stored bytes to the GPU": "#dddddd",
}
PEERS = ("warpfold", "CDO", "h5py + NumPy", "xarray + dask")
POINTS = 240  # of a curve


def run(*words):
    """The program's output."""
    return subprocess.run(
        [str(word) for word in words], check=True, stdin=subprocess.DEVNULL, text=True,
        capture_output=True, env=measuring.environment(),
    ).stdout  # fmt: skip


def make_field(path, months):
    time_axis = ["-settunits,days", "-settaxis,1940-01-15,00:00,1month"]
    run("cdo", "-f", "nc4", "-z", "zip_4", "-expr," + YEAR, *time_axis, f"-duplicate,{months}",
        "-temp", path)  # fmt: skip


def by_warpfold(program, task, source, target):
    if task == "running":
        return [[program, "scan", source, "temp", "-o", target, "--force", "--quiet"]]
    operations = "mean" if task == "mean" else "min,max,mean,std"
    return [[program, "reduce", source, "temp", "--axis", "0", "--ops", operations, "-o", target,
             "--force", "--quiet"]]  # fmt: skip


def by_cdo(task, source, target):
    names = ["mean"] if task == "mean" else ["min", "max", "mean", "std"]
    return [
        ["cdo", "-s", "-O", "-P", os.cpu_count(), "-f", "nc4", "-z", "zip_0", f"tim{name}", source,
         target.with_suffix(f".{name}.nc")] for name in names
    ]  # fmt: skip


def commands_of(peer, program, task, source, target):
    """The command lines by which a peer does a task."""
    if peer == "warpfold":
        return by_warpfold(program, task, source, target)
    if peer == "CDO":
        return by_cdo(task, source, target)
    how = "xarray" if peer.startswith("xarray") else "h5py"
    return [[sys.executable, PEER, how, task, source, target]]


def seconds_of(commands):
    start = time.perf_counter()
    for words in commands:
        run(*words)
    return time.perf_counter() - start


def result_of(peer, task, target):
    """The running sum, or the means, as each peer's file has them, in a row."""
    import h5py

    name = "running" if task == "running" else "mean"
    if peer == "CDO":
        target = target.with_suffix(".mean.nc")
    with h5py.File(target) as file:
        if peer in ("CDO", "warpfold"):
            name = "temp" if "temp" in file else "temp_mean"
        return file[name][...].ravel()


def check_agreement(task, targets):
    import numpy

    ours = result_of("warpfold", task, targets["warpfold"])
    for peer, target in targets.items():
        if not numpy.allclose(result_of(peer, task, target), ours, rtol=1e-4):
            sys.exit(f"front_page.py: error: {peer} and warpfold disagree on the task {task}")


def measure_tasks(program, source, scratch, repeats):
    """The seconds of each peer's runs at each task, after one that is not counted."""
    seconds = {}
    for task in TASKS:
        peers = [peer for peer in PEERS if peer != "CDO" or task != "running"]  # it has no such sum
        seconds[task] = {peer: [] for peer in peers}
        targets = {peer: scratch / f"{task}-{peer.split()[0]}.nc" for peer in peers}
        for repeat in range(repeats + 1):
            for peer in random.sample(peers, len(peers)):
                took = seconds_of(commands_of(peer, program, task, source, targets[peer]))
                print(f"{task:10}  {peer:13}  {took:7.2f} s", flush=True)
                seconds[task][peer] += [took] * (repeat > 0)
        check_agreement(task, targets)
        for left in scratch.glob(f"{task}-*"):
            left.unlink()
    return seconds


def measure_prefixes(program, source, scratch):
    """Some prefixes of the whole field: np.cumsum's, in its type, and warpfold's."""
    import h5py
    import numpy

    output = scratch / "prefixes.h5"
    run(program, "scan", source, "temp", "-o", output, "--force", "--quiet")
    with h5py.File(source) as file:
        field = file["temp"][...].ravel()
    with h5py.File(output) as file:
        ours = file["temp"][...].ravel()
    output.unlink()
    at = numpy.linspace(0, field.size - 1, POINTS).astype(int)
    theirs = numpy.cumsum(field)[at]
    true = math.fsum(math.fsum(part.tolist()) for part in numpy.array_split(field, 1000))
    if ours[-1] != numpy.float32(true):
        sys.exit(f"front_page.py: error: the last prefix is {ours[-1]}, the sum {true}")
    return {"index": at.tolist(), "np.cumsum": theirs.tolist(), "warpfold": ours[at].tolist(),
            "sum": true}  # fmt: skip


def versions(program):
    import dask
    import h5py
    import numpy
    import xarray

    def first_line(*words):
        ended = subprocess.run(words, capture_output=True, text=True, check=True)
        return (ended.stdout or ended.stderr).splitlines()[0]

    return {"warpfold": first_line(program, "--version"), "CDO": first_line("cdo", "--version"),
            "xarray": xarray.__version__, "dask": dask.__version__, "h5py": h5py.__version__,
            "NumPy": numpy.__version__}  # fmt: skip


def measure(program, months, repeats, scratch):
    measuring.require("dask", "h5py", "netCDF4", "numpy", "xarray")
    measuring.require_program("cdo", "cdo")
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="warpfold-front-page-", dir=scratch))
    try:
        source = scratch / "field.nc"
        make_field(source, months)
        return {
            "months": months,
            "file_bytes": source.stat().st_size,
            "machine": host.facts(scratch),
            "versions": versions(program),
            "seconds": measure_tasks(program, source, scratch, repeats),
            "prefixes": measure_prefixes(program, source, scratch),
        }
    finally:
        shutil.rmtree(scratch)


def median_seconds(program, source, backend, kernels):
    output = run(program, "bench", "ingest", source.path, source.dataset, "--backend", backend,
                 "--kernels", kernels, "--iterations", 7, "--json", "-")  # fmt: skip
    rows = json.loads(output)["results"]
    if any(row["check"] == "wrong" for row in rows):
        raise SystemExit(f"front_page.py: error: {source.name}: WRONG, see `bench ingest`")
    return {row["kernel"]: row["seconds"]["median"] for row in rows if row["operation"] != "statistics"}


def peer_seconds(source):
    output = run(sys.executable, HERE / "peers" / "h5py_reduce.py", source.path, source.dataset,
                 "--repeats", 1)  # fmt: skip
    report = json.loads(output)
    if report["sum"] != source.sum or report["library"] != "CuPy":
        raise SystemExit(f"front_page.py: error: {source.name}: h5py gives {report}")
    return min(report["seconds"])


def measure_rates(program, size, scratch):
    """GB/s of elements, by input and way."""
    import ingest_inputs

    measured = {}
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="warpfold-front-page-", dir=scratch))
    try:
        for name in RATES:
            source = ingest_inputs.make(name, scratch / f"{name}.h5", size)
            # Cores are faster than a GPU with bytes as they are: whoever asks for neither gets them.
            together = "shared" if name != "f32" else "warpfold"
            on_gpu = median_seconds(program, source, "cuda", f"{together},raw")
            on_cores = median_seconds(program, source, "cpu", "warpfold")
            seconds = {"GPU and cores": on_gpu[together], "cores": on_cores["warpfold"],
                       "h5py + CuPy": peer_seconds(source),
                       "stored bytes to the GPU": on_gpu["raw"]}  # fmt: skip
            measured[name] = {way: source.element_bytes / each * 1e-9 for way, each in seconds.items()}
            pathlib.Path(source.path).unlink()
    finally:
        shutil.rmtree(scratch)
    device = run("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").splitlines()[0]
    return {"size": size, "machine": host.facts(scratch), "device": device, "GB/s": measured}


def axes_of(pyplot, width, height):
    figure, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def draw_seconds(pyplot, measured, path):
    figure, axes = axes_of(pyplot, 8, 4.2)
    colors = ("#0b6e99", "#b8b8b8", "#9a9a9a", "#7c7c7c")
    for number, task in enumerate(TASKS):
        for i, (peer, runs) in enumerate(measured["seconds"][task].items()):
            median = statistics.median(runs)
            place = number * 5 + i
            axes.barh(place, median, 0.85, color=colors[PEERS.index(peer)])
            passes = len(by_cdo(task, pathlib.Path(), pathlib.Path("out"))) if peer == "CDO" else 1
            name = f"{peer}, {passes} runs" if passes > 1 else peer
            axes.text(median, place, f" {median:.1f} s   {name}", va="center", fontsize=9)
    axes.set_yticks([number * 5 + 1.5 for number in range(len(TASKS))], TASKS.values())
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.margins(x=0.25)
    cores = measured["machine"]["cores"]
    runs = len(measured["seconds"]["mean"]["CDO"])
    months = measured["months"]
    axes.set_xlabel(
        f"seconds: {months} months of 720 x 360 f32, gzip, {cores} cores, file in memory, "
        f"median of {runs}", fontsize=9,
    )  # fmt: skip
    save(figure, path)


def draw_rates(pyplot, rates, path):
    figure, axes = axes_of(pyplot, 8, 3.8)
    for number, name in enumerate(RATES):
        for i, (way, rate) in enumerate(rates["GB/s"][name].items()):
            place = number * 5 + i
            axes.barh(place, rate, 0.85, color=WAYS[way])
            label = "GPU" if name == "f32" and way == "GPU and cores" else way
            axes.text(rate, place, f" {rate:.1f}   {label}", va="center", fontsize=9)
    axes.set_yticks([number * 5 + 1.5 for number in range(len(RATES))], RATES.values())
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.margins(x=0.35)
    axes.set_xlabel(
        f"GB/s of elements: sum of {rates['size'] >> 30} GiB, one {rates['device']} and "
        f"{rates['machine']['cores']} cores, file in memory, median of 7", fontsize=9,
    )  # fmt: skip
    save(figure, path)


def draw_running_sum(pyplot, measured, path):
    prefixes = measured["prefixes"]
    figure, axes = axes_of(pyplot, 8, 3.4)
    axes.plot(prefixes["index"], prefixes["warpfold"], color="#0b6e99", linewidth=2)
    axes.plot(prefixes["index"], prefixes["np.cumsum"], color="#b03a2e", linewidth=2)
    for name, text, left in (("warpfold", "warpfold scan", -40), ("np.cumsum", "np.cumsum", 0)):
        last = prefixes[name][-1]
        axes.annotate(
            f"{text}: {last:.2e}", (prefixes["index"][-1], last), (left, 6),
            textcoords="offset points", ha="right", va="center" if left else "bottom", fontsize=10,
        )  # fmt: skip
    axes.set_xlabel("elements added (f32, in K)", fontsize=9)
    axes.set_ylabel("running sum (f32)", fontsize=9)
    axes.set_ylim(0)
    axes.set_xlim(0)
    save(figure, path)


def save(figure, path):
    figure.savefig(path, metadata={"Date": None})
    print(path)


def draw(folder):
    measuring.require("matplotlib")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    # Text as text, and the same file from the same measurements.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "warpfold"})
    measured = json.loads((folder / "measured.json").read_text())
    draw_seconds(pyplot, measured, folder / "seconds.svg")
    draw_running_sum(pyplot, measured, folder / "running_sum.svg")
    draw_rates(pyplot, json.loads((folder / "rates.json").read_text()), folder / "rates.svg")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["measure", "rates", "draw"])
    parser.add_argument("program", nargs="?", default="build/release/warpfold")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER, metavar="FOLDER")
    parser.add_argument("--months", type=int, default=MONTHS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--size", default="8G", help="of the inputs of `rates`")
    parser.add_argument("--scratch", default="/dev/shm", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.what == "measure":
        measured = measure(
            arguments.program, arguments.months, arguments.repeats, arguments.scratch
        )
        arguments.folder.mkdir(parents=True, exist_ok=True)
        (arguments.folder / "measured.json").write_text(json.dumps(measured, indent=1) + "\n")
    if arguments.what == "rates":
        rates = measure_rates(arguments.program, measuring.bytes_of(arguments.size), arguments.scratch)
        (arguments.folder / "rates.json").write_text(json.dumps(rates, indent=1) + "\n")
    draw(arguments.folder)


if __name__ == "__main__":
    main()
