#include "cuda/axis/axis_scan.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "core/layout/partition.hpp"
#include "cuda/axis/column_number.cuh"
#include "cuda/axis/float_sum.cuh"
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

__device__ std::uint64_t scan_thread() {
  return std::uint64_t{blockIdx.x} * scan_threads + threadIdx.x;
}

/// Elements that a thread loads at a time.
constexpr unsigned loaded_elements = 4;

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

/// An operator whose states stay in registers.
template <class NumberType, class StateType>
struct PlainOperator {
  using Number = NumberType;
  using State = StateType;
  using Near = State;
  static constexpr bool stores_groups = false;

  __device__ static State near(const State& sum, std::uint64_t) { return sum; }
  __device__ static void take_far(State&, State&, Number, std::uint64_t) {}
  __device__ static void finish(const State& near, State& state) { state = near; }
  __device__ static bool inexact(State) { return false; }
};

/// Sums of 64-bit integers.
template <class Integer>
struct IntegerSum : PlainOperator<Integer, int128> {
  __device__ static int128 none() { return 0; }
  __device__ static bool take(int128& sum, Integer element) {
    sum += element;
    return true;
  }
  __device__ static void continue_line(int128& sum, int128&, Integer element) { sum += element; }
  __device__ static void append(int128& sum, int128 later) { sum += later; }
  __device__ static void store(const AxisScan& scan, std::uint64_t place, int128 sum, int128) {
    store_integer(scan, place, sum);
  }
};

/// Minima or maxima.
template <class Wide>
struct RunningExtremum : PlainOperator<Wide, Wide> {
  Wide identity;
  bool maximum;

  RunningExtremum(Wide none, bool of_maxima) : identity(none), maximum(of_maxima) {}

  __device__ Wide none() const { return identity; }
  __device__ bool take(Wide& best, Wide element) const {
    best = first_extremum(best, element, maximum);
    return true;
  }
  __device__ void continue_line(Wide& best, Wide&, Wide element) const { take(best, element); }
  __device__ void append(Wide& best, Wide later) const { take(best, later); }
  __device__ static void store(const AxisScan& scan, std::uint64_t place, Wide best, Wide) {
    if constexpr (std::is_integral_v<Wide>)
      store_integer(scan, place, best);
    else
      store_float(scan, place, std::bit_cast<double>(best.bits));
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
      return visitor(FloatSum{scan.output == ElementType::f64 ? Rounding::nearest : Rounding::odd});
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
  const std::uint64_t line = scan_thread();
  if (line < lines) reinterpret_cast<typename Operator::State*>(states)[line] = operation.none();
}

/// Writes the total of each segment.
template <class Operator>
__global__ void __launch_bounds__(scan_threads, 2)
    total_segments_kernel(const __grid_constant__ AxisScan scan, const Operator operation) {
  using Number = typename Operator::Number;
  const std::uint64_t number = scan_thread();
  if (number >= scan.lines * scan.segments.count) return;
  const Segment segment(scan, number);
  const auto* elements = reinterpret_cast<const Number*>(scan.elements) + segment.first_place;
  auto total = operation.none();
  auto near = operation.near(total, segment.elements);
  for (std::uint64_t i = 0; i < segment.elements; i += loaded_elements) {
    std::uint32_t far = 0;
    if (segment.elements - i >= loaded_elements) {
      Number element[loaded_elements];
#pragma unroll
      for (unsigned j = 0; j < loaded_elements; ++j) element[j] = elements[j * scan.shape.inner];
#pragma unroll
      for (unsigned j = 0; j < loaded_elements; ++j)
        if (!operation.take(near, element[j])) far |= 1u << j;
    } else {
      far = (1u << (segment.elements - i)) - 1;
    }
    for (; far != 0; far &= far - 1) {
      const int j = trailing_zeros(far);
      const Number element = elements[j * scan.shape.inner];
      if (!operation.take(near, element)) operation.take_far(near, total, element, i + j);
    }
    elements += loaded_elements * scan.shape.inner;
  }
  operation.finish(near, total);
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

/// Leaves a line to the host if the sum there is not exact.
template <class Operator>
__device__ void note_inexact(const AxisScan& scan, const Operator& operation, std::uint64_t line,
                             const typename Operator::State& sum) {
  if (!operation.inexact(sum)) return;
  scan.inexact[line] = true;
  scan.status->inexact_lines = 1;
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
  if (threadIdx.x != blockDim.x - 1) return;
  reinterpret_cast<State*>(scan.after)[line] = running;
  note_inexact(scan, operation, line, running);
}

/// Loads elements and writes their prefixes, if `near` covers all of them.
template <class Operator>
__device__ bool write_group(const AxisScan& scan, const Operator& operation, std::uint64_t place,
                            typename Operator::Near& near) {
  using Number = typename Operator::Number;
  const auto* elements = reinterpret_cast<const Number*>(scan.elements) + place;
  Number element[loaded_elements];
#pragma unroll
  for (unsigned i = 0; i < loaded_elements; ++i) element[i] = elements[i * scan.shape.inner];
  bool continues = near.window.is_placed();
#pragma unroll
  for (unsigned i = 0; i < loaded_elements; ++i) continues &= operation.continues(near, element[i]);
  if (!continues) return false;
#pragma unroll
  for (unsigned i = 0; i < loaded_elements; ++i) {
    auto written = near;
    operation.take(near, element[i]);
    if (!scan.exclusive) written = near;
    operation.store(scan, place + i * scan.shape.inner, written);
  }
  return true;
}

template <class Operator>
__global__ void __launch_bounds__(scan_threads, 2)
    write_prefixes_kernel(const __grid_constant__ AxisScan scan, const Operator operation) {
  using Number = typename Operator::Number;
  using State = typename Operator::State;
  const std::uint64_t number = scan_thread();
  if (number >= scan.lines * scan.segments.count) return;
  const Segment segment(scan, number);
  const bool whole_line = scan.segments.count == 1;
  State sum =
      reinterpret_cast<const State*>(whole_line ? scan.before : scan.segment_states)[number];
  auto near = operation.near(sum, segment.elements);
  std::uint64_t place = segment.first_place;
  for (std::uint64_t i = 0; i < segment.elements; i += loaded_elements) {
    if constexpr (Operator::stores_groups)
      if (segment.elements - i >= loaded_elements && write_group(scan, operation, place, near)) {
        place += loaded_elements * scan.shape.inner;
        continue;
      }
    const std::uint64_t end = min(segment.elements, i + loaded_elements);
#pragma unroll 1
    for (std::uint64_t j = i; j < end; ++j, place += scan.shape.inner) {
      const Number element = reinterpret_cast<const Number*>(scan.elements)[place];
      if (scan.exclusive) operation.store(scan, place, near, sum);
      operation.continue_line(near, sum, element);
      if (!scan.exclusive) operation.store(scan, place, near, sum);
    }
  }
  operation.finish(near, sum);
  if (whole_line) reinterpret_cast<State*>(scan.after)[number] = sum;
  note_inexact(scan, operation, segment.line, sum);
}

std::uint64_t scan_blocks_for(std::uint64_t threads) {
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
           {scan_blocks_for(scan.lines), scan_threads, stream}, operation, scan.before, scan.lines);
  });
}

void scan_lines(const AxisScan& scan, cudaStream_t stream) {
  const std::uint64_t blocks = scan_blocks_for(scan.lines * scan.segments.count);
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
