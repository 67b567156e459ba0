#include "cuda/arrays/extremum_scan.hpp"

#include <bit>
#include <limits>
#include <type_traits>

#include "cuda/reduce/non_finite.hpp"
#include "cuda/runtime/scratch.hpp"
#include "cuda/scan/first_overflow.hpp"
#include "cuda/scan/scan_extremum.hpp"
#include "cuda/tiles/tile_prefix.hpp"
#include "cuda/tiles/tile_totals.hpp"

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

/// The element whose value_bits() are those of the extremum.
template <class T>
T element_of(const Extremum& extremum) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(extremum.bits);
  else
    return static_cast<T>(std::bit_cast<double>(extremum.bits));
}

}  // namespace

ExtremumScan::ExtremumScan(const ScanSpec& spec) : spec_(spec) {
  if (spec.input.order == native_byte_order &&
      ArrayScan::supports(spec.input.type, spec.output, spec.operation))
    array_scan_.emplace(spec.input.type, spec.output, spec.operation);
}

std::uint64_t ExtremumScan::scratch_bytes(std::uint64_t tiles) const {
  Scratch scratch;
  cut(scratch, tiles);
  return scratch.bytes();
}

Accumulator ExtremumScan::total(const kernels::BlockView& block, std::byte*, cudaStream_t stream) {
  ReduceNeeds needs;
  needs.extrema = true;
  reduce_.start(block.input, block.elements, spec_.input, needs, 0, stream);
  return reduce_.result();
}

std::optional<std::uint64_t> ExtremumScan::scan(const kernels::BlockView& block, std::byte* scratch,
                                                const Accumulator& before, cudaStream_t stream) {
  if (!array_scan_) return scan_tiles(block, scratch, before, stream);
  scan_array(block, before, stream);
  return std::nullopt;
}

void ExtremumScan::scan_array(const kernels::BlockView& block, const Accumulator& before,
                              cudaStream_t stream) {
  const Extremum& best = spec_.operation == ScanOperation::max ? before.maximum : before.minimum;
  visit_element_type(spec_.output, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_arithmetic_v<T>) {
      const bool nan = before.nan_count != 0;
      const T carry = nan ? std::numeric_limits<T>::quiet_NaN() : element_of<T>(best);
      array_scan_->start(block.input, block.output, block.elements, spec_.exclusive,
                         nan || best.seen() ? &carry : nullptr, stream);
    }
  });
}

std::optional<std::uint64_t> ExtremumScan::scan_tiles(const kernels::BlockView& block,
                                                      std::byte* memory, const Accumulator& before,
                                                      cudaStream_t stream) const {
  Scratch scratch(memory);
  const ExtremumScratch parts = cut(scratch, block.tiles());
  const bool maximum = spec_.operation == ScanOperation::max;
  clear(parts.non_finite, stream);
  kernels::extremum_tile_totals(block, maximum, parts.tiles, parts.non_finite, stream);
  kernels::extremum_prefixes(parts.tiles, block.tiles(), parts.total, stream);
  const kernels::ExtremumCarry carry{maximum ? before.maximum : before.minimum,
                                     before.nan_count != 0};
  const FirstOverflow overflow(spec_, parts.first_overflow, stream);
  kernels::scan_extremum(block, parts.tiles, parts.non_finite, carry, maximum, spec_.exclusive,
                         overflow.check(), stream);
  return overflow.result();
}

}  // namespace warpfold::cuda
