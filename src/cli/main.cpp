#include <hdf5.h>
#include <mpi.h>

#include <exception>
#include <string>
#include <vector>

#include "cli/application.hpp"
#include "cli/standard_output.hpp"
#include "mpi/environment.hpp"

int main(int argc, char** argv) {
  // HDF5 1.10 crashes at exit where closing a file failed, on a full disk say. All of its objects
  // have owners here.
  H5dont_atexit();
  try {
    const warpfold::mpi::Environment environment(argc, argv);
    const std::vector<std::string> arguments(argc > 0 ? argv + 1 : argv, argv + argc);
    return warpfold::cli::run_application(MPI_COMM_WORLD, arguments);
  } catch (const std::exception& failure) {
    warpfold::cli::print_remark(std::string("error: ") + failure.what());
    return 1;
  }
}
