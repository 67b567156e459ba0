#include <sched.h>
#include <time.h>

/// In place of the C library's: Open MPI calls it again and again where ranks wait and
/// OMPI_MCA_mpi_yield_when_idle is set. With more ranks than cores, most of what these do would be
/// to hand them over.
extern "C" int sched_yield() noexcept {
  constexpr timespec pause{0, 20'000};
  return ::nanosleep(&pause, nullptr);
}
