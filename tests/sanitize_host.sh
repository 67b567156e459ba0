#!/usr/bin/env bash
# Builds the cpu backend with sanitizers and runs unit and whole-program tests under them:
# tests/sanitize_host.sh address|threads BUILD-FOLDER [CMAKE-OPTION...]
#
# SANITIZED_TESTS  a regular expression of ctest's names, in place of those chosen here
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kind=$1 build=$2
shift 2

# What Open MPI itself leaks or shares between threads is left out by its libraries' names.
lists=$root/tests/sanitizers
export LSAN_OPTIONS=suppressions=$lists/leaks.supp:print_suppressions=0
export TSAN_OPTIONS=suppressions=$lists/races.supp:ignore_noninstrumented_modules=1
export UBSAN_OPTIONS=print_stacktrace=1
export WARPFOLD_SANITIZED=$kind

case $kind in
  address)
    preset=sanitize targets=(io_tests rank_tests command_server)
    tests='^(io_tests|rank_tests\.3|program\.(filters|security))'
    # Not all packages of clang have libFuzzer.
    if echo 'extern "C" int LLVMFuzzerTestOneInput() { return 0; }' |
      clang++ -fsanitize=fuzzer,address -x c++ -o /dev/null - 2>/dev/null; then
      set -- -DWARPFOLD_FUZZERS=ON "$@"
      targets+=(fuzzers) tests+='|^fuzz\.targets'
    else
      echo "no clang++ with libFuzzer here: the test fuzz.targets is left out" >&2
    fi
    # lld links in a third of the time.
    if command -v ld.lld >/dev/null; then set -- -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld "$@"; fi
    ;;
  threads)
    preset=sanitize-threads targets=(core_tests cpu_tests rank_tests command_server)
    tests='^(core_tests|cpu_tests|rank_tests\.[23]$|program\.(paths|metrics)|fuzz\.structured)'
    ;;
  *)
    echo "choose address or threads" >&2
    exit 2
    ;;
esac

cmake --preset "$preset" -S "$root" -B "$build" "$@"
cmake --build "$build" --target warpfold_cli warpfold_faults "${targets[@]}"
ctest --test-dir "$build" --output-on-failure --no-tests=error -j 4 -R "${SANITIZED_TESTS:-$tests}"
