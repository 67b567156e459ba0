#!/usr/bin/env bash
# Sets the machine up, builds warpfold and passes its tests: tests/run.sh [--quick]
#
# --quick                      builds without sanitizers and passes a part of the tests, in two minutes
#
# WARPFOLD_CUDA_ARCHITECTURES  GPU architectures to compile for ("70;90"); default: those of the
#                              GPUs here, 90 where there is none
# CTEST_OPTIONS                further options of ctest ("-L gpu")
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source jobs/setup.sh

quick=
if [[ ${1:-} == --quick ]]; then quick=quick; fi

# What the host code's tests under sanitizers do without.
fetch_further_needs() {
  require further-test
  want "the Fortran module" fortran
  want "simulations of scaling studies" simulation
  want "batch scripts in a Slurm cluster" slurm
  want "tests of the package for Python" python
  want_python_package build/python
  [[ $quick ]] || fetch_cuda12 build/test/cuda12
}

first_uses=(build test)
can_install || first_uses+=(further-test)
require "${first_uses[@]}"
find_cuda
find_python
prepare_mpi
fetch_further_needs &
fetching=$!

common_options=(-DCMAKE_BUILD_TYPE=Release "-DPython3_EXECUTABLE=$(command -v "$python")")
# The host's kernels, where the time is, keep their own -O3.
(($(count_gpus) > 0)) ||
  common_options+=(-DWARPFOLD_SAMPLE_KERNELS=ON "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG")

if [[ ! $quick ]]; then
  say "== addresses, undefined behaviour and parallel HDF5 =="
  # Stack traces without lines take the compiler a fifth less time.
  tests/sanitize_host.sh address build/test-sanitize -DHDF5_PREFER_PARALLEL=ON \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 "-DPython3_EXECUTABLE=$(command -v "$python")"
fi

say "== ${quick:-all} tests =="
wait $fetching || fail "what tests need could not be installed: see above"
# There by now; what it sets does not come back from the background.
want_python_package build/python
configure_and_build build/test "${common_options[@]}" "${cuda_options[@]}" "${python_options[@]}"
# Tests wait for mpirun and the disk half of their time: four at a time fill two cores.
# shellcheck disable=SC2086
ctest --test-dir build/test --output-on-failure --no-tests=error -j 4 ${quick:+-L $quick} \
  ${CTEST_OPTIONS:-}
