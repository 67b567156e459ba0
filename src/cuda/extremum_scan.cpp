#include "cuda/extremum_scan.hpp"

#include "cuda/copy.hpp"
#include "cuda/first_overflow.hpp"
#include "cuda/kernels/scan_extremum.hpp"
#include "cuda/kernels/tile_prefix.hpp"
#include "cuda/kernels/tile_totals.hpp"
#include "cuda/non_finite.hpp"
#include "cuda/scratch.hpp"
#include "cuda/stream.hpp"

namespace warpfold::cuda {
namespace {

struct ExtremumScratch {
  Extremum* tiles;
  Extremum* total;
  kernels::NonFinite* non_finite;
  unsigned long long* first_overflow;
};

ExtremumScratch cut(Scratch& scratch, std::uint64_t tiles) {
  return {scratch.take<Extremum>(tiles), scratch.take<Extremum>(1),
          scratch.take<kernels::NonFinite>(1), scratch.take<unsigned long long>(1)};
}

}  // namespace

std::uint64_t ExtremumScan::scratch_bytes(std::uint64_t tiles) const {
  Scratch scratch;
  cut(scratch, tiles);
  return scratch.bytes();
}

Accumulator ExtremumScan::total(const kernels::BlockView& block, std::byte* memory,
                                cudaStream_t stream) const {
  Scratch scratch(memory);
  const ExtremumScratch parts = cut(scratch, block.tiles());
  const bool maximum = spec_.operation == ScanOperation::max;
  clear(parts.non_finite, stream);
  kernels::extremum_tile_totals(block, maximum, parts.tiles, parts.non_finite, stream);
  kernels::extremum_prefixes(parts.tiles, block.tiles(), parts.total, stream);
  Accumulator total = Accumulator::empty();
  kernels::NonFinite non_finite{};
  copy_to_host(maximum ? &total.maximum : &total.minimum, parts.total, sizeof(Extremum), stream);
  copy_to_host(&non_finite, parts.non_finite, sizeof(non_finite), stream);
  synchronize(stream);
  total.count = static_cast<std::int64_t>(block.elements);
  total.nan_count = static_cast<std::int64_t>(non_finite.count[0]);
  return total;
}

std::optional<std::uint64_t> ExtremumScan::scan(const kernels::BlockView& block, std::byte* memory,
                                                const Accumulator& before,
                                                cudaStream_t stream) const {
  Scratch scratch(memory);
  const ExtremumScratch parts = cut(scratch, block.tiles());
  const bool maximum = spec_.operation == ScanOperation::max;
  const kernels::ExtremumCarry carry{maximum ? before.maximum : before.minimum,
                                     before.nan_count != 0};
  const FirstOverflow overflow(spec_, parts.first_overflow, stream);
  kernels::scan_extremum(block, parts.tiles, parts.non_finite, carry, maximum, spec_.exclusive,
                         overflow.check(), stream);
  return overflow.result();
}

}  // namespace warpfold::cuda
