#include <type_traits>

#include "bench/ladder/ladder.hpp"
#include "bench/ladder/ladder_kernels.hpp"
#include "cuda/runtime/copy.hpp"
#include "cuda/runtime/memory.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench::ladder {
namespace {

template <class T>
using Launcher = void (*)(const T* input, std::uint64_t elements, T* output, cudaStream_t stream);

/// A kernel that replaces pieces of Piece elements by their sums, launched until one is left.
template <class T, std::uint64_t Piece, Launcher<T> Launch>
Variant levels(std::string name, std::string title) {
  Variant variant{{std::move(name), std::move(title), {}}, {}, {}};
  variant.scratch_bytes = [](std::uint64_t elements) {
    cuda::Scratch scratch;
    while (elements > Piece) scratch.take<T>(elements = ceil_div(elements, Piece));
    return scratch.bytes();
  };
  variant.start = [](const void* input, std::uint64_t elements, void* output, std::byte* memory,
                     cudaStream_t stream) {
    cuda::Scratch scratch(memory);
    auto* level = static_cast<const T*>(input);
    while (elements > Piece) {
      const std::uint64_t pieces = ceil_div(elements, Piece);
      T* sums = scratch.take<T>(pieces);
      Launch(level, elements, sums, stream);
      level = sums;
      elements = pieces;
    }
    Launch(level, elements, static_cast<T*>(output), stream);
  };
  return variant;
}

/// A kernel whose blocks add their sums to the result.
template <class T, Launcher<T> Launch>
Variant atomics(std::string name, std::string title) {
  Variant variant{{std::move(name), std::move(title), {}}, {}, {}};
  variant.scratch_bytes = [](std::uint64_t) { return std::uint64_t{0}; };
  variant.start = [](const void* input, std::uint64_t elements, void* output, std::byte*,
                     cudaStream_t stream) {
    cuda::fill_bytes(output, 0, sizeof(T), stream);
    Launch(static_cast<const T*>(input), elements, static_cast<T*>(output), stream);
  };
  return variant;
}

Variant refused(std::string name, std::string title, std::string refusal) {
  return {{std::move(name), std::move(title), std::move(refusal)}, {}, {}};
}

template <class T>
Variant reduce_add_sync_variant() {
  const std::string name = "reduce-add-sync";
  const std::string title = "warps by __reduce_add_sync, blocks by atomicAdd";
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    if (has_reduce_add_sync()) return atomics<T, add_by_reduce_add_sync>(name, title);
    return refused(name, title, "needs sm_80 or newer, in the GPU and in the build");
  } else {
    return refused(name, title, "adds integers only");
  }
}

template <class T>
std::vector<Variant> variants_of() {
  return {
      levels<T, tree_threads, sum_interleaved_divergent<T>>(
          "interleaved-divergent", "interleaved addressing, divergent branch"),
      levels<T, tree_threads, sum_interleaved_strided<T>>(
          "interleaved-strided", "interleaved addressing, strided index: bank conflicts"),
      levels<T, tree_threads, sum_sequential<T>>("sequential", "sequential addressing"),
      levels<T, level_threads, sum_tree_level<T>>("tree-levels",
                                                  "tree in shared memory, blocks of 1024"),
      levels<T, warp_elements, sum_shuffle_level<T>>("shuffle-levels",
                                                     "warp shuffles, 32 elements a sum"),
      atomics<T, add_last_warp_syncwarp<T>>("last-warp-syncwarp",
                                            "last warp by __syncwarp, blocks by atomicAdd"),
      atomics<T, add_last_warp_shuffle<T>>("last-warp-shuffle",
                                           "last warp by __shfl_down_sync, blocks by atomicAdd"),
      atomics<T, add_last_warp_tile<T>>("last-warp-tile",
                                        "last warp by a cooperative tile, blocks by atomicAdd"),
      reduce_add_sync_variant<T>(),
      atomics<T, add_unrolled<T>>("unrolled", "64 bytes in flight a thread, resident blocks"),
  };
}

}  // namespace

std::vector<Variant> reduce_variants(ElementType type) {
  switch (type) {
    case ElementType::u32:
      return variants_of<std::uint32_t>();
    case ElementType::f32:
      return variants_of<float>();
    case ElementType::f64:
      return variants_of<double>();
    default:
      throw usage_error("the reduce ladder has no rungs for " + std::string(name_of(type)), "",
                        "Choose u32, f32 or f64.");
  }
}

}  // namespace warpfold::bench::ladder
