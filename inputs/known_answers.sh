#!/usr/bin/env bash
# Makes inputs whose sums are known in closed form and checks warpfold against them.
#
# inputs/known_answers.sh WARPFOLD [FOLDER]   the program; where the files go (default: a new folder,
#                                             removed at the end). A named FOLDER keeps its files.
# LAUNCH="mpirun -np 4" runs the program in ranks.
set -euo pipefail

warpfold=$(realpath -- "${1:?usage: inputs/known_answers.sh WARPFOLD [FOLDER]}")
if (($# > 1)); then
  folder=$2
  mkdir -p "$folder"
else
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
read -r -a launch <<<"${LAUNCH:-}"
run() { "${launch[@]}" "$warpfold" "$@" </dev/null; }

# kind | type | elements | further options | sum
recipes='
iota     | i64  | 10000000 |                            | 49999995000000
iota     | u8   | 25600000 | --chunks 100000 --deflate  | 3264000000
constant | f64  | 10000000 | --value 0.5                | 5000000
constant | i16  | 10000000 | --value -3                 | -30000000
cancel   | f64  | 10000000 |                            | 2500000
cancel   | f32  | 10000001 | --byte-order big           | 2500001
cancel   | bf16 | 8000000  |                            | 2000000
'

failures=0
while IFS='|' read -r kind type elements options expected; do
  [[ -n ${kind// /} ]] || continue
  kind=${kind// /} type=${type// /} elements=${elements// /} expected=${expected// /}
  read -r -a options <<<"$options"
  file=$folder/$kind-$type.h5
  run generate "$kind" "$file" values --type "$type" --shape "$elements" \
    "${options[@]}" --force --quiet
  sum=$(run reduce "$file" values --ops sum --csv - --quiet |
    tail -n 1 | cut -d, -f8)
  verdict=right
  [[ $sum == "$expected" ]] || { verdict="WRONG, expected $expected"; failures=$((failures + 1)); }
  printf '%-9s %-5s %9s elements  sum %-15s %s\n' "$kind" "$type" "$elements" "$sum" "$verdict"
done <<<"$recipes"
((failures == 0)) || exit 1
