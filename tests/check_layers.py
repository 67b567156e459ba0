#!/usr/bin/env python3
"""Checks that each layer includes only what the architecture allows it: check_layers.py [ROOT]

Prints FILE:LINE and the rule for each include that breaks one; exits with 1 if any does.
"""

import pathlib
import re
import sys

SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')

# The layers that a layer's files may include, beside their own.
LAYERS = {
    "core": set(),
    "io": {"core"},
    "cpu": {"core"},
    "cuda": {"core"},
    "mpi": {"core"},
    "pipeline": {"core", "io", "cpu", "cuda", "mpi"},
    "bench": {"core", "io", "cpu", "cuda", "mpi", "pipeline"},
    "cli": {"core", "io", "cpu", "cuda", "mpi", "pipeline", "bench"},
}

# The libraries that a layer's files may include, beside the standard library's headers.
LIBRARIES = {
    "core": set(),
    "io": {"system", "HDF5", "compressors"},
    "cpu": {"system", "SIMD", "hwloc"},
    "cuda": {"system", "CUDA", "hwloc"},
    "mpi": {"system", "MPI"},
    "pipeline": {"system", "MPI", "hwloc", "fmt", "nlohmann-json"},
    "bench": {"system", "MPI", "CUDA", "hwloc", "fmt", "nlohmann-json", "Google Benchmark"},
    "cli": {"system", "MPI", "HDF5", "CUDA", "hwloc", "CLI11", "fmt", "nlohmann-json"},
}

# The library of a header in angle brackets, by its name. A C++ standard header has no dot.
LIBRARY_HEADERS = [
    (r"hdf5(_hl)?\.h|H5\w*\.h", "HDF5"),
    (r"(libdeflate|lz4|zstd|lzf)\.h", "compressors"),
    (r"mpi(-ext)?\.h", "MPI"),
    (r"hwloc(/.*|\.h)", "hwloc"),
    (r"(cuda|cub|thrust|cooperative_groups|nv)/.*", "CUDA"),
    (r"(cuda|cooperative_groups|nvtx3|nvml|math_constants|device_)\w*\.(h|hpp)", "CUDA"),
    (r"CLI/.*", "CLI11"),
    (r"fmt/.*", "fmt"),
    (r"nlohmann/.*", "nlohmann-json"),
    (r"benchmark/.*", "Google Benchmark"),
    (r"\w*intrin\.h|cpuid\.h|arm_\w+\.h", "SIMD"),
    (r"(sys|linux|asm|netinet)/.*", "system"),
    (r"(unistd|fcntl|fnmatch|pthread|sched|signal|poll|dirent|dlfcn|termios|spawn)\.h", "system"),
    (r"\w+", "standard"),
    (r"cooperative_groups", "CUDA"),
]


def layer_of(path):
    """The layer of a file, from its path relative to the root; none for others."""
    if path.parts[:2] == ("include", "warpfold"):
        return "core" if path.parts[2:3] == ("core",) else "pipeline"
    if path.parts[0] == "src" and len(path.parts) > 2:
        return path.parts[1]
    return None


def library_of(header):
    for pattern, library in LIBRARY_HEADERS:
        if re.fullmatch(pattern, header):
            return library
    return None


def complaint_about_quoted(header, layer, is_public):
    """Why a file of `layer` may not include "header"; none where it may."""
    parts = pathlib.PurePosixPath(header).parts
    if parts[0] == "warpfold":
        included = "core" if parts[1] == "core" else "pipeline"
    elif is_public:
        return f'a public header includes "{header}", which is not installed'
    else:
        included = parts[0]
    if included not in LAYERS or len(parts) < 2:
        return f'"{header}" names no layer: include it relative to src/ or include/'
    if included != layer and included not in LAYERS[layer]:
        return f"layer {layer} may not know layer {included}"
    return None


def complaint_about_bracketed(header, layer):
    library = library_of(header)
    if library is None:
        return f"<{header}> belongs to no library known to the program"
    if library != "standard" and library not in LIBRARIES[layer]:
        return f"layer {layer} may not know {library}"
    return None


def violations(root):
    """Each forbidden include below `root`, as (path, line number, rule)."""
    found = []
    for folder in ("src", "include"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            relative = path.relative_to(root)
            layer = layer_of(relative)
            if layer not in LAYERS:
                found.append((relative, 1, "lies in no layer's folder"))
                continue
            for number, line in enumerate(path.read_text().splitlines(), start=1):
                match = INCLUDE.match(line)
                if match is None:
                    continue
                quoted, bracketed = match.groups()
                if quoted is not None:
                    complaint = complaint_about_quoted(quoted, layer, folder == "include")
                else:
                    complaint = complaint_about_bracketed(bracketed, layer)
                if complaint is not None:
                    found.append((relative, number, complaint))
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    found = violations(root)
    for path, number, complaint in found:
        print(f"{path}:{number}: {complaint}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
