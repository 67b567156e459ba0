#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>

#include "core/engine/backend.hpp"
#include "core/layout/tiling.hpp"
#include "core/results/reducing.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "cpu/chunks/chunk_assembly.hpp"
#include "cpu/chunks/staged.hpp"
#include "cpu/engines/backend.hpp"
#include "cpu/engines/scalar_reduce.hpp"
#include "cpu/kernels/kernel_cases.hpp"

namespace warpfold::cpu {
namespace {

using namespace warpfold::cpu::testing;
using warpfold::testing::ChunkedShape;
using warpfold::testing::everything;
using warpfold::testing::random_selection;
using warpfold::testing::random_shape;

constexpr Kind some_kinds[] = {Kind::constant, Kind::sprinkled, Kind::zeros, Kind::all_bits};

/// Longer than what a reduction takes at a time.
const ChunkedShape large_shapes[] = {
    {{100003}, {40000}}, {{70000}, {70000}}, {{300, 401}, {150, 201}}, {{5, 20000}, {2, 20000}}};

/// Everything, or a part.
Selection some_selection(const ChunkedShape& shape, std::mt19937_64& random) {
  return random() % 2 == 0 ? Selection{} : random_selection(shape.shape, random);
}

std::size_t max_staging(const ChunkGrid& grid, std::uint64_t chunks, std::size_t element_bytes) {
  return chunks * (grid.chunk_elements() * element_bytes + 16);
}

/// Reduces the dataset in boxes of at most `max_chunks` chunks, two threads at once.
template <class T>
Accumulator engine_reduce(Backend& backend, const ChunkedDataset<T>& dataset, ElementFormat format,
                          std::uint64_t max_chunks, std::uint64_t seed) {
  const ChunkGrid& grid = dataset.grid();
  const Tiling boxes = tile_chunks(grid, max_chunks);
  const auto engine = backend.make_reduce_engine({format,
                                                  {},
                                                  max_elements_of(boxes, grid),
                                                  max_staging(grid, max_chunks, sizeof(T)),
                                                  Staging::chunks,
                                                  2},
                                                 everything);
  const auto reduce_every_other_box = [&](int thread) {
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(thread));
    std::vector<std::byte> bytes;
    for (auto box = static_cast<std::uint64_t>(thread); box < boxes.items(); box += 2) {
      const ChunkRun run = chunks_of(boxes, {box, 1});
      const std::vector<StagedChunk> chunks = dataset.stage(run, bytes, random);
      const Ticket ticket = engine->take(thread);
      std::copy(bytes.begin(), bytes.end(), ticket.memory.begin());
      engine->submit(ticket,
                     {grid, box_target(grid, run), chunks, dataset.fill(), box_indices(grid, run)});
    }
  };
  {
    const std::jthread other([&] { reduce_every_other_box(1); });
    reduce_every_other_box(0);
  }
  return engine->finish();
}

class EveryChunk : public EveryTypeByKernels {};

TEST_P(EveryChunk, IsReducedAsItsElementsAre) {
  const auto [type, kernels] = GetParam();
  const auto backend = make_backend(1, *kernels);
  std::mt19937_64 random(6);
  visit_element_type(type, [&, type = type](auto element) {
    using T = decltype(element);
    for (int i = 0; i < 40; ++i) {
      const bool large = i < static_cast<int>(std::size(large_shapes));
      const ChunkedShape shape = large ? large_shapes[i] : random_shape(random);
      const ElementFormat format{type, i % 2 == 0 ? ByteOrder::little : ByteOrder::big};
      const Selection selection = some_selection(shape, random);
      const ChunkedDataset<T> dataset(shape, some_kinds[i % 4], format, random, selection);
      const std::uint64_t max_chunks = 1 + random() % (dataset.grid().chunks() + 2);
      const Accumulator actual = engine_reduce(*backend, dataset, format, max_chunks, random());
      EXPECT_TRUE(same(actual, scalar_reduce(dataset.elements(), 0))) << "dataset " << i;
    }
  });
}

TEST_P(EveryChunk, IsAssembledIntoAnyRange) {
  const auto [type, kernels] = GetParam();
  std::mt19937_64 random(7);
  visit_element_type(type, [&, type = type, kernels = kernels](auto element) {
    using T = decltype(element);
    for (int i = 0; i < 40; ++i) {
      const bool large = i < static_cast<int>(std::size(large_shapes));
      const ChunkedShape shape = large ? large_shapes[i] : random_shape(random);
      const Selection selection = some_selection(shape, random);
      const ChunkedDataset<T> dataset(shape, Kind::all_bits, {type}, random, selection);
      const std::uint64_t elements = dataset.elements().size();
      const std::uint64_t first = random() % elements;
      const ElementRange range{first, 1 + random() % (elements - first)};
      std::vector<std::byte> staging;
      const auto chunks = dataset.stage(chunks_overlapping(dataset.grid(), range), staging, random);
      std::vector<T> target(range.count);
      assemble(*kernels, sizeof(T),
               {dataset.grid(), flat_target(dataset.grid(), range), chunks, dataset.fill()},
               staging.data(), reinterpret_cast<std::byte*>(target.data()));
      EXPECT_EQ(
          std::memcmp(target.data(), dataset.elements().data() + first, range.count * sizeof(T)), 0)
          << "dataset " << i;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Cpu, EveryChunk, every_type_by_kernels(), type_and_kernels);

TEST(ScanEngine, TakesChunksFromSeveralReaders) {
  constexpr ElementFormat format{ElementType::i16, ByteOrder::big};
  const ChunkedShape shape{{90, 401}, {20, 150}};
  std::mt19937_64 random(8);
  const ChunkedDataset<std::int16_t> dataset(shape, Kind::uniform, format, random);
  const ChunkGrid& grid = dataset.grid();
  const ScanSpec spec{format, ScanOperation::sum, false, ElementType::i64};
  constexpr int readers = 3;
  const std::uint64_t block_elements = 2 * scan_order::tile_elements;
  const auto engine = make_backend(1)->make_scan_engine(
      {{format, {}, block_elements, max_staging(grid, 1, 2), Staging::chunks, readers},
       block_elements},
      spec);

  std::int64_t sum = 0;
  Accumulator before = Accumulator::empty();
  for (std::uint64_t first = 0; first < shape.elements(); first += block_elements) {
    const ElementRange range{first, std::min(block_elements, shape.elements() - first)};
    const ChunkRun run = chunks_overlapping(grid, range);
    const auto load_some = [&](int reader) {
      std::mt19937_64 own(static_cast<std::uint64_t>(reader));
      std::vector<std::byte> bytes;
      for (auto i = static_cast<std::uint64_t>(reader); i < run.count; i += readers) {
        const auto chunks = dataset.stage({run.first + i, 1}, bytes, own);
        const Ticket ticket = engine->take(reader, 0, {0, range.count});
        std::copy(bytes.begin(), bytes.end(), ticket.memory.begin());
        engine->submit(ticket, {grid, flat_target(grid, range), chunks, dataset.fill()});
      }
    };
    {
      std::vector<std::jthread> threads;
      for (int reader = 0; reader < readers; ++reader)
        threads.emplace_back([&, reader] { load_some(reader); });
    }
    const Accumulator total = engine->total(0, range.first, range.count);
    engine->scan(0, first, range.count, before);
    before.merge(total);
    before.normalize();
    const auto bytes = engine->output(0, 0, 0, range.count);
    const auto* prefixes = reinterpret_cast<const std::int64_t*>(bytes.data());
    for (std::uint64_t i = 0; i < range.count; ++i) {
      sum += dataset.elements()[first + i];
      ASSERT_EQ(prefixes[i], sum) << "index " << first + i;
    }
  }
}

}  // namespace
}  // namespace warpfold::cpu
