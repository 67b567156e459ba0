#!/usr/bin/env bash
# Builds warpfold and runs its main job, from nothing: jobs/quickstart.sh [--keep] [SCRATCH-FOLDER]
#
# Reduces real sea surface temperatures and a generated dataset of 256 MiB, on all cores or a GPU,
# and verifies the results by ranks under mpirun. Scans the generated dataset and verifies the scan's
# last value by the sum. Needs 0.6 GiB in the scratch folder (default: a new one under TMPDIR), which
# is left as it was found unless --keep is given.
set -euo pipefail

keep=false
scratch_parent=${TMPDIR:-/tmp}
for argument in "$@"; do
  case $argument in
    --keep) keep=true ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    -*) echo "error: unknown option $argument. Choose from --keep, --help." >&2; exit 2 ;;
    *) scratch_parent=$(realpath -- "$argument") ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
source jobs/setup.sh

readonly build_folder=build/quickstart
readonly elements=33554432  # of 8 bytes: 256 MiB
readonly needed_kib=$((600 * 1024))

step() { printf '\n== %s\n' "$*"; }

# Shows a command the way a user would type it, then runs it.
show_and_run() {
  printf '$ %s\n' "$*"
  "$@"
}

make_scratch() {
  local free_kib
  mkdir -p "$scratch_parent"
  free_kib=$(df -Pk "$scratch_parent" | awk 'NR == 2 { print $4 }')
  ((free_kib >= needed_kib)) ||
    fail "$scratch_parent has $((free_kib / 1024)) MiB free, the quickstart needs" \
      "$((needed_kib / 1024)) MiB. Name a folder with more as its argument."
  scratch=$(mktemp -d "$scratch_parent/warpfold-quickstart.XXXXXX")
  $keep || trap 'rm -rf "$scratch"' EXIT
}

# The result called `key` of a report in JSON, without quotes.
json_result() {
  local file=$1 key=$2
  json_results "$file" | sed -n "s/.*\"$key\": *\([^,} ]*\).*/\1/p"
}

json_results() { tr -d '\n' <"$1" | grep -o '"results": *{[^}]*}'; }

# Reduces in one process and on ranks, and stops unless the answers are the same bytes.
reduce_and_compare() {
  local alone=$scratch/alone.json together=$scratch/together.json
  show_and_run warpfold reduce "$@" --ops all --timings
  warpfold reduce "$@" --ops all --json "$alone" --quiet
  mpirun -np "$ranks" warpfold reduce "$@" --ops all --json "$together" --quiet "${rank_options[@]}"
  [[ "$(json_results "$alone")" == "$(json_results "$together")" ]] ||
    fail "$*: one process and $ranks ranks disagree"
  printf 'verified: one process and %s ranks give the same bytes\n' "$ranks"
}

verify_scan() {
  local sum last
  sum=$(json_result alone.json sum)
  last=$(json_result scan.json last)
  printf 'sum of the reduction:   %s\nlast value of the scan: %s\n' "$sum" "$last"
  [[ -n "$sum" && "$sum" == "$last" ]] || fail "the scan's last value is not the sum"
  echo "verified: they are equal"
}

step "set up and build"
require build
find_cuda
prepare_mpi
build_target=warpfold_cli
configure_and_build "$build_folder" -DCMAKE_BUILD_TYPE=Release -DWARPFOLD_TESTS=OFF \
  -DWARPFOLD_BENCHMARKS=OFF -DWARPFOLD_FORTRAN=OFF "${cuda_options[@]}"
export PATH=$PWD/$build_folder:$PATH
make_scratch

gpus=0
if [[ " ${cuda_options[*]} " == *WARPFOLD_CUDA=ON* ]]; then
  gpus=$(count_gpus)
fi
# A rank per GPU; on cores where there are fewer than two GPUs.
ranks=$gpus rank_options=()
if ((gpus < 2)); then
  ranks=2 rank_options=(--backend cpu)
fi

step "what was built"
show_and_run warpfold --config

step "real data: monthly sea surface temperatures, packed in 16 bits; land is missing"
reduce_and_compare inputs/sea_surface_temperature.nc sst

cd "$scratch"
step "a dataset of 256 MiB of random f64"
show_and_run warpfold generate uniform big.h5 values --type f64 --shape "$elements" --seed 1

step "its statistics: each is the true value, rounded once"
reduce_and_compare big.h5 values

step "its prefix sums: a scan, 256 MiB in and out"
show_and_run warpfold scan big.h5 values -o prefix-sums.h5 --timings --json scan.json
verify_scan

if $keep; then
  printf '\nkept: %s\n' "$scratch"
fi
printf '\nquickstart: all verified\n'
