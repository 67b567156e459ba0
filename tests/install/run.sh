#!/usr/bin/env bash
# Installs a build and uses it from another project: tests/install/run.sh BUILD-FOLDER [SCRATCH]
#
# SCRATCH receives the installation and the consumer; default: a new folder, removed afterwards.
set -euo pipefail
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$source_folder/installation.sh"

build=$(realpath -- "$1")
make_scratch "${@:2}"
build_against "$build" "$source_folder"

share=$scratch/prefix/share
for file in man/man1/warpfold.1 man/man1/warpfold-reduce.1 man/man1/warpfold-scan.1 \
  bash-completion/completions/warpfold zsh/site-functions/_warpfold \
  fish/vendor_completions.d/warpfold.fish warpfold/schemas/reduce.json warpfold/schemas/common.json \
  doc/warpfold/{LICENSE,CHANGELOG.md} doc/warpfold/jobs/{reduce.sbatch,batch.sh,sites/generic.sh} \
  doc/warpfold/jobs/examples/device_arrays/CMakeLists.txt; do
  [[ -s $share/$file ]] || { echo "error: $file is not installed" >&2; exit 1; }
done
for command in $("$scratch/prefix/bin/warpfold" --help |
  sed -n '/^Commands:/,/^Options:/s/^  \([a-z]*\)  .*/\1/p'); do
  [[ -s $share/man/man1/warpfold-$command.1 ]] ||
    { echo "error: $command has no manual page" >&2; exit 1; }
done
repository=$share/doc/warpfold
program=$(env -u WARPFOLD PATH=/usr/bin:/bin bash -euc '
  source "$1/jobs/batch.sh" && site_preset=release && find_program && echo "$program"' - "$repository")
[[ $(realpath "$program") == "$scratch/prefix/bin/warpfold" ]] ||
  { echo "error: the batch scripts find $program" >&2; exit 1; }

without=$scratch/without
"$cmake" --install "$build" --prefix "$without" --component Unspecified
[[ $(diff -rq "$scratch/prefix/bin" "$without/bin") == "Only in $scratch/prefix/bin: warpfold-bench" ]] ||
  { echo "error: not only warpfold-bench is of the component bench" >&2; exit 1; }
"$mpiexec" -np 2 "$scratch/prefix/bin/warpfold" bench combine --backend cpu --iterations 1

data=$scratch/data
"$scratch/prefix/bin/warpfold" --version
"$mpiexec" -np 2 "$scratch/prefix/bin/warpfold" generate iota "$data/in.h5" values \
  --type i64 --shape 100000
for ranks in 1 2; do
  "$mpiexec" -np "$ranks" "$scratch/program/consumer" "$data/in.h5" values "$data/out-$ranks.h5"
done
echo "the installed library and program work"
