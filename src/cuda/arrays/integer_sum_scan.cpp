#include "cuda/arrays/integer_sum_scan.hpp"

#include <limits>
#include <type_traits>

#include "core/scan/scan_arithmetic.hpp"
#include "cuda/runtime/scratch.hpp"
#include "cuda/scan/first_overflow.hpp"
#include "cuda/scan/scan_sum_integer.hpp"
#include "cuda/tiles/tile_prefix.hpp"
#include "cuda/tiles/tile_totals.hpp"

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

bool holds(ElementType type, int128 lowest, int128 highest) {
  return visit_element_type(type, [&](auto element) {
    using Out = decltype(element);
    return scan_order::fits<Out>(lowest) && scan_order::fits<Out>(highest);
  });
}

}  // namespace

IntegerSumScan::IntegerSumScan(const ScanSpec& spec) : spec_(spec) {
  if (spec.input.order == native_byte_order &&
      ArrayScan::supports(spec.input.type, spec.output, ScanOperation::sum))
    array_scan_.emplace(spec.input.type, spec.output, ScanOperation::sum);
}

std::uint64_t IntegerSumScan::scratch_bytes(std::uint64_t tiles) const {
  Scratch scratch;
  cut(scratch, tiles);
  return scratch.bytes();
}

Accumulator IntegerSumScan::total(const kernels::BlockView& block, std::byte*,
                                  cudaStream_t stream) {
  ReduceNeeds needs;
  needs.sum = true;
  needs.absolute = is_signed_integer(spec_.input.type);
  reduce_.start(block.input, block.elements, spec_.input, needs, 0, stream);
  Accumulator total = reduce_.result();
  const int128 sum = integer_of(total.sum);
  const int128 absolute = needs.absolute ? integer_of(total.absolute) : sum;
  reach_ = Reach{(absolute + sum) / 2, (sum - absolute) / 2};
  total.absolute = ExactSum{};
  return total;
}

IntegerSumScan::Reach IntegerSumScan::furthest_reach(std::uint64_t elements) const {
  return visit_element_type(spec_.input.type, [&](auto element) -> Reach {
    using In = decltype(element);
    if constexpr (std::is_integral_v<In>)
      return {static_cast<int128>(elements) * std::numeric_limits<In>::max(),
              static_cast<int128>(elements) * std::numeric_limits<In>::min()};
    return {};
  });
}

bool IntegerSumScan::every_prefix_fits(int128 before, const Reach& reach) const {
  return spec_.overflow == OverflowPolicy::wrap ||
         holds(spec_.output, before + reach.negative, before + reach.positive);
}

bool IntegerSumScan::needs_total(std::uint64_t elements) const {
  return array_scan_ && !every_prefix_fits(0, furthest_reach(elements));
}

std::optional<std::uint64_t> IntegerSumScan::scan(const kernels::BlockView& block,
                                                  std::byte* scratch, const Accumulator& before,
                                                  cudaStream_t stream) {
  const int128 sum_before = integer_of(before.sum);
  const Reach reach = reach_.value_or(furthest_reach(block.elements));
  reach_.reset();
  if (!array_scan_ || !every_prefix_fits(sum_before, reach))
    return scan_checked(block, scratch, sum_before, stream);
  scan_modulo(block, sum_before, stream);
  return std::nullopt;
}

void IntegerSumScan::scan_modulo(const kernels::BlockView& block, int128 before,
                                 cudaStream_t stream) {
  visit_element_type(spec_.output, [&](auto carry) {
    if constexpr (std::is_integral_v<decltype(carry)>) {
      carry = static_cast<decltype(carry)>(before);
      array_scan_->start(block.input, block.output, block.elements, spec_.exclusive, &carry,
                         stream);
    }
  });
}

std::optional<std::uint64_t> IntegerSumScan::scan_checked(const kernels::BlockView& block,
                                                          std::byte* memory, int128 before,
                                                          cudaStream_t stream) const {
  Scratch scratch(memory);
  const IntegerScratch parts = cut(scratch, block.tiles());
  kernels::integer_tile_totals(block, parts.tile_sums, stream);
  kernels::integer_prefixes(parts.tile_sums, block.tiles(), parts.total, stream);
  const FirstOverflow overflow(spec_, parts.first_overflow, stream);
  kernels::scan_sum_integer(block, parts.tile_sums, before, spec_.exclusive, overflow.check(),
                            stream);
  return overflow.result();
}

}  // namespace warpfold::cuda
