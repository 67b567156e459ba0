#include "cpu/machine/aligned_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace warpfold::cpu {
namespace {

std::uintptr_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

TEST(AlignedMemory, BeginsAtMultiplesOfTheAlignment) {
  for (const std::size_t alignment : {8U, 16U, 64U, 4096U, 2U << 20})
    for (const std::size_t bytes : {0U, 1U, 63U, 64U, 65U, 5000U}) {
      void* const memory = allocate_aligned(bytes, std::align_val_t{alignment});
      EXPECT_EQ(address_of(memory) % alignment, 0U);
      std::memset(memory, 0xA5, bytes);
      release_aligned(memory);
    }
}

TEST(AlignedMemory, IsTakenAgainBesideWhatStays) {
  constexpr std::size_t bytes = 396'096;
  constexpr std::align_val_t cache_line{64};
  // The first of this size may lie outside the heap.
  release_aligned(allocate_aligned(bytes, cache_line));
  std::vector<std::unique_ptr<char[]>> stays;
  std::uintptr_t lowest = UINTPTR_MAX;
  std::uintptr_t highest = 0;
  for (int i = 0; i < 100; ++i) {
    void* const memory = allocate_aligned(bytes, cache_line);
    stays.push_back(std::make_unique<char[]>(200));
    lowest = std::min(lowest, address_of(memory));
    highest = std::max(highest, address_of(memory));
    release_aligned(memory);
  }
  EXPECT_LT(highest - lowest, 10 * bytes);
}

TEST(AlignedMemory, RefusesWhatNoMachineHas) {
  EXPECT_THROW(allocate_aligned(SIZE_MAX - 8, std::align_val_t{64}), std::bad_alloc);
}

struct Base : InAlignedMemory {
  virtual ~Base() = default;
};

struct OverAligned final : Base {
  alignas(256) std::byte values[512];
};

TEST(AlignedMemory, HoldsObjectsThatAreDeletedByTheirBase) {
  const std::unique_ptr<Base> object = std::make_unique<OverAligned>();
  EXPECT_EQ(address_of(dynamic_cast<OverAligned&>(*object).values) % 256, 0U);
}

}  // namespace
}  // namespace warpfold::cpu
