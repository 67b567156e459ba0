# shellcheck shell=bash disable=SC2034
# An example: hosts with four V100 and two processors of 20 cores, InfiniBand, Open MPI by modules.
#   sbatch --constraint=v100 --gpus-per-node=4 --ntasks-per-node=4 --cpus-per-task=10 ...
# Settings are explained in generic.sh; names of modules and partitions are each site's own.

site_modules=(gcc cuda/12 openmpi hdf5)  # CUDA 13 compiles for no V100
site_preset=v100
site_launcher=(mpirun --bind-to none)

# InfiniBand is UCX's: Open MPI 4's older way there only warns.
export OMPI_MCA_btl=${OMPI_MCA_btl:-^openib}
