#include "warpfold/read.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "core/layout/partition.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/output/generate.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

constexpr std::uint64_t rows = 61;
constexpr std::uint64_t columns = 90;

/// Reads the numbers 0, 1, ... that a compressed matrix has.
class Read : public ::testing::Test {
 protected:
  Read() {
    pipeline::GenerateOptions options;
    options.kind = GeneratorKind::iota;
    options.format.type = ElementType::i64;
    options.shape = {rows, columns};
    options.storage.chunk_shape = {10, 20};
    options.storage.deflate_level = 1;
    options.output = {file_, "values", true, {}};
    pipeline::generate(MPI_COMM_WORLD, options);
  }

  ~Read() override {
    mpi::barrier(world_);
    if (world_.is_root()) std::remove(file_.c_str());
  }

  ReadResult read_into(const ReadMemory& memory) {
    return read(MPI_COMM_WORLD, file_, "values", {}, memory);
  }

  mpi::Communicator world_{MPI_COMM_WORLD};
  std::string file_ = ::testing::TempDir() + "read_" + std::to_string(world_.size()) + ".h5";
};

TEST_F(Read, EachRankHasItsPartInMemoryOfTheCaller) {
  std::vector<std::int64_t> values;
  const ReadResult result = read_into([&](const ReadPart& part) {
    values.resize(part.elements());
    return std::shared_ptr<void>(values.data(), [](void*) {});
  });
  const ElementRange mine = partition(rows, 1, static_cast<std::uint64_t>(world_.size()),
                                      static_cast<std::uint64_t>(world_.rank()));
  EXPECT_EQ(result.memory.get(), values.data());
  EXPECT_EQ(result.part.value_type, ElementType::i64);
  EXPECT_EQ(result.part.shape, (std::vector{rows, columns}));
  EXPECT_EQ(result.part.part_shape, (std::vector{mine.count, columns}));
  EXPECT_EQ(result.part.first, mine.first);
  EXPECT_FALSE(result.part.device);
  EXPECT_EQ(result.report.backend, world_.is_root() ? "cpu" : result.report.backend);
  std::vector<std::int64_t> expected(mine.count * columns);
  std::iota(expected.begin(), expected.end(), static_cast<std::int64_t>(mine.first * columns));
  EXPECT_EQ(values, expected);
}

TEST_F(Read, ARankWithoutMemoryIsAnErrorOnAll) {
  std::vector<std::int64_t> values;
  EXPECT_THROW(read_into([&](const ReadPart& part) {
                 values.resize(part.elements());
                 return std::shared_ptr<void>(world_.is_last() ? nullptr : values.data(),
                                              [](void*) {});
               }),
               Error);
  EXPECT_THROW(read_into([&](const ReadPart&) -> std::shared_ptr<void> {
                 throw Error("no memory", "", "");
               }),
               Error);
}

}  // namespace
}  // namespace warpfold
