#include <mpi.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/application.hpp"
#include "cli/report/report_file.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "mpi/environment.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

/// Ends the program; where a file could not be closed, on a full disk say, HDF5 is not given the
/// chance to crash.
int end(int status) {
  if (!warpfold::io::left_something_open()) return status;
  std::fflush(nullptr);
  std::_Exit(status);
}

/// Keeps what is freed, so that one dataset's buffers become the next one's without new pages.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int largest_threshold = 32 << 20;  // that glibc takes
  mallopt(M_MMAP_THRESHOLD, largest_threshold);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  try {
    std::optional<warpfold::mpi::Environment> environment;
    if (warpfold::mpi::may_have_peers()) environment.emplace();
    const std::vector<std::string> arguments(argc > 0 ? argv + 1 : argv, argv + argc);
    return end(
        warpfold::cli::run_application(environment ? MPI_COMM_WORLD : MPI_COMM_SELF, arguments));
  } catch (const std::exception& failure) {
    warpfold::cli::print_remark(std::string("error: ") + failure.what());
    return 1;
  }
}
