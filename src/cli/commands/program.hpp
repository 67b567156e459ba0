#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "cli/run/measuring_program.hpp"

namespace warpfold::cli {

/// Runs the program with the arguments of main() and returns its exit status; MPI starts and ends
/// in between where there may be several ranks. `measurer`: as for run_application().
int run_program(int argc, char** argv, Measurer measurer = nullptr);

/// Runs the program with `arguments` (without its name) and returns its exit status, the same on
/// every rank. MPI_COMM_SELF is this process alone. `measurer` runs `bench` and `ladder`, which
/// fail without one on any rank. Collective. Rank 0 prints results and errors.
int run_application(MPI_Comm communicator, const std::vector<std::string>& arguments,
                    Measurer measurer = nullptr);

}  // namespace warpfold::cli
