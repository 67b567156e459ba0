#!/usr/bin/env bash
# Builds libFuzzer's targets and runs each over the kept corpus, and on for some seconds more:
# tests/fuzz/run.sh BUILD-FOLDER SECONDS. What a target fails on lies in BUILD-FOLDER then, and
# BUILD-FOLDER/fuzz_TARGET FILE runs it again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1 seconds=$2

[[ -e $build/CMakeCache.txt ]] ||
  cmake --preset sanitize -S "$here/../.." -B "$build" -DWARPFOLD_FUZZERS=ON \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" >/dev/null
cmake --build "$build" --target fuzzers
for corpus in "$here"/corpus/*; do
  target=$(basename "$corpus")
  mkdir -p "$build/corpus/$target"
  "$build/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=1024 -timeout=20 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="$build/" "$build/corpus/$target" "$corpus"
done
