#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "mpi/communicator.hpp"
#include "mpi/environment.hpp"
#include "mpi/numbers_of_ranks.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::mpi {
namespace {

constexpr const char* variable = "WARPFOLD_DOUBLING_RANKS";

/// Sets the variable on this rank for as long as it lives, where there is a text.
class Setting {
 public:
  explicit Setting(const char* text) {
    if (const char* before = std::getenv(variable); before != nullptr) before_ = before;
    if (text != nullptr)
      ::setenv(variable, text, 1);
    else
      ::unsetenv(variable);
  }
  ~Setting() {
    if (before_.empty())
      ::unsetenv(variable);
    else
      ::setenv(variable, before_.c_str(), 1);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  std::string before_;
};

TEST(ScanWay, IsDoublingFromTheNumberOfRanksOnThatIsSet) {
  const Setting setting("3");
  for_each_number_of_ranks([](const Communicator& ranks) {
    EXPECT_EQ(ranks.scan_way() == ScanWay::doubling, ranks.size() >= 3);
  });
}

TEST(ScanWay, IsMpisBelowTheDefault) {
  const Setting setting(nullptr);
  for_each_number_of_ranks([](const Communicator& ranks) {
    EXPECT_EQ(ranks.scan_way() == ScanWay::doubling, ranks.size() >= default_ranks_of_doubling);
  });
}

TEST(ScanWay, IsTheRootsOnAllRanks) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Setting setting(rank == 0 ? "1" : rank % 2 == 0 ? "1000" : "wrong");
  for_each_number_of_ranks(
      [](const Communicator& ranks) { EXPECT_EQ(ranks.scan_way(), ScanWay::doubling); });
}

TEST(ScanWay, WhatIsNoNumberOfRanksIsAnErrorOnAllOfThem) {
  for (const std::string text : {"0", "-1", "two", "2 ", "8x", "2147483648", "1e3"}) {
    const Setting setting(text.c_str());
    const Communicator ranks(MPI_COMM_WORLD);
    try {
      ranks.scan_way();
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.problem(), "WARPFOLD_DOUBLING_RANKS is '" + text + "'");
      EXPECT_EQ(error.exit_code(), ExitCode::usage);
    }
  }
}

}  // namespace
}  // namespace warpfold::mpi
