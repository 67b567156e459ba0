#include "pipeline/run/bottleneck.hpp"

#include <gtest/gtest.h>

#include "pipeline/datasets/described_dataset.hpp"

namespace warpfold::pipeline {
namespace {

RunReport report(double seconds, std::vector<StageTiming> stages) {
  RunReport run;
  run.seconds = seconds;
  run.stages = std::move(stages);
  return run;
}

bool begins_with(const std::string& text, const std::string& words) {
  return text.rfind(words, 0) == 0;
}

io::DatasetInfo contiguous() { return described_dataset({1 << 30}, {}, ReadPath::direct); }

/// 4 GiB in chunks of so many elements.
io::DatasetInfo compressed(std::uint64_t chunk_elements = 1 << 20) {
  io::DatasetInfo info = described_dataset({1 << 30}, {chunk_elements}, ReadPath::chunk);
  info.filters = {{2, "shuffle", true, {4}}, {1, "deflate", true, {6}}};
  return info;
}

TEST(MeasuredBottleneck, IsTheStageThatWasBusyLongest) {
  const auto run = report(10, {{"read", 4, 3, 6, 1}, {"copy to GPU", 1, 8.6, 0.4, 1}});
  EXPECT_TRUE(begins_with(measured_bottleneck(run), "copying to the GPU, busy 96% of the time"));
}

TEST(MeasuredBottleneck, IsStartingUpWhereTheStagesTookLittle) {
  const auto run = report(10, {{"open", 1, 1, 0, 0}, {"read", 4, 1, 1, 1}});
  EXPECT_TRUE(begins_with(measured_bottleneck(run), "starting up, 80% of the time"));
}

TEST(MeasuredBottleneck, IsNotStartingUpWhereAnotherPassTookTheRest) {
  const auto run = report(10, {{"read", 4, 1, 3, 1},
                               {"write", 4, 2, 6, 1},
                               {"compress", 4, 3, 1, 1},
                               {"sync", 1, 1, 0, 0}});
  EXPECT_TRUE(begins_with(measured_bottleneck(run), "compressing, busy 75% of the time"));
}

TEST(MeasuredBottleneck, IsTheStageOfTheStartThatTookMostOfIt) {
  const auto reserving =
      report(10, {{"open", 1, 1, 0, 0}, {"reserve", 1, 6, 0, 0}, {"read", 4, 1, 1, 1}});
  EXPECT_TRUE(begins_with(measured_bottleneck(reserving), "reserving the output's space, 60% of"));
  const auto opening = report(10, {{"open", 1, 9, 0, 0}});
  EXPECT_TRUE(begins_with(measured_bottleneck(opening), "opening, 90% of the time"));
}

TEST(MeasuredBottleneck, IsTheStartThatWasBusyLongerThanStagesThatWaited) {
  const auto run = report(10, {{"start GPU", 1, 5, 0, 0}, {"read", 4, 2, 6, 1}});
  EXPECT_TRUE(begins_with(measured_bottleneck(run), "starting the GPU, 50% of the time"));
}

TEST(MeasuredBottleneck, MpiStartsBeforeTheRun) {
  const auto run = report(1, {{"start MPI", 1, 3, 0, 0}, {"read", 4, 0.5, 0.5, 1}});
  EXPECT_TRUE(begins_with(measured_bottleneck(run), "starting MPI, 75% of the time"));
}

TEST(MeasuredBottleneck, MoreCoresDoNotHelpAGpuThatDecompresses) {
  const std::string found = measured_bottleneck(
      report(1, {{"read", 4, 0.1, 0.8, 1}, {"decompress on GPU", 1, 0.8, 0.1, 1}}));
  EXPECT_TRUE(begins_with(found, "decompressing on the GPU, busy 89% of the time: more GPUs help"));
}

TEST(MeasuredBottleneck, NothingWithoutStages) {
  EXPECT_EQ(measured_bottleneck(report(1, {})), "");
}

TEST(ExpectedBottleneck, ContiguousBytesWaitForReadersAndThenForTheBus) {
  EXPECT_TRUE(begins_with(expected_bottleneck(contiguous(), 2, 1, true), "reading, about 16 GB/s"));
  EXPECT_TRUE(begins_with(expected_bottleneck(contiguous(), 16, 1, true), "copying to the GPU"));
}

TEST(ExpectedBottleneck, CompressedChunksWaitForCores) {
  EXPECT_TRUE(begins_with(expected_bottleneck(compressed(), 26, 1, true), "decompressing"));
  EXPECT_TRUE(
      begins_with(expected_bottleneck(compressed(), 1, 1, false), "decompressing, about 0.5"));
}

TEST(ExpectedBottleneck, TheLibraryServesOneThreadAtATime) {
  const io::DatasetInfo info = described_dataset({1 << 30}, {}, ReadPath::library);
  EXPECT_EQ(expected_bottleneck(info, 1, 1, true), expected_bottleneck(info, 8, 1, true));
}

TEST(ExpectedBottleneck, ManyChunksAreDecompressedByTheGpuAsFastAsTheyCome) {
  io::DatasetInfo info = compressed();
  EXPECT_TRUE(
      begins_with(expected_bottleneck(info, 16, 1, true), "copying to the GPU, about 50 GB"));
  info.stored_bytes /= 3;
  EXPECT_TRUE(
      begins_with(expected_bottleneck(info, 16, 1, true), "decompressing on the GPU, about 90"));
  EXPECT_TRUE(begins_with(expected_bottleneck(info, 16, 1, false), "decompressing, about 7.9"));
}

TEST(CoresAreSooner, WithWhatAGpuWouldStartFor) {
  const io::DatasetInfo little = described_dataset({1 << 20}, {}, ReadPath::direct);
  EXPECT_TRUE(cores_are_sooner(little, 1, 1));
  EXPECT_FALSE(cores_are_sooner(contiguous(), 1, 1));
  EXPECT_TRUE(cores_are_sooner(contiguous(), 1, 64));
  EXPECT_TRUE(cores_are_sooner(described_dataset({0}, {}, ReadPath::direct), 4, 1));
}

TEST(CoresAreSooner, WithBytesThatAGpuIsFedMoreSlowly) {
  const io::DatasetInfo large = described_dataset({std::uint64_t{1} << 40}, {}, ReadPath::direct);
  EXPECT_TRUE(cores_are_sooner(large, 16, 1));
  EXPECT_FALSE(cores_are_sooner(large, 4, 1));
}

TEST(CoresAreSooner, NotWithQuantilesThatAGpuFinds) {
  const io::DatasetInfo large = described_dataset({std::uint64_t{1} << 40}, {}, ReadPath::direct);
  EXPECT_FALSE(cores_are_sooner(large, 16, 1, 1));
  EXPECT_FALSE(cores_are_sooner(large, 16, 1, 5));
  EXPECT_TRUE(cores_are_sooner(large, 16, 1, 33));
  const io::DatasetInfo little = described_dataset({1 << 28}, {}, ReadPath::direct);
  EXPECT_TRUE(cores_are_sooner(little, 16, 1, 1));
}

TEST(CoresAreSooner, NotWithManyCompressedChunks) {
  EXPECT_FALSE(cores_are_sooner(compressed(1 << 18), 16, 1));
  EXPECT_TRUE(cores_are_sooner(compressed(1 << 18), 26, 1));
}

TEST(CoresAreSooner, ThanAGpuWithOneLargeChunk) {
  EXPECT_TRUE(cores_are_sooner(compressed(), 16, 1)) << "4 GiB in chunks of 4 MiB";
  EXPECT_FALSE(cores_are_sooner(compressed(), 4, 1));
  io::DatasetInfo twice = compressed();
  twice.shape = twice.stored_shape = {std::uint64_t{1} << 31};
  twice.elements *= 2;
  twice.stored_bytes *= 2;
  EXPECT_FALSE(cores_are_sooner(twice, 16, 1));
}

TEST(ExpectedChunkSeconds, OfAGpuAreThoseOfManyChunksOfACore) {
  const auto form = [](Compression compression, std::uint64_t blocks) {
    return CompressedForm{compression, std::uint64_t{4} << 20, blocks};
  };
  const ChunkSeconds stream = expected_chunk_seconds(form(Compression::zlib, 1));
  EXPECT_NEAR(stream.of_gpu, 0.3, 0.02);
  EXPECT_NEAR(stream.of_gpu, 40 * stream.of_core, 1e-9);
  const ChunkSeconds blocks = expected_chunk_seconds(form(Compression::lz4, 64));
  EXPECT_LT(blocks.of_core, stream.of_core);
  EXPECT_NEAR(blocks.of_gpu, 8 * blocks.of_core, 1e-9);
}

TEST(ExpectedBottleneck, NothingWithoutElements) {
  EXPECT_EQ(expected_bottleneck(described_dataset({0}, {}, ReadPath::direct), 4, 1, true), "");
}

}  // namespace
}  // namespace warpfold::pipeline
