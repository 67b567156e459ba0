#include "cuda/integer_sum_scan.hpp"

#include "cuda/copy.hpp"
#include "cuda/first_overflow.hpp"
#include "cuda/kernels/scan_sum_integer.hpp"
#include "cuda/kernels/tile_prefix.hpp"
#include "cuda/kernels/tile_totals.hpp"
#include "cuda/scratch.hpp"
#include "cuda/stream.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda {
namespace {

struct IntegerScratch {
  int128* tile_sums;
  int128* total;
  unsigned long long* first_overflow;
};

IntegerScratch cut(Scratch& scratch, std::uint64_t tiles) {
  return {scratch.take<int128>(tiles), scratch.take<int128>(1),
          scratch.take<unsigned long long>(1)};
}

/// Of a normalized sum of integers, which has no digits after the point: its low 128 bits.
int128 integer_of(const ExactSum& sum) {
  uint128 value = 0;
  for (int i = 3; i >= 0; --i)
    value = value << 32 | static_cast<std::uint32_t>(sum.limb[ExactSum::low_limbs + i]);
  return static_cast<int128>(value);
}

}  // namespace

std::uint64_t IntegerSumScan::scratch_bytes(std::uint64_t tiles) const {
  Scratch scratch;
  cut(scratch, tiles);
  return scratch.bytes();
}

Accumulator IntegerSumScan::total(const kernels::BlockView& block, std::byte* memory,
                                  cudaStream_t stream) const {
  Scratch scratch(memory);
  const IntegerScratch parts = cut(scratch, block.tiles());
  kernels::integer_tile_totals(block, parts.tile_sums, stream);
  kernels::integer_prefixes(parts.tile_sums, block.tiles(), parts.total, stream);
  int128 sum = 0;
  copy_to_host(&sum, parts.total, sizeof(sum), stream);
  synchronize(stream);
  Accumulator total = Accumulator::empty();
  total.count = static_cast<std::int64_t>(block.elements);
  total.sum.add(sum);
  total.normalize();
  return total;
}

std::optional<std::uint64_t> IntegerSumScan::scan(const kernels::BlockView& block,
                                                  std::byte* memory, const Accumulator& before,
                                                  cudaStream_t stream) const {
  Scratch scratch(memory);
  const IntegerScratch parts = cut(scratch, block.tiles());
  const FirstOverflow overflow(spec_, parts.first_overflow, stream);
  kernels::scan_sum_integer(block, parts.tile_sums, integer_of(before.sum), spec_.exclusive,
                            overflow.check(), stream);
  return overflow.result();
}

}  // namespace warpfold::cuda
