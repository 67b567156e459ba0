#!/usr/bin/env python3
"""Compiles each public header alone: check_headers.py FOLDER -- COMPILER [OPTION...]

FOLDER holds the headers, as they are included from there. Prints the compiler's messages for each
header that needs another one before it; exits with 1 if any does.
"""

import pathlib
import subprocess
import sys


def compiles_alone(header, command):
    source = f'#include "{header}"\n#include "{header}"\n'
    words = [*command, "-fsyntax-only", "-x", "c++", "-"]
    compiled = subprocess.run(words, input=source, text=True, capture_output=True)
    if compiled.returncode != 0:
        print(f"{header} does not compile alone:\n{compiled.stderr}")
    return compiled.returncode == 0


def main():
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    command = [*sys.argv[3:], "-I", str(folder)]
    headers = [path.relative_to(folder) for path in sorted(folder.rglob("*.h*"))]
    if not headers:
        sys.exit(f"no headers in {folder}")
    broken = [header for header in headers if not compiles_alone(header, command)]
    print(f"{len(headers) - len(broken)} of {len(headers)} headers compile alone")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
