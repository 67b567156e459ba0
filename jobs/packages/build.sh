#!/usr/bin/env bash
# Builds warpfold's packages for this distribution: jobs/packages/build.sh [--cuda] [OUTPUT]
#
# OUTPUT (default: build/packages) receives a Debian package and a tar archive with their SHA-256.
# --cuda builds with the GPU's backend, for all generations that nvcc compiles for, or for those that
# WARPFOLD_CUDA_ARCHITECTURES names ("80;90"). BUILD is the folder of the build (default: build/package,
# or build/package-cuda). The same commit gives the same bytes wherever it is built by the same compiler:
# paths are left out, and times are SOURCE_DATE_EPOCH, by default the commit's.
set -euo pipefail

cuda=OFF
folder=build/package
output=
for argument in "$@"; do
  case $argument in
    --cuda) cuda=ON folder=build/package-cuda ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    -*) echo "error: unknown option $argument. Choose from --cuda, --help." >&2; exit 2 ;;
    *) output=$(realpath -m -- "$argument") ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source jobs/setup.sh
output=${output:-$PWD/build/packages}
folder=$(realpath -m -- "${BUILD:-$folder}")

if [[ -z ${SOURCE_DATE_EPOCH:-} ]]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null) ||
    fail "the date of this source is unknown: there is no git history. Set SOURCE_DATE_EPOCH (seconds since 1970)."
fi
export SOURCE_DATE_EPOCH
umask 022

require build package
find_cuda
if [[ $cuda == ON ]] && ! has_command nvcc; then
  fail "--cuda needs nvcc on the PATH, or CUDA_HOME. Install CUDA 12 or newer."
fi
# Those of an earlier run in the same folder are forgotten.
architectures=(-UCMAKE_CUDA_ARCHITECTURES)
if [[ $cuda == ON && -n ${WARPFOLD_CUDA_ARCHITECTURES:-} ]]; then
  architectures+=("-DCMAKE_CUDA_ARCHITECTURES=$WARPFOLD_CUDA_ARCHITECTURES")
fi

# CPack's sizes and orders of files are those of the file system that it runs on.
repack_deb() {
  local package=$1 tree=$1.tree kib
  dpkg-deb -R "$package" "$tree"
  kib=$(find "$tree" -path "$tree/DEBIAN" -prune -o -type f -printf '%s\n' |
    awk '{ kib += int(($1 + 1023) / 1024) } END { print kib }')
  sed -i "s/^Installed-Size:.*/Installed-Size: $kib/" "$tree/DEBIAN/control"
  dpkg-deb --root-owner-group --threads-max=1 -Zxz --build "$tree" "$package" >&2
}

repack_tar() {
  local package=$1 tree=$1.tree
  mkdir "$tree"
  tar -xf "$package" -C "$tree"
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --format=gnu -C "$tree" -c "$(ls "$tree")" | gzip -n9 >"$package"
}

# nvcc's -objtemp: symbols are named after temporary files, which otherwise have a process's number.
paths="-ffile-prefix-map=$PWD=. -ffile-prefix-map=$folder=build"
configure_and_build "$folder" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
  -DWARPFOLD_TESTS=OFF -DWARPFOLD_BENCHMARKS=OFF -DWARPFOLD_CUDA=$cuda "${architectures[@]}" \
  -DCMAKE_C_FLAGS="$paths" -DCMAKE_CXX_FLAGS="$paths" -DCMAKE_CUDA_FLAGS="-objtemp -Xcompiler=${paths// /,}" >&2
rm -rf "$folder/packages"
cpack --config "$folder/CPackConfig.cmake" -B "$folder/packages" >&2
mkdir -p "$output"
for package in "$folder"/packages/*.{deb,tar.gz}; do
  case $package in
    *.deb) repack_deb "$package" ;;
    *) repack_tar "$package" ;;
  esac
  cp "$package" "$output"
  (cd "$output" && sha256sum "${package##*/}" >"${package##*/}.sha256")
  printf '%s\n' "$output/${package##*/}"
done
