#include "mpi/environment.hpp"

#include "mpi/mpi_error.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::mpi {

Environment::Environment(int& argc, char**& argv) {
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_FUNNELED)
    throw Error("this MPI can't run beside other threads", "it provides MPI_THREAD_SINGLE only",
                "Use an MPI built with thread support.");
}

Environment::~Environment() { MPI_Finalize(); }

}  // namespace warpfold::mpi
