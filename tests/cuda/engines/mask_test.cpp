#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/layout/hyperslab.hpp"
#include "core/values/mask.hpp"
#include "cuda/support/accumulator_equality.hpp"
#include "cuda/support/axis_slabs.hpp"
#include "cuda/support/both_backends.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/gpu_test.hpp"
#include "cuda/support/sample_data.hpp"

namespace warpfold::cuda {
namespace {

constexpr std::uint64_t first_index = (std::uint64_t{1} << 40) + 7;

/// Runs of bits, set and not, of random lengths.
struct SampleMask {
  std::vector<std::uint64_t> words;
  std::uint64_t period;
  std::uint64_t stride;

  SampleMask(std::uint64_t bits, std::uint64_t elements_of_bit, unsigned seed)
      : words(bits / 64 + 1), period(bits), stride(elements_of_bit) {
    std::mt19937_64 random(seed);
    for (std::uint64_t i = 0; i < bits;) {
      const std::uint64_t end = std::min(bits, i + 1 + random() % 90);
      const bool set = random() % 2 == 0;
      for (; i < end; ++i) words[i / 64] |= std::uint64_t{set} << i % 64;
    }
  }

  Decoding decoding() const {
    Decoding decoding;
    decoding.mask = {words.data(), period, stride};
    return decoding;
  }
};

class CudaMask : public BothBackends {
 protected:
  /// test(elements, stored format, mask) of the parameter's type.
  template <class Test>
  static void with_masks(std::uint64_t elements, Test&& test) {
    struct Repeated {
      std::uint64_t period;
      std::uint64_t stride;
    };
    for (const auto [period, stride] : {Repeated{1, 1},
                                        {1000, 1},
                                        {elements + 3, 1},
                                        {1000, 3},
                                        {elements / 3 + 1, 3},
                                        {5, 130}}) {
      const SampleMask mask(period, stride, static_cast<unsigned>(elements + period));
      const ByteOrder order = period == 1000 ? ByteOrder::big : ByteOrder::little;
      visit_element_type(GetParam(), [&](auto element) {
        using T = decltype(element);
        test(sample<T>(Sample::non_finite, elements, 5), ElementFormat{GetParam(), order}, mask);
      });
    }
  }
};

TEST_P(CudaMask, ReducesWhatItSelects) {
  for (const std::uint64_t size : {1u, 33u, 70001u})
    with_masks(size, [&](const auto& elements, ElementFormat format, const SampleMask& mask) {
      const StagingPlan plan{format, mask.decoding(), 30001};
      const auto bytes = bytes_of(elements, format.order);
      expect_equal(reduce_all(*gpu_, plan, everything, bytes, first_index),
                   reduce_all(*cpu_, plan, everything, bytes, first_index),
                   std::to_string(size) + " elements, period " + std::to_string(mask.period));
    });
}

TEST_P(CudaMask, ScansWhatItLeavesOutAsTheIdentity) {
  with_masks(7 * tile + 6, [&](const auto& elements, ElementFormat format, const SampleMask& mask) {
    for (const auto operation : {ScanOperation::sum, ScanOperation::min}) {
      const ScanSpec spec{format, operation, false, default_scan_output(format.type, operation),
                          OverflowPolicy::wrap};
      const auto scanned = [&](Backend& backend) {
        const auto engine = backend.make_scan_engine(
            packed_plan(format, 2 * tile, 5 * tile, 1, mask.decoding()), spec);
        return scan_all(*engine, bytes_of(elements, format.order), spec, 2 * tile,
                        Accumulator::empty(), first_index)
            .bytes;
      };
      EXPECT_TRUE(scanned(*gpu_) == scanned(*cpu_)) << name_of(operation) << ' ' << mask.period;
    }
  });
}

TEST_P(CudaMask, CompactsWhatItSelects) {
  with_masks(3 * tile + 5, [&](const auto& elements, ElementFormat format, const SampleMask& mask) {
    const auto compacted = [&](Backend& backend) {
      const auto engine = backend.make_compact_engine(
          packed_plan(format, 4 * tile, 4 * tile, 1, mask.decoding()), true);
      load_block(*engine, 0, bytes_of(elements, format.order), size_of(format.type), 4 * tile,
                 first_index);
      const std::uint64_t kept = engine->keep(0, first_index, elements.size());
      const auto values = engine->values(0, 0, 0, kept);
      std::vector<std::byte> bytes(values.begin(), values.end());
      const auto indices = std::as_bytes(engine->indices(0, 0, 0, kept));
      bytes.insert(bytes.end(), indices.begin(), indices.end());
      return bytes;
    };
    EXPECT_TRUE(compacted(*gpu_) == compacted(*cpu_)) << mask.period;
  });
}

TEST_P(CudaMask, CountsAlongAnAxisWhatItSelects) {
  const SlabLayout layout{sample_box.count, {25, 50, 1}};  // outputs are 2 x 25
  with_masks(layout.elements(), [&](const auto& elements, ElementFormat, const SampleMask& mask) {
    const auto reduced = [&](Backend& backend) {
      StagingPlan plan{{GetParam()}, mask.decoding(), layout.elements()};
      plan.staging_bytes = layout.elements() * 8;
      plan.staging = Staging::chunks;
      const auto engine = backend.make_axis_reduce_engine(plan, {everything, 50});
      engine->begin(0, 50);
      const SampleSlab slab = whole_slab(layout, elements);
      const Ticket ticket = engine->take(0);
      StagedChunks staged = slab.stage(ticket.memory);
      staged.indices = box_indices(sample_box, layout.stride, sample_array_shape);
      staged.rows = {.first = 3};
      engine->submit(ticket, staged);
      return engine->finish(0);
    };
    const AxisParts gpu = reduced(*gpu_);
    const AxisParts cpu = reduced(*cpu_);
    for (std::size_t i = 0; i < 50; ++i) {
      EXPECT_EQ(gpu.counts[i].elements, cpu.counts[i].elements);
      EXPECT_EQ(gpu.counts[i].nan, cpu.counts[i].nan);
      EXPECT_EQ(gpu.first_nan[i], cpu.first_nan[i]);
      EXPECT_EQ(fields_of(gpu.minimum[i]), fields_of(cpu.minimum[i]));
      EXPECT_EQ(fields_of(gpu.maximum[i]), fields_of(cpu.maximum[i]));
    }
  });
}

TEST_P(CudaMask, ScansAlongAnAxisWhatItSelects) {
  const SlabLayout layout = row_major(sample_box.count);
  const AxisSlab shape{sample_box.count[0], sample_box.count[1], sample_box.count[2]};
  with_masks(layout.elements(),
             [&](const auto& elements, ElementFormat format, const SampleMask& mask) {
               const ScanSpec spec{{format.type},
                                   ScanOperation::sum,
                                   false,
                                   default_scan_output(format.type, ScanOperation::sum),
                                   OverflowPolicy::wrap};
               const auto scanned = [&](Backend& backend) {
                 StagingPlan plan{spec.input, mask.decoding(), layout.elements()};
                 plan.staging_bytes = layout.elements() * 8;
                 plan.staging = Staging::chunks;
                 const auto engine = backend.make_axis_scan_engine(plan, {spec, shape.lines()});
                 const SampleSlab slab = whole_slab(layout, elements);
                 const Ticket ticket = engine->take(0, shape);
                 StagedChunks staged = slab.stage(ticket.memory);
                 staged.indices = box_indices(sample_box, layout.stride, sample_array_shape);
                 engine->submit(ticket, staged);
                 const auto prefixes = engine->scan(0).value();
                 return std::vector(prefixes.begin(), prefixes.end());
               };
               EXPECT_TRUE(scanned(*gpu_) == scanned(*cpu_)) << mask.period;
             });
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaMask, ::testing::ValuesIn(all_element_types), type_name);

}  // namespace
}  // namespace warpfold::cuda
