#pragma once

#include "cli/run/measuring_program.hpp"

namespace warpfold::cli {

/// Runs the program with the arguments of main() and returns its exit status; MPI starts and ends
/// in between where there may be several ranks. `measurer`: as for run_application().
int run_program(int argc, char** argv, Measurer measurer = nullptr);

}  // namespace warpfold::cli
