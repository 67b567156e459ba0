# shellcheck shell=bash disable=SC2034
# An example: hosts with eight H100 (or H200) and two processors of 56 cores, InfiniBand, a disk of
# their own, Open MPI by modules.
#   sbatch --partition=gpu --gpus-per-node=8 --ntasks-per-node=8 --cpus-per-task=14 ...
# Settings are explained in generic.sh; names of modules and partitions are each site's own.

site_modules=(gcc cuda openmpi hdf5)
site_preset=h100
site_launcher=(mpirun --bind-to none)

# InfiniBand is UCX's: Open MPI 4's older way there only warns.
export OMPI_MCA_btl=${OMPI_MCA_btl:-^openib}

# MPI's shared memory files go to the host's own disk.
export TMPDIR=${SLURM_TMPDIR:-/tmp}
