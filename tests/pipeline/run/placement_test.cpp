#include "pipeline/run/placement.hpp"

#include <gtest/gtest.h>

#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

const SeenGpu a{"aa", "0000:1b:00.0"};
const SeenGpu b{"bb", "0000:2b:00.0"};
const SeenGpu c{"cc", "0000:3b:00.0"};

/// Returns the views of ranks 0, 1, ..., by the GPUs they see.
std::vector<GpuView> views(const std::vector<std::vector<SeenGpu>>& seen,
                           const std::string& narrowed_by = "") {
  std::vector<GpuView> all;
  for (const auto& gpus : seen) all.push_back({static_cast<int>(all.size()), gpus, narrowed_by});
  return all;
}

std::vector<std::optional<int>> devices(const std::vector<GpuView>& all) {
  const GpuPlacement placement(all);
  std::vector<std::optional<int>> found;
  for (std::size_t rank = 0; rank < all.size(); ++rank) found.push_back(placement.device(rank));
  return found;
}

using Devices = std::vector<std::optional<int>>;

Error refusal(const std::vector<GpuView>& all, std::size_t installed) {
  try {
    GpuPlacement(all).refuse_sharing("node7", installed);
  } catch (const Error& error) {
    return error;
  }
  return Error("not refused", "", "");
}

TEST(GpuPlacement, IsByPlaceOnTheHost) {
  EXPECT_EQ(devices(views({{a, b, c}, {a, b, c}, {a, b, c}})), (Devices{0, 1, 2}));
  EXPECT_EQ(devices(views({{a, b, c}})), (Devices{0}));
}

TEST(GpuPlacement, TakesTheOneThatASchedulerLeft) {
  EXPECT_EQ(devices(views({{b}, {a}})), (Devices{0, 0}));
  EXPECT_EQ(refusal(views({{b}, {a}}), 2).problem(), "not refused");
}

TEST(GpuPlacement, AvoidsMeetingsThatNeedNotBe) {
  EXPECT_EQ(devices(views({{a, b}, {b, a}})), (Devices{0, 0}));
  EXPECT_EQ(devices(views({{a, b}, {a}})), (Devices{1, 0}));
  EXPECT_EQ(devices(views({{a, b, c}, {a, b}, {a}})), (Devices{2, 1, 0}));
}

TEST(GpuPlacement, GoesThroughGpusInTurnWhereRanksAreTooMany) {
  const auto all = views({{a, b}, {a, b}, {a, b}, {a, b}, {a, b}});
  EXPECT_EQ(devices(all), (Devices{0, 1, 0, 1, 0}));
  const GpuPlacement placement(all);
  EXPECT_EQ(placement.sharing(0), 3);
  EXPECT_EQ(placement.sharing(1), 2);
}

TEST(GpuPlacement, LeavesRanksThatSeeNone) {
  const auto all = views({{}, {a}, {}});
  EXPECT_EQ(devices(all), (Devices{std::nullopt, 0, std::nullopt}));
  EXPECT_EQ(GpuPlacement(all).sharing(1), 1);
  EXPECT_EQ(refusal(all, 1).problem(), "not refused");
}

TEST(RefusedSharing, SaysWhatRanksSeeAndHowManyToRun) {
  const Error error = refusal(views({{a, b}, {a, b}, {a, b}}), 2);
  EXPECT_EQ(error.problem(), "more ranks than GPUs on a host");
  EXPECT_EQ(error.why(),
            "3 ranks share 2 GPUs of node7 (ranks 0 to 2 see 0000:1b:00.0 0000:2b:00.0)");
  EXPECT_TRUE(error.suggestion().starts_with("Run 'mpirun -np 2'"));
  EXPECT_NE(error.suggestion().find("`share_gpu`"), std::string::npos);
}

TEST(RefusedSharing, ExplainsGpusThatWereHiddenFromRanks) {
  const Error error = refusal(views({{a}, {a}}, "0"), 4);
  EXPECT_EQ(error.why(),
            "2 ranks share 1 GPU of node7 (ranks 0 to 1 see 0000:1b:00.0 by "
            "CUDA_VISIBLE_DEVICES=0), and the host has 4");
  for (const char* cause : {"SLURM_LOCALID", "--gpus-per-task", "--gpus-per-node", "`share_gpu`"})
    EXPECT_NE(error.suggestion().find(cause), std::string::npos) << cause;
}

TEST(RefusedSharing, BlamesNoVariableWhereTheHostHasNoMore) {
  EXPECT_TRUE(refusal(views({{a}, {a}}, "0"), 1).suggestion().starts_with("Run 'mpirun -np 1'"));
  EXPECT_TRUE(refusal(views({{a}, {a}}), 4).suggestion().starts_with("Run 'mpirun -np 1'"));
}

TEST(RefusedSharing, TellsRanksThatSeeOthersApart) {
  std::vector<GpuView> all = views({{a}, {b}, {b}});
  all[0].narrowed_by = "0";
  EXPECT_EQ(refusal(all, 0).why(),
            "3 ranks share 2 GPUs of node7 (rank 0 sees 0000:1b:00.0 by CUDA_VISIBLE_DEVICES=0; "
            "ranks 1 to 2 see 0000:2b:00.0)");
}

using Visible = std::vector<std::optional<std::string>>;

TEST(OwnGpu, IsTheOneOfTheRanksPlace) {
  EXPECT_EQ(own_gpu(Visible(1), 0, 4), "0");
  EXPECT_EQ(own_gpu(Visible(4), 3, 4), "3");
  EXPECT_EQ(own_gpu(Visible(2, "5,7,6"), 1, 0), "7");
  EXPECT_EQ(own_gpu(Visible(1, "GPU-8a,GPU-8b"), 0, 8), "GPU-8a");
}

TEST(OwnGpu, IsUnknownWhereRanksMayMeetOrSeeNone) {
  EXPECT_EQ(own_gpu(Visible(3), 2, 2), std::nullopt);
  EXPECT_EQ(own_gpu(Visible(2, "1"), 0, 8), std::nullopt);
  EXPECT_EQ(own_gpu(Visible(1, ""), 0, 8), std::nullopt);
  EXPECT_EQ(own_gpu({"0,1", "1,0"}, 1, 8), std::nullopt);
  EXPECT_EQ(own_gpu({std::nullopt, "0,1"}, 0, 8), std::nullopt);
  EXPECT_EQ(own_gpu(Visible(1), 0, 0), std::nullopt);
}

TEST(GpuView, SurvivesItsText) {
  for (const GpuView& view :
       {GpuView{}, GpuView{3, {a, b}, ""}, GpuView{1, {}, "GPU-1, 2"}, GpuView{12, {c}, "0,1"}})
    EXPECT_EQ(gpu_view(to_text(view)), view);
}

TEST(BindingNote, TellsWhatTheLauncherTook) {
  EXPECT_EQ(binding_note({.host_ranks = 2, .host_cores = 64, .cores = 1}),
            "the threads of a rank are bound to 1 core but could use 32. Start with "
            "'mpirun --bind-to none', or 'srun --cpus-per-task=32'.");
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

}  // namespace
}  // namespace warpfold::pipeline
