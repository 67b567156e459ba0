#include "cuda/float_sum_scan.hpp"

#include "cuda/copy.hpp"
#include "cuda/kernels/scan_sum_float.hpp"
#include "cuda/kernels/tile_prefix.hpp"
#include "cuda/kernels/tile_totals.hpp"
#include "cuda/non_finite.hpp"
#include "cuda/scratch.hpp"
#include "cuda/stream.hpp"

namespace warpfold::cuda {
namespace {

struct FloatScratch {
  kernels::FloatTileTotals tiles;
  kernels::TileStart* starts;
  std::int64_t* total;
  kernels::NonFinite* non_finite;
};

FloatScratch cut(Scratch& scratch, std::uint64_t tiles) {
  return {{scratch.take<std::int64_t>(tiles * ExactSum::limbs),
           scratch.take<kernels::TileTraits>(tiles)},
          scratch.take<kernels::TileStart>(tiles),
          scratch.take<std::int64_t>(ExactSum::limbs),
          scratch.take<kernels::NonFinite>(1)};
}

}  // namespace

std::uint64_t FloatSumScan::scratch_bytes(std::uint64_t tiles) const {
  Scratch scratch;
  cut(scratch, tiles);
  return scratch.bytes();
}

Accumulator FloatSumScan::total(const kernels::BlockView& block, std::byte* memory,
                                cudaStream_t stream) const {
  Scratch scratch(memory);
  const FloatScratch parts = cut(scratch, block.tiles());
  clear(parts.non_finite, stream);
  kernels::float_tile_totals(block, parts.tiles, parts.non_finite, stream);
  kernels::limb_prefixes(parts.tiles.limbs, block.tiles(), parts.total, stream);
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
                                                const Accumulator& before,
                                                cudaStream_t stream) const {
  Scratch scratch(memory);
  const FloatScratch parts = cut(scratch, block.tiles());
  const kernels::FloatCarry carry{before.sum, before.nan_count != 0,
                                  before.positive_infinities != 0, before.negative_infinities != 0};
  kernels::tile_starts(parts.tiles, parts.non_finite, carry, block.tiles(), parts.starts, stream);
  kernels::scan_sum_float(block, parts.starts, spec_.exclusive, stream);
  return std::nullopt;
}

}  // namespace warpfold::cuda
