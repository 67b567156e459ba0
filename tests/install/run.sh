#!/usr/bin/env bash
# Installs a build and uses it from another project: tests/install/run.sh BUILD-FOLDER [SCRATCH]
#
# SCRATCH receives the installation and the consumer; default: a new folder, removed afterwards.
# CMAKE, MPIEXEC: the commands to use, from the environment.
set -euo pipefail

build=$(realpath -- "$1")
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cmake=${CMAKE:-cmake}
mpiexec=${MPIEXEC:-mpirun}

if (($# > 1)); then
  scratch=$2
  rm -rf "$scratch/prefix" "$scratch/consumer" "$scratch/data"
else
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
fi
mkdir -p "$scratch/data"
scratch=$(realpath -- "$scratch")

"$cmake" --install "$build" --prefix "$scratch/prefix"
# With the build's own generator: the default one, make, may be missing.
generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")
"$cmake" -S "$source_folder" -B "$scratch/consumer" -G "$generator" \
  -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_BUILD_TYPE=Release
"$cmake" --build "$scratch/consumer"

data=$scratch/data
"$scratch/prefix/bin/warpfold" --version
"$mpiexec" -np 2 "$scratch/prefix/bin/warpfold" generate iota "$data/in.h5" values \
  --type i64 --shape 100000
for ranks in 1 2; do
  "$mpiexec" -np "$ranks" "$scratch/consumer/consumer" "$data/in.h5" values "$data/out-$ranks.h5"
done
echo "the installed library and program work"
