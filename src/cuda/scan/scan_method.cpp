#include "cuda/scan/scan_method.hpp"

#include <limits>
#include <type_traits>

#include "core/numeric/rounding.hpp"
#include "core/values/ordered_key.hpp"
#include "cuda/exact_scan/exact_scan.hpp"
#include "cuda/reduce/device_reduce.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/scan/one_pass_scan.hpp"
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
    unsigned long long* first_nan;  ///< tile
    unsigned long long* first_overflow;
  };

  static Parts parts_of(Scratch& scratch, std::uint64_t tiles) {
    return {scratch.take<Extremum>(tiles), scratch.take<unsigned long long>(1),
            scratch.take<unsigned long long>(1)};
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
    fill_bytes(parts.first_nan, 0xff, sizeof(*parts.first_nan), stream);
    kernels::extremum_tile_totals(block, maximum(), parts.tiles, parts.first_nan, stream);
    kernels::extremum_prefixes(parts.tiles, block.tiles(), stream);
    const kernels::ExtremumCarry carry{maximum() ? before.maximum : before.minimum,
                                       before.nan_count != 0};
    const FirstOverflow overflow(spec_, parts.first_overflow, stream);
    kernels::scan_extremum(block, parts.tiles, parts.first_nan, carry, maximum(), spec_.exclusive,
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
    unsigned long long* first_overflow;
  };

  static Parts parts_of(Scratch& scratch, std::uint64_t tiles) {
    return {scratch.take<int128>(tiles), scratch.take<unsigned long long>(1)};
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
    kernels::integer_prefixes(parts.tile_sums, block.tiles(), stream);
    const FirstOverflow overflow(spec_, parts.first_overflow, stream);
    kernels::scan_sum_integer(block, parts.tile_sums, before, spec_.exclusive, overflow.check(),
                              stream);
    return overflow.result();
  }

  ScanSpec spec_;
  DeviceReduce reduce_;
  std::optional<OnePassScan> one_pass_;
  std::optional<Reach> reach_;  ///< reach of the block whose total() is known
};

/// Takes the exact total of floats by a reduction, and one pass for the prefixes.
class OnePassFloatScan : public ScanMethod {
 public:
  std::uint64_t scratch_bytes(std::uint64_t) const override { return 0; }
  bool needs_total(std::uint64_t) const override { return false; }

  Accumulator total(const kernels::BlockView& block, std::byte*, cudaStream_t stream) override {
    return reduced(reduce_, block, {.sum = true}, stream);
  }

 protected:
  explicit OnePassFloatScan(const ScanSpec& spec) : spec_(spec) {}

  const ScanSpec spec_;

 private:
  DeviceReduce reduce_;
};

/// Writes prefix sums of floats, each rounded once.
class FloatSumScan final : public OnePassFloatScan {
 public:
  explicit FloatSumScan(const ScanSpec& spec)
      : OnePassFloatScan(spec),
        resident_(kernels::exact_scan_residency(spec.input.type, spec.output)),
        workspace_(kernels::exact_scan_workspace_bytes(resident_.blocks)) {
    if (resident_.blocks == 0)
      throw Error("the GPU holds no block of the exact scan",
                  "its multiprocessors have too little shared memory or too few registers",
                  "Use `backend` cpu.");
  }

  std::optional<std::uint64_t> scan(const kernels::BlockView& block, std::byte*,
                                    const Accumulator& before, cudaStream_t stream) override {
    const kernels::ExactCarry carry = carry_of(before);
    const auto [epoch, needs_clearing] = epochs_.take(
        kernels::exact_scan_epochs(spec_.input.type, spec_.output, block.elements, resident_));
    if (needs_clearing) fill_bytes(workspace_.data(), 0, workspace_.size(), stream);
    kernels::exact_scan(block, spec_.exclusive, carry, workspace_.data(), epoch, resident_, stream);
    return std::nullopt;
  }

 private:
  static kernels::ExactCarry carry_of(const Accumulator& before) {
    ExactSum sum = before.sum;
    sum.normalize();
    kernels::ExactCarry carry{};
    for (int i = 0; i < ExactSum::limbs; ++i)
      carry.digit[i] = static_cast<std::uint32_t>(sum.limb[i]);
    if (before.nan_count != 0) carry.flags |= kernels::nan_flag;
    if (before.positive_infinities != 0) carry.flags |= kernels::positive_infinity_flag;
    if (before.negative_infinities != 0) carry.flags |= kernels::negative_infinity_flag;
    return carry;
  }

  kernels::ResidentExactScan resident_;
  DeviceBuffer workspace_;
  LaunchEpochs epochs_;
};

/// Writes prefix sums of floats in their own arithmetic: the same from run to run on one GPU model.
/// The total is exact, and what precedes a block is rounded once.
class FastFloatSumScan final : public OnePassFloatScan {
 public:
  explicit FastFloatSumScan(const ScanSpec& spec)
      : OnePassFloatScan(spec), one_pass_(spec.input.type, spec.output, ScanOperation::sum) {
    if (spec.input.order != native_byte_order)
      throw Error("a sum in the elements' own arithmetic needs native byte order", "",
                  "Swap their bytes first, or ask for the reproducible sum.");
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
