#include "mpi/environment.hpp"

#include <mpi.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string>
#include <system_error>

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "warpfold/core/error.hpp"

namespace warpfold::mpi {
namespace {

double seconds_of_start = 0;

constexpr const char* doubling_variable = "WARPFOLD_DOUBLING_RANKS";

/// Has Open MPI use shared memory alone where mpirun started all ranks on one host, unless the user
/// chose otherwise: looking for networks takes it a fifth of a second.
void skip_networks_on_one_host() {
  const char* ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char* here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (ranks != nullptr && here != nullptr && std::string_view(ranks) == here)
    setenv("OMPI_MCA_pml", "^ucx,cm", 0);
}

}  // namespace

Environment::Environment() {
  const auto start = std::chrono::steady_clock::now();
  skip_networks_on_one_host();
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_FUNNELED)
    throw Error("this MPI does not support threads", "it provides only MPI_THREAD_SINGLE",
                "Use an MPI built with thread support.");
  seconds_of_start =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Environment::~Environment() { MPI_Finalize(); }

bool is_running() {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

double start_seconds() { return seconds_of_start; }

std::string_view cuda_awareness() {
#ifdef MPIX_CUDA_AWARE_SUPPORT
  const int aware = is_running() ? MPIX_Query_cuda_support() : MPIX_CUDA_AWARE_SUPPORT;
  return aware != 0 ? "CUDA-aware" : "not CUDA-aware";
#else
  return "";
#endif
}

bool started_by_launcher(const Communicator& communicator) {
  if (communicator.size() > 1) return true;
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (std::getenv(variable) != nullptr) return true;
  return false;
}

int ranks_of_doubling(const Communicator& communicator) {
  // Launchers don't hand every variable on to other hosts.
  const char* mine = communicator.is_root() ? std::getenv(doubling_variable) : nullptr;
  const std::string text = broadcast(mine != nullptr ? mine : "", communicator);
  if (text.empty()) return default_ranks_of_doubling;
  int ranks = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, ranks);
  if (failure != std::errc{} || stop != end || ranks < 1)
    throw usage_error(std::string(doubling_variable) + " is '" + text + "'",
                      "it is the number of ranks from which exclusive scans use recursive doubling",
                      "Set it to a whole number from 1 to 2147483647, or unset it.");
  return ranks;
}

bool may_have_peers() {
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_setting = name.find("_MCA_") != std::string_view::npos;  // Open MPI's, PMIx's
    if (is_setting) continue;
    for (const std::string_view part : {"RANK", "PROCID", "PMI", "COMM_WORLD"})
      if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace warpfold::mpi
