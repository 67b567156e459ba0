#include "pipeline/output/chunk_packer.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "io/dataset/dataset.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

class ChunkPackerTest : public ::testing::Test {
 protected:
  ChunkPackerTest() {
    const auto folder = std::filesystem::temp_directory_path().string();
    spec_.path = mpi::broadcast(folder + "/warpfold-pack-" + std::to_string(::getpid()) + ".h5",
                                communicator_);
    spec_.dataset = std::string("x");
    spec_.shape = {100, 90};
    spec_.format = {ElementType::u32, native_byte_order};
    spec_.storage.chunk_shape = {8, 16};
    spec_.storage.deflate_level = 1;
    spec_.force = true;
  }

  ~ChunkPackerTest() override {
    if (communicator_.is_root()) std::filesystem::remove(spec_.path);
  }

  PackJob job(StagedDataset& staged, const ElementSource& source) const {
    return {staged, spec_.shape, spec_.storage, 4, [source] { return source; }, "number", 2};
  }

  static void number(ElementRange range, std::span<std::byte> out) {
    for (std::uint64_t i = 0; i < range.count; ++i) {
      const auto element = static_cast<std::uint32_t>(range.first + i);
      std::memcpy(out.data() + 4 * i, &element, 4);
    }
  }

  mpi::Communicator communicator_{MPI_COMM_WORLD};
  io::OutputSpec spec_;
  RunOptions run_;
  ProgressMonitor monitor_{run_};
};

TEST_F(ChunkPackerTest, AllRanksChunksAreInTheFile) {
  {
    OutputFile file(communicator_);
    StagedDataset staged(spec_, file);
    pack_chunks(job(staged, &number), monitor_, communicator_);
    staged.finish();
    RunReport report;
    file.commit(report, monitor_.stages());
  }
  if (!communicator_.is_root()) return;
  std::vector<std::uint32_t> values(9000);
  io::Dataset dataset(spec_.path, "x", ReadPath::library);
  dataset.read({0, values.size()}, std::as_writable_bytes(std::span(values)));
  for (std::uint32_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i);
}

TEST_F(ChunkPackerTest, SoAreThoseThatTravelSeveralAtATime) {
  spec_.storage.chunk_shape = {1, 3};
  for (const std::uint64_t rows : {1u, 2u, 7u, 33u, 100u}) {
    spec_.shape = {rows, 90};
    {
      OutputFile file(communicator_);
      StagedDataset staged(spec_, file);
      pack_chunks(job(staged, &number), monitor_, communicator_);
      staged.finish();
      RunReport report;
      file.commit(report, monitor_.stages());
    }
    if (!communicator_.is_root()) continue;
    std::vector<std::uint32_t> values(rows * 90);
    io::Dataset dataset(spec_.path, "x", ReadPath::library);
    dataset.read({0, values.size()}, std::as_writable_bytes(std::span(values)));
    for (std::uint32_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i);
  }
}

TEST_F(ChunkPackerTest, WhereARankFailsAllThrowItsError) {
  for (int failing = 0; failing < communicator_.size(); ++failing) {
    OutputFile file(communicator_);
    StagedDataset staged(spec_, file);
    const ElementSource source = [&](ElementRange range, std::span<std::byte> out) {
      if (communicator_.rank() == failing && range.first > 4000) throw Error("worn out", "", "");
      number(range, out);
    };
    try {
      pack_chunks(job(staged, source), monitor_, communicator_);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.problem(), "worn out");
    }
  }
  EXPECT_FALSE(std::filesystem::exists(spec_.path));
}

TEST_F(ChunkPackerTest, WhereTheRootCannotWriteAllThrow) {
  OutputFile file(communicator_);
  StagedDataset staged(spec_, file);
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 5000, before.rlim_max };
  if (communicator_.is_root()) ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(pack_chunks(job(staged, &number), monitor_, communicator_), Error);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
}

TEST_F(ChunkPackerTest, Interrupted) {
  const std::atomic<bool> interrupted = true;
  run_.interrupted = &interrupted;
  OutputFile file(communicator_);
  StagedDataset staged(spec_, file);
  EXPECT_THROW(pack_chunks(job(staged, &number), monitor_, communicator_), Error);
}

}  // namespace
}  // namespace warpfold::pipeline
