#!/usr/bin/env python3
"""Checks in the machine code of a build that reductions, also by labels and along axes, exact scans
by integers, and kernels for chunks (but for packed elements) have no FP64 instruction.

BUILD is the build's folder. Exits with 1 if such a kernel has one, or if one is missing; with 77 if
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
ROOMS = ("reduce", "exact_scan", "axis", "chunks", "labels")
WITH_FP64 = ("9ByDoublesE", "16DoubleArithmetic", "13unpack_kernel")
EXPECTED = [kernel for element in "fd" for kernel in (
    *(f"13reduce_kernelI{element}NS1_{len(kind)}{kind}ENS1_10ByIntegersE"
      for kind in ("SumReduce", "ExtremaReduce", "MomentsReduce", "WholeReduce")),
    f"22reduce_selected_kernelI{element}NS1_10ByIntegersE",
    rf"17exact_scan_kernelI{element}\w*17IntegerArithmetic",
    f"13decode_kernelI{element}E",
    f"17sum_labels_kernelI{element}NS", f"16find_keys_kernelI{element}E",
    f"18find_places_kernelI{element}E", f"20choose_window_kernelI{element}E")]
EXPECTED += [f"21reduce_columns_kernelINS0_14ComparedDoubleELNS1_10ReduceKindE{kind}E"
             for kind in range(4)]
EXPECTED += ["20merge_columns_kernel", "21expand_columns_kernel"]
EXPECTED += [rf"{kernel}_kernelINS2_(?:8FloatSum|15RunningExtremumINS0_14ComparedDouble)E"
             for kernel in ("21total_segments", "23combine_segments", "21write_prefixes")]


def kernels(sass):
    """Pairs of the mangled name and the instructions of each kernel."""
    parts = re.split(r"^\s+Function : (\S+)$", sass, flags=re.MULTILINE)
    return [(name, INSTRUCTION.findall(code)) for name, code in zip(parts[1::2], parts[2::2])]


def complaints(sass):
    """Complaints about the kernels of a disassembly."""
    found = {name: [line for line in code if FP64.search(line)] for name, code in kernels(sass)}
    wrong = [f"{name}: {lines[0]}" for name, lines in found.items()
             if lines and not any(kind in name for kind in WITH_FP64)]
    wrong += [f"{kernel} is not among the kernels" for kernel in EXPECTED
              if not any(re.search(kernel, name) for name in found)]
    wrong += [f"no FP64 instruction is recognised in the kernels {kind}" for kind in WITH_FP64
              if not any(kind in name and lines for name, lines in found.items())]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD")
    arguments = parser.parse_args()
    if not shutil.which("cuobjdump") or not shutil.which("nvdisasm"):
        print("no cuobjdump and nvdisasm here to disassemble kernels with: put them on the PATH")
        return SKIPPED
    objects = [path for path in sorted(arguments.build.glob("src/CMakeFiles/*.dir/cuda/**/*.cu.o"))
               if path.as_posix().split(".dir/cuda/")[1].startswith(ROOMS)]
    sass = "".join(subprocess.run(["cuobjdump", "-sass", path], text=True, capture_output=True,
                                  check=True).stdout for path in objects)
    wrong = complaints(sass)
    for complaint in wrong:
        print(complaint, file=sys.stderr)
    print(f"{len(kernels(sass))} kernels of {len(objects)} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
