#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cuda/support/accumulator_equality.hpp"
#include "cuda/support/both_backends.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/gpu_test.hpp"
#include "cuda/support/sample_data.hpp"

namespace warpfold::cuda {
namespace {

constexpr std::uint64_t reduce_slab = 300001;
constexpr std::uint64_t scan_slab = 2 * tile;
constexpr std::uint64_t scan_partition = 5 * tile;
constexpr std::size_t reduce_sizes[] = {0, 1, 31, 32, 33, 4095, 4096, 4097, 3 * 4096 + 5, 1000003};
constexpr std::size_t scan_sizes[] = {1, 33, 4095, 4096, 4097, 3 * 4096 + 5, 12 * 4096 + 77};

class CudaBesideCpu : public BothBackends {};

std::string description(const std::string& what, Sample kind, std::size_t size, ByteOrder order) {
  return what + " of sample " + std::to_string(static_cast<int>(kind)) + ", size " +
         std::to_string(size) + (order == ByteOrder::big ? ", big-endian" : "");
}

TEST_P(CudaBesideCpu, ReducesEqualMemberByMember) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const StagingPlan plan{{GetParam(), order}, {}, reduce_slab};
    for (const Sample kind : all_samples) {
      for (const std::size_t size : reduce_sizes) {
        const auto bytes = visit_element_type(GetParam(), [&](auto element) {
          return bytes_of(sample<decltype(element)>(kind, size, size + 7), order);
        });
        expect_equal(reduce_all(*gpu_, plan, everything, bytes, 1000),
                     reduce_all(*cpu_, plan, everything, bytes, 1000),
                     description("reduce", kind, size, order));
      }
    }
  }
}

TEST_P(CudaBesideCpu, ReducesFillWhatIsNeeded) {
  const auto bytes = visit_element_type(GetParam(), [](auto element) {
    return bytes_of(sample<decltype(element)>(Sample::non_finite, 10007, 3));
  });
  for (unsigned mask = 0; mask < 16; ++mask) {
    const ReduceNeeds needs{(mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0, (mask & 8) != 0};
    const StagingPlan plan{{GetParam(), native_byte_order}, {}, 4096};
    const Accumulator gpu = reduce_all(*gpu_, plan, needs, bytes);
    const Accumulator cpu = reduce_all(*cpu_, plan, needs, bytes);
    EXPECT_EQ(gpu.count, cpu.count);
    EXPECT_EQ(gpu.nan_count, cpu.nan_count);
    EXPECT_EQ(gpu.first_nan, cpu.first_nan);
    if (needs.sum) {
      EXPECT_EQ(limbs_of(gpu.sum), limbs_of(cpu.sum));
    }
    if (needs.absolute) {
      EXPECT_EQ(limbs_of(gpu.absolute), limbs_of(cpu.absolute));
    }
    if (needs.squares) {
      EXPECT_EQ(limbs_of(gpu.squares), limbs_of(cpu.squares));
    }
    if (needs.extrema) {
      EXPECT_EQ(fields_of(gpu.minimum), fields_of(cpu.minimum));
      EXPECT_EQ(fields_of(gpu.maximum), fields_of(cpu.maximum));
    }
  }
}

std::vector<ElementType> outputs_of(ElementType input, ScanOperation operation) {
  if (is_floating(input))
    return {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64};
  std::vector<ElementType> outputs = {ElementType::i64, ElementType::u64, ElementType::i8,
                                      ElementType::u32, ElementType::f32, ElementType::f64};
  const ElementType usual = default_scan_output(input, operation);
  if (std::find(outputs.begin(), outputs.end(), usual) == outputs.end()) outputs.push_back(usual);
  return outputs;
}

/// Returns the total of some elements before the scanned ones: a non-zero sum, and ties with zeros.
Accumulator carry_of(Backend& cpu, const ElementFormat& format, Sample kind) {
  const Sample earlier = kind == Sample::non_finite ? Sample::uniform : kind;
  const auto bytes = visit_element_type(format.type, [&](auto element) {
    return bytes_of(sample<decltype(element)>(earlier, tile, 99), format.order);
  });
  return reduce_all(cpu, {format, {}, tile}, {true, false, false, true}, bytes);
}

/// One scan of every sample and size on both backends.
void compare_scans(Backend& gpu, Backend& cpu, const ScanSpec& spec, const std::string& what) {
  const BlockEnginePlan plan = packed_plan(spec.input, scan_slab, scan_partition);
  const auto gpu_engine = gpu.make_scan_engine(plan, spec);
  const auto cpu_engine = cpu.make_scan_engine(plan, spec);
  for (const Sample kind : all_samples) {
    bool carried = kind != Sample::uniform;
    for (const std::size_t size : scan_sizes) {
      const auto bytes = visit_element_type(spec.input.type, [&](auto element) {
        return bytes_of(sample<decltype(element)>(kind, size, size), spec.input.order);
      });
      carried = !carried;
      const auto before = carried ? carry_of(cpu, spec.input, kind) : Accumulator::empty();
      const std::uint64_t first = carried ? tile : 0;
      const ScanResult one = scan_all(*gpu_engine, bytes, spec, scan_slab, before, first);
      const ScanResult other = scan_all(*cpu_engine, bytes, spec, scan_slab, before, first);
      const std::string which = description(what, kind, size, spec.input.order);
      EXPECT_EQ(one.overflow, other.overflow) << which;
      EXPECT_TRUE(one.overflow || one.bytes == other.bytes) << which;
    }
  }
}

TEST_P(CudaBesideCpu, ScansEqualByteForByte) {
  for (const auto operation : {ScanOperation::sum, ScanOperation::min, ScanOperation::max}) {
    for (const ElementType output : outputs_of(GetParam(), operation)) {
      for (const bool exclusive : {false, true}) {
        for (const auto overflow : {OverflowPolicy::error, OverflowPolicy::wrap}) {
          const ByteOrder order = exclusive ? ByteOrder::big : ByteOrder::little;
          const ScanSpec spec{{GetParam(), order}, operation, exclusive, output, overflow};
          compare_scans(*gpu_, *cpu_, spec,
                        std::string(name_of(operation)) + " to " + std::string(name_of(output)) +
                            (exclusive ? ", exclusive" : ""));
        }
      }
    }
  }
}

TEST_P(CudaBesideCpu, TotalsOfBlocksEqual) {
  for (const auto operation : {ScanOperation::sum, ScanOperation::min, ScanOperation::max}) {
    const ScanSpec spec{{GetParam(), native_byte_order},
                        operation,
                        false,
                        default_scan_output(GetParam(), operation),
                        OverflowPolicy::wrap};
    const BlockEnginePlan plan = packed_plan(spec.input, scan_slab, scan_slab);
    const auto gpu_engine = gpu_->make_scan_engine(plan, spec);
    const auto cpu_engine = cpu_->make_scan_engine(plan, spec);
    for (const Sample kind : all_samples) {
      const auto bytes = visit_element_type(GetParam(), [&](auto element) {
        return bytes_of(sample<decltype(element)>(kind, tile + 13, 5));
      });
      load_block(*gpu_engine, 0, bytes, size_of(GetParam()), tile);
      load_block(*cpu_engine, 0, bytes, size_of(GetParam()), tile);
      const Accumulator gpu = gpu_engine->total(0, 0, tile + 13);
      const Accumulator cpu = cpu_engine->total(0, 0, tile + 13);
      EXPECT_EQ(gpu.nan_count, cpu.nan_count);
      if (operation == ScanOperation::sum) {
        EXPECT_EQ(gpu.positive_infinities, cpu.positive_infinities);
        EXPECT_EQ(gpu.negative_infinities, cpu.negative_infinities);
        EXPECT_EQ(limbs_of(gpu.sum), limbs_of(cpu.sum));
      } else if (operation == ScanOperation::min) {
        EXPECT_EQ(fields_of(gpu.minimum), fields_of(cpu.minimum));
      } else {
        EXPECT_EQ(fields_of(gpu.maximum), fields_of(cpu.maximum));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaBesideCpu, ::testing::ValuesIn(all_element_types), type_name);

}  // namespace
}  // namespace warpfold::cuda
