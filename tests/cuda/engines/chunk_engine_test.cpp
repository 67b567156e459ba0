#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/layout/chunk_grid.hpp"
#include "core/layout/tiling.hpp"
#include "core/values/byte_order.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/support/accumulator_equality.hpp"
#include "cuda/support/both_backends.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/gpu_test.hpp"
#include "cuda/support/sample_chunks.hpp"
#include "cuda/support/sample_data.hpp"
#include "cuda/support/sample_decodings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

/// A dataset of a few thousand elements in chunks, many of them equal.
struct ChunkedDataset {
  std::size_t element_bytes;
  ChunkGrid grid;
  std::vector<std::byte> bytes;
  std::array<std::byte, 8> fill{};
};

template <class T>
ChunkedDataset chunked_dataset(const std::vector<std::uint64_t>& shape,
                               const std::vector<std::uint64_t>& chunk_shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : shape) elements *= extent;
  std::vector<T> values(elements);
  for (T& value : values) {
    const auto kind = random() % 64;
    value = element_of<T>(static_cast<double>(kind % 4));
    if constexpr (is_floating_element<T>)
      if (kind == 63) value = element_of<T>(std::numeric_limits<double>::quiet_NaN());
  }
  ChunkedDataset dataset{sizeof(T), chunk_grid(shape, chunk_shape), bytes_of(values)};
  const T three = element_of<T>(3.0);
  std::memcpy(dataset.fill.data(), &three, sizeof(T));
  return dataset;
}

/// The sample's chunks in the memory.
StagedChunks stage(const ChunkedDataset& dataset, const SampleChunks& sample,
                   const ChunkTarget& target, std::span<std::byte> memory) {
  EXPECT_LE(sample.staging.size(), memory.size());
  std::ranges::copy(sample.staging, memory.begin());
  return {dataset.grid, target, sample.chunks, dataset.fill};
}

const std::vector<std::vector<std::uint64_t>> dataset_shapes[] = {{{20011}, {777}},
                                                                  {{131, 97}, {16, 33}},
                                                                  {{17, 40, 31}, {5, 7, 31}},
                                                                  {{9, 8, 11, 13}, {2, 8, 3, 5}}};

class CudaChunks : public BothBackends {};

/// Passes the dataset box by box, by several threads, to the engine that make(plan) gives;
/// unwritten chunks become fill values in it. Returns what the engine has in the end.
template <class Make>
auto pass_boxes(const Make& make, ElementFormat format, ChunkedDataset& dataset,
                std::uint64_t max_chunks, const Decoding& decoding = {}) {
  constexpr int threads = 3;
  const Tiling boxes = tile_chunks(dataset.grid, max_chunks);
  std::mt19937_64 random(max_chunks);
  std::vector<SampleChunks> samples;
  StagingPlan plan{format, decoding,        max_elements_of(boxes, dataset.grid),
                   0,      Staging::chunks, threads};
  plan.slots_per_thread = 2;
  for (std::uint64_t box = 0; box < boxes.items(); ++box) {
    const ChunkRun run = chunks_of(boxes, {box, 1});
    samples.push_back(sample_chunks(dataset.grid, run.first, run.count, dataset.bytes,
                                    dataset.element_bytes, dataset.fill, random));
    plan.staging_bytes = std::max<std::uint64_t>(plan.staging_bytes, samples.back().staging.size());
  }
  const auto engine = make(plan);
  EXPECT_EQ(engine->threads(), threads);
  std::atomic<std::uint64_t> next = 0;
  std::vector<std::thread> workers;
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back([&, thread] {
      while (true) {
        const std::uint64_t box = next++;
        if (box >= boxes.items()) return;
        const ChunkRun run = chunks_of(boxes, {box, 1});
        const Ticket ticket = engine->take(thread);
        StagedChunks slab =
            stage(dataset, samples[box], box_target(dataset.grid, run), ticket.memory);
        slab.indices = box_indices(dataset.grid, run);
        engine->submit(ticket, slab);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  return engine->finish();
}

Accumulator reduce_boxes(Backend& backend, ElementFormat format, ChunkedDataset& dataset,
                         std::uint64_t max_chunks, const Decoding& decoding = {}) {
  return pass_boxes(
      [&](const StagingPlan& plan) { return backend.make_reduce_engine(plan, everything); }, format,
      dataset, max_chunks, decoding);
}

/// Requires that what is read of the dataset box by box, at some indices, are its elements, those
/// that the sample leaves out replaced.
template <class T>
void expect_read(Backend& backend, ElementFormat format, ChunkedDataset& dataset,
                 std::uint64_t max_chunks, const ElementRange& indices,
                 const SampleDecoding<T>& sample, const std::string& what) {
  const T left_out = element_of<T>(5.0);
  const DeviceBuffer memory(indices.count * sizeof(T));
  const ReadTarget target{memory.data(), indices, std::bit_cast<Word<T>>(left_out)};
  pass_boxes([&](const StagingPlan& plan) { return backend.make_read_engine(plan, target); },
             format, dataset, max_chunks, sample.decoding);
  const Stream stream;
  const auto read = downloaded_array<T>(memory.data(), indices.count, stream.get());
  std::vector<T> expected(indices.count);
  std::memcpy(expected.data(), dataset.bytes.data() + indices.first * sizeof(T),
              indices.count * sizeof(T));
  for (T& element : expected) {
    if (format.order != native_byte_order) element = byte_swapped(element);
    if (!sample.selects(element)) element = left_out;
  }
  EXPECT_TRUE(std::memcmp(read.data(), expected.data(), indices.count * sizeof(T)) == 0) << what;
}

TEST_P(CudaChunks, BoxesReduceToWhatTheFlatDatasetDoes) {
  const ElementFormat format{GetParam(), native_byte_order};
  for (const auto& shape : dataset_shapes) {
    for (const std::uint64_t max_chunks : {1u, 3u, 50u, 100000u}) {
      auto dataset = visit_element_type(GetParam(), [&](auto element) {
        return chunked_dataset<decltype(element)>(shape[0], shape[1], max_chunks);
      });
      const Accumulator boxes = reduce_boxes(*gpu_, format, dataset, max_chunks);
      const Accumulator flat = reduce_all(*cpu_, {format, {}, 4096}, everything, dataset.bytes);
      expect_equal(boxes, flat,
                   std::to_string(shape[0].size()) + "-D, " + std::to_string(max_chunks));
    }
  }
}

TEST_P(CudaChunks, DecodedBoxesReduceToWhatTheFlatDatasetDoes) {
  StagingPlan plan{{GetParam(), native_byte_order}, {}, 4096};
  visit_element_type(GetParam(), [&](auto element) {
    plan.decoding = filters<decltype(element)>().front().decoding;
  });
  for (const auto& shape : dataset_shapes) {
    auto dataset = visit_element_type(GetParam(), [&](auto element) {
      return chunked_dataset<decltype(element)>(shape[0], shape[1], 3);
    });
    const Accumulator boxes = reduce_boxes(*gpu_, plan.format, dataset, 3, plan.decoding);
    expect_equal(boxes, reduce_all(*gpu_, plan, everything, dataset.bytes),
                 std::to_string(shape[0].size()));
  }
}

TEST_P(CudaChunks, BoxesAreReadToTheirPlaces) {
  for (const auto& shape : dataset_shapes) {
    for (const std::uint64_t max_chunks : {1u, 3u, 100000u}) {
      visit_element_type(GetParam(), [&](auto zero) {
        using T = decltype(zero);
        auto dataset = chunked_dataset<T>(shape[0], shape[1], max_chunks);
        const std::uint64_t elements = dataset.bytes.size() / sizeof(T);
        const SampleDecoding<T> all{"all", {}, [](T) { return true; }, {}};
        const auto expect = [&](ByteOrder order, const ElementRange& indices,
                                const SampleDecoding<T>& sample) {
          expect_read<T>(*gpu_, {GetParam(), order}, dataset, max_chunks, indices, sample,
                         std::to_string(shape[0].size()) + "-D, " + std::to_string(max_chunks) +
                             ", " + sample.name);
        };
        expect(ByteOrder::little, {0, elements}, all);
        expect(ByteOrder::big, {elements / 3, elements / 2}, all);
        expect(ByteOrder::little, {elements - 1, 1}, all);
        expect(ByteOrder::little, {0, elements}, filters<T>().front());
      });
    }
  }
}

TEST_P(CudaChunks, BlocksLoadedAsChunksScanAsTheFlatDataset) {
  constexpr int readers = 3;
  const ScanSpec spec{{GetParam(), native_byte_order},
                      ScanOperation::max,
                      false,
                      GetParam(),
                      OverflowPolicy::error};
  for (const auto& shape : dataset_shapes) {
    auto dataset = visit_element_type(GetParam(), [&](auto element) {
      return chunked_dataset<decltype(element)>(shape[0], shape[1], 7);
    });
    const std::uint64_t elements = dataset.bytes.size() / dataset.element_bytes;
    const std::uint64_t chunks = dataset.grid.chunks();
    const std::uint64_t piece = 5;
    std::mt19937_64 random(9);
    std::vector<SampleChunks> samples;
    BlockEnginePlan plan{{spec.input, {}, tile, 0, Staging::chunks, readers}, 2 * tile};
    for (std::uint64_t first = 0; first < chunks; first += piece) {
      samples.push_back(sample_chunks(dataset.grid, first, std::min(piece, chunks - first),
                                      dataset.bytes, dataset.element_bytes, dataset.fill, random));
      plan.pieces.staging_bytes =
          std::max<std::uint64_t>(plan.pieces.staging_bytes, samples.back().staging.size());
    }
    const auto engine = gpu_->make_scan_engine(plan, spec);
    ScanResult result;
    Accumulator before = Accumulator::empty();
    int block = 0;
    for (std::uint64_t first = 0; first < elements; first += engine->block_elements()) {
      const std::uint64_t count = std::min(engine->block_elements(), elements - first);
      const ChunkTarget target = flat_target(dataset.grid, {first, count});
      std::vector<std::thread> workers;
      for (int reader = 0; reader < readers; ++reader) {
        workers.emplace_back([&, reader] {
          for (auto i = static_cast<std::size_t>(reader); i < samples.size(); i += readers) {
            const Ticket ticket = engine->take(reader, block, {0, count});
            engine->submit(ticket, stage(dataset, samples[i], target, ticket.memory));
          }
        });
      }
      for (std::thread& worker : workers) worker.join();
      const Accumulator total = engine->total(block, first, count);
      engine->scan(block, first, count, before);
      append(before, total, first);
      append_output(*engine, block, count, tile, result.bytes);
      block = (block + 1) % engine->blocks();
    }
    const auto flat = cpu_->make_scan_engine(packed_plan(spec.input, tile, 2 * tile), spec);
    EXPECT_TRUE(result.bytes == scan_all(*flat, dataset.bytes, spec, tile).bytes)
        << shape[0].size() << "-D";
  }
}

TEST_P(CudaChunks, LittleMemoryIsShared) {
  auto dataset = visit_element_type(GetParam(), [&](auto element) {
    return chunked_dataset<decltype(element)>({40000}, {1000}, 1);
  });
  const ScanSpec spec{
      {GetParam(), native_byte_order}, ScanOperation::min, true, GetParam(), OverflowPolicy::error};
  const BlockEnginePlan plan{{spec.input, {}, tile, 1 << 20, Staging::chunks, 16}, 1 << 20, 16};
  for (const std::uint64_t memory : {24u << 20, 4u << 20, 3u << 19}) {
    const auto engine = make_backend_with(memory)->make_scan_engine(plan, spec);
    EXPECT_GE(engine->block_elements(), tile);
    EXPECT_LE(engine->block_elements() * dataset.element_bytes, memory);
  }
  EXPECT_THROW(make_backend_with(1 << 20)->make_scan_engine(plan, spec), Error);
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaChunks,
                         ::testing::Values(ElementType::i8, ElementType::u16, ElementType::f32,
                                           ElementType::f64),
                         type_name);

}  // namespace
}  // namespace warpfold::cuda
