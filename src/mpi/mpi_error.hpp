#pragma once

#include <mpi.h>

namespace warpfold::mpi {

/// Throws Error with MPI's own text unless `code` is MPI_SUCCESS; `call` names the function.
void check(int code, const char* call);

}  // namespace warpfold::mpi
