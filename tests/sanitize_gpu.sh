#!/usr/bin/env bash
# Runs every kernel under compute-sanitizer, at small sizes: tests/sanitize_gpu.sh BUILD-FOLDER
#
# Prints a line for each tool; exits with 1 if one finds an error or a program fails. What was
# printed lies in BUILD-FOLDER/sanitizer.
#
# SANITIZER     the program; default: compute-sanitizer
# TOOLS         default: "memcheck racecheck synccheck initcheck"
# GTEST_FILTER  the tests to run; default: all but those of many elements or many samples
set -euo pipefail
[[ $# == 1 && -x "$1/gpu_tests" && -x "$1/warpfold-bench" ]] || {
  sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
build=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source jobs/setup.sh

PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
sanitizer=${SANITIZER:-compute-sanitizer}
read -ra tools <<<"${TOOLS:-memcheck racecheck synccheck initcheck}"
many='*Large*:*Many*:*MoreElements*:*MoreThan*:*32Bits*:*Long*:*MiddleSquare*'
many+=':*BesideCpu*:*EqualsTheCpuBackend*:*EqualsASerialScan*:*EverySample*:*AllPatterns*'
many+=':*ReduceLimits*:*EveryRun*:*RunToRun*'
export GTEST_FILTER=${GTEST_FILTER:--$many}
has_command "$sanitizer" || fail "no $sanitizer here: it comes with the CUDA toolkit"
(($(count_gpus) > 0)) || fail "no GPU here"
prepare_mpi
logs=$build/sanitizer
mkdir -p "$logs"

# Name, then what to run.
runs=(
  "tests gpu_tests"
  "bench-reduce warpfold-bench bench reduce --sizes 1K:256K --iterations 1"
  "bench-scan warpfold-bench bench scan --sizes 1K:256K --iterations 1"
  "ladder-reduce warpfold-bench ladder reduce --elements 5003 --iterations 1"
  "ladder-scan warpfold-bench ladder scan --elements 5003 --iterations 1"
  "ladder-atomics warpfold-bench ladder atomics --elements 5003 --iterations 1"
)

# Tests make calls fail on purpose, so errors of the API are theirs to judge.
sanitize() {
  local tool=$1 log=$2 program=$3 options=()
  shift 3
  # It takes what warps hand over by counters, stored with release and loaded with acquire, for
  # hazards.
  [[ $tool != racecheck ]] || options+=(--kernel-name-exclude kernel_substring=exact_scan_kernel)
  "$sanitizer" --tool "$tool" "${options[@]}" --error-exitcode 99 --report-api-errors no \
    "$build/$program" "$@" >"$log" 2>&1
}

status=0
for tool in "${tools[@]}"; do
  failed=()
  begin=$SECONDS
  for run in "${runs[@]}"; do
    read -ra words <<<"$run"
    sanitize "$tool" "$logs/$tool.${words[0]}.log" "${words[@]:1}" || failed+=("${words[0]}")
  done
  if ((${#failed[@]} == 0)); then
    verdict=clean
  else
    verdict="FAILED: ${failed[*]} (see $logs/$tool.*.log)"
    status=1
  fi
  printf '%-10s %5d s  %s\n' "$tool" $((SECONDS - begin)) "$verdict"
done
exit "$status"
