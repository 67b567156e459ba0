#include "pipeline/run/collective.hpp"

#include <gtest/gtest.h>

#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

TEST(RunOnRoot, RunsOnceAndItsErrorReachesEveryRank) {
  const mpi::Communicator communicator(MPI_COMM_WORLD);
  int runs = 0;
  run_on_root(communicator, [&] { ++runs; });
  EXPECT_EQ(runs, communicator.is_root() ? 1 : 0);
  EXPECT_THROW(run_on_root(communicator, [] { throw Error("no", "", ""); }), Error);
}

TEST(RunOnAll, OneRanksErrorReachesEveryRank) {
  const mpi::Communicator communicator(MPI_COMM_WORLD);
  EXPECT_THROW(run_on_all(communicator,
                          [&] {
                            if (communicator.is_last()) throw Error("no", "", "");
                          }),
               Error);
}

}  // namespace
}  // namespace warpfold::pipeline
