#include "cuda/axis/axis_scan.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "core/layout/partition.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "cuda/axis/column_number.cuh"
#include "cuda/chunks/decode_elements.hpp"
#include "cuda/primitives/comparable.cuh"
#include "cuda/primitives/rounded_element.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/primitives/wide_number.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/launch.cuh"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda::kernels {
namespace {

constexpr unsigned scan_threads = 256;

constexpr std::uint64_t worthwhile_threads = std::uint64_t{1} << 17;
constexpr std::uint64_t max_segments_of_line = std::uint64_t{1} << 14;
constexpr std::uint64_t min_segment = 8;

/// Threads that combine a line's segments: each a few, in blocks of whole warps.
constexpr int max_combining_threads = 512;
constexpr std::uint64_t combined_segments = 8;

__device__ std::uint64_t thread_number() {
  return std::uint64_t{blockIdx.x} * scan_threads + threadIdx.x;
}

/// Sums of doubles.
struct FloatSum {
  using Number = ComparedDouble;
  using State = FloatLineSum;

  int last_zeros;

  __device__ State none() const { return {}; }

  __device__ void take(State& sum, Number element) const {
    ScaledInteger number = scaled_number(element, last_zeros);
    if (!is_finite(element)) {
      sum.met |= met(element);
      number.magnitude = 0;
    }
    if (!sum.finite.add(addend_of(number, 53 - last_zeros))) sum.met |= State::inexact;
  }

  /// Makes a sum ready to be appended, or appended to.
  __device__ void settle(State& sum) const {
    sum.finite.settle([&](double) { sum.met |= State::inexact; });
  }

  __device__ void append(State& sum, const State& later) const {
    sum.met |= later.met;
    sum.finite.merge(later.finite, [&](double) { sum.met |= State::inexact; });
    settle(sum);
  }

  __device__ static bool inexact(const State& sum) { return (sum.met & State::inexact) != 0; }

  template <class Out>
  __device__ static Out rounded(const State& sum) {
    if ((sum.met & ~State::inexact) == 0)
      return rounded_element<Out>(sum.finite.rounded(rounding_towards<Out>));
    const auto first = [&](std::uint64_t kind) { return (sum.met & kind) != 0 ? -1 : 0; };
    return rounded_element<Out>(scan_order::with_specials(
        0.0, {first(State::nan), first(State::positive_infinity), first(State::negative_infinity)},
        0));
  }

  __device__ static void store(const AxisScan& scan, std::uint64_t place, const State& sum) {
    switch (scan.output) {
      case ElementType::f16:
        reinterpret_cast<Float16*>(scan.prefixes)[place] = rounded<Float16>(sum);
        return;
      case ElementType::bf16:
        reinterpret_cast<BFloat16*>(scan.prefixes)[place] = rounded<BFloat16>(sum);
        return;
      case ElementType::f32:
        reinterpret_cast<float*>(scan.prefixes)[place] = rounded<float>(sum);
        return;
      default:
        reinterpret_cast<double*>(scan.prefixes)[place] = rounded<double>(sum);
        return;
    }
  }

 private:
  /// Returns what an element is that is not finite.
  __device__ static std::uint64_t met(Number element) {
    if (is_nan(element)) return State::nan;
    return element.negative() ? State::negative_infinity : State::positive_infinity;
  }
};

__device__ WideNumber<4> words_of(int128 value) {
  WideNumber<4> number;
  for (int i = 0; i < 4; ++i) number.digit[i] = static_cast<std::uint32_t>(value >> 32 * i);
  return number;
}

/// Stores an integer prefix and notes where the output type can't hold it.
__device__ void store_integer(const AxisScan& scan, std::uint64_t place, int128 value) {
  visit_element_type(scan.output, [&](auto element) {
    using Out = decltype(element);
    if (scan.checks_overflow && !can_hold<Out>(value) &&
        place < *static_cast<const volatile unsigned long long*>(&scan.status->overflow))
      atomicMin(&scan.status->overflow, static_cast<unsigned long long>(place));
    Out& prefix = reinterpret_cast<Out*>(scan.prefixes)[place];
    if constexpr (std::is_integral_v<Out>)
      prefix = static_cast<Out>(value);
    else
      prefix = rounded_element<Out>(words_of(value).rounded(rounding_towards<Out>, 0));
  });
}

__device__ void store_float(const AxisScan& scan, std::uint64_t place, ComparedDouble value) {
  visit_element_type(scan.output, [&](auto element) {
    using Out = decltype(element);
    if constexpr (is_floating_element<Out>)
      reinterpret_cast<Out*>(scan.prefixes)[place] =
          rounded_element<Out>(std::bit_cast<double>(value.bits));
  });
}

/// Sums of 64-bit integers.
template <class Integer>
struct IntegerSum {
  using Number = Integer;
  using State = int128;

  __device__ State none() const { return 0; }
  __device__ void take(State& sum, Integer element) const { sum += element; }
  __device__ void settle(State&) const {}
  __device__ void append(State& sum, State later) const { sum += later; }
  __device__ static bool inexact(State) { return false; }
  __device__ static void store(const AxisScan& scan, std::uint64_t place, State sum) {
    store_integer(scan, place, sum);
  }
};

/// Minima or maxima.
template <class Wide>
struct RunningExtremum {
  using Number = Wide;
  using State = Wide;

  Wide identity;
  bool maximum;

  __device__ State none() const { return identity; }
  __device__ void take(State& best, Wide element) const {
    best = first_extremum(best, element, maximum);
  }
  __device__ void settle(State&) const {}
  __device__ void append(State& best, State later) const { take(best, later); }
  __device__ static bool inexact(State) { return false; }
  __device__ static void store(const AxisScan& scan, std::uint64_t place, State best) {
    if constexpr (std::is_integral_v<Wide>)
      store_integer(scan, place, best);
    else
      store_float(scan, place, best);
  }
};

/// Calls `visitor` with the scan's operator.
template <class Visitor>
decltype(auto) visit_operator(const AxisScan& scan, Visitor&& visitor) {
  return visit_wide_type(scan.wide, [&](auto number) {
    using Number = ColumnNumber<decltype(number)>;
    if (scan.operation != ScanOperation::sum)
      return visitor(RunningExtremum<Number>{std::bit_cast<Number>(scan.identity),
                                             scan.operation == ScanOperation::max});
    if constexpr (std::is_integral_v<Number>)
      return visitor(IntegerSum<Number>{});
    else
      return visitor(FloatSum{scan.last_zeros});
  });
}

/// A thread's part of a slab: a segment of a line.
struct Segment {
  std::uint64_t line;
  std::uint64_t first_place;
  std::uint64_t elements;

  __device__ Segment(const AxisScan& scan, std::uint64_t number) {
    const AxisSlab& shape = scan.shape;
    line = number % scan.lines;
    const std::uint64_t first = number / scan.lines * scan.segments.length;
    elements = min(scan.segments.length, shape.along - first);
    first_place = (line / shape.inner * shape.along + first) * shape.inner + line % shape.inner;
  }
};

template <class Operator>
__global__ void __launch_bounds__(scan_threads)
    begin_lines_kernel(const Operator operation, std::byte* states, const std::uint64_t lines) {
  const std::uint64_t line = thread_number();
  if (line < lines) reinterpret_cast<typename Operator::State*>(states)[line] = operation.none();
}

/// Writes the total of each segment.
template <class Operator>
__global__ void __launch_bounds__(scan_threads, 2)
    total_segments_kernel(const __grid_constant__ AxisScan scan, const Operator operation) {
  using Number = typename Operator::Number;
  const std::uint64_t number = thread_number();
  if (number >= scan.lines * scan.segments.count) return;
  const Segment segment(scan, number);
  const auto* element = reinterpret_cast<const Number*>(scan.elements) + segment.first_place;
  auto total = operation.none();
#pragma unroll 4
  for (std::uint64_t i = 0; i < segment.elements; ++i) {
    operation.take(total, *element);
    element += scan.shape.inner;
  }
  operation.settle(total);
  reinterpret_cast<typename Operator::State*>(scan.segment_states)[number] = total;
}

/// Returns what the block's threads before this one have, after what was before all of them.
template <class Operator>
__device__ typename Operator::State before_thread(const Operator& operation,
                                                  typename Operator::State before,
                                                  const typename Operator::State& own) {
  using State = typename Operator::State;
  alignas(State)
      __shared__ unsigned char memory[sizeof(State) * max_combining_threads / warp::lanes];
  auto* of_warp = reinterpret_cast<State*>(memory);
  const State inclusive = warp::inclusive_scan(own, [&](State left, const State& right) {
    operation.append(left, right);
    return left;
  });
  const State below = warp::shuffle_up(inclusive, 1);
  if (warp::lane() == warp::lanes - 1) of_warp[warp::index()] = inclusive;
  __syncthreads();
  for (int i = 0; i < warp::index(); ++i) operation.append(before, of_warp[i]);
  if (warp::lane() != 0) operation.append(before, below);
  return before;
}

/// Puts what precedes each segment of a line in place of the segment's total: a block for a line, a
/// run of segments for a thread.
template <class Operator>
__global__ void __launch_bounds__(max_combining_threads)
    combine_segments_kernel(const __grid_constant__ AxisScan scan, const Operator operation) {
  using State = typename Operator::State;
  const std::uint64_t line = blockIdx.x;
  auto* states = reinterpret_cast<State*>(scan.segment_states) + line;
  const std::uint64_t per_thread = ceil_div(scan.segments.count, std::uint64_t{blockDim.x});
  const std::uint64_t first = min(threadIdx.x * per_thread, scan.segments.count);
  const std::uint64_t end = min(first + per_thread, scan.segments.count);
  State own = operation.none();
  for (std::uint64_t i = first; i < end; ++i) operation.append(own, states[i * scan.lines]);
  State running = before_thread(operation, reinterpret_cast<const State*>(scan.before)[line], own);
  for (std::uint64_t i = first; i < end; ++i) {
    const State total = states[i * scan.lines];
    states[i * scan.lines] = running;
    operation.append(running, total);
  }
  if (threadIdx.x == blockDim.x - 1) reinterpret_cast<State*>(scan.after)[line] = running;
}

template <class Operator>
__global__ void __launch_bounds__(scan_threads, 2)
    write_prefixes_kernel(const __grid_constant__ AxisScan scan, const Operator operation) {
  using Number = typename Operator::Number;
  using State = typename Operator::State;
  const std::uint64_t number = thread_number();
  if (number >= scan.lines * scan.segments.count) return;
  const Segment segment(scan, number);
  const bool whole_line = scan.segments.count == 1;
  const auto* before =
      reinterpret_cast<const State*>(whole_line ? scan.before : scan.segment_states);
  const auto* elements = reinterpret_cast<const Number*>(scan.elements);
  State running = before[number];
  std::uint64_t place = segment.first_place;
  for (std::uint64_t i = 0; i < segment.elements; ++i) {
    const Number element = elements[place];
    if (scan.exclusive) Operator::store(scan, place, running);
    operation.take(running, element);
    if (!scan.exclusive) Operator::store(scan, place, running);
    place += scan.shape.inner;
  }
  operation.settle(running);
  if (whole_line) reinterpret_cast<State*>(scan.after)[number] = running;
  if (!Operator::inexact(running)) return;
  scan.inexact[segment.line] = true;
  scan.status->inexact_lines = 1;
}

std::uint64_t blocks_for(std::uint64_t threads) {
  return ceil_div(threads, std::uint64_t{scan_threads});
}

int combining_threads(std::uint64_t segments) {
  const std::uint64_t threads =
      round_up(ceil_div(segments, combined_segments), std::uint64_t{warp::lanes});
  return static_cast<int>(std::min<std::uint64_t>(threads, max_combining_threads));
}

}  // namespace

LineSegments segments_of(const AxisSlab& shape) {
  const std::uint64_t wanted =
      std::clamp<std::uint64_t>(worthwhile_threads / shape.lines(), 1, max_segments_of_line);
  const std::uint64_t length = std::max(ceil_div(shape.along, wanted), min_segment);
  return {ceil_div(shape.along, length), length};
}

std::uint64_t max_segments() { return worthwhile_threads; }

std::uint64_t state_bytes(ScanOperation operation, ElementType wide) {
  return visit_operator({.wide = wide, .operation = operation}, [](auto operation_object) {
    return sizeof(typename decltype(operation_object)::State);
  });
}

void load_line_scan(const AxisScan& scan) {
  visit_operator(scan, [](auto operation) {
    using Operator = decltype(operation);
    load_kernel(begin_lines_kernel<Operator>);
    load_kernel(total_segments_kernel<Operator>);
    load_kernel(combine_segments_kernel<Operator>);
    load_kernel(write_prefixes_kernel<Operator>);
  });
}

void begin_lines(const AxisScan& scan, cudaStream_t stream) {
  if (scan.lines == 0) return;
  visit_operator(scan, [&](auto operation) {
    launch("starting a scan along an axis on the GPU", begin_lines_kernel<decltype(operation)>,
           {blocks_for(scan.lines), scan_threads, stream}, operation, scan.before, scan.lines);
  });
}

void scan_lines(const AxisScan& scan, cudaStream_t stream) {
  const std::uint64_t blocks = blocks_for(scan.lines * scan.segments.count);
  visit_operator(scan, [&](auto operation) {
    if (scan.segments.count > 1) {
      launch("starting a scan along an axis on the GPU", total_segments_kernel<decltype(operation)>,
             {blocks, scan_threads, stream}, scan, operation);
      launch("starting a scan along an axis on the GPU",
             combine_segments_kernel<decltype(operation)>,
             {scan.lines, combining_threads(scan.segments.count), stream}, scan, operation);
    }
    launch("starting a scan along an axis on the GPU", write_prefixes_kernel<decltype(operation)>,
           {blocks, scan_threads, stream}, scan, operation);
  });
}

}  // namespace warpfold::cuda::kernels
