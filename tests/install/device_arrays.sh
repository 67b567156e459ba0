#!/usr/bin/env bash
# Builds the example for arrays in device memory against an installed build, and runs it where there
# is a GPU: tests/install/device_arrays.sh BUILD-FOLDER [SCRATCH]
#
# SCRATCH as for run.sh. Exits with 77 where the example builds but no GPU is there to run it on.
set -euo pipefail
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$source_folder/installation.sh"

build=$(realpath -- "$1")
make_scratch "${@:2}"
build_against "$build" "$source_folder/../../jobs/examples/device_arrays"

if "$scratch/prefix/bin/warpfold" --config | grep -q '^GPUs *none'; then
  echo "no GPU to run the example on"
  exit 77
fi
expected=
for ranks in 1 2 4; do
  output=$("$mpiexec" -np "$ranks" "$scratch/program/device_arrays" 1000003)
  printf '%s\n' "$output"
  values=$(sed -n 's/^\(sum\|last prefix\) *\([^ ,]*\).*/\2/p' <<<"$output")
  if [[ -n $expected && $values != "$expected" ]]; then
    echo "error: $ranks ranks found other values than fewer did" >&2
    exit 1
  fi
  expected=$values
done
echo "the example finds the same bits with 1, 2 and 4 ranks"
