#!/usr/bin/env python3
"""Checks the order of layers and rooms and the sizes of rooms and files: check_layers.py [ROOT]

src/rooms.toml says what each layer and room may include. Prints FILE:LINE and the rule for each
thing that breaks one; exits with 1 if any does.
"""

import graphlib
import pathlib
import re
import sys
import tomllib

TABLE = pathlib.Path("src/rooms.toml")
MAX_FILES = 25  # in a folder
MAX_LINES = 450  # of a source file

SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh", ".inl"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')

# The library of a header in angle brackets, by its name. A C++ standard header has no dot.
LIBRARY_HEADERS = [
    (r"hdf5(_hl)?\.h|H5\w*\.h", "HDF5"),
    (r"(libdeflate|libaec|blosc|blosc2|b2nd|lz4|zstd(_errors)?)\.h", "compressors"),
    (r"mpi(-ext)?\.h", "MPI"),
    (r"hwloc(/.*|\.h)", "hwloc"),
    (r"(cuda|cub|thrust|cooperative_groups|nv)/.*", "CUDA"),
    (r"(cuda|cooperative_groups|nvtx3|nvml|math_constants|device_)\w*\.(h|hpp)", "CUDA"),
    (r"CLI/.*", "CLI11"),
    (r"fmt/.*", "fmt"),
    (r"nlohmann/.*", "nlohmann-json"),
    (r"benchmark/.*", "Google Benchmark"),
    (r"nanobind/.*", "nanobind"),
    (r"\w*intrin\.h|cpuid\.h|arm_\w+\.h", "SIMD"),
    (r"(sys|linux|asm|netinet)/.*", "system"),
    (r"(unistd|fcntl|fnmatch|glob|pthread|sched|signal|poll|dirent|dlfcn|termios|spawn|malloc)\.h", "system"),
    (r"\w+", "standard"),
    (r"cooperative_groups", "CUDA"),
]


class Place:
    """Layer of a header or source file, and its room if its layer has any."""

    def __init__(self, layer, room=None):
        self.layer = layer
        self.room = room


def place_of(parts):
    """The place of a file by the parts of its path below src/ or include/."""
    if parts[0] == "warpfold":
        return Place("core" if parts[1:2] == ("core",) else "pipeline")
    return Place(parts[0], parts[1] if len(parts) > 2 else None)


def library_of(header):
    for pattern, library in LIBRARY_HEADERS:
        if re.fullmatch(pattern, header):
            return library
    return None


def complaint_about_room(place, included, layer):
    """Why a file of a room may not include one of another room of its layer; none where it may."""
    if place.room is None or included.room in (None, place.room):
        return None
    if included.room in layer["rooms"].get(place.room, []):
        return None
    return f"room {place.layer}/{place.room} may not know room {included.layer}/{included.room}"


def complaint_about_quoted(header, place, is_public, layers):
    """Why a file at `place` may not include "header"; none where it may."""
    parts = pathlib.PurePosixPath(header).parts
    if is_public and parts[0] != "warpfold":
        return f'a public header includes "{header}", which is not installed'
    included = place_of(parts)
    if included.layer not in layers or len(parts) < 2:
        return f'"{header}" names no layer: include it relative to src/ or include/'
    if included.layer == place.layer:
        return complaint_about_room(place, included, layers[place.layer])
    if included.layer not in layers[place.layer]["layers"]:
        return f"layer {place.layer} may not know layer {included.layer}"
    return None


def complaint_about_bracketed(header, place, layers):
    library = library_of(header)
    if library is None:
        return f"<{header}> belongs to no library known to the program"
    if library != "standard" and library not in layers[place.layer]["libraries"]:
        return f"layer {place.layer} may not know {library}"
    return None


def wrong_includes(path, is_public, place, layers):
    """Each forbidden include of a file, as (line number, rule)."""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        match = INCLUDE.match(line)
        if match is None:
            continue
        quoted, bracketed = match.groups()
        if quoted is not None:
            complaint = complaint_about_quoted(quoted, place, is_public, layers)
        else:
            complaint = complaint_about_bracketed(bracketed, place, layers)
        if complaint is not None:
            yield number, complaint


def has_place(place, layers):
    return place.layer in layers and (
        place.room is None or place.room in layers[place.layer].get("rooms", {})
    )


def include_violations(root, layers):
    """Each file outside the layers and rooms, and each include that they forbid."""
    for folder in ("src", "include"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            relative = path.relative_to(root)
            place = place_of(relative.parts[1:]) if len(relative.parts) > 2 else Place(None)
            if not has_place(place, layers):
                yield relative, 1, f"lies in no layer or room that {TABLE} names"
                continue
            for number, rule in wrong_includes(path, folder == "include", place, layers):
                yield relative, number, rule


def table_violations(layers):
    """Circles in the table, and rooms and layers in it that it does not describe."""
    graphs = {"layers": {name: layer["layers"] for name, layer in layers.items()}}
    graphs |= {f"rooms of {name}": layer.get("rooms", {}) for name, layer in layers.items()}
    for what, graph in graphs.items():
        unknown = {used for allowed in graph.values() for used in allowed} - graph.keys()
        if unknown:
            yield TABLE, 1, f"the {what} do not describe {', '.join(sorted(unknown))}"
        try:
            graphlib.TopologicalSorter(graph).prepare()
        except graphlib.CycleError as circle:
            yield TABLE, 1, f"the {what} go in a circle: {' -> '.join(circle.args[1])}"


def size_violations(root):
    """Folders of too many files, and files of too many lines."""
    for top in ("src", "include", "tests"):
        for folder in sorted({path.parent for path in (root / top).rglob("*") if path.is_file()}):
            relative = folder.relative_to(root)
            count = sum(1 for path in folder.iterdir() if path.is_file())
            made = "corpus" in relative.parts or "__pycache__" in relative.parts
            if count > MAX_FILES and not made:
                yield relative, 1, f"holds {count} files, more than {MAX_FILES}"
    for top in ("src", "include"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            lines = len(path.read_text().splitlines())
            if lines > MAX_LINES:
                yield path.relative_to(root), MAX_LINES, f"has {lines} lines, over {MAX_LINES}"


def violations(root):
    """Everything below `root` that breaks a rule, as (path, line number, rule)."""
    layers = tomllib.loads((root / TABLE).read_text())
    return [
        *table_violations(layers),
        *include_violations(root, layers),
        *size_violations(root),
    ]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    found = violations(root)
    for path, number, complaint in found:
        print(f"{path}:{number}: {complaint}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
