#include "pipeline/run/core_binding.hpp"

#include <gtest/gtest.h>

#include "cpu/engines/backend.hpp"
#include "cpu/machine/thread_binding.hpp"

namespace warpfold::pipeline {
namespace {

TEST(BindingNote, TellsWhatTheLauncherTook) {
  EXPECT_EQ(binding_note({.host_ranks = 2, .host_cores = 64, .cores = 1}),
            "the threads of a rank are bound to 1 core where they could have 32: start with "
            "'mpirun --bind-to none', or 'srun --cpus-per-task=32'");
}

TEST(BindingNote, CountsThreadsThatWereAskedFor) {
  const std::string note =
      binding_note({.host_ranks = 2, .host_cores = 64, .cores = 2, .threads = 8});
  EXPECT_TRUE(note.starts_with("8 threads of a rank are bound to 2 cores")) << note;
  EXPECT_EQ(binding_note({.host_ranks = 2, .host_cores = 64, .cores = 2, .threads = 2}), "");
}

TEST(BindingNote, IsSilentWhereRanksHaveTheirShare) {
  EXPECT_EQ(binding_note({.host_ranks = 2, .host_cores = 64, .cores = 32}), "");
  EXPECT_EQ(binding_note({.host_ranks = 64, .host_cores = 64, .cores = 1}), "");
  EXPECT_EQ(binding_note({.host_ranks = 300, .host_cores = 2, .cores = 1}), "");
  EXPECT_EQ(binding_note({.host_ranks = 3, .host_cores = 64, .cores = 20, .threads = 64}), "");
}

TEST(BindingNote, TellsOfCoresFarFromTheGpu) {
  const std::string note = binding_note(
      {.host_ranks = 2, .host_cores = 64, .cores = 32, .threads = 0, .far_from_gpu = true});
  EXPECT_NE(note.find("NUMA node of its GPU"), std::string::npos) << note;
}

TEST(HostCores, AreNoFewerThanThoseOfThisProcess) {
  EXPECT_GE(cpu::host_cores(), cpu::available_cores());
  EXPECT_FALSE(cpu::is_far_from("0000:ff:1f.7"));
}

}  // namespace
}  // namespace warpfold::pipeline
