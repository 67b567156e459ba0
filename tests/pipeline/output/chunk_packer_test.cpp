#include "pipeline/output/chunk_packer.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "core/layout/partition.hpp"
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
    const auto make_source = [source]() -> StretchSource {
      return [source](std::uint64_t, ElementRange range, std::span<std::byte> out) {
        source(range, out);
      };
    };
    return {staged, spec_.shape, spec_.storage, 4, make_source, "number", 2};
  }

  void expect_numbers(std::size_t count) const {
    if (!communicator_.is_root()) return;
    std::vector<std::uint32_t> values(count);
    io::Dataset dataset(spec_.path, "x", ReadPath::library);
    dataset.read({0, values.size()}, std::as_writable_bytes(std::span(values)));
    for (std::uint32_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i);
  }

  void expect_no_room_on(int rank) {
    OutputFile file(communicator_);
    StagedDataset staged(spec_, file);
    struct rlimit before {};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small { 5000, before.rlim_max };
    if (communicator_.rank() == rank) ::setrlimit(RLIMIT_FSIZE, &small);
    EXPECT_THROW(pack_chunks(job(staged, &number), monitor_, communicator_), Error);
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
  }

  static void number(ElementRange range, std::span<std::byte> out) {
    for (std::uint64_t i = 0; i < range.count; ++i) {
      const auto element = static_cast<std::uint32_t>(range.first + i);
      std::memcpy(out.data() + 4 * i, &element, 4);
    }
  }

  void pack_numbers() {
    OutputFile file(communicator_);
    StagedDataset staged(spec_, file);
    pack_chunks(job(staged, &number), monitor_, communicator_);
    staged.finish();
    RunReport report;
    file.commit(report, monitor_.stages());
  }

  mpi::Communicator communicator_{MPI_COMM_WORLD};
  io::OutputSpec spec_;
  RunOptions run_;
  ProgressMonitor monitor_{run_};
};

TEST_F(ChunkPackerTest, AllRanksChunksAreInTheFile) {
  pack_numbers();
  expect_numbers(9000);
}

TEST_F(ChunkPackerTest, SoAreThoseThatTravelSeveralAtATime) {
  spec_.storage.chunk_shape = {1, 3};
  for (const std::uint64_t rows : {1u, 2u, 7u, 33u, 100u}) {
    spec_.shape = {rows, 90};
    pack_numbers();
    expect_numbers(rows * 90);
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

TEST_F(ChunkPackerTest, WhereARankCannotWriteAllThrow) {
  for (int failing = 0; failing < communicator_.size(); ++failing) expect_no_room_on(failing);
}

TEST_F(ChunkPackerTest, StretchesAreMadeAsTheyAreSupplied) {
  {
    OutputFile file(communicator_);
    StagedDataset staged(spec_, file);
    const PackJob packed = job(staged, &number);
    const auto ranks = static_cast<std::uint64_t>(communicator_.size());
    const std::uint64_t chunks = packed.grid().chunks();
    Stretches stretches;
    stretches.count = ceil_div(chunks, 3 * ranks);
    stretches.batch_chunks = 2;
    stretches.run = [=](std::uint64_t stretch, int rank) {
      const std::uint64_t first =
          std::min(chunks, (stretch * ranks + static_cast<std::uint64_t>(rank)) * 3);
      return ChunkRun{first, std::min<std::uint64_t>(3, chunks - first)};
    };
    ChunkPacker packer(packed, stretches, monitor_.stages(), communicator_);
    for (std::uint64_t stretch = 0; stretch < stretches.count; ++stretch) {
      EXPECT_EQ(packer.stretch(), stretch);
      packer.advance(false);
      packer.supply(stretch + 1);
      while (packer.stretch() == stretch) packer.advance(false);
    }
    EXPECT_TRUE(packer.over());
    packer.finish(nullptr, monitor_);
    EXPECT_EQ(packer.done(), packer.share());
    staged.finish();
    RunReport report;
    file.commit(report, monitor_.stages());
  }
  expect_numbers(9000);
}

TEST_F(ChunkPackerTest, ARankThatGivesUpEndsTheExchange) {
  OutputFile file(communicator_);
  StagedDataset staged(spec_, file);
  const PackJob packed = job(staged, &number);
  const std::uint64_t chunks = packed.grid().chunks();
  Stretches stretches;
  stretches.count = 1;
  stretches.run = [=](std::uint64_t, int rank) {
    return rank == 0 ? ChunkRun{0, chunks} : ChunkRun{chunks, 0};
  };
  ChunkPacker packer(packed, stretches, monitor_.stages(), communicator_);
  while (!packer.over()) packer.advance(communicator_.rank() == 0);
  EXPECT_TRUE(packer.has_failed());
  const auto failure =
      communicator_.is_last() ? std::make_exception_ptr(Error("tired", "", "")) : nullptr;
  EXPECT_THROW(packer.finish(failure, monitor_), Error);
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
