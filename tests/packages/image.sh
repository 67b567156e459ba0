#!/usr/bin/env bash
# Builds the Containerfile's image without a registry and runs it: tests/packages/image.sh [SCRATCH]
#
# The base of both stages is a fresh Debian that mmdebstrap makes; the image has the cpu backend. SCRATCH
# as for debian.sh. Takes root, a build and buildah; exits with 77 where it can't be done.
set -euo pipefail
# shellcheck source=tests/packages/installed.sh
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh"

need_root_and mmdebstrap buildah
if (($# > 0)); then
  scratch=$1
  mkdir -p "$scratch"
else
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
fi
scratch=$(realpath -- "$scratch")
bootstrap "$scratch/debian.tar"
# Storage and containers of its own, in no need of a kernel's overlays, cgroups or networks.
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
buildah() { command buildah --root "$scratch/storage" --runroot "$scratch/run" "$@"; }

base=$(buildah from scratch)
buildah add --quiet "$base" "$scratch/debian.tar" / >/dev/null
buildah commit --quiet "$base" localhost/debian >/dev/null
cd "$repository"
buildah build --pull-never --network host --build-arg BUILD_BASE=localhost/debian \
  --build-arg BASE=localhost/debian --build-arg OPTIONS= \
  --file jobs/packages/Containerfile --tag localhost/warpfold .
container=$(buildah from --pull-never localhost/warpfold)
prepare_mpi
sample_is_right buildah run --env OMPI_ALLOW_RUN_AS_ROOT=1 "$container" -- warpfold
buildah rm --all >/dev/null
echo "the image works"
