#!/usr/bin/env python3
"""Makes the data, the measurements and the pictures of the front page.

front_page.py draw                draws what jobs/figures has
front_page.py prefixes PROGRAM    makes jobs/figures/prefixes.json: prefixes of 86 years of monthly
                                  temperatures on half a degree, 1 GiB, by np.cumsum and by warpfold

jobs/measure_figures.py measures both charts. `rates`, by measure_rates() on a host with a GPU: GB/s of
a sum, of bytes as they are and of a compressed field, by warpfold on GPU and cores, on the cores
alone, by kvikio with nvCOMP and CuPy, by h5py with CuPy, and of bringing the stored bytes to the GPU and no
more. `tools`: seconds
of climate tasks by jobs/compare_tools.py.
"""

import argparse
import importlib.util
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import measuring

HERE = pathlib.Path(__file__).resolve().parent
FOLDER, FIGURES = HERE / "examples" / "front_page", HERE / "figures"
GPU, CORES = "h200", "two_cores"  # the machines of the charts
PEER = HERE / "peers" / "climate_field.py"
MONTHS = 1032  # from 1940 to 2025
# Warmest in July in the north.
YEAR = "temp=temp-15*sin(clat(temp)*3.14159265/180)*cos(6.2831853*(cmonth()-1)/12)"
TASKS = {
    "along time": "mean over time",
    "statistics": "min, max, mean and\nstandard deviation",
    "running sum": "running sum",
}
RATES = {
    "f32": "f32 as it is",
    "topo-f32": "height field, f32,\ngzip + shuffle",
    "topo-i16": "height field, i16,\ngzip + shuffle",
}
WAYS = {
    "GPU and cores": "#0b6e99",
    "cores": "#58a4c4",
    "kvikio + nvCOMP + CuPy": "#7c7c7c",
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


def seconds_of(commands):
    start = time.perf_counter()
    for words in commands:
        run(*words)
    return time.perf_counter() - start


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


def make_prefixes(program, folder, scratch):
    """Makes prefixes.json in a folder."""
    measuring.require("h5py", "numpy")
    measuring.require_program("cdo", "cdo")
    with tempfile.TemporaryDirectory(prefix="warpfold-front-page-", dir=scratch) as made:
        source = pathlib.Path(made) / "field.nc"
        make_field(source, MONTHS)
        prefixes = measure_prefixes(program, source, source.parent)
    (folder / "prefixes.json").write_text(json.dumps(prefixes, indent=1) + "\n")


def median_seconds(program, source, backend, kernels, repeats):
    output = run(program, "bench", "ingest", source.path, source.dataset, "--backend", backend,
                 "--kernels", kernels, "--iterations", repeats, "--json", "-")  # fmt: skip
    rows = json.loads(output)["results"]
    if any(row["check"] == "wrong" for row in rows):
        raise SystemExit(f"front_page.py: error: {source.name}: WRONG, see `bench ingest`")
    return {row["kernel"]: row["seconds"]["median"] for row in rows if row["operation"] != "statistics"}


def peer_run(script, source):
    """The faster of two runs of a peer, in seconds, and its libraries: CuPy compiles kernels in the first one."""
    output = run(sys.executable, HERE / "peers" / script, source.path, source.dataset, "--repeats", 2)
    report = json.loads(output)
    if report["sum"] != source.sum or report["library"] == "NumPy":
        raise SystemExit(f"front_page.py: error: {source.name}: {script} gives {report}")
    return min(report["seconds"]), report["library"]


def measure_rates(program, size, scratch, repeats):
    """GB/s of elements, by input and way; by h5py with CuPy of an eighth of the input, as it is slow."""
    import ingest_inputs

    measured, libraries = {}, {}

    def measure_peer(way, script, source):
        seconds, libraries[way] = peer_run(script, source)
        measured[source.name][way] = source.element_bytes / seconds * 1e-9

    scratch = pathlib.Path(tempfile.mkdtemp(prefix="warpfold-front-page-", dir=scratch))
    try:
        for name in RATES:
            source = ingest_inputs.make(name, scratch / f"{name}.h5", size)
            # Cores are faster than a GPU with bytes as they are: whoever asks for neither gets them.
            together = "shared" if name != "f32" else "warpfold"
            on_gpu = median_seconds(program, source, "cuda", f"{together},raw", repeats)
            on_cores = median_seconds(program, source, "cpu", "warpfold", repeats)
            seconds = {"GPU and cores": on_gpu[together], "cores": on_cores["warpfold"],
                       "stored bytes to the GPU": on_gpu["raw"]}  # fmt: skip
            measured[name] = {way: source.element_bytes / each * 1e-9 for way, each in seconds.items()}
            if name != "f32" and importlib.util.find_spec("kvikio"):
                measure_peer("kvikio + nvCOMP + CuPy", "nvcomp_reduce.py", source)
            pathlib.Path(source.path).unlink()
            small = ingest_inputs.make(name, scratch / f"{name}.h5", size // 8)
            measure_peer("h5py + CuPy", "h5py_reduce.py", small)
            pathlib.Path(small.path).unlink()
    finally:
        shutil.rmtree(scratch)
    return {"size": size, "GB/s": measured, "libraries": libraries}


def axes_of(pyplot, width, height):
    figure, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def draw_seconds(pyplot, record, path):
    seconds = record["figures"]["seconds"]["gzip"]
    figure, axes = axes_of(pyplot, 8, 3.8)
    colors = ("#0b6e99", "#b8b8b8", "#9a9a9a", "#7c7c7c")
    for number, task in enumerate(TASKS):
        peers = [peer for peer in PEERS if peer in seconds[task]]
        for i, peer in enumerate(peers):
            place, median = number * 5 + i, seconds[task][peer]
            axes.barh(place, median, 0.85, color=colors[PEERS.index(peer)])
            axes.text(median, place, f" {median:.2f} s   {peer}", va="center", fontsize=9)
    axes.set_yticks([number * 5 + 1.5 for number in range(len(TASKS))], TASKS.values())
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.margins(x=0.25)
    axes.set_xlabel(
        f"seconds: {record['figures']['steps']} steps of 361 x 720 f32, gzip, {record['machine']['cores']} cores, "
        f"file in memory, median of {record['repeats']}, {record['date']}", fontsize=9,
    )  # fmt: skip
    save(figure, path)


def draw_rates(pyplot, record, path):
    machine, figures = record["machine"], record["figures"]
    figure, axes = axes_of(pyplot, 8, 4.4)
    for number, name in enumerate(RATES):
        rates = figures["GB/s"][name]
        for i, way in enumerate(way for way in WAYS if way in rates):
            place, rate = number * 6 + i, rates[way]
            axes.barh(place, rate, 0.85, color=WAYS[way])
            label = "GPU" if name == "f32" and way == "GPU and cores" else way
            axes.text(rate, place, f" {rate:.1f}   {label}", va="center", fontsize=9)
    axes.set_yticks([number * 6 + 2 for number in range(len(RATES))], RATES.values())
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.margins(x=0.4)
    axes.set_xlabel(
        f"GB/s of elements: sum of {figures['size'] >> 30} GiB, one {machine['gpus'][0].split(',')[0]} and "
        f"{machine['cores']} cores,\nfile in memory, median of {record['repeats']}, {record['date']}", fontsize=9,
    )  # fmt: skip
    save(figure, path)


def draw_running_sum(pyplot, prefixes, path):
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


def record_of(folder, name, part):
    """A record of jobs/figures/NAME.json."""
    return json.loads((folder / f"{name}.json").read_text())["records"][part]


def draw(figures, folder):
    measuring.require("matplotlib")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    # Text as text, and the same file from the same measurements.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "warpfold"})
    draw_seconds(pyplot, record_of(figures, CORES, "tools"), folder / "seconds.svg")
    draw_rates(pyplot, record_of(figures, GPU, "rates"), folder / "rates.svg")
    prefixes = json.loads((figures / "prefixes.json").read_text())
    draw_running_sum(pyplot, prefixes, folder / "running_sum.svg")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["draw", "prefixes"])
    parser.add_argument("program", nargs="?", default="build/release/warpfold")
    parser.add_argument("--figures", type=pathlib.Path, default=FIGURES, metavar="FOLDER")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER, metavar="FOLDER")
    parser.add_argument("--scratch", default="/dev/shm", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.what == "prefixes":
        make_prefixes(arguments.program, arguments.figures, arguments.scratch)
    else:
        draw(arguments.figures, arguments.folder)


if __name__ == "__main__":
    main()
