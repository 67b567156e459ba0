#pragma once

#include <mpi.h>

#include "mpi/communicator.hpp"

namespace warpfold::mpi {

/// Calls body(communicator) for communicators of 1, 2, ... ranks, up to all, on the ranks of each.
template <class Body>
void for_each_number_of_ranks(Body&& body) {
  const Communicator all(MPI_COMM_WORLD);
  for (int ranks = 1; ranks <= all.size(); ++ranks) {
    const int color = all.rank() < ranks ? 0 : MPI_UNDEFINED;
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(all.get(), color, all.rank(), &part);
    if (part == MPI_COMM_NULL) continue;
    body(Communicator(part));
    MPI_Comm_free(&part);
  }
}

}  // namespace warpfold::mpi
