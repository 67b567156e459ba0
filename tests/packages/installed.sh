# shellcheck shell=bash
# Sourced by the tests of packages.
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$repository/jobs/setup.sh"

# sample_is_right COMMAND...: the command, given `reduce` of a sample as further arguments, prints a
# report in JSON with exactly the answers that other tools found.
sample_is_right() {
  local samples=/usr/share/warpfold/samples file=sea_surface_temperature.nc
  "$@" reduce "${SAMPLES:-$samples}/$file" sst --ops all --json - --quiet |
    python3 -c '
import json, sys
found = json.load(sys.stdin)["results"]
answers = json.load(open(sys.argv[1]))[sys.argv[2]]["sst"]
sys.exit(found != answers and f"error: {found} instead of {answers}")
' "$repository/inputs/answers.json" "$file"
}

need_root_and() {
  local need
  if [[ $(id -u) != 0 ]]; then
    say "skipped: it takes root"
    exit 77
  fi
  for need in "$@"; do
    if ! has_command "$need"; then
      say "skipped: $need is not installed (Debian's package of that name)"
      exit 77
    fi
  done
}

# bootstrap TAR: a minimal Debian as a tar archive, made once. SUITE and MIRROR choose which.
bootstrap() {
  local suite=${SUITE:-bookworm} mirror=${MIRROR:-http://deb.debian.org/debian}
  [[ -s $1 ]] || mmdebstrap --quiet --variant=apt --include=ca-certificates "$suite" "$1" "$mirror"
}
