#include "cuda/scan/scan_method.hpp"

#include <bit>
#include <limits>
#include <type_traits>

#include "core/numeric/rounding.hpp"
#include "core/values/ordered_key.hpp"
#include "cuda/reduce/device_reduce.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/scan/one_pass_scan.hpp"
#include "cuda/tiles/float_tiles.hpp"
#include "cuda/tiles/tile_scans.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda {
namespace {

/// Reduces a block's input and waits for the result.
Accumulator reduced(DeviceReduce& reduce, const kernels::BlockView& block, const ReduceNeeds& needs,
                    cudaStream_t stream) {
  reduce.start(block.input, block.elements, block.format, needs, 0, stream);
  return reduce.result();
}

/// Makes a one-pass scan where there is one of the spec's types.
std::optional<OnePassScan> one_pass_scan(const ScanSpec& spec) {
  if (spec.input.order == native_byte_order &&
      OnePassScan::supports(spec.input.type, spec.output, spec.operation))
    return std::optional<OnePassScan>(std::in_place, spec.input.type, spec.output, spec.operation);
  return std::nullopt;
}

/// Makes counts in device memory ready for a block's elements.
void clear(kernels::NonFinite* counts, cudaStream_t stream) {
  fill_bytes(counts->count, 0, sizeof(counts->count), stream);
  fill_bytes(counts->first_tile, 0xff, sizeof(counts->first_tile), stream);
}

/// Finds the first integer of a scan that its output type can't hold, where the scan asks for it.
class FirstOverflow {
 public:
  /// `index` is in device memory and written to in the stream's order.
  FirstOverflow(const ScanSpec& spec, unsigned long long* index, cudaStream_t stream)
      : check_{spec.overflow == OverflowPolicy::error && is_integer(spec.input.type) &&
                   is_integer(spec.output),
               index},
        stream_(stream) {
    if (check_.enabled) fill_bytes(index, 0xff, sizeof(*index), stream);
  }

  const kernels::OverflowCheck& check() const { return check_; }

  /// To be called after the scan.
  std::optional<std::uint64_t> result() const {
    if (!check_.enabled) return std::nullopt;
    const auto index = downloaded_value<unsigned long long>(check_.first_index, stream_);
    if (index == ~0ull) return std::nullopt;
    return index;
  }

 private:
  kernels::OverflowCheck check_;
  cudaStream_t stream_;
};

/// Writes running minima or maxima of any elements.
class ExtremumScan final : public ScanMethod {
 public:
  explicit ExtremumScan(const ScanSpec& spec) : spec_(spec), one_pass_(one_pass_scan(spec)) {}

  std::uint64_t scratch_bytes(std::uint64_t tiles) const override {
    Scratch scratch;
    parts_of(scratch, tiles);
    return scratch.bytes();
  }

  bool needs_total(std::uint64_t) const override { return false; }

  Accumulator total(const kernels::BlockView& block, std::byte*, cudaStream_t stream) override {
    return reduced(reduce_, block, {.extrema = true}, stream);
  }

  std::optional<std::uint64_t> scan(const kernels::BlockView& block, std::byte* scratch,
                                    const Accumulator& before, cudaStream_t stream) override {
    if (!one_pass_) return scan_tiles(block, scratch, before, stream);
    scan_at_once(block, before, stream);
    return std::nullopt;
  }

 private:
  struct Parts {
    Extremum* tiles;
    Extremum* total;
    kernels::NonFinite* non_finite;
    unsigned long long* first_overflow;
  };

  static Parts parts_of(Scratch& scratch, std::uint64_t tiles) {
    return {scratch.take<Extremum>(tiles), scratch.take<Extremum>(1),
            scratch.take<kernels::NonFinite>(1), scratch.take<unsigned long long>(1)};
  }

  bool maximum() const { return spec_.operation == ScanOperation::max; }

  void scan_at_once(const kernels::BlockView& block, const Accumulator& before,
                    cudaStream_t stream) {
    const Extremum& best = maximum() ? before.maximum : before.minimum;
    visit_element_type(spec_.output, [&](auto element) {
      using T = decltype(element);
      if constexpr (std::is_arithmetic_v<T>) {
        const bool nan = before.nan_count != 0;
        const T carry = nan ? std::numeric_limits<T>::quiet_NaN() : element_of_bits<T>(best.bits);
        one_pass_->start(block.input, block.output, block.elements, spec_.exclusive,
                         nan || best.seen() ? &carry : nullptr, stream);
      }
    });
  }

  std::optional<std::uint64_t> scan_tiles(const kernels::BlockView& block, std::byte* memory,
                                          const Accumulator& before, cudaStream_t stream) const {
    Scratch scratch(memory);
    const Parts parts = parts_of(scratch, block.tiles());
    clear(parts.non_finite, stream);
    kernels::extremum_tile_totals(block, maximum(), parts.tiles, parts.non_finite, stream);
    kernels::extremum_prefixes(parts.tiles, block.tiles(), parts.total, stream);
    const kernels::ExtremumCarry carry{maximum() ? before.maximum : before.minimum,
                                       before.nan_count != 0};
    const FirstOverflow overflow(spec_, parts.first_overflow, stream);
    kernels::scan_extremum(block, parts.tiles, parts.non_finite, carry, maximum(), spec_.exclusive,
                           overflow.check(), stream);
    return overflow.result();
  }

  ScanSpec spec_;
  DeviceReduce reduce_;
  std::optional<OnePassScan> one_pass_;
};

/// Writes prefix sums of integers: in the output type's own arithmetic where no prefix can overflow
/// it, or none is looked for, else in 128 bits.
class IntegerSumScan final : public ScanMethod {
 public:
  explicit IntegerSumScan(const ScanSpec& spec) : spec_(spec), one_pass_(one_pass_scan(spec)) {}

  std::uint64_t scratch_bytes(std::uint64_t tiles) const override {
    Scratch scratch;
    parts_of(scratch, tiles);
    return scratch.bytes();
  }

  bool needs_total(std::uint64_t elements) const override {
    return one_pass_ && !every_prefix_fits(0, furthest_reach(elements));
  }

  Accumulator total(const kernels::BlockView& block, std::byte*, cudaStream_t stream) override {
    const bool has_negative = is_signed_integer(spec_.input.type);
    Accumulator total = reduced(reduce_, block, {.sum = true, .absolute = has_negative}, stream);
    const int128 sum = integer_of(total.sum);
    const int128 absolute = has_negative ? integer_of(total.absolute) : sum;
    reach_ = Reach{(absolute + sum) / 2, (sum - absolute) / 2};
    total.absolute = ExactSum{};
    return total;
  }

  std::optional<std::uint64_t> scan(const kernels::BlockView& block, std::byte* scratch,
                                    const Accumulator& before, cudaStream_t stream) override {
    const int128 sum_before = integer_of(before.sum);
    const Reach reach = reach_.value_or(furthest_reach(block.elements));
    reach_.reset();
    if (!one_pass_ || !every_prefix_fits(sum_before, reach))
      return scan_tiles(block, scratch, sum_before, stream);
    scan_at_once(block, sum_before, stream);
    return std::nullopt;
  }

 private:
  /// The sums of a block's positive and of its negative elements, or bounds of them.
  struct Reach {
    int128 positive;
    int128 negative;
  };

  struct Parts {
    int128* tile_sums;
    int128* total;
    unsigned long long* first_overflow;
  };

  static Parts parts_of(Scratch& scratch, std::uint64_t tiles) {
    return {scratch.take<int128>(tiles), scratch.take<int128>(1),
            scratch.take<unsigned long long>(1)};
  }

  Reach furthest_reach(std::uint64_t elements) const {
    return visit_element_type(spec_.input.type, [&](auto element) -> Reach {
      using In = decltype(element);
      if constexpr (std::is_integral_v<In>)
        return {static_cast<int128>(elements) * std::numeric_limits<In>::max(),
                static_cast<int128>(elements) * std::numeric_limits<In>::min()};
      return {};
    });
  }

  bool every_prefix_fits(int128 before, const Reach& reach) const {
    if (spec_.overflow == OverflowPolicy::wrap) return true;
    return visit_element_type(spec_.output, [&](auto element) {
      using Out = decltype(element);
      return can_hold<Out>(before + reach.negative) && can_hold<Out>(before + reach.positive);
    });
  }

  void scan_at_once(const kernels::BlockView& block, int128 before, cudaStream_t stream) {
    visit_element_type(spec_.output, [&](auto carry) {
      if constexpr (std::is_integral_v<decltype(carry)>) {
        carry = static_cast<decltype(carry)>(before);
        one_pass_->start(block.input, block.output, block.elements, spec_.exclusive, &carry,
                         stream);
      }
    });
  }

  std::optional<std::uint64_t> scan_tiles(const kernels::BlockView& block, std::byte* memory,
                                          int128 before, cudaStream_t stream) const {
    Scratch scratch(memory);
    const Parts parts = parts_of(scratch, block.tiles());
    kernels::integer_tile_totals(block, parts.tile_sums, stream);
    kernels::integer_prefixes(parts.tile_sums, block.tiles(), parts.total, stream);
    const FirstOverflow overflow(spec_, parts.first_overflow, stream);
    kernels::scan_sum_integer(block, parts.tile_sums, before, spec_.exclusive, overflow.check(),
                              stream);
    return overflow.result();
  }

  ScanSpec spec_;
  DeviceReduce reduce_;
  std::optional<OnePassScan> one_pass_;
  std::optional<Reach> reach_;  ///< of the block whose total() is known
};

/// Writes prefix sums of floats, each rounded once.
class FloatSumScan final : public ScanMethod {
 public:
  explicit FloatSumScan(const ScanSpec& spec) : spec_(spec) {}

  std::uint64_t scratch_bytes(std::uint64_t tiles) const override {
    Scratch scratch;
    parts_of(scratch, tiles);
    return scratch.bytes();
  }

  bool needs_total(std::uint64_t) const override { return true; }

  Accumulator total(const kernels::BlockView& block, std::byte* memory,
                    cudaStream_t stream) override {
    Scratch scratch(memory);
    const Parts parts = parts_of(scratch, block.tiles());
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

  std::optional<std::uint64_t> scan(const kernels::BlockView& block, std::byte* memory,
                                    const Accumulator& before, cudaStream_t stream) override {
    Scratch scratch(memory);
    const Parts parts = parts_of(scratch, block.tiles());
    kernels::tile_starts(parts.tiles, parts.non_finite, carry_of(before), block.tiles(),
                         parts.starts, stream);
    fill_bytes(parts.put_off.count, 0, sizeof(*parts.put_off.count), stream);
    kernels::scan_sum_float(block, {parts.starts, parts.tiles.limbs}, parts.put_off,
                            spec_.exclusive, stream);
    return std::nullopt;
  }

 private:
  struct Parts {
    kernels::FloatTileTotals tiles;
    std::int64_t* total;
    kernels::NonFinite* non_finite;
    kernels::TileStart* starts;
    kernels::TileList put_off;
  };

  static Parts parts_of(Scratch& scratch, std::uint64_t tiles) {
    const kernels::TileGroups groups(tiles);
    auto* limbs = scratch.take<std::int64_t>(tiles * ExactSum::limbs);
    auto* traits = scratch.take<kernels::TileTraits>(tiles);
    auto* group_limbs =
        scratch.take<std::int64_t>(kernels::TileGroups::max_of(tiles) * ExactSum::limbs);
    return {{limbs, traits, group_limbs, groups},
            scratch.take<std::int64_t>(ExactSum::limbs),
            scratch.take<kernels::NonFinite>(1),
            scratch.take<kernels::TileStart>(tiles),
            {scratch.take<std::uint32_t>(tiles), scratch.take<std::uint32_t>(1)}};
  }

  /// Writes the sum with as few limbs that are not zero as its magnitude has digits.
  static kernels::FloatCarry carry_of(const Accumulator& before) {
    kernels::FloatCarry carry{before.sum, before.nan_count != 0, before.positive_infinities != 0,
                              before.negative_infinities != 0};
    carry.sum.normalize();
    if (!carry.sum.negative()) return carry;
    carry.sum.negate();
    for (std::int64_t& limb : carry.sum.limb) limb = -limb;
    return carry;
  }

  ScanSpec spec_;
};

/// Writes prefix sums of floats in their own arithmetic: the same from run to run on one GPU model.
/// The total is exact, and what precedes a block is rounded once.
class FastFloatSumScan final : public ScanMethod {
 public:
  explicit FastFloatSumScan(const ScanSpec& spec)
      : spec_(spec), one_pass_(spec.input.type, spec.output, ScanOperation::sum) {
    if (spec.input.order != native_byte_order)
      throw Error("a sum in the elements' own arithmetic takes them in native byte order", "",
                  "Swap their bytes first, or ask for the reproducible sum.");
  }

  std::uint64_t scratch_bytes(std::uint64_t) const override { return 0; }
  bool needs_total(std::uint64_t) const override { return false; }

  Accumulator total(const kernels::BlockView& block, std::byte*, cudaStream_t stream) override {
    return reduced(reduce_, block, {.sum = true}, stream);
  }

  std::optional<std::uint64_t> scan(const kernels::BlockView& block, std::byte*,
                                    const Accumulator& before, cudaStream_t stream) override {
    if (spec_.output == ElementType::f64)
      scan_from(rounded_sum<double>(before), block, stream);
    else
      scan_from(rounded_sum<float>(before), block, stream);
    return std::nullopt;
  }

 private:
  template <class T>
  static T rounded_sum(const Accumulator& before) {
    const bool positive = before.positive_infinities != 0;
    const bool negative = before.negative_infinities != 0;
    if (before.nan_count != 0 || (positive && negative)) return std::numeric_limits<T>::quiet_NaN();
    if (positive) return std::numeric_limits<T>::infinity();
    if (negative) return -std::numeric_limits<T>::infinity();
    return static_cast<T>(before.sum.rounded(rounding_towards<T>));
  }

  template <class T>
  void scan_from(T carry, const kernels::BlockView& block, cudaStream_t stream) {
    one_pass_.start(block.input, block.output, block.elements, spec_.exclusive, &carry, stream);
  }

  ScanSpec spec_;
  DeviceReduce reduce_;
  OnePassScan one_pass_;
};

}  // namespace

std::unique_ptr<ScanMethod> make_scan_method(const ScanSpec& spec, bool reproducible) {
  if (spec.operation != ScanOperation::sum) return std::make_unique<ExtremumScan>(spec);
  if (is_integer(spec.input.type)) return std::make_unique<IntegerSumScan>(spec);
  if (reproducible) return std::make_unique<FloatSumScan>(spec);
  return std::make_unique<FastFloatSumScan>(spec);
}

}  // namespace warpfold::cuda
