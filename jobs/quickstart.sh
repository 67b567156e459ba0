#!/usr/bin/env bash
# Builds warpfold and runs its main job, from nothing: jobs/quickstart.sh [--keep] [SCRATCH-FOLDER]
#
# Reduces a real coastline database and a generated dataset of 1 GiB under mpirun, scans the big
# one, and verifies the scan's last value against the sum. Needs 2.2 GiB in the scratch folder
# (default: a new one under TMPDIR), which is left as it was found unless --keep is given.
set -euo pipefail

keep=false
scratch_parent=${TMPDIR:-/tmp}
for argument in "$@"; do
  case $argument in
    --keep) keep=true ;;
    -h | --help) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    -*) echo "error: unknown option $argument. Choose from --keep, --help." >&2; exit 2 ;;
    *) scratch_parent=$(realpath -- "$argument") ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
source jobs/setup.sh

readonly build_folder=build/quickstart
readonly elements=134217728  # of 8 bytes: 1 GiB
readonly needed_kib=$((2200 * 1024))

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

# Reduces with one rank and with all of them, and stops unless the answers are the same bytes.
reduce_and_compare() {
  local file=$1 dataset=$2 name=$3
  show_and_run mpirun -np "$ranks" "$warpfold" reduce "$file" "$dataset" --ops all
  mpirun -np "$ranks" "$warpfold" reduce "$file" "$dataset" --ops all \
    --json "$scratch/$name.json" --quiet
  "$warpfold" reduce "$file" "$dataset" --ops all --json "$scratch/$name-alone.json" --quiet
  [[ "$(json_results "$scratch/$name.json")" == "$(json_results "$scratch/$name-alone.json")" ]] ||
    fail "$dataset: $ranks ranks and one disagree"
  printf 'verified: %s ranks and one give the same bytes\n' "$ranks"
}

verify_scan() {
  local sum last
  sum=$(json_result "$scratch/big.json" sum)
  last=$(json_result "$scratch/scan.json" last)
  printf 'sum of the reduction:   %s\nlast value of the scan: %s\n' "$sum" "$last"
  [[ -n "$sum" && "$sum" == "$last" ]] || fail "the scan's last value is not the sum"
  echo "verified: they are equal"
}

step "set up and build"
require build data
find_cuda
prepare_mpi
configure_and_build "$build_folder" -DCMAKE_BUILD_TYPE=Release -DWARPFOLD_TESTS=OFF \
  -DWARPFOLD_BENCHMARKS=OFF "${cuda_options[@]}"
warpfold=$PWD/$build_folder/warpfold
make_scratch

gpus=0
if [[ " ${cuda_options[*]} " == *WARPFOLD_CUDA=ON* ]]; then
  gpus=$(count_gpus)
fi
ranks=$((gpus > 0 ? gpus : 2))

step "what was built"
show_and_run "$warpfold" --config

step "real data: the areas of the world's shores, in square kilometres, and their points"
coastlines=$coastline_folder/binned_GSHHS_i.nc
reduce_and_compare "$coastlines" The_km_squared_area_of_polygons areas
reduce_and_compare "$coastlines" Relative_latitude_from_SW_corner_of_bin latitudes

step "a dataset of 1 GiB, written by $ranks ranks"
show_and_run mpirun -np "$ranks" "$warpfold" generate uniform "$scratch/big.h5" /values \
  --type i64 --shape "$elements" --seed 1
reduce_and_compare "$scratch/big.h5" /values big

step "its running sum: a scan, 1 GiB in and 1 GiB out"
show_and_run mpirun -np "$ranks" "$warpfold" scan "$scratch/big.h5" /values \
  -o "$scratch/running-sum.h5" --json "$scratch/scan.json" --timings
verify_scan

if $keep; then
  printf '\nkept: %s\n' "$scratch"
fi
printf '\nquickstart: all verified\n'
