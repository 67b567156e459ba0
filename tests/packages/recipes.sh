#!/usr/bin/env bash
# Has the recipes of packages judged by the tools that read them: tests/packages/recipes.sh [BUILD]
#
# All have to tell one version. With BUILD, a build's folder, its module file is loaded, too. What can't
# be judged for want of a tool is named, and no failure. Tools: hadolint, spython, easybuild,
# easybuild-easyconfigs and check-jsonschema of PyPI; spack; environment-modules or lmod.
set -euo pipefail
# shellcheck source=tests/packages/installed.sh
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh"
recipes=$repository/jobs/packages
spack_repository=jobs/spack/spack_repo/warpfold

judged=0
# judge WHAT TOOL COMMAND...
judge() {
  local what=$1 tool=$2
  shift 2
  if ! has_command "$tool"; then
    echo "skipped: $what, as $tool is not installed"
    return 0
  fi
  local printed
  printed=$("$@" 2>&1) || fail "$what: $printed"
  echo "good: $what ($tool)"
  judged=$((judged + 1))
}

# versions_in FILE SED-SCRIPT: the versions that the script finds, and where.
versions_in() { echo "$(sed -nE "$2" "$1" | sort -u | paste -sd ' ') in $1"; }

# All that names the version, apart from what CMakeLists.txt writes it into.
version_is_one() {
  local output
  cd "$repository"
  output=$(
    versions_in CMakeLists.txt 's/^project\(warpfold VERSION ([0-9.]+).*/\1/p'
    versions_in CHANGELOG.md '/^## [0-9]/{s/^## ([0-9.]+) - .*/\1/p;q}'
    versions_in CITATION.cff 's/^version: //p'
    versions_in jobs/packages/README.md 's/.*warpfold-([0-9][0-9.]+[0-9]).*/\1/p'
    for easyconfig in jobs/packages/*.eb; do
      versions_in "$easyconfig" "s/^version = '(.*)'/\\1/p"
      echo "$(sed -nE 's/.*warpfold-([0-9.]+)-.*/\1/p' <<<"$easyconfig") in the name of $easyconfig"
    done
  )
  echo "$output"
  [[ $(cut -d ' ' -f 1 <<<"$output" | sort -u | wc -l) == 1 ]]
}

# The files that images are built of are enough to configure, and both recipes take the same.
images_have_sources() {
  local source=$scratch/source files
  files=$(sed -nE 's/^COPY ([^-].*) [^ ]+$/\1/p' "$recipes/Containerfile" | tr ' ' '\n' | sort)
  diff <(echo "$files") <(sed -nE 's|^ +([^ ]+) /warpfold/[^ ]+$|\1|p' "$recipes/warpfold.def" | sort) || return 1
  mkdir "$source" && (cd "$repository" && xargs cp -r -t "$source" <<<"$files") &&
    "${CMAKE:-cmake}" -G Ninja -S "$source" -B "$source/build" -DWARPFOLD_CUDA=OFF -DWARPFOLD_TESTS=OFF \
      -DWARPFOLD_BENCHMARKS=OFF
}

# Its modules have to be installable: all that it depends on has a recipe of EasyBuild's own.
easyconfig_resolves() {
  local planned
  planned=$(eb --dry-run --robot "$recipes"/*.eb 2>&1) || { echo "$planned"; return 1; }
  grep -q 'module: HDF5/' <<<"$planned" || { echo "$planned"; return 1; }
}

# As README.md has it: of an archive of what is committed, eb finds the checksum.
easyconfig_takes_archive() {
  local version sum
  version=$(sed -nE "s/^version = '(.*)'/\1/p" "$recipes"/*.eb)
  mkdir "$scratch/archive" && cp "$recipes"/*.eb "$scratch/archive" && cd "$scratch/archive" &&
    git -C "$repository" archive --prefix="warpfold-$version/" -o "$PWD/warpfold-$version.tar.gz" HEAD &&
    eb --sourcepath . --inject-checksums=sha256 ./*.eb &&
    sum=$(sha256sum <"warpfold-$version.tar.gz") && grep -F "${sum%% *}" ./*.eb
}

spack_knows() {
  spack -C "$1" repo add "$repository/$spack_repository" && spack -C "$1" audit packages warpfold &&
    spack -C "$1" spec warpfold && spack -C "$1" spec warpfold +cuda cuda_arch=80,90
}

# Sets modules_tool to EasyBuild's name of what is installed, and has the command `module` defined.
find_modules() {
  local init
  modules_tool=EnvironmentModules
  for init in /usr/share/modules/init/bash /usr/share/lmod/lmod/init/bash; do
    if [[ -r $init ]]; then
      [[ $init == *lmod* ]] && modules_tool=Lmod
      set +u
      # shellcheck disable=SC1090
      source "$init"
      set -u
      return
    fi
  done
}

module_loads() (
  set +u
  module use "$1/share/modulefiles" && module load warpfold &&
    [[ $WARPFOLD_ROOT == "$1" && $(command -v warpfold) == "$1/bin/warpfold" ]] &&
    module unload warpfold && [[ -z $WARPFOLD_ROOT ]]
)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
find_modules
# EasyBuild judges nothing without a tool for modules.
easybuild=eb
has_command module || easybuild=module
export EASYBUILD_PREFIX=$scratch/easybuild EASYBUILD_MODULES_TOOL=$modules_tool
export EASYBUILD_MODULE_SYNTAX=Tcl EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES=1

judge "one version everywhere" sed version_is_one
judge "Containerfile" hadolint hadolint "$recipes/Containerfile"
judge "the images' sources" "${CMAKE:-cmake}" images_have_sources
judge "warpfold.def" spython spython recipe --parser singularity "$recipes/warpfold.def"
judge "the easyconfig's style" $easybuild eb --check-style "$recipes"/*.eb
judge "the easyconfig's dependencies" $easybuild easyconfig_resolves
judge "the easyconfig's archive" $easybuild easyconfig_takes_archive
judge "package.py of Spack as Python" python3 python3 -c \
  'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' \
  "$repository/$spack_repository/packages/warpfold/package.py"
judge "package.py of Spack" spack spack_knows "$scratch/spack"
for judged_by in vendor.github-workflows:workflows/ci.yml vendor.github-issue-forms:ISSUE_TEMPLATE/error.yml \
  vendor.github-issue-forms:ISSUE_TEMPLATE/proposal.yml vendor.citation-file-format:../CITATION.cff; do
  judge "${judged_by#*:}" check-jsonschema check-jsonschema --builtin-schema "${judged_by%%:*}" \
    "$repository/.github/${judged_by#*:}"
done
judge "the scripts" shellcheck shellcheck -x -S warning --source-path="$repository" \
  "$recipes"/*.sh "$repository"/tests/packages/*.sh
if (($# > 0)); then
  "${CMAKE:-cmake}" --install "$1" --prefix "$scratch/prefix" >/dev/null
  judge "the module file" module module_loads "$scratch/prefix"
fi
((judged > 0)) || exit 77
