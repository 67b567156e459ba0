#include "pipeline/output/staged_dataset.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/layout/partition.hpp"
#include "io/dataset/dataset.hpp"

namespace warpfold::pipeline {
namespace {

using Extents = std::vector<std::uint64_t>;

Extents chosen(const Extents& shape, std::size_t element_bytes) {
  StorageOptions storage;
  storage.choose_chunk_shape = true;
  EXPECT_TRUE(storage.chunked());
  const StorageOptions made = with_chunk_shape(storage, shape, element_bytes);
  EXPECT_EQ(made.chunked(), !shape.empty());
  return made.chunk_shape;
}

TEST(StorageOptions, ChosenChunksHoldConsecutiveElementsUpTo4MiB) {
  EXPECT_EQ(chosen({1000}, 4), (Extents{1000}));
  EXPECT_EQ(chosen({5'000'000}, 4), (Extents{1 << 20}));
  EXPECT_EQ(chosen({5'000'000}, 1), (Extents{4 << 20}));
  EXPECT_EQ(chosen({9, 1000, 1000}, 8), (Extents{1, 524, 1000}));
  EXPECT_EQ(chosen({7, 3, 2'000'000}, 8), (Extents{1, 1, 524'288}));
  EXPECT_EQ(chosen({100, 10, 10}, 2), (Extents{100, 10, 10}));
  EXPECT_EQ(chosen({0, 10}, 2), (Extents{1, 10}));
  EXPECT_EQ(chosen({}, 2), (Extents{}));
}

TEST(StorageOptions, AGivenShapeStays) {
  StorageOptions storage;
  storage.chunk_shape = {7, 8};
  EXPECT_EQ(with_chunk_shape(storage, Extents{100, 100}, 4).chunk_shape, (Extents{7, 8}));
  EXPECT_FALSE(with_chunk_shape({}, Extents{100}, 4).chunked());
  StorageOptions shuffled;
  shuffled.shuffle = true;
  EXPECT_EQ(with_chunk_shape(shuffled, Extents{100}, 4).chunk_shape, Extents{100});
}

TEST(StorageOptions, Filtered) {
  StorageOptions storage;
  EXPECT_FALSE(storage.filtered());
  storage.deflate_level = 0;
  EXPECT_TRUE(storage.filtered());
}

class ArrayOutputTest : public ::testing::Test {
 protected:
  ArrayOutputTest() {
    const auto folder = std::filesystem::temp_directory_path().string();
    spec_.path = mpi::broadcast(folder + "/warpfold-array-" + std::to_string(::getpid()) + ".h5",
                                communicator_);
    spec_.dataset = std::string("narrow");
    spec_.format = {ElementType::u32, native_byte_order};
    spec_.others.push_back({"wide", {}, {ElementType::u64, native_byte_order}, {}});
  }

  ~ArrayOutputTest() override {
    if (communicator_.is_root()) std::filesystem::remove(spec_.path);
  }

  /// Has each rank write a part of both datasets, from the last rank's part on.
  void write(const StorageOptions& storage) {
    set_shape(spec_, {rows_, columns_}, storage);
    OutputFile file(communicator_);
    ArrayOutput output(spec_, file, run_);
    EXPECT_EQ(output.is_chunked(), storage.chunked());
    write_parts(output);
    output.finish();
    RunReport report;
    file.commit(report, run_.monitor.stages());
  }

  void write_parts(ArrayOutput& output) {
    const auto ranks = static_cast<std::uint64_t>(communicator_.size());
    const auto rank = static_cast<std::uint64_t>(communicator_.rank());
    const ElementRange mine = partition(rows_ * columns_, 1, ranks, ranks - 1 - rank);
    write_numbers<std::uint32_t>(*output.writer(0), mine);
    write_numbers<std::uint64_t>(*output.writer(1), mine);
  }

  template <class Number>
  static void write_numbers(io::ContiguousWriter& writer, ElementRange range) {
    std::vector<Number> numbers(range.count);
    std::iota(numbers.begin(), numbers.end(), static_cast<Number>(range.first));
    if (!numbers.empty())
      writer.write(range.first * sizeof(Number), std::as_bytes(std::span(numbers)));
  }

  template <class Number>
  void expect_numbers(const std::string& name) const {
    if (!communicator_.is_root()) return;
    std::vector<Number> numbers(rows_ * columns_);
    io::Dataset dataset(spec_.path, name, ReadPath::library);
    dataset.read({0, numbers.size()}, std::as_writable_bytes(std::span(numbers)));
    for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], i);
  }

  static constexpr std::uint64_t rows_ = 50;
  static constexpr std::uint64_t columns_ = 70;
  mpi::Communicator communicator_{MPI_COMM_WORLD};
  io::OutputSpec spec_;
  RunOptions options_;
  pipeline::Run run_{MPI_COMM_WORLD, options_};
};

TEST_F(ArrayOutputTest, AllDatasetsAreChunkedOrNone) {
  for (const Extents& chunk : {Extents{}, Extents{1, 70}, Extents{8, 9}, Extents{100, 100}}) {
    StorageOptions storage;
    storage.chunk_shape = chunk;
    if (storage.chunked()) storage.deflate_level = 1;
    spec_.force = true;
    write(storage);
    expect_numbers<std::uint32_t>("narrow");
    expect_numbers<std::uint64_t>("wide");
  }
}

TEST_F(ArrayOutputTest, WithoutAFileTheRootHasArrays) {
  spec_.path.clear();
  set_shape(spec_, {rows_, columns_}, {});
  OutputFile file(communicator_);
  ArrayOutput output(spec_, file, run_);
  write_parts(output);
  output.finish();
  if (!communicator_.is_root()) return;
  for (std::size_t dataset = 0; dataset < 2; ++dataset) {
    const std::vector<Value> values = output.values(dataset);
    ASSERT_EQ(values.size(), rows_ * columns_);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], Value(int128{i}));
  }
}

TEST_F(ArrayOutputTest, WithoutElementsThereAreNoWriters) {
  StorageOptions storage;
  storage.choose_chunk_shape = true;
  set_shape(spec_, {0}, storage);
  OutputFile file(communicator_);
  ArrayOutput output(spec_, file, run_);
  EXPECT_EQ(output.writer(0), nullptr);
  EXPECT_EQ(output.writer(1), nullptr);
  EXPECT_TRUE(output.finish().empty());
}

}  // namespace
}  // namespace warpfold::pipeline
