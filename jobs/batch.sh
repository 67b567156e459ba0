# shellcheck shell=bash disable=SC2034
# What the batch scripts in this folder share. Sourced by them, not run.
#
# WARPFOLD          the program; if not set, build/PRESET/warpfold (PRESET is the site's, or
#                   release), that of the installation with these scripts, or the one on PATH
# WARPFOLD_SITE     a site's name (jobs/sites/NAME.sh) or the path of a file like those; generic if
#                   not set. The argument --site NAME in front of all others says the same
# WARPFOLD_RESULTS  the folder of reports; where sbatch was called if not set
#
# begin_job NAME USAGE ARGUMENT...  sets site, launcher, program, results, input and arguments
#                                   (those left, the input being the first); exits 1 where anything
#                                   is missing
# option_value NAME NAME            the value that the arguments give an option of these names
# require_input FILE                exits 1 unless the file can be read
# is_finished REPORT INPUT          whether there is a report that is not older than the input
# leave_if_finished REPORT INPUT    exits 0 where an earlier attempt of the job has done it
# run_program ARGUMENT...           runs the program on all ranks and returns its exit status; sets
#                                   stopped to true where Slurm ended it by a signal

say() { printf '%s\n' "$*" >&2; }
fail() { say "error: $*"; exit 1; }

jobs_folder=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
readonly jobs_folder repository=${jobs_folder%/*}

known_sites() { (cd "$jobs_folder/sites" && printf '%s\n' *.sh | sed 's/\.sh$//' | paste -sd ' '); }

# What a site file may set; jobs/sites/generic.sh explains it.
load_site() {
  local name=$1 file=$jobs_folder/sites/$1.sh
  [[ $name == */* ]] && file=$name
  [[ -r $file ]] || fail "no site '$name': there is no file $file. Choose from $(known_sites)."
  site_modules=() site_preset=release site_launcher=()
  # shellcheck source=jobs/sites/generic.sh
  source "$file"
  ((${#site_modules[@]} == 0)) && return
  [[ $(type -t module) ]] ||
    fail "cannot load ${site_modules[*]}: this shell has no command module. Remove them from $file."
  module load "${site_modules[@]}" ||
    fail "cannot load ${site_modules[*]}: module load failed. Correct site_modules in $file."
}

choose_launcher() {
  launcher=("${site_launcher[@]}")
  if ((${#launcher[@]} == 0)); then
    # The program shares a host's cores out to its ranks.
    launcher=(mpirun --bind-to none)
  fi
  command -v "${launcher[0]}" >/dev/null ||
    fail "no ${launcher[0]}: it is not on PATH. Name its module in site_modules of the site's file."
  # Seconds for ranks to remove what they were writing before Open MPI kills them: it has one.
  export OMPI_MCA_odls_base_sigkill_timeout=${OMPI_MCA_odls_base_sigkill_timeout:-5}
  if [[ ${launcher[0]##*/} == srun ]]; then
    export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}  # which steps don't take from their job
  fi
  if [[ ${launcher[0]##*/} == mpirun && -n ${SLURM_GPUS_PER_TASK:-} ]]; then
    fail "--gpus-per-task does not work with mpirun: all ranks of a host would get one GPU." \
      "Ask for --gpus-per-node and --ntasks-per-node."
  fi
}

find_program() {
  local candidate
  for candidate in "$repository/build/$site_preset/warpfold" "$repository/build/release/warpfold" \
    "$repository/../../../bin/warpfold" "$(command -v warpfold)"; do
    program=${WARPFOLD:-$candidate}
    [[ -f $program && -x $program ]] && return
  done
  [[ -z ${WARPFOLD:-} ]] ||
    fail "WARPFOLD is not a program: $WARPFOLD cannot be run. Correct its path."
  fail "warpfold is not built: there is no $repository/build/$site_preset/warpfold. Build it by" \
    "cmake --preset $site_preset && cmake --build --preset $site_preset, or name it in WARPFOLD."
}

# option_value NAME NAME: prints nothing and returns 1 where the option was not given.
option_value() {
  local i value='' word
  for ((i = 0; i < ${#arguments[@]}; ++i)); do
    word=${arguments[i]}
    case $word in
      "$1" | "$2") value=${arguments[i + 1]:-} ;;
      "$1="* | "$2="*) value=${word#*=} ;;
      "$1"*) [[ $1 == -? ]] && value=${word#"$1"} ;;
    esac
  done
  [[ -n $value ]] && printf '%s\n' "$value"
}

require_gpus() {
  [[ $(option_value --backend --backend) == cpu ]] && return
  [[ -n ${SLURM_JOB_GPUS:-}${SLURM_GPUS_ON_NODE:-}${CUDA_VISIBLE_DEVICES:-} ]] && return
  nvidia-smi -L 2>/dev/null | grep -q '^GPU ' && return
  fail "no GPU in this job: Slurm gave it none. Ask for --gpus-per-node=N, or pass --backend cpu."
}

begin_job() {
  local word script=$1 usage="sbatch $1 [--site NAME] $2"
  shift 2
  [[ -n ${SLURM_JOB_ID:-} ]] ||
    fail "this is a batch script: Slurm has not started it. Submit it by $usage."
  site=${WARPFOLD_SITE:-generic}
  case ${1:-} in
    --site) site=${2:-} && shift $(($# > 1 ? 2 : 1)) ;;
    --site=*) site=${1#*=} && shift ;;
  esac
  [[ -n ${1:-} && $1 != -* ]] ||
    fail "no input: the first argument has to be a file. Usage: $usage."
  input=$1
  arguments=("$@")
  load_site "$site"
  choose_launcher
  find_program
  require_gpus
  for word in --json --csv; do
    ! option_value $word $word >/dev/null ||
      fail "no $word here: the job names its reports. Name their folder in WARPFOLD_RESULTS."
  done
  results=${WARPFOLD_RESULTS:-$SLURM_SUBMIT_DIR}
  mkdir -p "$results" 2>/dev/null ||
    fail "no folder for reports: $results cannot be made. Name one in WARPFOLD_RESULTS."
  say "$script: job $SLURM_JOB_ID on $SLURM_JOB_NODELIST, site $site, $program"
}

require_input() {
  [[ -r $1 ]] || fail "no input $1: there is no such file that may be read. Check the path."
}

is_finished() { [[ -s $1 && ! $2 -nt $1 ]]; }

leave_if_finished() {
  is_finished "$@" || return 0
  say "done before: $1"
  exit 0
}

stopped=false

# Has the ranks remove what they were writing and leave.
stop_ranks() {
  say "job $SLURM_JOB_ID stopped: $1; nothing is half-written"
  stopped=true
  if [[ ${launcher[0]##*/} == srun ]]; then
    scancel --signal=TERM "$SLURM_JOB_ID"
  else
    kill -TERM "$launched" 2>/dev/null
  fi
}

run_program() {
  local status interrupted=true
  trap 'interrupted=true; stop_ranks "its time is up, submit it with more (--time)"' USR1
  trap 'interrupted=true; stop_ranks "cancelled or preempted"' TERM
  "${launcher[@]}" "$program" "$@" </dev/null &
  launched=$!
  while $interrupted; do  # a signal ends the wait, but not yet the ranks
    interrupted=false
    wait "$launched"
    status=$?
  done
  trap - USR1 TERM
  return "$status"
}
