# shellcheck shell=bash disable=SC2034
# Sets a machine up to build, test and try warpfold. Sourced, not run. A USE is one of dependencies.txt.
#
# require USE...           installs what is missing with apt where root or sudo allows it; elsewhere
#                          names the Debian packages, Spack specs and modules missing, and exits 1
# want WHAT-FOR USE...     does so too, but where it can't, says what is omitted and goes on
# configure_and_build FOLDER [CMAKE-OPTION...]
#                          builds everything, or build_target alone if that is set
# find_cuda                puts nvcc on the path if a toolkit is installed, sets cuda_options
# fetch_cuda12 FOLDER      puts an nvcc of CUDA 12 there if the one here no longer compiles for the
#                          V100; says why where it cannot
# find_python              sets python to one with the modules that the tests import
# want_python_package FOLDER  puts an environment of that python there that builds the package for
#                          Python, and sets python_options for cmake; says so where it can't
# prepare_mpi              lets mpirun start as root, inside containers and on few cores
# count_gpus               prints how many GPUs this host has

readonly coastline_folder="${WARPFOLD_COASTLINES:-/usr/share/gmt-gshhg}"

dependencies=$(realpath "$(dirname "${BASH_SOURCE[0]}")")/dependencies.txt
readonly dependencies

say() { printf '%s\n' "$*" >&2; }
fail() { say "error: $*"; exit 1; }
has_command() { command -v "$1" >/dev/null 2>&1; }
has_python_module() { has_command python3 && python3 -c "import $1" >/dev/null 2>&1; }
has_python_headers() {
  has_command python3 &&
    [[ -e $(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h ]]
}
has_coastlines() { [[ -r "$coastline_folder/binned_GSHHS_l.nc" ]]; }

compiles_cxx20() {
  has_command c++ && printf '#include <span>\n' | c++ -std=c++20 -fsyntax-only -x c++ - 2>/dev/null
}

cmake_is_recent() {
  has_command cmake || return 1
  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
  [[ $(printf '3.25\n%s\n' "$version" | sort -V | head -n 1) == 3.25 ]]
}

has_header() {
  local prefix folder
  local prefixes=${CMAKE_PREFIX_PATH:-}:${HDF5_ROOT:-}:/usr/local:/usr
  local folders=${CPATH:-}:${CPLUS_INCLUDE_PATH:-}
  for prefix in ${prefixes//[:;]/ }; do
    folders+=:$prefix/include
  done
  for folder in ${folders//:/ }; do
    [[ -e "$folder/$1" ]] && return 0
  done
  return 1
}

is_debian() { has_command dpkg-query && has_command apt-get; }

is_satisfied() {
  local package=$1 probe=$2
  if is_debian &&
    dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^.i'; then
    return 0
  fi
  $probe
}

# Prints the Debian packages that are listed for one of these uses, each once.
packages_for() {
  awk -F ' *[|] *' -v uses="$*" '
    BEGIN { split(uses, wanted, " ") }
    !/^#/ { for (i in wanted) if (index(" " $1 " ", " " wanted[i] " ")) { print $2; next } }' "$dependencies"
}

# Prints column `column` (3 Spack spec, 4 module, 5 probe) of a Debian package's row.
dependency_column() {
  local package=$1 column=$2
  awk -F ' *[|] *' -v package="$package" -v column="$column" '$2 == package { print $column }' "$dependencies"
}

become_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

can_become_root() {
  [[ $(id -u) == 0 ]] || { has_command sudo && sudo -n true 2>/dev/null; }
}

refuse_missing() {
  local package specs=() modules=()
  for package in "$@"; do
    specs+=("$(dependency_column "$package" 3 | sed 's/ //g')")
    modules+=("$(dependency_column "$package" 4)")
  done
  say "error: missing here, and there is no root or passwordless sudo with apt to install it:"
  say "  Debian, Ubuntu:  apt-get install $*"
  say "  Spack:           spack install $(printf '%s\n' "${specs[@]}" | sort -u | tr '\n' ' ')"
  say "  usual modules:   module load $(printf '%s\n' "${modules[@]}" | sort -u | tr '\n' ' ')"
  exit 1
}

# Sets missing to those packages for these uses that are not there.
find_missing() {
  local package
  missing=()
  for package in $(packages_for "$@"); do
    is_satisfied "$package" "$(dependency_column "$package" 5)" || missing+=("$package")
  done
}

can_install() { is_debian && can_become_root; }

update_package_lists() {
  [[ ${package_lists_are_new:-} ]] || become_root apt-get update -qq && package_lists_are_new=yes
}

install_packages() {
  say "installing: $*"
  update_package_lists &&
    become_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "$@" >&2
}

require() {
  local missing
  find_missing "$@"
  ((${#missing[@]} == 0)) && return 0
  can_install || refuse_missing "${missing[@]}"
  install_packages "${missing[@]}"
}

want() {
  local purpose=$1 missing
  shift
  find_missing "$@"
  ((${#missing[@]} == 0)) && return 0
  if can_install && install_packages "${missing[@]}"; then
    return 0
  fi
  say "left out: $purpose, as ${missing[*]} can't be installed here"
}

find_cuda() {
  local folder="${CUDA_HOME:-/usr/local/cuda}"
  cuda_options=()
  if ! has_command nvcc && [[ -x "$folder/bin/nvcc" ]]; then
    export PATH="$folder/bin:$PATH"
  fi
  if ! has_command nvcc; then
    say "no nvcc found: building the cpu backend alone"
    cuda_options=(-DWARPFOLD_CUDA=OFF)
    return 0
  fi
  local architectures=${WARPFOLD_CUDA_ARCHITECTURES:-}
  if [[ -z "$architectures" ]] && has_command nvidia-smi; then
    architectures=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
      tr -d '. ' | grep -E '^[0-9]+$' | sort -u | paste -sd ';' -) || architectures=
  fi
  cuda_options=(-DWARPFOLD_CUDA=ON "-DCMAKE_CUDA_ARCHITECTURES=${architectures:-90}")
}

# The compiler is a package of Debian 13, its headers are wheels. Nothing is installed: nvcc lies
# in FOLDER/bin and works from there.
readonly cuda12_compiler=nvidia-cuda-toolkit=12.4.131~12.4.1-2
readonly cuda12_headers=(nvidia-cuda-nvcc-cu12==12.4.131 nvidia-cuda-runtime-cu12==12.4.127
  nvidia-cuda-cccl-cu12==12.4.127.post1)

# apt_of_debian13 FOLDER ARGUMENT...: apt-get with lists and packages of its own in FOLDER.
apt_of_debian13() {
  local folder=$1 keys=/usr/share/keyrings/debian-archive-keyring.gpg
  shift
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  printf 'deb [signed-by=%s] http://deb.debian.org/debian trixie non-free\n' "$keys" \
    >"$folder/sources.list"
  apt-get -qq -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$folder/lists" -o Dir::Cache="$folder/cache" \
    -o APT::Sandbox::User=root -o Acquire::http::Timeout=20 "$@" >&2
}

unpack_cuda12() {
  local parts=$1 folder=$2 programs=usr/lib/nvidia-cuda-toolkit
  apt_of_debian13 "$parts/apt" update &&
    (cd "$parts" && apt_of_debian13 "$parts/apt" download "$cuda12_compiler") &&
    dpkg-deb -x "$parts"/nvidia-cuda-toolkit_*.deb "$parts/package" &&
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --no-deps --no-compile \
      --target "$folder/wheels" "${cuda12_headers[@]}" >&2 &&
    mkdir "$folder/bin" &&
    mv "$parts/package/usr/bin/ptxas" "$parts/package/$programs/bin/"{nvcc,cicc} "$folder/bin" &&
    mv "$parts/package/$programs/libdevice" "$folder" &&
    cat >"$folder/bin/nvcc.profile" <<'PROFILE'
PATH += $(_HERE_):
NVVMIR_LIBRARY_DIR = $(_HERE_)/../libdevice
INCLUDES += "-I$(_HERE_)/../wheels/nvidia/cuda_runtime/include" $(_SPACE_)
INCLUDES += "-I$(_HERE_)/../wheels/nvidia/cuda_nvcc/include" $(_SPACE_)
INCLUDES += "-I$(_HERE_)/../wheels/nvidia/cuda_cccl/include" $(_SPACE_)
PROFILE
}

fetch_cuda12() {
  local folder=$1 parts
  [[ -x "$folder/bin/nvcc" ]] && return 0
  if has_command nvcc && [[ $(nvcc --list-gpu-code) == *sm_70* ]]; then
    return 0
  fi
  if ! is_debian || ! has_python_module pip; then
    say "no CUDA 12 for the V100's machine code: fetching it takes Debian's apt-get and pip"
    return 0
  fi
  say "fetching the compiler of CUDA 12"
  parts=$(mktemp -d)
  mkdir -p "$folder"
  if unpack_cuda12 "$parts" "$(realpath "$folder")"; then
    say "nvcc of CUDA 12: $folder/bin/nvcc"
  else
    say "no CUDA 12 for the V100's machine code: it could not be fetched"
    rm -rf "$folder"
  fi
  rm -rf "$parts"
}

count_gpus() {
  if has_command nvidia-smi; then
    nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true
  else
    echo 0
  fi
}

find_python() {
  for python in python3 /usr/bin/python3; do
    "$python" -c 'import h5py, numpy, pytest' >/dev/null 2>&1 && return 0
  done
  fail "no python3 here imports numpy, h5py and pytest"
}

# Debian lacks packages of the build's requirements. PyPI has them; all else is the system's Python.
want_python_package() {
  local folder=$1 needs
  mapfile -t needs < <(sed -n 's/^requires = \[\(.*\)\]$/\1/p' src/python/pyproject.toml |
    tr -d '" ' | tr , '\n')
  python_options=()
  [[ -x "$folder/bin/python" ]] ||
    "$python" -m venv --system-site-packages "$folder" >&2 || rm -rf "$folder"
  if [[ -x "$folder/bin/python" ]] && "$folder/bin/python" -m pip install --quiet \
    --disable-pip-version-check "${needs[@]}" >&2; then
    python_options=(-DWARPFOLD_PYTHON=ON "-DPython_EXECUTABLE=$(realpath -s "$folder")/bin/python")
  else
    say "left out: the package for Python, as ${needs[*]} can't be installed here from PyPI"
  fi
}

prepare_mpi() {
  if [[ $(id -u) == 0 ]]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
  # Ranks share memory without asking the kernel to copy, which containers forbid.
  export OMPI_MCA_btl_vader_single_copy_mechanism=none
  export OMPI_MCA_rmaps_base_oversubscribe=1
  export OMPI_MCA_hwloc_base_binding_policy=none
  # Launchers that start together and all find their folder missing get in each other's way.
  mkdir -p "${TMPDIR:-/tmp}/ompi.$(uname -n | cut -d. -f1).$(id -u)/kept"
}

configure_and_build() {
  local folder=$1
  shift
  cmake -S . -B "$folder" -G Ninja -DWARPFOLD_UNITY_BUILD=ON "$@"
  cmake --build "$folder" --parallel "$(nproc)" --target "${build_target:-all}"
}
