#!/usr/bin/env bash
# Builds the examples of global sums (C++, C, Fortran) against an installed build, by CMake's package
# and by pkg-config, and compares what they print: tests/install/host_sums.sh BUILD-FOLDER [SCRATCH]
#
# SCRATCH as for run.sh. PYTHON, CXX, CC, FC: commands to use. Programs in Fortran are built where
# the build has the module.
set -euo pipefail
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$source_folder/installation.sh"
examples=$source_folder/../../jobs/examples/host_sums

build=$(realpath -- "$1")
make_scratch "${@:2}"
build_against "$build" "$examples"

by_pkg_config=$scratch/by_pkg_config
rm -rf "$by_pkg_config"
mkdir "$by_pkg_config"
PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name warpfold.pc)")
export PKG_CONFIG_PATH

# compile COMMAND SOURCE PROGRAM PACKAGE
compile() {
  local flags
  flags=$(pkg-config --cflags --libs "$4")
  # shellcheck disable=SC2086
  $1 "$examples/$2" -o "$by_pkg_config/$3" $flags
}

export LD_LIBRARY_PATH="${PKG_CONFIG_PATH%/pkgconfig}:${LD_LIBRARY_PATH:-}"
compile "${CXX:-c++} -std=c++20" ocean.cpp ocean_cpp warpfold
compile "${CC:-cc} -std=c11" ocean.c ocean_c warpfold
programs=(ocean_cpp ocean_c)
if [[ -e $PKG_CONFIG_PATH/warpfold-fortran.pc ]]; then
  compile "${FC:-mpifort}" ocean.f90 ocean_fortran warpfold-fortran
  programs+=(ocean_fortran)
fi

for folder in "$scratch/program" "$by_pkg_config"; do
  for program in "${programs[@]}"; do
    for ranks in 1 3 4; do
      "$mpiexec" -np "$ranks" "$folder/$program" 20011 |
        "${PYTHON:-python3}" "$source_folder/check_host_sums.py" 20011 "$program, $ranks ranks"
    done
  done
done
echo "programs in ${#programs[@]} languages find the exact sums"
