# Sourced by the tests that use an installed warpfold. CMAKE, MPIEXEC: the commands to use, from the
# environment.
cmake=${CMAKE:-cmake}
mpiexec=${MPIEXEC:-mpirun}

# make_scratch [FOLDER]: sets `scratch`, emptied of what the tests put there; without FOLDER a new
# one, removed at the end.
make_scratch() {
  if (($# > 0)); then
    scratch=$1
    rm -rf "$scratch/prefix" "$scratch/without" "$scratch/program" "$scratch/data"
  else
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
  fi
  mkdir -p "$scratch/data"
  scratch=$(realpath -- "$scratch")
}

# build_against BUILD SOURCE: installs BUILD under $scratch/prefix and builds the project of another
# that is in SOURCE in $scratch/program, with the build's own generator: the default one may be
# missing.
build_against() {
  local build=$1 source=$2 generator
  "$cmake" --install "$build" --prefix "$scratch/prefix"
  generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")
  "$cmake" -S "$source" -B "$scratch/program" -G "$generator" \
    -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_BUILD_TYPE=Release
  "$cmake" --build "$scratch/program"
}
