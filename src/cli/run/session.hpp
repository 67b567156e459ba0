#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace warpfold::cli {

/// What a command is told of the process it runs in.
struct Session {
  MPI_Comm communicator = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 1;
  std::vector<std::string> words;  ///< of the command line, "warpfold" the first

  bool is_root() const { return rank == 0; }
};

}  // namespace warpfold::cli
