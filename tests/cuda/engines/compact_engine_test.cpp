#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/engine/backend.hpp"
#include "cuda/engines/backend.hpp"
#include "cuda/support/both_backends.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/sample_chunks.hpp"
#include "cuda/support/sample_decodings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

constexpr std::uint64_t piece = 2 * tile;

/// The bytes of kept values and their indices, block by block.
struct Compacted {
  std::vector<std::byte> values;
  std::vector<std::uint64_t> indices;
};

void append_block(CompactEngine& engine, int block, std::uint64_t kept, Compacted& to) {
  const std::uint64_t step = std::min(piece, engine.block_elements());
  for (std::uint64_t offset = 0; offset < kept; offset += step) {
    const std::uint64_t count = std::min(step, kept - offset);
    const auto values = engine.values(0, block, offset, count);
    to.values.insert(to.values.end(), values.begin(), values.end());
    const auto indices = engine.indices(0, block, offset, count);
    to.indices.insert(to.indices.end(), indices.begin(), indices.end());
  }
}

Compacted compact_all(CompactEngine& engine, const std::vector<std::byte>& bytes,
                      std::size_t element_bytes, std::uint64_t first_index) {
  const std::uint64_t elements = bytes.size() / element_bytes;
  Compacted result;
  int block = 0;
  for (std::uint64_t first = 0; first < elements; first += engine.block_elements()) {
    const std::uint64_t count = std::min(engine.block_elements(), elements - first);
    load_block(engine, block,
               std::span(bytes).subspan(first * element_bytes, count * element_bytes),
               element_bytes, std::min(piece, engine.block_elements()));
    append_block(engine, block, engine.keep(block, first_index + first, count), result);
    block = (block + 1) % engine.blocks();
  }
  return result;
}

template <class T, class Value>
void expect_compacts(Backend& gpu, const SampleDecoding<T, Value>& sample,
                     const std::vector<T>& elements) {
  constexpr std::uint64_t first_index = std::uint64_t{1} << 40;
  const ByteOrder order = elements.size() % 2 == 0 ? ByteOrder::little : ByteOrder::big;
  const auto engine = gpu.make_compact_engine(
      packed_plan({element_type_of<T>(), order}, piece, 20 * tile, 1, sample.decoding), true);
  const Compacted compacted =
      compact_all(*engine, bytes_of(elements, order), sizeof(T), first_index);
  const Kept<Value> expected = kept_of(sample, elements, first_index);
  const std::string what = sample.name + ", size " + std::to_string(elements.size());
  EXPECT_TRUE(compacted.values == bytes_of(expected.values)) << what;
  EXPECT_TRUE(compacted.indices == expected.indices) << what;
}

class CudaCompact : public BothBackends {};

TEST_P(CudaCompact, KeepsTheElementsInOrder) {
  const auto test = [&]<class T, class Value>(const SampleDecoding<T, Value>& decoding) {
    for (const Sample kind : {Sample::uniform, Sample::non_finite, Sample::subnormal})
      for (const std::size_t size : {0u, 1u, 31u, 32u, 33u, 4095u, 4096u, 4097u, 131 * 4096u + 77})
        expect_compacts(*gpu_, decoding, sample<T>(kind, size, size + 1));
  };
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    for (const auto& filter : filters<T>()) test(filter);
    test(unpacking<T, float>());
    test(unpacking<T, double>());
  });
}

TEST_P(CudaCompact, LittleMemoryCutsBlocks) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    const auto gpu = make_backend_with(std::uint64_t{1} << 20);
    expect_compacts(*gpu, filters<T>().front(), sample<T>(Sample::uniform, 200003, 5));
  });
  EXPECT_THROW(make_backend_with(1000)->make_compact_engine({{{GetParam()}}}, false), Error);
}

TEST_P(CudaCompact, MoreThanWasKeptIsRefused) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    const auto engine = gpu_->make_compact_engine(
        packed_plan({GetParam()}, tile, tile, 1, filters<T>().front().decoding), true);
    load_block(*engine, 0, bytes_of(std::vector<T>{element_of<T>(1), element_of<T>(0)}), sizeof(T),
               tile);
    EXPECT_EQ(engine->keep(0, 0, 2), 1u);
    EXPECT_EQ(engine->values(0, 0, 0, 1).size(), sizeof(T));
    EXPECT_THROW(engine->values(0, 0, 0, 2), Error);
    EXPECT_THROW(engine->indices(0, 0, 1, 1), Error);
    EXPECT_THROW(engine->keep(0, 0, engine->block_elements() + 1), Error);
  });
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaCompact, ::testing::ValuesIn(all_element_types), type_name);

/// Compaction meets chunks as scans do: one piece of a grid whose rows are cut.
TEST(CudaCompactChunks, ComeToTheirPlaces) {
  if (const std::string missing = missing_gpu(); !missing.empty()) GTEST_SKIP() << missing;
  const ChunkGrid grid =
      chunk_grid(std::vector<std::uint64_t>{131, 97}, std::vector<std::uint64_t>{16, 33});
  const auto elements = sample<float>(Sample::uniform, 131 * 97, 1);
  auto bytes = bytes_of(elements);
  const float fill = 0;
  std::mt19937_64 random(3);
  const SampleChunks chunks = sample_chunks(grid, 0, grid.chunks(), bytes, sizeof(float),
                                            std::as_bytes(std::span(&fill, 1)), random);
  std::vector<float> dataset(elements.size());
  std::memcpy(dataset.data(), bytes.data(), bytes.size());
  const auto positive = filters<float>().front();
  const BlockEnginePlan plan{
      {{ElementType::f32}, positive.decoding, piece, chunks.staging.size(), Staging::chunks},
      4 * tile};
  const auto engine = make_backend({})->make_compact_engine(plan, true);
  const Ticket ticket = engine->take(0, 0, {0, dataset.size()});
  std::ranges::copy(chunks.staging, ticket.memory.begin());
  engine->submit(ticket, {grid, flat_target(grid, {0, dataset.size()}), chunks.chunks});
  Compacted compacted;
  append_block(*engine, 0, engine->keep(0, 0, dataset.size()), compacted);
  const Kept<float> expected = kept_of(positive, dataset);
  EXPECT_TRUE(compacted.values == bytes_of(expected.values));
  EXPECT_TRUE(compacted.indices == expected.indices);
}

}  // namespace
}  // namespace warpfold::cuda
