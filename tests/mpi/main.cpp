#include <gtest/gtest.h>
#include <hdf5.h>
#include <mpi.h>

#include <cstdio>
#include <optional>

#include "mpi/environment.hpp"
#include "warpfold/host_collectives.hpp"

/// Runs the tests on every rank; fails where they fail on any. The root alone prints its progress.
int main(int argc, char** argv) {
  // Tests make the closing of files fail, and HDF5 crashes where it is torn down after that. It is
  // not so at exit, nor, as it starts before MPI, in MPI_Finalize.
  H5dont_atexit();
  H5open();
  std::optional<warpfold::HostCollectives> outlives_mpi;
  const warpfold::mpi::Environment environment;
  outlives_mpi.emplace(MPI_COMM_WORLD);
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  const int failed = RUN_ALL_TESTS();
  int failed_anywhere = 0;
  MPI_Allreduce(&failed, &failed_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (failed != 0 && rank != 0) {
    const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
    std::fprintf(stderr, "rank %d: %d tests failed\n", rank, tests.failed_test_count());
  }
  return failed_anywhere;
}
