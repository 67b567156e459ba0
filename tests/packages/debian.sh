#!/usr/bin/env bash
# Installs a Debian package on a fresh Debian and measures how long the first result takes:
# tests/packages/debian.sh PACKAGE.deb [SCRATCH]
#
# The fresh Debian is a folder of its own, which mmdebstrap fills from the mirror; SCRATCH keeps it for
# the next run. From the package to the result may take LIMIT seconds, 60 unless the environment says
# otherwise. Takes root; exits with 77 where it can't be done.
set -euo pipefail
# shellcheck source=tests/packages/installed.sh
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh"

package=$(realpath -- "$1")
need_root_and mmdebstrap chroot unshare
if (($# > 1)); then
  scratch=$2
  mkdir -p "$scratch"
else
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
fi
bootstrap "$scratch/debian.tar"
root=$scratch/root
rm -rf "$root"
mkdir "$root"
tar -xf "$scratch/debian.tar" -C "$root"
cp "$package" "$root/tmp/warpfold.deb"
cp /etc/resolv.conf "$root/etc/resolv.conf"

# The mounts end with the command.
# shellcheck disable=SC2016
in_root() {
  unshare --mount bash -c '
    mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --rbind /sys "$1/sys" &&
      shift && exec "$@"
  ' bash "$root" chroot "$root" "$@"
}

prepare_mpi
start=$(date +%s.%N)
in_root sh -ec 'apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    /tmp/warpfold.deb openmpi-bin >/dev/null'
installed=$(date +%s.%N)
sample_is_right in_root warpfold
ended=$(date +%s.%N)
awk -v start="$start" -v installed="$installed" -v ended="$ended" -v limit="${LIMIT:-60}" 'BEGIN {
  printf "installed in %.1f s, first result after %.1f s\n", installed - start, ended - start
  exit ended - start > limit
}' || fail "from the package to the first result it took longer than ${LIMIT:-60} s"
sample_is_right in_root mpirun -np 2 warpfold
in_root dpkg --verify "$(dpkg-deb -f "$package" Package)"
echo "the package works on a fresh Debian, with one rank and with two"
