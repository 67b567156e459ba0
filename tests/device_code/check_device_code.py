#!/usr/bin/env python3
"""Compiles every kernel to machine code for the GPUs that warpfold is written for, V100 first.

Prints registers, static shared memory, stack and spills by file, and writes them by kernel into
FOLDER/kernels.csv. Each architecture is compiled for by the newest of the compilers that knows it,
unless a build did so already (--built).
Exits with 1 if a file does not compile or a production kernel (src/cuda) spills; with 77,
or in CI (CI=true) with 1, if for some architecture no compiler is there. With --markdown nothing is
compiled: the production kernels of the last run are printed as a table for a document.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import sys

import cuda_compiler
import kernel_usage
import report

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRODUCTION = "src/cuda"
FOLDERS = (PRODUCTION, "src/bench")
SKIPPED = 77
CUB = re.compile(r"#\s*include\s*<cub/")
INCLUDED = re.compile(r'#include "(/[^"]+[.]cu)"')


@dataclasses.dataclass(frozen=True)
class Source:
    path: pathlib.Path
    name: str  # "src/cuda/axis/axis_scan.cu", also of a file that a build makes

    def included(self):
        return [pathlib.Path(path) for path in INCLUDED.findall(self.path.read_text())]


def sources_below(base, folder):
    return [Source(path, str(path.relative_to(base))) for path in sorted((base / folder).rglob("*.cu"))]


def kernel_sources(root, built=None, folders=FOLDERS):
    """The files of the program's own kernels, production first. Where a build compiles several as
    one, that one is in their place."""
    merged = sources_below(built, PRODUCTION) if built else []
    parts = {path for source in merged for path in source.included()}
    return merged + [source for folder in folders for source in sources_below(root, folder)
                     if source.path not in parts and not CUB.search(source.path.read_text())]


def log_of_build(built, source):
    """Returns the log that keep_ptxas_log.sh kept when `source` was last compiled in the folder
    `built`; nothing if that was before the source changed."""
    below = pathlib.PurePath(source.name).relative_to("src")
    changed = max(path.stat().st_mtime for path in [source.path, *source.included()])
    for log in built.glob(f"src/CMakeFiles/*.dir/{below}.o.ptxas") if built else ():
        if log.stat().st_mtime > changed:
            return log.read_text()
    return ""


def compile_all(root, compilers, options, jobs, built=None, folders=FOLDERS):
    """The usage of all kernels, and a message for each file that does not compile."""
    options = ["-std=c++20", "-O3", f"-I{root}/src", f"-I{root}/include", *options]

    def compile_one(job):
        source, architecture, compiler = job
        usages = kernel_usage.parse(log_of_build(built, source), source.name, architecture,
                                    compiler.release)
        if usages:
            return usages, None
        done, log = compiler.compile(source.path, architecture, options)
        if done:
            return kernel_usage.parse(log, source.name, architecture, compiler.release), None
        where = f"for sm_{architecture} by CUDA {compiler.release}"
        return [], f"{source.name} does not compile {where}:\n{log}"

    work = [(source, architecture, compiler) for source in kernel_sources(root, built, folders)
            for architecture, compiler in compilers.items()]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(compile_one, work))
    return ([usage for usages, _ in results for usage in usages],
            [message for _, message in results if message])


def production_kernels(usages):
    return [usage for usage in usages if usage.file.startswith(PRODUCTION + "/")]


def complaints_about_spills(usages):
    return [f"{usage.file}: {usage.kernel} spills on sm_{usage.architecture} "
            f"({usage.spill_store_bytes} bytes stored, {usage.spill_load_bytes} loaded)"
            for usage in production_kernels(usages) if usage.spills]


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--nvcc", action="append", metavar="PATH",
                        help="a compiler, may be repeated; default: nvcc")
    parser.add_argument("--architectures", nargs="+", type=int, default=[70, 80, 90])
    parser.add_argument("--built", type=pathlib.Path, metavar="FOLDER",
                        help="a build with these options: what it compiled is not compiled again")
    parser.add_argument("--production", action="store_true", help="leave out benchmarks' kernels")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilations at a time")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the project's folder")
    parser.add_argument("--markdown", action="store_true",
                        help="print the last run's figures of production kernels, compile nothing")
    parser.add_argument("--option", action="append", default=[],
                        help="a further option of nvcc, as --option=-g; may be repeated")
    return parser.parse_args()


def check(arguments):
    at_hand = list(filter(None, map(cuda_compiler.cuda_compiler, arguments.nvcc or ["nvcc"])))
    compilers = {architecture: cuda_compiler.newest_for(architecture, at_hand)
                 for architecture in arguments.architectures}
    lacking = [f"sm_{architecture}" for architecture, found in compilers.items() if found is None]
    if lacking:
        print(f"no compiler here for {', '.join(lacking)} (an nvcc of CUDA 12 knows them all): "
              "name one with --nvcc, or let tests/run.sh fetch it")
        return 1 if os.environ.get("CI") == "true" else SKIPPED

    usages, complaints = compile_all(arguments.root, compilers, arguments.option, arguments.jobs,
                                     arguments.built,
                                     (PRODUCTION,) if arguments.production else FOLDERS)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    report.write_csv(arguments.folder / "kernels.csv", usages)
    print(report.file_table(usages))
    if not production_kernels(usages):
        complaints.append(f"no kernels in {arguments.root / PRODUCTION}")
    complaints += complaints_about_spills(usages)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


def main():
    arguments = parse_arguments()
    if arguments.markdown:
        usages = report.read_csv(arguments.folder / "kernels.csv")
        print(report.markdown(production_kernels(usages)))
        return 0
    return check(arguments)


if __name__ == "__main__":
    sys.exit(main())
