#include "cpu/machine/machine.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <thread>

namespace warpfold::cpu {
namespace {

/// Returns the first hardware thread that the calling thread may use.
int first_hardware_thread() {
  int number = 0;
  std::istringstream(cpu_set()) >> number;
  return number;
}

TEST(ThreadBinding, HoldsForTheThreadAndThoseItStarts) {
  const std::string before = cpu_set();
  const int first = first_hardware_thread();
  const std::string alone = std::to_string(first) + ",";
  {
    const ThreadBinding binding({first}, 1);
    EXPECT_EQ(cpu_set(), alone);
    std::string started;
    std::thread([&] { started = cpu_set(); }).join();
    EXPECT_EQ(started, alone);
  }
  EXPECT_EQ(cpu_set(), before);
}

TEST(ThreadBinding, LeavesThreadsWhereTooFewWouldBeLeftToThem) {
  const std::string before = cpu_set();
  const ThreadBinding none({}, 1);
  const ThreadBinding too_few({first_hardware_thread()}, 2);
  EXPECT_EQ(cpu_set(), before);
}

TEST(HardwareThreadsNear, AreNoneForAnUnknownDevice) {
  EXPECT_TRUE(hardware_threads_near("0000:ff:1f.7").empty());
}

TEST(HostCores, AreNoFewerThanThoseOfThisProcess) {
  EXPECT_GE(available_cores(), 1);
  EXPECT_GE(host_cores(), available_cores());
  EXPECT_FALSE(is_far_from("0000:ff:1f.7"));
}

}  // namespace
}  // namespace warpfold::cpu
