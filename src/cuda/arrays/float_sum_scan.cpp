#include "cuda/arrays/float_sum_scan.hpp"

#include "cuda/reduce/non_finite.hpp"
#include "cuda/runtime/copy.hpp"
#include "cuda/runtime/scratch.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/scan/scan_sum_float.hpp"
#include "cuda/tiles/float_tile_totals.hpp"
#include "cuda/tiles/tile_prefix.hpp"
#include "cuda/tiles/tile_starts.hpp"

namespace warpfold::cuda {
namespace {

struct FloatScratch {
  kernels::FloatTileTotals tiles;
  std::int64_t* total;
  kernels::NonFinite* non_finite;
  kernels::TileStart* starts;
  kernels::TileList put_off;
};

FloatScratch cut(Scratch& scratch, ElementType input, std::uint64_t tiles) {
  const kernels::LimbRange range = kernels::limbs_of_sums(input);
  const kernels::TileGroups groups(tiles);
  auto* limbs = scratch.take<std::int64_t>(tiles * static_cast<unsigned>(range.count));
  auto* traits = scratch.take<kernels::TileTraits>(tiles);
  auto* group_limbs =
      scratch.take<std::int64_t>(kernels::TileGroups::max_of(tiles) * ExactSum::limbs);
  return {{limbs, traits, group_limbs, range, groups},
          scratch.take<std::int64_t>(ExactSum::limbs),
          scratch.take<kernels::NonFinite>(1),
          scratch.take<kernels::TileStart>(tiles),
          {scratch.take<std::uint32_t>(tiles), scratch.take<std::uint32_t>(1)}};
}

/// With as few limbs that are not zero as the sum's magnitude has digits.
kernels::FloatCarry carry_of(const Accumulator& before) {
  kernels::FloatCarry carry{before.sum, before.nan_count != 0, before.positive_infinities != 0,
                            before.negative_infinities != 0};
  carry.sum.normalize();
  if (!carry.sum.negative()) return carry;
  carry.sum.negate();
  for (std::int64_t& limb : carry.sum.limb) limb = -limb;
  return carry;
}

}  // namespace

std::uint64_t FloatSumScan::scratch_bytes(std::uint64_t tiles) const {
  Scratch scratch;
  cut(scratch, spec_.input.type, tiles);
  return scratch.bytes();
}

Accumulator FloatSumScan::total(const kernels::BlockView& block, std::byte* memory,
                                cudaStream_t stream) {
  Scratch scratch(memory);
  const FloatScratch parts = cut(scratch, block.format.type, block.tiles());
  clear(parts.non_finite, stream);
  fill_bytes(parts.tiles.group_limbs, 0,
             parts.tiles.groups.count * ExactSum::limbs * sizeof(std::int64_t), stream);
  kernels::float_tile_totals(block, parts.tiles, parts.non_finite, stream);
  kernels::limb_prefixes(parts.tiles.group_limbs, parts.tiles.groups.count, parts.total, stream);
  Accumulator total = Accumulator::empty();
  kernels::NonFinite non_finite{};
  copy_to_host(total.sum.limb, parts.total, sizeof(total.sum.limb), stream);
  copy_to_host(&non_finite, parts.non_finite, sizeof(non_finite), stream);
  synchronize(stream);
  total.count = static_cast<std::int64_t>(block.elements);
  total.nan_count = static_cast<std::int64_t>(non_finite.count[0]);
  total.positive_infinities = static_cast<std::int64_t>(non_finite.count[1]);
  total.negative_infinities = static_cast<std::int64_t>(non_finite.count[2]);
  total.normalize();
  return total;
}

std::optional<std::uint64_t> FloatSumScan::scan(const kernels::BlockView& block, std::byte* memory,
                                                const Accumulator& before, cudaStream_t stream) {
  Scratch scratch(memory);
  const FloatScratch parts = cut(scratch, block.format.type, block.tiles());
  kernels::tile_starts(parts.tiles, parts.non_finite, carry_of(before), block.tiles(), parts.starts,
                       stream);
  fill_bytes(parts.put_off.count, 0, sizeof(*parts.put_off.count), stream);
  kernels::scan_sum_float(block, parts.starts, parts.put_off, spec_.exclusive, stream);
  return std::nullopt;
}

}  // namespace warpfold::cuda
