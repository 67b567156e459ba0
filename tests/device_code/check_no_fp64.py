#!/usr/bin/env python3
"""Checks in the machine code of a build that sums of f32 and f64, and exact scans by integers, have no
FP64 instruction.

BUILD is the build's folder. Exits with 1 if such a kernel has one, or if there is none; with 77 if
there is no cuobjdump and nvdisasm to disassemble with: those of the CUDA toolkit, or of the packages
nvidia-cuda-cuobjdump and nvidia-cuda-nvdisasm of PyPI, on the PATH.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
FP64 = re.compile(r"\b(?:DADD|DFMA|DMMA|DMNMX|DMUL|DSET|DSETP)\b|\.F64\b|\.64H\b")
INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(.*?);", re.MULTILINE)
SUM = re.compile(r"13reduce_kernelI([fd])\w*\dSumReduce")
SCAN = re.compile(r"17exact_scan_kernelI\w*17IntegerArithmetic")
STATISTICS = re.compile(r"13reduce_kernelId\w*\dMomentsReduce")


def kernels(sass):
    """Pairs of the mangled name and the instructions of each kernel."""
    parts = re.split(r"^\s+Function : (\S+)$", sass, flags=re.MULTILINE)
    return [(name, INSTRUCTION.findall(code)) for name, code in zip(parts[1::2], parts[2::2])]


def complaints(sass):
    """Complaints about the kernels of a disassembly."""
    found = {name: [line for line in code if FP64.search(line)] for name, code in kernels(sass)}
    sums = {name: lines for name, lines in found.items() if SUM.search(name)}
    scans = {name: lines for name, lines in found.items() if SCAN.search(name)}
    wrong = [f"{name}: {lines[0]}" for name, lines in (sums | scans).items() if lines]
    if not scans:
        wrong.append("the scans by integers are not among the kernels")
    if {SUM.search(name)[1] for name in sums} != {"f", "d"}:
        wrong.append("the sums of f32 and f64 are not among the kernels")
    if not any(STATISTICS.search(name) and lines for name, lines in found.items()):
        wrong.append("no FP64 instruction is recognised in the statistics of f64")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD")
    arguments = parser.parse_args()
    if not shutil.which("cuobjdump") or not shutil.which("nvdisasm"):
        print("no cuobjdump and nvdisasm here to disassemble kernels with: put them on the PATH")
        return SKIPPED
    objects = [path for room in ("reduce", "exact_scan")
               for path in sorted(arguments.build.glob(f"src/CMakeFiles/*.dir/cuda/{room}/*.cu.o"))]
    sass = "".join(subprocess.run(["cuobjdump", "-sass", path], text=True, capture_output=True,
                                  check=True).stdout for path in objects)
    wrong = complaints(sass)
    for complaint in wrong:
        print(complaint, file=sys.stderr)
    print(f"{len(kernels(sass))} kernels of {len(objects)} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
