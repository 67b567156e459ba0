#!/usr/bin/env bash
# Runs ranks.py: run_ranks.sh RANKS MPIEXEC PYTHON. Exits with 77 where that has no mpi4py.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ranks=$1 mpiexec=$2 python=$3

"$python" -c 'import mpi4py' 2>/dev/null || { echo "skipped: no mpi4py here"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$mpiexec" -n "$ranks" "$python" -m mpi4py "$folder/ranks.py" "$scratch"
