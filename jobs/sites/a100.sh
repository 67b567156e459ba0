# shellcheck shell=bash disable=SC2034
# An example: hosts with four A100 and one processor of 64 cores, an MPI that Slurm starts by PMIx.
#   sbatch --constraint=a100 --gpus-per-node=4 --ntasks-per-node=4 --cpus-per-task=16 ...
# Settings are explained in generic.sh; names of modules and partitions are each site's own.

site_modules=(gcc cuda openmpi hdf5)
site_preset=a100
# All ranks see all GPUs of their host and may use all cores that the job has there.
site_launcher=(srun --mpi=pmix --cpu-bind=none)
