#include <cmath>
#include <type_traits>

#include "core/byte_order.hpp"
#include "core/scan_arithmetic.hpp"
#include "cuda/cuda_error.hpp"
#include "cuda/kernels/comparable.hpp"
#include "cuda/kernels/expansion.hpp"
#include "cuda/kernels/fold.hpp"
#include "cuda/kernels/warp.hpp"

namespace warpfold::cuda::kernels {
namespace {

constexpr int fold_warps = fold_threads / warp::lanes;

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};

struct Least {
  __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return a < b ? a : b;
  }
};

/// The sum of up to 2^64 squares of 64-bit integers.
struct Unsigned192 {
  std::uint64_t low;
  std::uint64_t middle;
  std::uint64_t high;

  friend __device__ Unsigned192 operator+(Unsigned192 a, Unsigned192 b) {
    const std::uint64_t low = a.low + b.low;
    const std::uint64_t middle = a.middle + b.middle;
    const std::uint64_t carried = middle + (low < a.low ? 1 : 0);
    const std::uint64_t high =
        a.high + b.high + (middle < a.middle ? 1 : 0) + (carried < middle ? 1 : 0);
    return {low, carried, high};
  }
};

template <class Number>
__device__ void add_magnitude(Number& number, uint128 magnitude, bool negative) {
  Number::digits(magnitude, 0, negative, AtomicLimbs(number.limb));
}

template <class Number>
__device__ void add_magnitude(Number& number, Unsigned192 magnitude, bool) {
  const uint128 low = static_cast<uint128>(magnitude.middle) << 64 | magnitude.low;
  Number::digits(low, 0, false, AtomicLimbs(number.limb));
  Number::digits(static_cast<uint128>(magnitude.high), 128, false, AtomicLimbs(number.limb));
}

/// One thread's part of a fold of integers: exact in machine integers, as it meets fewer than 2^30
/// elements.
template <class T>
class IntegerSums {
  static constexpr bool wide = sizeof(T) == 8;
  using Signed = std::conditional_t<wide, int128, std::int64_t>;
  using Magnitude = std::conditional_t<wide, uint128, std::uint64_t>;
  using Squares = std::conditional_t<wide, Unsigned192,
                                     std::conditional_t<sizeof(T) == 4, uint128, std::uint64_t>>;

 public:
  __device__ IntegerSums(const FoldNeeds& needs, Accumulator& totals)
      : needs_(needs), totals_(totals) {}

  __device__ void absorb(T element, std::uint32_t) {
    if (needs_.sum) sum_ += element;
    const std::uint64_t magnitude = magnitude_of(element);
    if (needs_.absolute) absolute_ += magnitude;
    if (needs_.squares) squares_ = squares_ + square(magnitude);
  }

  __device__ void flush(std::uint64_t) {
    if (needs_.sum) {
      const Signed sum = warp::reduce(sum_, Plus{});
      if (warp::lane() == 0) {
        const auto wide_sum = static_cast<int128>(sum);
        const auto bits = static_cast<uint128>(wide_sum);
        add_magnitude(totals_.sum, wide_sum < 0 ? -bits : bits, wide_sum < 0);
      }
    }
    if (needs_.absolute) {
      const Magnitude absolute = warp::reduce(absolute_, Plus{});
      if (warp::lane() == 0) add_magnitude(totals_.absolute, uint128{absolute}, false);
    }
    if (needs_.squares) {
      const Squares squares = warp::reduce(squares_, Plus{});
      if (warp::lane() == 0) add_magnitude(totals_.squares, squares, false);
    }
  }

 private:
  __device__ static std::uint64_t magnitude_of(T element) {
    const std::uint64_t bits = value_bits(element);
    if constexpr (std::is_signed_v<T>)
      return element < 0 ? std::uint64_t{0} - bits : bits;
    else
      return bits;
  }

  __device__ static Squares square(std::uint64_t magnitude) {
    if constexpr (wide) {
      return {magnitude * magnitude, __umul64hi(magnitude, magnitude), 0};
    } else {
      return magnitude * magnitude;
    }
  }

  const FoldNeeds needs_;
  Accumulator& totals_;
  Signed sum_ = 0;
  Magnitude absolute_ = 0;
  Squares squares_{};
};

/// One thread's part of a fold of floating-point elements.
template <class T>
class FloatingSums {
  static constexpr bool wide = sizeof(T) == 8;

 public:
  __device__ FloatingSums(const FoldNeeds& needs, Accumulator& totals)
      : needs_(needs),
        totals_(totals),
        sum_(totals.sum),
        absolute_(totals.absolute),
        squares_(totals.squares) {}

  __device__ void absorb(T element, std::uint32_t offset) {
    const double x = widened(element);
    const double magnitude = std::fabs(x);
    if (!(magnitude < scan_order::huge)) {
      absorb_exception(x, offset);
      return;
    }
    if (needs_.sum) sum_.push(x);
    if (needs_.absolute) absolute_.push(magnitude);
    if (needs_.squares) push_square(magnitude);
  }

  __device__ void flush(std::uint64_t first_index) {
    if (needs_.sum) sum_.flush();
    if (needs_.absolute) absolute_.flush();
    if (needs_.squares) squares_.flush();
    add_count(totals_.nan_count, nan_count_);
    add_count(totals_.positive_infinities, positive_infinities_);
    add_count(totals_.negative_infinities, negative_infinities_);
    const std::uint32_t first_nan = warp::reduce(first_nan_, Least{});
    if (warp::lane() == 0 && first_nan != no_offset)
      atomicMin(reinterpret_cast<unsigned long long*>(&totals_.first_nan),
                static_cast<unsigned long long>(first_index + first_nan));
  }

 private:
  /// NaN, infinities, and numbers whose sums might overflow.
  __device__ void absorb_exception(double x, std::uint32_t offset) {
    if (x != x) {
      ++nan_count_;
      if (offset < first_nan_) first_nan_ = offset;
    } else if (std::isinf(x)) {
      ++(x > 0 ? positive_infinities_ : negative_infinities_);
    } else if constexpr (wide) {
      if (needs_.sum) add_to_shared(totals_.sum, x);
      if (needs_.absolute) add_to_shared(totals_.absolute, std::fabs(x));
      if (needs_.squares) add_square_to_shared(totals_.squares, x);
    }
  }

  __device__ void push_square(double magnitude) {
    const double square = magnitude * magnitude;
    if constexpr (!wide) {
      squares_.push(square);  // exact: 24 bits squared, far from the ends of double's range
    } else if (magnitude >= 0x1p-480 && magnitude <= 0x1p470) {
      // The error of the product is a multiple of 2^-1064: exact.
      squares_.push(square);
      squares_.push(std::fma(magnitude, magnitude, -square), 1);
    } else if (magnitude != 0.0) {
      add_square_to_shared(totals_.squares, magnitude);
    }
  }

  __device__ static void add_count(std::int64_t& total, std::uint32_t count) {
    const std::uint32_t sum = warp::reduce(count, Plus{});
    if (warp::lane() == 0 && sum != 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(&total),
                static_cast<unsigned long long>(sum));
  }

  const FoldNeeds needs_;
  Accumulator& totals_;
  Expansion<2, ExactSum> sum_;
  Expansion<2, ExactSum> absolute_;
  Expansion<wide ? 3 : 2, ExactSumOfSquares> squares_;
  std::uint32_t nan_count_ = 0;
  std::uint32_t positive_infinities_ = 0;
  std::uint32_t negative_infinities_ = 0;
  std::uint32_t first_nan_ = no_offset;
};

template <class T>
using Sums = std::conditional_t<is_floating_element<T>, FloatingSums<T>, IntegerSums<T>>;

/// 16 bytes of elements, loaded at once.
template <class T>
struct Vector {
  static constexpr int size = 16 / sizeof(T);
  T element[size];
};

template <class T>
__device__ Vector<T> load_vector(const std::byte* elements, std::uint32_t vector, bool swap) {
  auto loaded = std::bit_cast<Vector<T>>(__ldcs(reinterpret_cast<const uint4*>(elements) + vector));
  if (swap) {
#pragma unroll
    for (int k = 0; k < Vector<T>::size; ++k) loaded.element[k] = byte_swapped(loaded.element[k]);
  }
  return loaded;
}

template <class T>
struct ThreadState {
  Sums<T> sums;
  Best<Comparable<T>> lowest;
  Best<Comparable<T>> highest;
  bool extrema;

  __device__ void absorb(T element, std::uint32_t offset) {
    if (extrema) {
      const auto value = comparable(element);
      if (!is_nan(value)) {
        lowest.take_lower(value, offset);
        highest.take_higher(value, offset);
      }
    }
    sums.absorb(element, offset);
  }
};

/// Every thread meets its elements in ascending order. The next vector's load is under way while
/// one is folded.
template <class T>
__device__ void absorb_share(const FoldArguments& arguments, ThreadState<T>& state) {
  constexpr std::uint32_t size = Vector<T>::size;
  const bool swap = arguments.format.order != native_byte_order;
  const std::uint32_t vectors = arguments.count / size;
  const std::uint32_t stride = gridDim.x * blockDim.x;
  std::uint32_t vector = blockIdx.x * blockDim.x + threadIdx.x;
  Vector<T> next{};
  if (vector < vectors) next = load_vector<T>(arguments.elements, vector, swap);
  for (; vector < vectors; vector += stride) {
    const Vector<T> current = next;
    if (vector + stride < vectors) next = load_vector<T>(arguments.elements, vector + stride, swap);
#pragma unroll
    for (std::uint32_t k = 0; k < size; ++k) state.absorb(current.element[k], vector * size + k);
  }
  const std::uint32_t last = vectors * size + threadIdx.x;
  if (blockIdx.x == gridDim.x - 1 && last < arguments.count) {
    const T element = reinterpret_cast<const T*>(arguments.elements)[last];
    state.absorb(swap ? byte_swapped(element) : element, last);
  }
}

/// By all threads of the block.
__device__ void copy_accumulator(Accumulator& to, const Accumulator& from) {
  static_assert(sizeof(Accumulator) % sizeof(std::uint64_t) == 0);
  const auto* source = reinterpret_cast<const std::uint64_t*>(&from);
  auto* target = reinterpret_cast<std::uint64_t*>(&to);
  for (unsigned i = threadIdx.x; i < sizeof(Accumulator) / sizeof(std::uint64_t); i += blockDim.x)
    target[i] = source[i];
}

struct WarpExtrema {
  Extremum minimum;
  Extremum maximum;
};

/// Brings the block's totals into their final form; one job a warp.
///
/// Normalizing once a launch is enough: of 8-byte elements a slab of 1 GiB has 2^27, each adds to a
/// number twice at most; of narrower floats 2^29, each adds once at most; integers add only when
/// flushed. With less than 2^10 additions to flush a block this stays below 2^30.
__device__ void complete(Accumulator& totals, const WarpExtrema* extrema,
                         const FoldArguments& arguments) {
  if (warp::lane() != 0) return;
  const FoldNeeds& needs = arguments.needs;
  if (warp::index() == 0 && needs.sum) normalize_shared(totals.sum);
  if (warp::index() == 1 && needs.absolute) normalize_shared(totals.absolute);
  if (warp::index() == 2 && needs.squares) normalize_shared(totals.squares);
  if (warp::index() == 3 && needs.extrema) {
    for (int i = 0; i < fold_warps; ++i) {
      totals.minimum.merge(extrema[i].minimum);
      totals.maximum.merge(extrema[i].maximum);
    }
  }
  if (warp::index() == 4 && blockIdx.x == 0) totals.count += arguments.count;
}

template <class T>
__global__ void __launch_bounds__(fold_threads) fold_kernel(const FoldArguments arguments) {
  __shared__ Accumulator totals;
  __shared__ WarpExtrema extrema[fold_warps];
  copy_accumulator(totals, arguments.accumulators[blockIdx.x]);
  __syncthreads();

  ThreadState<T> state{Sums<T>(arguments.needs, totals), {}, {}, arguments.needs.extrema};
  absorb_share(arguments, state);
  __syncwarp();
  state.sums.flush(arguments.first_index);
  if (arguments.needs.extrema) {
    const Extremum lowest =
        warp::reduce(state.lowest.minimum(arguments.first_index), BetterExtremum{});
    const Extremum highest =
        warp::reduce(state.highest.maximum(arguments.first_index), BetterExtremum{});
    if (warp::lane() == 0) extrema[warp::index()] = {lowest, highest};
  }
  __syncthreads();
  complete(totals, extrema, arguments);
  __syncthreads();
  copy_accumulator(arguments.accumulators[blockIdx.x], totals);
}

}  // namespace

int resident_fold_blocks(ElementType type) {
  return visit_element_type(type, [](auto element) {
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fold_kernel<decltype(element)>,
                                                        fold_threads, 0),
          "preparing the fold for this GPU");
    return blocks;
  });
}

void fold(const FoldArguments& arguments, cudaStream_t stream) {
  visit_element_type(arguments.format.type, [&](auto element) {
    fold_kernel<decltype(element)>
        <<<static_cast<unsigned>(arguments.blocks), fold_threads, 0, stream>>>(arguments);
  });
  check_launch("starting the fold on the GPU");
}

}  // namespace warpfold::cuda::kernels
