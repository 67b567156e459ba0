#!/usr/bin/env bash
# The same source gives the same packages: tests/packages/reproducible.sh [--cuda] [SCRATCH]
#
# Builds the packages here and, of the same commit, in another folder, and compares them bit by bit. The
# other folder is in SCRATCH (default: a new one in /dev/shm, if that takes files: another file system
# with other sizes and orders of folders). Takes two builds; the one here is kept for the next run.
set -euo pipefail
# shellcheck source=tests/packages/installed.sh
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh"
cd "$repository"

options=()
if [[ ${1:-} == --cuda ]]; then
  options=(--cuda)
  shift
fi
[[ -z $(git status --porcelain) ]] ||
  fail "there are changes that no commit has: commit or stash them, so that both builds are of one source"
other=/tmp
[[ -w /dev/shm ]] && other=/dev/shm
scratch=$(mktemp -d "${1:-$other}/warpfold-again.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
here=$(jobs/packages/build.sh "${options[@]}" | tail -n 2)
mkdir -p "$scratch/another/place"
git archive HEAD | tar -x -C "$scratch/another/place"
env -u BUILD "$scratch/another/place/jobs/packages/build.sh" "${options[@]}" "$scratch/packages" >&2

for package in $here; do
  cmp "$package" "$scratch/packages/${package##*/}" ||
    fail "${package##*/} is not the same: diffoscope $package $scratch/... tells what differs"
  sha256sum "$package"
done
echo "both builds give the same bytes"
