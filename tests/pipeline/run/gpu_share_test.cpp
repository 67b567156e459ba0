#include "pipeline/run/gpu_share.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t planned_elements = 100;
constexpr std::uint64_t plenty = 1000;

/// An engine that takes nothing, and counts the notices that nothing more comes.
class CountingEngine final : public StreamEngine {
 public:
  explicit CountingEngine(std::uint64_t held = planned_elements, bool decompressing = true)
      : held_(held), decompressing_(decompressing) {}

  int threads() const override { return 1; }
  std::uint64_t slab_elements() const override { return held_; }
  bool decompresses() const override { return decompressing_; }
  bool is_ready() override { return !busy; }
  Ticket take(int thread) override { return {{}, thread}; }
  void submit(const Ticket&, const StagedChunks&) override {}
  void proceed() override { ++proceeded; }
  void flush() override { ++flushed; }
  std::vector<StageTiming> timings() const override { return {}; }

  bool busy = false;
  int flushed = 0;
  int proceeded = 0;

 private:
  std::uint64_t held_;
  bool decompressing_;
};

class Sharing : public ::testing::Test {
 protected:
  GpuShare& share_with(std::unique_ptr<CountingEngine> engine) {
    engine_ = engine.get();
    share_.emplace([&] { return std::move(engine); }, planned_elements, least_slabs);
    share_->start();
    return *share_;
  }

  static constexpr std::uint64_t least_slabs = 20;

  CountingEngine* engine_ = nullptr;
  std::optional<GpuShare> share_;
};

TEST_F(Sharing, CoresHaveAllUntilTheGpuHasStarted) {
  GpuShare share([] { return std::make_unique<CountingEngine>(); }, planned_elements, least_slabs);
  EXPECT_EQ(share.engine(), nullptr);
  EXPECT_FALSE(share.claim(plenty));
  share.start();
  EXPECT_NE(share.engine(), nullptr);
  EXPECT_TRUE(share.claim(plenty));
}

TEST_F(Sharing, NobodyWaitsForAGpuThatIsBusy) {
  GpuShare& share = share_with(std::make_unique<CountingEngine>());
  engine_->busy = true;
  EXPECT_FALSE(share.claim(plenty));
  engine_->busy = false;
  EXPECT_TRUE(share.claim(plenty));
}

TEST_F(Sharing, TheGpuHasNoneOfTheLastSlabs) {
  GpuShare& share = share_with(std::make_unique<CountingEngine>());
  EXPECT_TRUE(share.claim(least_slabs));
  EXPECT_FALSE(share.claim(least_slabs - 1));
  EXPECT_FALSE(share.claim(plenty)) << "once it has ended, it has ended";
}

TEST_F(Sharing, TheGpuIsToldOnceOfItsLastSlab) {
  GpuShare& share = share_with(std::make_unique<CountingEngine>());
  share.claim(plenty);
  share.claim(least_slabs - 1);
  EXPECT_EQ(engine_->flushed, 0);
  share.release();
  EXPECT_EQ(engine_->flushed, 1);
  share.claim(0);
  EXPECT_EQ(engine_->flushed, 1);
  EXPECT_EQ(engine_->proceeded, 3);
}

TEST_F(Sharing, AGpuWithoutASlabIsToldSo) {
  GpuShare& share = share_with(std::make_unique<CountingEngine>());
  share.claim(0);
  EXPECT_EQ(engine_->flushed, 1);
}

TEST_F(Sharing, AnEngineOfSmallerSlabsHasNoPart) {
  GpuShare& share = share_with(std::make_unique<CountingEngine>(planned_elements - 1));
  EXPECT_FALSE(share.claim(plenty));
  EXPECT_EQ(share.engine(), nullptr);
}

TEST_F(Sharing, AnEngineThatDoesNotDecompressHasNoPart) {
  GpuShare& share = share_with(std::make_unique<CountingEngine>(planned_elements, false));
  EXPECT_FALSE(share.claim(plenty));
  EXPECT_EQ(share.engine(), nullptr);
}

}  // namespace
}  // namespace warpfold::pipeline
