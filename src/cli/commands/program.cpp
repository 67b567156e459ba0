#include "cli/commands/program.hpp"

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

#include "cli/commands/grammar.hpp"
#include "cli/manual/manual.hpp"
#include "cli/report/report_file.hpp"
#include "cli/run/interruption.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "mpi/environment.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace warpfold::cli {
namespace {

/// Ends the program by the signal that interrupted it, so that shells stop their loops. Under a
/// launcher the exit status names the signal: launchers report a rank that a signal ended as a
/// crash.
[[noreturn]] void end_by(int signal) {
  constexpr int status_of_signals = 128;
  std::fflush(nullptr);
  if (!mpi::may_have_peers()) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  std::_Exit(status_of_signals + signal);
}

/// Ends the program; where a file could not be closed, on a full disk say, HDF5 is not given the
/// chance to crash.
int end(int status) {
  if (const int signal = interrupting_signal()) end_by(signal);
  if (!io::left_something_open()) return status;
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

/// Answers a shell that completes a command line: of "__complete WORD..." the words.
int complete(const std::vector<std::string>& words) {
  Grammar grammar;
  print(completions(command_table(grammar.application()), words));
  return 0;
}

/// Returns the exit status; MPI is over by then.
int run(const std::vector<std::string>& arguments, Measurer measurer) {
  if (!arguments.empty() && arguments.front() == "__complete")
    return complete({arguments.begin() + 1, arguments.end()});
  std::optional<mpi::Environment> environment;
  if (mpi::may_have_peers()) environment.emplace();
  return run_application(environment ? MPI_COMM_WORLD : MPI_COMM_SELF, arguments, measurer);
}

}  // namespace

int run_program(int argc, char** argv, Measurer measurer) {
  keep_freed_memory();
  // A limit of the file size is an error of the write that meets it.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return end(run(std::vector<std::string>(argc > 0 ? argv + 1 : argv, argv + argc), measurer));
  } catch (const std::exception& failure) {
    print_remark(std::string("error: ") + failure.what());
    return 1;
  }
}

}  // namespace warpfold::cli
