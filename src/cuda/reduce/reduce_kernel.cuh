#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda/reduce/reduce.hpp"
#include "cuda/reduce/reduce_binned_sums.cuh"
#include "cuda/reduce/reduce_extrema.cuh"
#include "cuda/reduce/reduce_floats.cuh"
#include "cuda/reduce/reduce_integers.cuh"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/fp64.hpp"
#include "cuda/runtime/kernel_types.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::cuda::kernels {

/// Variants of the kernel: a reduction runs the first one that fills all its needs. They are types,
/// as nvcc takes no class as a kernel's parameter.
struct SumReduce {
  static constexpr ReduceNeeds needs{true, false, false, false};
};
struct ExtremaReduce {
  static constexpr ReduceNeeds needs{false, false, false, true};
};
struct MomentsReduce {
  static constexpr ReduceNeeds needs{true, false, true, true};
};
struct WholeReduce {
  static constexpr ReduceNeeds needs{true, true, true, true};
};

template <class Visitor>
decltype(auto) visit_reduce(const ReduceNeeds& needs, Visitor&& visitor) {
  if (needs.absolute) return visitor(WholeReduce{});
  if (needs.squares || (needs.sum && needs.extrema)) return visitor(MomentsReduce{});
  if (needs.extrema) return visitor(ExtremaReduce{});
  return visitor(SumReduce{});
}

/// Ways to sum floats: without FP64 arithmetic, and with it, which is faster for some types on
/// devices that have many units for it.
struct ByIntegers {
  static constexpr bool doubles = false;
  static constexpr bool has_code(int architecture) { return compiles_without_fp64(architecture); }
};
struct ByDoubles {
  static constexpr bool doubles = true;
  static constexpr bool has_code(int architecture) { return compiles_with_fp64(architecture); }
};

template <class T, ReduceNeeds needs>
inline constexpr bool has_both_ways = (std::is_same_v<T, double> && needs.squares) ||
                                      (std::is_same_v<T, Float16> && needs.sum);

template <class T, ReduceNeeds needs, class Visitor>
decltype(auto) visit_way(Visitor&& visitor) {
  if constexpr (has_both_ways<T, needs>)
    if (uses_fp64()) return visitor(ByDoubles{});
  return visitor(ByIntegers{});
}

/// Returns the type of a thread's sums. settle() comes every settle_tiles tiles, and last.
template <class T, ReduceNeeds needs, class Way, int SharedBytes>
constexpr auto sums_type() {
  if constexpr (std::is_integral_v<T>)
    return std::type_identity<IntegerSums<T, needs>>{};
  else if constexpr (Way::doubles)
    return std::type_identity<FloatSums<T, needs>>{};
  else if constexpr (needs.sum)
    return std::type_identity<BinnedSums<T, needs, SharedBytes>>{};
  else
    return std::type_identity<NonFiniteCounts<T>>{};
}

template <class T, ReduceNeeds needs, class Way, int SharedBytes>
using Sums = typename decltype(sums_type<T, needs, Way, SharedBytes>())::type;

#if defined(__CUDA_ARCH__)
inline constexpr int device_architecture = __CUDA_ARCH__;
#else
inline constexpr int device_architecture = 800;
#endif
inline constexpr int device_shared_bytes =
    device_architecture < 800 ? small_shared_bytes : large_shared_bytes;

/// One thread's part of a reduction. All functions by all threads of the block.
template <class T, ReduceNeeds needs, class Way>
class ThreadReduce {
  using Sums = kernels::Sums<T, needs, Way, device_shared_bytes>;

 public:
  using Shared = typename Sums::Shared;

  __device__ ThreadReduce(const ReduceShare& share, BlockTotals& block, Shared& shared)
      : block_(block), share_(share), sums_(block, shared) {}

  __device__ void absorb() {
    ThreadTile<T> next;
    share_.load(next);
    sums_.open(in_native_order(next), share_.has_tile());
    const auto take = [&](auto& sums) { take_tiles(sums, next); };
    if constexpr (Sums::has_windows)
      sums_.visit(take);
    else
      take(sums_);
  }

  __device__ void flush() {
    sums_.flush();
    if constexpr (needs.extrema) {
      const BlockExtrema best = best_of_block(extrema_.in(share_), block_.warp_extrema);
      if (threadIdx.x == 0) share_.whole().block_extrema[blockIdx.x] = best;
    }
  }

 private:
  /// The next tile's loads are under way while one is reduced.
  template <class SomeSums>
  __device__ void take_tiles(SomeSums& sums, ThreadTile<T>& next) {
    while (true) {
      const bool last = !share_.has_tile() || sums.too_narrow();
      sums.sum_far(last);
      if (last) break;
      ThreadTile<T> tile = in_native_order(next);
      share_.locate(tile);
      share_.load(next);
      if constexpr (needs.extrema) extrema_.take(tile);
      sums.add(tile, share_);
      if (share_.is_due(SomeSums::settle_tiles)) sums.settle(share_);
    }
    sums.settle(share_);
  }

  __device__ ThreadTile<T> in_native_order(ThreadTile<T> tile) const {
    if (share_.whole().swapped_bytes) tile.swap_bytes();
    return tile;
  }

  BlockTotals& block_;
  ThreadShare<T> share_;
  Sums sums_;
  ThreadExtrema<T, Way::doubles> extrema_;
};

template <class T, ReduceNeeds needs, class Way>
inline constexpr bool has_code = has_kernels<T> &&
                                 (!has_both_ways<T, needs> || Way::has_code(device_architecture));

/// Enough blocks to keep the memory busy, few enough that their registers are not spilled.
template <class T, ReduceNeeds needs>
constexpr int blocks_per_multiprocessor() {
  constexpr int blocks = needs.absolute || needs.squares ? 2 : 3;
  const bool fewer = device_architecture < 800 && std::is_same_v<T, double>;
  return fewer && (needs.absolute || !needs.squares) ? blocks - 1 : blocks;
}

template <class T, ReduceNeeds needs, class Way>
__device__ void reduce_share(const ReduceShare& share) {
  if constexpr (!has_code<T, needs, Way>) {
    __trap();  // uses_fp64() chooses the other way, visit_kernel_type() another type
  } else {
    using Reduce = ThreadReduce<T, needs, Way>;
    __shared__ BlockTotals block;
    auto& shared = *dynamic_shared<typename Reduce::Shared>();
    block.clear(needs);
    Reduce reduce(share, block, shared);
    reduce.absorb();
    reduce.flush();
    __syncthreads();
    finish_block<needs>(share, block);
  }
}

template <class T, class Reduce, class Way>
__global__ void __launch_bounds__(reduce_threads, (blocks_per_multiprocessor<T, Reduce::needs>()))
    reduce_kernel(const ReduceShare share) {
  reduce_share<T, Reduce::needs, Way>(share);
}

template <class T>
WARPFOLD_HD ReduceShare share_of(const ReduceArguments& arguments, std::uint64_t first,
                                 std::uint64_t count) {
  const std::byte* elements = arguments.elements + first * sizeof(T);
  const std::uint64_t before =
      (16 - reinterpret_cast<std::uintptr_t>(elements) % 16) % 16 / sizeof(T);
  const std::uint64_t head = std::min(before, count);
  const std::uint64_t vectors = (count - head) / Vector<T>::size;
  const bool last = first + count == arguments.count;
  const std::uint64_t first_index =
      (arguments.places != nullptr ? 0 : arguments.first_index) + first;
  return {.elements = elements,
          .vector = reinterpret_cast<const uint4*>(elements + head * sizeof(T)),
          .vectors = vectors,
          .stride = static_cast<std::uint64_t>(arguments.blocks) * ThreadShare<T>::tile_vectors,
          .head = static_cast<std::uint32_t>(head),
          .tail = static_cast<std::uint32_t>(count - head - vectors * Vector<T>::size),
          .swapped_bytes = arguments.format.order != native_byte_order,
          .needs = arguments.needs,
          .first_index = first_index,
          .tail_index = first_index + head + vectors * Vector<T>::size,
          .count = count,
          .totals = arguments.totals,
          .block_extrema = arguments.block_extrema,
          .published = last ? arguments.published : nullptr,
          .epoch = arguments.epoch,
          .collected = first == 0 && last && arguments.blocks <= int{max_collected_blocks}
                           ? arguments.collected
                           : nullptr,
          .indices = arguments.indices,
          .places = arguments.places,
          .first_place = arguments.first_index};
}

/// Reduces selected elements from the `first` on, at most `maximum`.
template <class T, class Way>
__global__ void __launch_bounds__(reduce_threads,
                                  (blocks_per_multiprocessor<T, needs_of_selected>()))
    reduce_selected_kernel(const ReduceArguments arguments, std::uint64_t first,
                           std::uint64_t maximum) {
  __shared__ ReduceShare share;
  if (threadIdx.x == 0) {
    const std::uint64_t selected = *arguments.selected;
    share = share_of<T>(arguments, std::min(first, selected),
                        std::min(maximum, selected - std::min(first, selected)));
  }
  __syncthreads();
  reduce_share<T, needs_of_selected, Way>(share);
}

/// Returns a block's bytes of dynamic shared memory, which it lets the kernel have. Asks the
/// runtime once for each device; thread-safe.
template <class T, ReduceNeeds needs, class Way, class Kernel>
std::size_t shared_bytes(Kernel* kernel) {
  using Small = typename Sums<T, needs, Way, small_shared_bytes>::Shared;
  using Large = typename Sums<T, needs, Way, large_shared_bytes>::Shared;
  static_assert(static_shared_bytes + sizeof(Small) <= small_shared_bytes);
  static_assert(static_shared_bytes + sizeof(Large) <= large_shared_bytes);
  if constexpr (static_shared_bytes + sizeof(Large) <= usual_shared_bytes) {
    static_assert(sizeof(Small) == sizeof(Large));
    return sizeof(Large);
  } else {
    constexpr const char* action = "preparing the reduction for this GPU";
    static std::array<std::atomic<std::size_t>, 64> prepared{};  // 0: not yet
    const auto device = static_cast<std::size_t>(current_device());
    if (device < prepared.size() && prepared[device] != 0) return prepared[device];
    const std::size_t bytes = code_architecture() < 800 ? sizeof(Small) : sizeof(Large);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          action);
    if (device < prepared.size()) prepared[device] = bytes;
    return bytes;
  }
}

/// visit(kernel, bytes of dynamic shared memory) for these needs on the current device.
template <class T, class Visitor>
decltype(auto) visit_kernel(const ReduceNeeds& needs, Visitor&& visitor) {
  return visit_reduce(needs, [&](auto kind) {
    using Kind = decltype(kind);
    return visit_way<T, Kind::needs>([&](auto way) {
      auto* const kernel = &reduce_kernel<T, Kind, decltype(way)>;
      return visitor(kernel, shared_bytes<T, Kind::needs, decltype(way)>(kernel));
    });
  });
}

template <class T>
void reduce_elements(const ReduceArguments& arguments, cudaStream_t stream) {
  const auto blocks = static_cast<std::uint64_t>(arguments.blocks);
  const std::uint64_t maximum = max_block_elements * blocks;
  if (arguments.selected != nullptr) {
    visit_way<T, needs_of_selected>([&](auto way) {
      using Way = decltype(way);
      auto* const kernel = &reduce_selected_kernel<T, Way>;
      const std::size_t bytes = shared_bytes<T, needs_of_selected, Way>(kernel);
      if (arguments.count == 0) load_kernel(kernel);
      for (std::uint64_t first = 0; first < arguments.count; first += maximum)
        launch("starting the reduction on the GPU", kernel, {blocks, reduce_threads, stream, bytes},
               arguments, first, maximum);
    });
  } else {
    visit_kernel<T>(arguments.needs, [&](auto* kernel, std::size_t bytes) {
      for (std::uint64_t first = 0; first < arguments.count; first += maximum)
        launch("starting the reduction on the GPU", kernel, {blocks, reduce_threads, stream, bytes},
               share_of<T>(arguments, first, std::min(maximum, arguments.count - first)));
    });
  }
}

template <class T>
int resident_reduce_blocks_of(const ReduceNeeds& needs) {
  return visit_kernel<T>(needs, [](auto* kernel, std::size_t bytes) {
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, reduce_threads, bytes),
          "preparing the reduction for this GPU");
    return blocks;
  });
}

}  // namespace warpfold::cuda::kernels
