#include "mpi/host_counters.hpp"

#include <string>

#include "mpi/environment.hpp"

namespace warpfold::mpi {
namespace {

static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free, "locks are a process's own");

/// Keeps counters in cache lines of their own.
constexpr MPI_Aint counter_bytes = 64;

}  // namespace

HostCounters::HostCounters(const Communicator& communicator) : host_(communicator.on_this_host()) {
  if (!share()) {
    ranks_ = {communicator.rank()};
    counters_ = {&alone_};
    return;
  }
  for (const std::string& rank : gather_everywhere(std::to_string(communicator.rank()), host_))
    ranks_.push_back(std::stoi(rank));
  for (int place = 0; place < host_.size(); ++place) {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* counter = nullptr;
    check(MPI_Win_shared_query(window_, place, &bytes, &unit, &counter), "MPI_Win_shared_query");
    counters_.push_back(static_cast<std::uint64_t*>(counter));
  }
  at(static_cast<std::size_t>(host_.rank())) = 0;
  meet();
}

HostCounters::~HostCounters() {
  if (window_ == MPI_WIN_NULL || !is_running()) return;
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

/// Allocates memory that all ranks of the host share; false if one cannot. Collective.
bool HostCounters::share() {
  if (host_.size() == 1) return false;
  MPI_Comm_set_errhandler(host_.get(), MPI_ERRORS_RETURN);
  void* mine = nullptr;
  const bool is_there = MPI_Win_allocate_shared(counter_bytes, 1, MPI_INFO_NULL, host_.get(), &mine,
                                                &window_) == MPI_SUCCESS;
  if (minimum({is_there ? 1U : 0U}, host_).front() == 0) {
    window_ = MPI_WIN_NULL;  // not freed, which is collective: some ranks have none
    return false;
  }
  check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
  return true;
}

}  // namespace warpfold::mpi
