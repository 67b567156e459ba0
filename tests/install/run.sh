#!/usr/bin/env bash
# Installs a build and uses it from another project: tests/install/run.sh BUILD-FOLDER [SCRATCH]
#
# SCRATCH receives the installation and the consumer; default: a new folder, removed afterwards.
set -euo pipefail
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$source_folder/installation.sh"

build=$(realpath -- "$1")
make_scratch "${@:2}"
build_against "$build" "$source_folder"

data=$scratch/data
"$scratch/prefix/bin/warpfold" --version
"$mpiexec" -np 2 "$scratch/prefix/bin/warpfold" generate iota "$data/in.h5" values \
  --type i64 --shape 100000
for ranks in 1 2; do
  "$mpiexec" -np "$ranks" "$scratch/program/consumer" "$data/in.h5" values "$data/out-$ranks.h5"
done
echo "the installed library and program work"
