#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/results/axis_totals.hpp"
#include "core/results/label_numbers.hpp"
#include "core/results/reducing.hpp"
#include "cpu/engines/backend.hpp"
#include "cuda/support/accumulator_equality.hpp"
#include "cuda/support/axis_slabs.hpp"
#include "cuda/support/compressed_slabs.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/gpu_test.hpp"
#include "cuda/support/sample_data.hpp"
#include "cuda/support/sample_decodings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

/// More than there is room for.
constexpr std::uint64_t any_labels = std::uint64_t{1} << 32;

/// Enough for some thousand labels: an emulated GPU's memory is the host's.
constexpr std::uint64_t device_bytes = std::uint64_t{256} << 20;

/// Totals of labels, one element after the other.
class Expected {
 public:
  explicit Expected(std::uint32_t labels) : labels_(labels, Accumulator::empty()) {}

  template <class T>
  void add(const std::vector<T>& elements, const std::vector<std::uint64_t>& indices,
           const std::vector<std::uint32_t>& numbers) {
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (numbers[i] != no_label)
        warpfold::testing::reduce(labels_[numbers[i]], elements[i], indices[i]);
  }

  void expect_equal_to(const AxisParts& parts, ElementType values, const std::string& what) {
    AxisTotals totals(values, everything, labels_.size());
    totals.merge(parts);
    for (std::size_t label = 0; label < labels_.size(); ++label) {
      labels_[label].normalize();
      expect_equal(totals.accumulator(label), labels_[label],
                   what + ", label " + std::to_string(label));
      if (::testing::Test::HasFailure()) return;
    }
  }

 private:
  std::vector<Accumulator> labels_;
};

std::vector<std::uint32_t> some_labels(std::uint64_t places, std::uint32_t labels,
                                       std::mt19937_64& random) {
  std::vector<std::uint32_t> numbers(places);
  for (std::uint32_t& number : numbers)
    number = random() % 9 == 0 ? no_label : static_cast<std::uint32_t>(random() % labels);
  return numbers;
}

/// Returns a number for each element, of numbers that places share.
std::vector<std::uint32_t> of_elements(const std::vector<std::uint32_t>& numbers,
                                       std::uint64_t elements) {
  std::vector<std::uint32_t> all(elements);
  for (std::uint64_t i = 0; i < elements; ++i) all[i] = numbers[i % numbers.size()];
  return all;
}

std::vector<std::uint64_t> indices_from(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> indices(count);
  for (std::uint64_t i = 0; i < count; ++i) indices[i] = first + i;
  return indices;
}

void label(LabelEngine& engine, int thread, const std::vector<std::uint32_t>& numbers,
           std::uint32_t labels) {
  std::ranges::copy(numbers, engine.numbers(thread, numbers.size()).begin());
  engine.label(thread, labels);
}

class CudaLabelEngine : public ::testing::TestWithParam<ElementType> {
 protected:
  void SetUp() override {
    if (const std::string missing = missing_gpu(); !missing.empty()) GTEST_SKIP() << missing;
    gpu_ = make_backend_with(device_bytes);
  }

  std::unique_ptr<Backend> gpu_;
  std::mt19937_64 random_{5};
};

TEST_P(CudaLabelEngine, SlabsOfAllByteOrdersAndLabelsThatTheyShare) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      const auto engine =
          gpu_->make_label_engine(slab_plan({GetParam(), order}), everything, any_labels);
      Expected expected(70);
      for (std::uint64_t slab = 0; slab < 4; ++slab) {
        auto elements =
            sample<T>(slab % 2 == 0 ? Sample::non_finite : Sample::wide, 2100, random_());
        const SampleSlab staged = chunked_slab(row_major({3, 700}), elements, order, random_);
        const auto numbers = some_labels(slab == 1 ? 2100 : 700, 70, random_);
        label(*engine, 0, numbers, 70);
        for (const std::uint64_t first : {slab * 10000, slab * 10000 + 4000}) {
          const Ticket ticket = engine->take(0);
          StagedChunks chunks = staged.stage(ticket.memory);
          chunks.indices = {.first = first};
          engine->submit(ticket, chunks);
          expected.add(elements, indices_from(first, 2100), of_elements(numbers, 2100));
        }
      }
      expected.expect_equal_to(engine->finish(), GetParam(), "orders");
    }
  });
}

TEST_P(CudaLabelEngine, WhatIsLeftOutDoesNotCount) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    for (const SampleDecoding<T>& decoding : filters<T>()) {
      StagingPlan plan = slab_plan({GetParam()});
      plan.decoding = decoding.decoding;
      const auto engine = gpu_->make_label_engine(plan, everything, any_labels);
      const auto elements = sample<T>(Sample::uniform, 1500, random_());
      const auto numbers = some_labels(1500, 20, random_);
      label(*engine, 0, numbers, 20);
      whole_slab(row_major({1500}), elements).submit(*engine);
      const Kept<T> kept = kept_of(decoding, elements);
      std::vector<std::uint32_t> labels;
      for (const std::uint64_t index : kept.indices) labels.push_back(numbers[index]);
      Expected expected(20);
      expected.add(kept.values, kept.indices, labels);
      expected.expect_equal_to(engine->finish(), GetParam(), decoding.name);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaLabelEngine, ::testing::ValuesIn(all_element_types), type_name);

class CudaLabelPlans : public GpuTest {};

TEST_F(CudaLabelPlans, ThreadsShareTheTotals) {
  constexpr int threads = 3;
  const auto engine =
      make_backend_with(device_bytes)
          ->make_label_engine(slab_plan({ElementType::f32}, threads), everything, any_labels);
  ASSERT_EQ(engine->threads(), threads);
  Expected expected(50);
  std::vector<std::thread> workers;
  std::mutex mutex;
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back([&, thread] {
      std::mt19937_64 random(static_cast<unsigned>(thread));
      for (std::uint64_t turn = 0; turn < 5; ++turn) {
        const auto elements = sample<float>(Sample::wide, 1000, random());
        const auto numbers = some_labels(1000, 50, random);
        label(*engine, thread, numbers, 50);
        const SampleSlab slab = whole_slab(row_major({1000}), elements);
        const Ticket ticket = engine->take(thread);
        StagedChunks chunks = slab.stage(ticket.memory);
        chunks.indices.first = (turn * threads + static_cast<unsigned>(thread)) * 1000;
        engine->submit(ticket, chunks);
        const std::lock_guard lock(mutex);
        expected.add(elements, indices_from(chunks.indices.first, 1000), numbers);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  expected.expect_equal_to(engine->finish(), ElementType::f32, "threads");
}

/// Slabs wait for decompression while their threads' labels change.
TEST_F(CudaLabelPlans, CompressedSlabsKeepTheirLabels) {
  const CompressedSlabs sample(6);
  StagingPlan plan = sample.plan();
  plan.compressed.chunks = 500;
  const auto engine =
      make_backend_with(device_bytes)->make_label_engine(plan, everything, any_labels);
  ASSERT_TRUE(engine->decompresses());
  std::vector<float> elements(sample.elements.size() / sizeof(float));
  std::memcpy(elements.data(), sample.elements.data(), sample.elements.size());
  std::mt19937_64 random(3);
  Expected expected(30);
  for (int round = 0; round < 4; ++round) {
    for (std::uint64_t box = 0; box < sample.boxes.items(); ++box) {
      const int thread = static_cast<int>(box % 2);
      const ChunkRun run = chunks_of(sample.boxes, {box, 1});
      const ChunkTarget target = box_target(sample.grid, run);
      const BoxIndices indices = box_indices(sample.grid, run);
      const auto numbers = some_labels(target.elements, 30, random);
      label(*engine, thread, numbers, 30);
      const Ticket ticket = engine->take(thread);
      std::ranges::copy(sample.slabs[box].staging, ticket.memory.begin());
      engine->submit(ticket, {sample.grid, target, sample.slabs[box].chunks, {}, indices});
      std::vector<std::uint64_t> flat(target.elements);
      std::vector<float> values(target.elements);
      for (std::uint64_t place = 0; place < target.elements; ++place) {
        flat[place] = indices(place);
        values[place] = elements[flat[place]];
      }
      expected.add(values, flat, numbers);
    }
  }
  expected.expect_equal_to(engine->finish(), ElementType::f32, "compressed");
}

TEST_F(CudaLabelPlans, CoresReduceWhereMemoryIsShort) {
  const StagingPlan plan = slab_plan({ElementType::f64}, 4);
  const auto engine = make_backend_with(1 << 30)->make_label_engine(plan, everything, any_labels);
  ASSERT_NE(engine, nullptr);
  EXPECT_GE(engine->capacity(), 1024u);
  EXPECT_EQ(make_backend_with(4 << 20)->make_label_engine(plan, everything, any_labels), nullptr);
  EXPECT_EQ(cpu::make_backend(1)->make_label_engine(plan, everything, any_labels), nullptr);
}

TEST_F(CudaLabelPlans, FewLabelsTakeLittleMemory) {
  const StagingPlan plan = slab_plan({ElementType::f64}, 1);
  const auto few = make_backend_with(1 << 30)->make_label_engine(plan, everything, 3);
  const auto many = make_backend_with(1 << 30)->make_label_engine(plan, everything, any_labels);
  ASSERT_NE(few, nullptr);
  ASSERT_NE(many, nullptr);
  EXPECT_EQ(few->capacity(), 8192u);
  EXPECT_GT(many->capacity(), 2 * few->capacity());
}

TEST_F(CudaLabelPlans, NumbersBeyondTheRoomAreRefused) {
  const auto engine =
      make_backend_with(device_bytes)
          ->make_label_engine(slab_plan({ElementType::f32}), everything, any_labels);
  EXPECT_THROW(engine->label(0, engine->capacity() + 1), Error);
  EXPECT_THROW(engine->numbers(0, max_slab_elements + 1), Error);
  EXPECT_THROW(engine->take(0), Error);
}

}  // namespace
}  // namespace warpfold::cuda
