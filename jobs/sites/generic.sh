# shellcheck shell=bash disable=SC2034
# Site settings where no file of this folder fits: copy it to SITE.sh, change it, and choose it by
# WARPFOLD_SITE=SITE or --site SITE. Sourced by jobs/batch.sh in the job, on its first host.

# Modules with the MPI, HDF5 and CUDA that warpfold was built with: (gcc openmpi hdf5 cuda).
site_modules=()

# The CMake preset that fits: the program is build/PRESET/warpfold.
site_preset=release

# What starts the ranks, with its options. Empty is (mpirun --bind-to none), which takes hosts and
# ranks from Slurm. An MPI built for Slurm's PMIx can have (srun --mpi=pmix --cpu-bind=none). Bind
# no GPU to a rank: each sees all of its host and takes the one of its place there.
site_launcher=()

# Settings of the MPI library are variables to export, for instance the network Open MPI may use:
# export OMPI_MCA_btl_tcp_if_include=ib0

# A folder on each host's own disk for what MPI keeps there while ranks run:
# export TMPDIR=${SLURM_TMPDIR:-/tmp}
